//! Which memories wait for a vector.

use engine::model::id::TenantId;
use engine::model::memory::Memory;

use crate::postgres::fault::Fault;
use crate::postgres::memories::CURRENT_VERSION_JOINS;
use crate::postgres::pool::Pool;
use crate::postgres::row_codec::{self, MEMORY_COLUMNS, Statement, params, row_limit};

/// Live memories without a vector of this model, those written first coming first.
///
/// Three ranges of one index, so that a database that is up to date costs a glance.
pub(in crate::postgres) async fn list_unembedded(
    pool: &Pool,
    tenant: TenantId,
    model: &str,
    rows: usize,
) -> Result<Vec<Memory>, Fault> {
    let of = |condition: &str| {
        format!(
            "(select memory, seq
              from recall
              where tenant = $1 and state = 'active' and {condition}
              order by seq
              limit $3)"
        )
    };
    let sql = format!(
        "select {MEMORY_COLUMNS}
         from (
           select *
           from ({} union all {} union all {}) every
           order by seq
           limit $3) due
         join memories m on m.tenant = $1 and m.id = due.memory
         {CURRENT_VERSION_JOINS}
         order by due.seq",
        of("model is null"),
        of("model < $2"),
        of("model > $2")
    );
    let answer =
        pool.query_read_only(Some(tenant), &[Statement::new(sql, params![tenant.0, model, row_limit(rows)])]).await?;
    answer.iter().flatten().map(row_codec::read_memory).collect()
}
