//! Tenants, and the side records: one shape, one path, the table named by the engine's vocabulary.

use engine::model::id::TenantId;
use engine::ports::Tenant;
use engine::ports::row::{Row, RowFilter, RowKind};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::fault::Fault;
use super::rows::{json, key, micros, time, to_json, uuid};

pub(super) fn tenants(conn: &Connection) -> Result<Vec<Tenant>, Fault> {
    let mut statement = conn.prepare_cached("select id, slug, created_at from tenants order by slug")?;
    let mut rows = statement.query([])?;
    let mut tenants = Vec::new();
    while let Some(row) = rows.next()? {
        tenants.push(to_tenant(row)?);
    }
    Ok(tenants)
}

pub(super) fn tenant(conn: &Connection, slug: &str) -> Result<Option<Tenant>, Fault> {
    let mut statement = conn.prepare_cached("select id, slug, created_at from tenants where slug = ?1")?;
    let mut rows = statement.query([slug])?;
    rows.next()?.map(to_tenant).transpose()
}

fn to_tenant(row: &rusqlite::Row<'_>) -> Result<Tenant, Fault> {
    Ok(Tenant { id: TenantId(uuid(row, 0)?), slug: row.get(1)?, created_at: time(row.get(2)?)? })
}

pub(super) fn ensure_tenant(conn: &Connection, wanted: &Tenant) -> Result<Tenant, Fault> {
    if let Some(standing) = tenant(conn, &wanted.slug)? {
        return Ok(standing);
    }
    conn.prepare_cached("insert into tenants (id, slug, created_at) values (?1, ?2, ?3)")?.execute((
        key(wanted.id.0),
        &wanted.slug,
        micros(wanted.created_at),
    ))?;
    conn.prepare_cached("insert into heads (tenant) values (?1)")?.execute([key(wanted.id.0)])?;
    Ok(wanted.clone())
}

pub(super) fn put(conn: &Connection, tenant: TenantId, row: &Row) -> Result<(), Fault> {
    // Not `insert or replace`: that would delete the row first, and what refers to it with it.
    let sql = format!(
        "insert into {} (tenant, id, state, subject, parent, at, body)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         on conflict (tenant, id) do update
         set state = excluded.state, subject = excluded.subject, parent = excluded.parent, at = excluded.at,
             body = excluded.body",
        row.kind
    );
    conn.prepare_cached(&sql)?.execute((
        key(tenant.0),
        &row.id,
        &row.state,
        &row.subject,
        &row.parent,
        micros(row.at),
        to_json(&row.body)?,
    ))?;
    Ok(())
}

pub(super) fn remove(conn: &Connection, tenant: TenantId, kind: RowKind, id: &str) -> Result<(), Fault> {
    conn.prepare_cached(&format!("delete from {kind} where tenant = ?1 and id = ?2"))?.execute((key(tenant.0), id))?;
    Ok(())
}

pub(super) fn row(conn: &Connection, tenant: TenantId, kind: RowKind, id: &str) -> Result<Option<Row>, Fault> {
    let sql = format!("select id, state, subject, parent, at, body from {kind} where tenant = ?1 and id = ?2");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query((key(tenant.0), id))?;
    rows.next()?.map(|row| to_row(kind, row)).transpose()
}

pub(super) fn rows(conn: &Connection, tenant: TenantId, kind: RowKind, filter: &RowFilter) -> Result<Vec<Row>, Fault> {
    let (sql, params) = query(tenant, kind, filter);
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(params))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(to_row(kind, row)?);
    }
    Ok(found)
}

fn query(tenant: TenantId, kind: RowKind, filter: &RowFilter) -> (String, Vec<Value>) {
    let (beyond, direction) = if filter.newest_first { ("<", "desc") } else { (">", "asc") };
    let mut sql = format!("select id, state, subject, parent, at, body from {kind} where tenant = ?");
    let mut params = vec![Value::Blob(key(tenant.0).to_vec())];
    for (column, value) in [("state", &filter.state), ("subject", &filter.subject), ("parent", &filter.parent)] {
        if let Some(value) = value {
            sql += &format!(" and {column} = ?");
            params.push(value.clone().into());
        }
    }
    if let Some(before) = filter.before {
        sql += " and at < ?";
        params.push(micros(before).into());
    }
    if let Some((at, id)) = &filter.after {
        sql += &format!(" and (at, id) {beyond} (?, ?)");
        params.extend([micros(*at).into(), id.clone().into()]);
    }
    sql += &format!(" order by at {direction}, id {direction}");
    // A filter that says no limit takes all.
    if filter.limit > 0 {
        sql += " limit ?";
        params.push(i64::try_from(filter.limit).unwrap_or(i64::MAX).into());
    }
    (sql, params)
}

fn to_row(kind: RowKind, row: &rusqlite::Row<'_>) -> Result<Row, Fault> {
    Ok(Row {
        kind,
        id: row.get(0)?,
        state: row.get(1)?,
        subject: row.get(2)?,
        parent: row.get(3)?,
        at: time(row.get(4)?)?,
        body: json(row, 5)?,
    })
}
