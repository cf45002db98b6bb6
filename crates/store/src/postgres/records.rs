//! Tenants and record rows. All record tables have the same columns; `RowKind` names the table.

use engine::model::id::TenantId;
use engine::model::row::{Row, RowFilter, RowKind};
use engine::ports::Tenant;
use tokio_postgres::Row as SqlRow;

use super::fault::Fault;
use super::pool::{Pool, TransactionMode};
use super::row_codec::{Statement, from_micros, params, read_column, read_json, row_limit, to_micros};
use super::scopes::push_param;

pub(super) const TENANTS_SQL: &str = "select id, slug, created_at from tenants order by slug";

pub(super) async fn list_tenants(pool: &Pool) -> Result<Vec<Tenant>, Fault> {
    pool.query_read_only(None, &[Statement::new(TENANTS_SQL, params![])])
        .await?
        .iter()
        .flatten()
        .map(to_tenant)
        .collect()
}

pub(super) async fn ensure_tenant(pool: &Pool, wanted: &Tenant) -> Result<Tenant, Fault> {
    if let Some(existing) = find_tenant(pool, &wanted.slug).await? {
        return Ok(existing);
    }
    let inserts = [
        Statement::new(
            "insert into tenants (id, slug, created_at) values ($1, $2, $3) on conflict do nothing",
            params![wanted.id.0, &wanted.slug, to_micros(wanted.created_at)],
        ),
        // Only where the statement above inserted it: another process may have created the slug with another id.
        Statement::new(
            "insert into heads (tenant) select id from tenants where id = $1 on conflict do nothing",
            params![wanted.id.0],
        ),
    ];
    let session = pool.acquire().await?;
    session.run_transaction(&pool.begin_sql(Some(wanted.id), TransactionMode::Write), &inserts, "commit").await?;
    let duplicate_id = || Fault::corrupt(format!("tenant `{}` has the id of another tenant", wanted.slug));
    find_tenant(pool, &wanted.slug).await?.ok_or_else(duplicate_id)
}

async fn find_tenant(pool: &Pool, slug: &str) -> Result<Option<Tenant>, Fault> {
    let statement = Statement::new("select id, slug, created_at from tenants where slug = $1", params![slug]);
    pool.query_read_only(None, &[statement]).await?.iter().flatten().next().map(to_tenant).transpose()
}

pub(super) fn to_tenant(row: &SqlRow) -> Result<Tenant, Fault> {
    Ok(Tenant {
        id: TenantId(read_column(row, 0)?),
        slug: read_column(row, 1)?,
        created_at: from_micros(read_column(row, 2)?)?,
    })
}

/// Writes a row; `body` is the text of its body.
pub(super) fn upsert_row(tenant: TenantId, row: &Row, body: String) -> Statement {
    // The body is sent as text, whose type the driver knows, and converted by the server.
    let sql = format!(
        "insert into {} (tenant, id, state, subject, parent, at, body)
         values ($1, $2, $3, $4, $5, $6, $7::text::jsonb)
         on conflict (tenant, id) do update
         set state = excluded.state, subject = excluded.subject, parent = excluded.parent, at = excluded.at,
             body = excluded.body",
        row.kind
    );
    Statement::new(sql, params![tenant.0, &row.id, &row.state, &row.subject, &row.parent, to_micros(row.at), body])
}

pub(super) fn delete_row(tenant: TenantId, kind: RowKind, id: &str) -> Statement {
    Statement::new(format!("delete from {kind} where tenant = $1 and id = $2"), params![tenant.0, id])
}

/// The columns [`to_row`] reads.
const ROW_COLUMNS: &str = "id, state, subject, parent, at, body::text";

pub(super) async fn get_row(pool: &Pool, tenant: TenantId, kind: RowKind, id: &str) -> Result<Option<Row>, Fault> {
    let results = pool.query_read_only(Some(tenant), &[row_query(tenant, kind, id)]).await?;
    results.iter().flatten().next().map(|row| to_row(kind, row)).transpose()
}

/// Query for one record.
pub(super) fn row_query(tenant: TenantId, kind: RowKind, id: &str) -> Statement {
    let sql = format!("select {ROW_COLUMNS} from {kind} where tenant = $1 and id = $2");
    Statement::new(sql, params![tenant.0, id])
}

pub(super) async fn list_rows(
    pool: &Pool,
    tenant: TenantId,
    kind: RowKind,
    filter: &RowFilter,
) -> Result<Vec<Row>, Fault> {
    let results = pool.query_read_only(Some(tenant), &[rows_query(tenant, kind, filter)]).await?;
    results.iter().flatten().map(|row| to_row(kind, row)).collect()
}

fn rows_query(tenant: TenantId, kind: RowKind, filter: &RowFilter) -> Statement {
    let (comparison, direction) = if filter.newest_first { ("<", "desc") } else { (">", "asc") };
    let mut params = params![tenant.0];
    let mut sql = format!("select {ROW_COLUMNS} from {kind} where tenant = $1");
    for (column, value) in [("state", &filter.state), ("subject", &filter.subject), ("parent", &filter.parent)] {
        if let Some(value) = value {
            sql += &format!(" and {column} = {}", push_param(&mut params, value));
        }
    }
    if let Some(before) = filter.before {
        sql += &format!(" and at < {}", push_param(&mut params, to_micros(before)));
    }
    if let Some((at, id)) = &filter.after {
        sql += &format!(
            " and (at, id) {comparison} ({}, {})",
            push_param(&mut params, to_micros(*at)),
            push_param(&mut params, id)
        );
    }
    sql += &format!(" order by at {direction}, id {direction}");
    // Zero means no limit.
    if filter.limit > 0 {
        sql += &format!(" limit {}", push_param(&mut params, row_limit(filter.limit)));
    }
    Statement::new(sql, params)
}

pub(super) fn to_row(kind: RowKind, row: &SqlRow) -> Result<Row, Fault> {
    Ok(Row {
        kind,
        id: read_column(row, 0)?,
        state: read_column(row, 1)?,
        subject: read_column(row, 2)?,
        parent: read_column(row, 3)?,
        at: from_micros(read_column(row, 4)?)?,
        body: read_json(row, 5)?,
    })
}
