//! A SQLite file as source or target of a copy. Reads and writes rows directly, without the write queue and the recall
//! index.

use std::path::{Path, PathBuf};

use engine::model::error::StoreError;
use engine::model::id::TenantId;
use engine::model::vector::Vector;
use engine::ports::Tenant;
use engine::text::words::IndexedWords;
use rusqlite::types::{Value as Sql, ValueRef};
use rusqlite::{Connection, Row, params_from_iter};
use uuid::Uuid;

use super::fault::Fault;
use super::row_codec::{id_bytes, to_micros};
use super::{SqliteOptions, create_private_file, log_position, migrate, pool, records};
use crate::copy::{Column, ColumnKind, CopyEndpoint, Record, Table, Value};

/// Opens a source in one read transaction, so that concurrent writes do not change what is copied.
pub(crate) fn open_copy_source(path: &Path) -> Result<Box<dyn CopyEndpoint>, StoreError> {
    if !path.is_file() {
        return Err(StoreError::Unavailable(format!("there is no database at `{}`", path.display())));
    }
    let source = open_endpoint(path)?;
    source.conn.execute_batch("begin").map_err(Fault::from)?;
    Ok(Box::new(source))
}

/// Opens a target; creates the file if missing.
pub(crate) fn open_copy_target(path: &Path) -> Result<Box<dyn CopyEndpoint>, StoreError> {
    create_private_file(path).map_err(|error| StoreError::Unwritable(format!("`{}`: {error}", path.display())))?;
    Ok(Box::new(open_endpoint(path)?))
}

fn open_endpoint(path: &Path) -> Result<SqliteEndpoint, StoreError> {
    let conn = pool::open_writer(Some(path), &SqliteOptions::default())?;
    migrate::run_migrations(&conn)?;
    Ok(SqliteEndpoint { conn, path: path.to_owned() })
}

struct SqliteEndpoint {
    conn: Connection,
    path: PathBuf,
}

fn param_placeholder(at: usize) -> String {
    format!("?{at}")
}

/// The `from` clause of a table. The table `recall` is keyed by scope and sequence number; a join with `memories` makes
/// it readable in the order of memory ids.
fn source_table(table: &Table) -> String {
    let Some((Column { name: "memory", .. }, rest)) = table.columns.split_first().filter(|_| table.name == "recall")
    else {
        return table.name.to_owned();
    };
    let columns: Vec<String> = rest.iter().map(|column| format!("r.{}", column.name)).collect();
    format!(
        "(select m.tenant, m.id as memory, {}
          from memories m
          cross join recall r on r.tenant = m.tenant and r.scope = m.scope and r.seq = m.recall_seq)",
        columns.join(", ")
    )
}

fn column_list(columns: &[Column]) -> String {
    match columns {
        // The table `heads` has no key columns, but a select needs one.
        [] => "1".to_owned(),
        columns => columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", "),
    }
}

impl SqliteEndpoint {
    fn query_records(&self, sql: &str, params: Vec<Sql>, columns: &[Column]) -> Result<Vec<Record>, Fault> {
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query(params_from_iter(params))?;
        let mut records = Vec::new();
        while let Some(row) = rows.next()? {
            let record = columns.iter().enumerate().map(|(at, column)| read_value(row, at, column.kind));
            records.push(record.collect::<Result<Record, Fault>>()?);
        }
        Ok(records)
    }

    fn insert_records(&self, tenant: TenantId, table: &Table, records: &[Record]) -> Result<(), Fault> {
        let placeholders: Vec<String> = (1..=table.columns.len() + 1).map(param_placeholder).collect();
        let sql = format!(
            "insert into {} (tenant, {}) values ({})",
            table.name,
            column_list(table.columns),
            placeholders.join(", ")
        );
        let transaction = self.conn.unchecked_transaction()?;
        {
            let mut statement = transaction.prepare_cached(&sql)?;
            for record in records {
                statement.execute(params_from_iter(
                    std::iter::once(id_value(tenant.0)).chain(record.iter().map(to_sql_value)),
                ))?;
            }
        }
        Ok(transaction.commit()?)
    }
}

impl CopyEndpoint for SqliteEndpoint {
    fn list_tenants(&mut self) -> Result<Vec<Tenant>, StoreError> {
        Ok(records::list_tenants(&self.conn)?)
    }

    fn add_tenant(&mut self, tenant: &Tenant) -> Result<(), StoreError> {
        let sql = "insert or ignore into tenants (id, slug, created_at) values (?1, ?2, ?3)";
        let params = (id_bytes(tenant.id.0), &tenant.slug, to_micros(tenant.created_at));
        self.conn.execute(sql, params).map_err(Fault::from)?;
        Ok(())
    }

    fn count_rows(&mut self, tenant: TenantId, table: &Table) -> Result<u64, StoreError> {
        let sql = format!("select count(*) from {} where tenant = ?1", table.name);
        Ok(self.conn.query_row(&sql, [id_bytes(tenant.0)], |row| row.get(0)).map_err(Fault::from)?)
    }

    fn last_key(&mut self, tenant: TenantId, table: &Table) -> Result<Option<Record>, StoreError> {
        let columns = table.key_columns();
        let sql = table.select_last_sql(&column_list(columns), &param_placeholder);
        Ok(self.query_records(&sql, vec![id_value(tenant.0)], columns)?.pop())
    }

    fn read_rows(
        &mut self,
        tenant: TenantId,
        table: &Table,
        after: Option<&[Value]>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        let sql = format!(
            "{} limit {limit}",
            table.select_sql(&column_list(table.columns), &source_table(table), after.is_some(), &param_placeholder)
        );
        let params =
            std::iter::once(id_value(tenant.0)).chain(after.unwrap_or_default().iter().map(to_sql_value)).collect();
        Ok(self.query_records(&sql, params, table.columns)?)
    }

    fn write_rows(&mut self, tenant: TenantId, table: &Table, records: &[Record]) -> Result<(), StoreError> {
        Ok(self.insert_records(tenant, table, records)?)
    }

    fn update_derived_columns(&mut self, tenant: TenantId) -> Result<(), StoreError> {
        // Readers compare this with their index partition in memory.
        let scopes = "update scopes
             set recall_seq = coalesce(
               (select max(seq) from recall r where r.tenant = scopes.tenant and r.scope = scopes.id), 0)
             where tenant = ?1";
        // Key of each memory's row in the recall index.
        let memories = "update memories
             set recall_seq = r.seq
             from recall r
             where memories.tenant = ?1 and r.tenant = ?1 and memories.id = r.memory";
        for sql in [scopes, memories] {
            self.conn.execute(sql, [id_bytes(tenant.0)]).map_err(Fault::from)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), StoreError> {
        Ok(log_position::accept_positions(&self.path, &self.conn)?)
    }
}

fn id_value(id: Uuid) -> Sql {
    Sql::Blob(id_bytes(id).to_vec())
}

fn read_value(row: &Row<'_>, at: usize, kind: ColumnKind) -> Result<Value, Fault> {
    if row.get_ref(at)? == ValueRef::Null {
        return Ok(Value::Null);
    }
    Ok(match kind {
        ColumnKind::Text => Value::Text(row.get(at)?),
        ColumnKind::Json => Value::Json(row.get(at)?),
        ColumnKind::Int => Value::Int(row.get(at)?),
        ColumnKind::Real => Value::Real(row.get(at)?),
        ColumnKind::Bool => Value::Bool(row.get(at)?),
        ColumnKind::Tags => Value::Tags(super::row_codec::read_json(row, at)?),
        ColumnKind::Bytes => Value::Bytes(blob_bytes(row, at)?.to_vec()),
        ColumnKind::Id => Value::Id(super::row_codec::read_uuid(row, at)?),
        // Words in a format that this program does not know are not searchable, in the source as in the target.
        ColumnKind::Words => Value::Words(IndexedWords::from_bytes(blob_bytes(row, at)?).unwrap_or_default()),
        ColumnKind::Vector => {
            let vector = Vector::from_bytes(blob_bytes(row, at)?);
            Value::Vector(vector.ok_or_else(|| Fault::corrupt("a stored vector is too short"))?)
        }
    })
}

fn blob_bytes<'a>(row: &'a Row<'_>, at: usize) -> Result<&'a [u8], Fault> {
    row.get_ref(at)?.as_blob().map_err(Fault::corrupt)
}

fn to_sql_value(value: &Value) -> Sql {
    match value {
        Value::Null => Sql::Null,
        Value::Int(number) => Sql::Integer(*number),
        Value::Real(number) => Sql::Real(*number),
        Value::Bool(flag) => Sql::Integer(i64::from(*flag)),
        Value::Text(text) | Value::Json(text) => Sql::Text(text.clone()),
        // A list of strings always serialises.
        Value::Tags(tags) => Sql::Text(serde_json::to_string(tags).unwrap_or_default()),
        Value::Id(uuid) => id_value(*uuid),
        Value::Bytes(bytes) => Sql::Blob(bytes.clone()),
        Value::Words(words) => Sql::Blob(words.to_bytes()),
        Value::Vector(vector) => Sql::Blob(vector.to_bytes()),
    }
}

/// Every column of the schema, as `table.column`.
#[cfg(test)]
pub(crate) fn columns() -> Vec<String> {
    let conn = Connection::open_in_memory().expect("opens");
    migrate::run_migrations(&conn).expect("migrates");
    let sql = "select t.name || '.' || c.name from sqlite_schema t, pragma_table_info(t.name) c where t.type = 'table'";
    let mut statement = conn.prepare(sql).expect("prepares");
    statement.query_map([], |row| row.get(0)).expect("asks").collect::<Result<_, _>>().expect("reads")
}
