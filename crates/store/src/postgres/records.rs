//! Tenants, and the side records: one shape, one path, the table named by the engine's vocabulary.

use engine::model::id::TenantId;
use engine::ports::Tenant;
use engine::ports::row::{Row, RowFilter, RowKind};
use tokio_postgres::Row as SqlRow;

use super::fault::Fault;
use super::pool::{Mode, Pool};
use super::rows::{Step, column, json, limit, micros, params, time, to_json};
use super::scopes::next;

pub(super) const TENANTS: &str = "select id, slug, created_at from tenants order by slug";

pub(super) async fn tenants(pool: &Pool) -> Result<Vec<Tenant>, Fault> {
    pool.read(None, &[Step::new(TENANTS, params![])]).await?.iter().flatten().map(to_tenant).collect()
}

pub(super) async fn ensure_tenant(pool: &Pool, wanted: &Tenant) -> Result<Tenant, Fault> {
    if let Some(standing) = tenant(pool, &wanted.slug).await? {
        return Ok(standing);
    }
    let made = [
        Step::new(
            "insert into tenants (id, slug, created_at) values ($1, $2, $3) on conflict do nothing",
            params![wanted.id.0, &wanted.slug, micros(wanted.created_at)],
        ),
        // Only where the line above made it: another process may have been first with another id.
        Step::new(
            "insert into heads (tenant) select id from tenants where id = $1 on conflict do nothing",
            params![wanted.id.0],
        ),
    ];
    let session = pool.acquire().await?;
    session.transaction(&pool.open(Some(wanted.id), Mode::Write), &made, "commit").await?;
    let missing = || Fault::corrupt(format!("tenant `{}` has the id of another one", wanted.slug));
    tenant(pool, &wanted.slug).await?.ok_or_else(missing)
}

async fn tenant(pool: &Pool, slug: &str) -> Result<Option<Tenant>, Fault> {
    let step = Step::new("select id, slug, created_at from tenants where slug = $1", params![slug]);
    pool.read(None, &[step]).await?.iter().flatten().next().map(to_tenant).transpose()
}

pub(super) fn to_tenant(row: &SqlRow) -> Result<Tenant, Fault> {
    Ok(Tenant { id: TenantId(column(row, 0)?), slug: column(row, 1)?, created_at: time(column(row, 2)?)? })
}

pub(super) fn put(tenant: TenantId, row: &Row) -> Result<Step, Fault> {
    let sql = format!(
        "insert into {} (tenant, id, state, subject, parent, at, body)
         values ($1, $2, $3, $4, $5, $6, $7::text::jsonb)
         on conflict (tenant, id) do update
         set state = excluded.state, subject = excluded.subject, parent = excluded.parent, at = excluded.at,
             body = excluded.body",
        row.kind
    );
    let body = to_json(&row.body)?;
    Ok(Step::new(sql, params![tenant.0, &row.id, &row.state, &row.subject, &row.parent, micros(row.at), body]))
}

pub(super) fn remove(tenant: TenantId, kind: RowKind, id: &str) -> Step {
    Step::new(format!("delete from {kind} where tenant = $1 and id = $2"), params![tenant.0, id])
}

const ROW: &str = "id, state, subject, parent, at, body::text";

pub(super) async fn row(pool: &Pool, tenant: TenantId, kind: RowKind, id: &str) -> Result<Option<Row>, Fault> {
    let sql = format!("select {ROW} from {kind} where tenant = $1 and id = $2");
    let answer = pool.read(Some(tenant), &[Step::new(sql, params![tenant.0, id])]).await?;
    answer.iter().flatten().next().map(|row| to_row(kind, row)).transpose()
}

pub(super) async fn rows(pool: &Pool, tenant: TenantId, kind: RowKind, filter: &RowFilter) -> Result<Vec<Row>, Fault> {
    let answer = pool.read(Some(tenant), &[query(tenant, kind, filter)]).await?;
    answer.iter().flatten().map(|row| to_row(kind, row)).collect()
}

fn query(tenant: TenantId, kind: RowKind, filter: &RowFilter) -> Step {
    let (beyond, direction) = if filter.newest_first { ("<", "desc") } else { (">", "asc") };
    let mut params = params![tenant.0];
    let mut sql = format!("select {ROW} from {kind} where tenant = $1");
    for (column, value) in [("state", &filter.state), ("subject", &filter.subject), ("parent", &filter.parent)] {
        if let Some(value) = value {
            sql += &format!(" and {column} = {}", next(&mut params, value));
        }
    }
    if let Some(before) = filter.before {
        sql += &format!(" and at < {}", next(&mut params, micros(before)));
    }
    if let Some((at, id)) = &filter.after {
        sql += &format!(" and (at, id) {beyond} ({}, {})", next(&mut params, micros(*at)), next(&mut params, id));
    }
    sql += &format!(" order by at {direction}, id {direction}");
    // A filter that says no limit takes all.
    if filter.limit > 0 {
        sql += &format!(" limit {}", next(&mut params, limit(filter.limit)));
    }
    Step::new(sql, params)
}

fn to_row(kind: RowKind, row: &SqlRow) -> Result<Row, Fault> {
    Ok(Row {
        kind,
        id: column(row, 0)?,
        state: column(row, 1)?,
        subject: column(row, 2)?,
        parent: column(row, 3)?,
        at: time(column(row, 4)?)?,
        body: json(row, 5)?,
    })
}
