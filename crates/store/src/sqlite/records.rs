//! Tenants and record rows. All record tables have the same columns; `RowKind` names the table.

use engine::model::id::TenantId;
use engine::model::row::{Row, RowFilter, RowKind};
use engine::ports::Tenant;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::fault::Fault;
use super::row_codec::{from_micros, id_bytes, read_json, read_uuid, to_json, to_micros};
use crate::digests::row_columns;

pub(super) fn list_tenants(conn: &Connection) -> Result<Vec<Tenant>, Fault> {
    let mut statement = conn.prepare_cached("select id, slug, created_at from tenants order by slug")?;
    let mut rows = statement.query([])?;
    let mut tenants = Vec::new();
    while let Some(row) = rows.next()? {
        tenants.push(to_tenant(row)?);
    }
    Ok(tenants)
}

pub(super) fn find_tenant(conn: &Connection, slug: &str) -> Result<Option<Tenant>, Fault> {
    let mut statement = conn.prepare_cached("select id, slug, created_at from tenants where slug = ?1")?;
    let mut rows = statement.query([slug])?;
    rows.next()?.map(to_tenant).transpose()
}

fn to_tenant(row: &rusqlite::Row<'_>) -> Result<Tenant, Fault> {
    Ok(Tenant { id: TenantId(read_uuid(row, 0)?), slug: row.get(1)?, created_at: from_micros(row.get(2)?)? })
}

pub(super) fn ensure_tenant(conn: &Connection, wanted: &Tenant) -> Result<Tenant, Fault> {
    // No race: this runs in the write transaction.
    if let Some(existing) = find_tenant(conn, &wanted.slug)? {
        return Ok(existing);
    }
    conn.prepare_cached("insert into tenants (id, slug, created_at) values (?1, ?2, ?3)")?.execute((
        id_bytes(wanted.id.0),
        &wanted.slug,
        to_micros(wanted.created_at),
    ))?;
    conn.prepare_cached("insert into heads (tenant) values (?1)")?.execute([id_bytes(wanted.id.0)])?;
    Ok(wanted.clone())
}

/// Writes a row; `body` is the text of its body.
pub(super) fn upsert_row(conn: &Connection, tenant: TenantId, row: &Row, body: &str) -> Result<(), Fault> {
    // Not `insert or replace`: that deletes the old row first, and with it the rows that refer to it.
    let sql = format!(
        "insert into {} (tenant, id, state, subject, parent, at, body)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         on conflict (tenant, id) do update
         set state = excluded.state, subject = excluded.subject, parent = excluded.parent, at = excluded.at,
             body = excluded.body",
        row.kind
    );
    conn.prepare_cached(&sql)?.execute((
        id_bytes(tenant.0),
        &row.id,
        &row.state,
        &row.subject,
        &row.parent,
        to_micros(row.at),
        body,
    ))?;
    Ok(())
}

/// Writes a record again of which only bookkeeping fields differ; nothing where the stored one differs otherwise.
pub(super) fn touch_row(conn: &Connection, tenant: TenantId, row: &Row) -> Result<(), Fault> {
    match get_row(conn, tenant, row.kind, &row.id)? {
        Some(stored) if row_columns(&stored).digest() == row_columns(row).digest() => {
            upsert_row(conn, tenant, row, &to_json(&row.body)?)
        }
        _ => Ok(()),
    }
}

pub(super) fn delete_row(conn: &Connection, tenant: TenantId, kind: RowKind, id: &str) -> Result<(), Fault> {
    conn.prepare_cached(&format!("delete from {kind} where tenant = ?1 and id = ?2"))?
        .execute((id_bytes(tenant.0), id))?;
    Ok(())
}

pub(super) fn get_row(conn: &Connection, tenant: TenantId, kind: RowKind, id: &str) -> Result<Option<Row>, Fault> {
    let sql = format!("select id, state, subject, parent, at, body from {kind} where tenant = ?1 and id = ?2");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query((id_bytes(tenant.0), id))?;
    rows.next()?.map(|row| to_row(kind, row)).transpose()
}

pub(super) fn list_rows(
    conn: &Connection,
    tenant: TenantId,
    kind: RowKind,
    filter: &RowFilter,
) -> Result<Vec<Row>, Fault> {
    let (sql, params) = rows_query(tenant, kind, filter);
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(params))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(to_row(kind, row)?);
    }
    Ok(found)
}

fn rows_query(tenant: TenantId, kind: RowKind, filter: &RowFilter) -> (String, Vec<Value>) {
    let (comparison, direction) = if filter.newest_first { ("<", "desc") } else { (">", "asc") };
    let mut sql = format!("select id, state, subject, parent, at, body from {kind} where tenant = ?");
    let mut params = vec![Value::Blob(id_bytes(tenant.0).to_vec())];
    for (column, value) in [("state", &filter.state), ("subject", &filter.subject), ("parent", &filter.parent)] {
        if let Some(value) = value {
            sql += &format!(" and {column} = ?");
            params.push(value.clone().into());
        }
    }
    if let Some(before) = filter.before {
        sql += " and at < ?";
        params.push(to_micros(before).into());
    }
    if let Some((at, id)) = &filter.after {
        sql += &format!(" and (at, id) {comparison} (?, ?)");
        params.extend([to_micros(*at).into(), id.clone().into()]);
    }
    sql += &format!(" order by at {direction}, id {direction}");
    // Zero means no limit.
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
        at: from_micros(row.get(4)?)?,
        body: read_json(row, 5)?,
    })
}
