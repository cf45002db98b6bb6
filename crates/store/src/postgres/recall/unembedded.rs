//! Memories that still need a vector.

use engine::model::id::TenantId;
use engine::model::memory::Memory;

use crate::postgres::fault::Fault;
use crate::postgres::memories::CURRENT_VERSION_JOINS;
use crate::postgres::pool::Pool;
use crate::postgres::row_codec::{self, MEMORY_COLUMNS, Statement, params, row_limit};

/// Active memories without a vector of this model, oldest first.
///
/// Three ranges of one index, so that a database that is up to date costs three look-ups.
pub(in crate::postgres) async fn list_unembedded(
    pool: &Pool,
    tenant: TenantId,
    model: &str,
    limit: usize,
) -> Result<Vec<Memory>, Fault> {
    let range = |condition: &str| {
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
        range("model is null"),
        range("model < $2"),
        range("model > $2")
    );
    let results =
        pool.query_read_only(Some(tenant), &[Statement::new(sql, params![tenant.0, model, row_limit(limit)])]).await?;
    results.iter().flatten().map(row_codec::read_memory).collect()
}
