//! A Postgres database as source or target of a copy. Works as the application role, under row-level security.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use engine::model::error::StoreError;
use engine::model::id::TenantId;
use engine::ports::Tenant;
use engine::text::words::IndexedWords;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, Row};

use super::fault::Fault;
use super::pool::{self, Pool, TransactionMode};
use super::row_codec::{Param, Statement, params, read_column, read_count, row_limit, to_micros};
use super::{PostgresOptions, build_runtime, migrate, recall, records};
use crate::copy::{Column, ColumnKind, CopyEndpoint, Record, Table, Value};

/// Timeout of one statement of a copy: long enough to count a large table.
const STATEMENT_MAX: Duration = Duration::from_secs(600);

/// Opens a source in one read transaction, so that concurrent writes do not change what is copied.
pub(crate) fn open_copy_source(url: &str) -> Result<Box<dyn CopyEndpoint>, StoreError> {
    let mut server = open_endpoint(url)?;
    server.snapshot_client = Some(server.block_on(async {
        let client = server.pool.connect_dedicated().await?;
        // Never committed: the transaction is read-only and ends with its connection.
        client.batch_execute(&server.pool.begin_sql(None, TransactionMode::Read)).await?;
        Ok(client)
    })?);
    Ok(Box::new(server))
}

/// Opens a target that `ingrain migrate` has migrated.
pub(crate) fn open_copy_target(url: &str) -> Result<Box<dyn CopyEndpoint>, StoreError> {
    Ok(Box::new(open_endpoint(url)?))
}

fn open_endpoint(url: &str) -> Result<PostgresEndpoint, StoreError> {
    let runtime = build_runtime()?;
    let pool = Pool::new(url, &PostgresOptions { statement_max: STATEMENT_MAX, ..PostgresOptions::default() })?;
    let vectors = runtime.block_on(async {
        migrate::check_up_to_date(&pool).await?;
        recall::detect_vectors(&pool).await
    })?;
    let has_vectors = vectors.is_on();
    Ok(PostgresEndpoint { runtime, pool, snapshot_client: None, has_vectors, models: HashSet::new() })
}

struct PostgresEndpoint {
    runtime: Runtime,
    pool: Arc<Pool>,
    /// The connection of a source, with the transaction that all reads use.
    snapshot_client: Option<Client>,
    has_vectors: bool,
    /// Models, with their dimensions, whose index was requested.
    models: HashSet<(String, usize)>,
}

impl PostgresEndpoint {
    fn block_on<T>(&self, work: impl Future<Output = Result<T, Fault>>) -> Result<T, StoreError> {
        Ok(self.runtime.block_on(work)?)
    }

    fn read_statement(&self, tenant: Option<TenantId>, statement: Statement) -> Result<Vec<Row>, StoreError> {
        self.block_on(async {
            let Some(client) = &self.snapshot_client else {
                return Ok(self.pool.query_read_only(tenant, &[statement]).await?.pop().unwrap_or_default());
            };
            // Row-level security shows one tenant at a time.
            if let Some(tenant) = tenant {
                client.batch_execute(&format!("set local app.tenant = '{tenant}'")).await?;
            }
            pool::send_query(client, &statement).await
        })
    }

    fn write_statements(&self, tenant: Option<TenantId>, statements: &[Statement]) -> Result<(), StoreError> {
        self.block_on(async {
            let session = self.pool.acquire().await?;
            session
                .run_transaction(&self.pool.begin_sql(tenant, TransactionMode::Write), statements, "commit")
                .await
                .map(drop)
        })
    }

    /// Creates the index of each model before its rows are written: an index on an empty table costs nothing.
    fn ensure_model_indexes(&mut self, records: &[Record]) {
        for record in records.iter().filter(|_| self.has_vectors) {
            let text = |value: &Value| if let Value::Text(text) = value { Some(text.clone()) } else { None };
            let dimensions =
                |value: &Value| if let Value::Vector(vector) = value { Some(vector.values.len()) } else { None };
            let [.., model, vector] = record.as_slice() else { continue };
            let Some(model) = text(model).zip(dimensions(vector)) else { continue };
            if self.models.insert(model.clone()) {
                // Without the index vectors are still found, only slower.
                let _ = self.block_on(recall::add_model_index(&self.pool, &model.0, model.1));
            }
        }
    }
}

impl CopyEndpoint for PostgresEndpoint {
    fn list_tenants(&mut self) -> Result<Vec<Tenant>, StoreError> {
        let rows = self.read_statement(None, Statement::new(records::TENANTS_SQL, params![]))?;
        Ok(rows.iter().map(records::to_tenant).collect::<Result<_, _>>()?)
    }

    fn add_tenant(&mut self, tenant: &Tenant) -> Result<(), StoreError> {
        let statement = Statement::new(
            // An interrupted copy has added the tenant already.
            "insert into tenants (id, slug, created_at) values ($1, $2, $3) on conflict do nothing",
            params![tenant.id.0, &tenant.slug, to_micros(tenant.created_at)],
        );
        self.write_statements(None, &[statement])
    }

    fn count_rows(&mut self, tenant: TenantId, table: &Table) -> Result<u64, StoreError> {
        let statement =
            // Row-level security would hide the others too, but Citus needs the tenant in the condition to pick a
            // worker.
            Statement::new(format!("select count(*) from {} where tenant = $1", table.name), params![tenant.0]);
        let rows = self.read_statement(Some(tenant), statement)?;
        Ok(rows.first().map_or(Ok(0), |row| read_count(row, 0))?)
    }

    fn last_key(&mut self, tenant: TenantId, table: &Table) -> Result<Option<Record>, StoreError> {
        let columns = table.key_columns();
        let statement =
            Statement::new(table.select_last_sql(&column_list(columns), &param_placeholder), params![tenant.0]);
        Ok(self.read_statement(Some(tenant), statement)?.first().map(|row| read_record(row, columns)).transpose()?)
    }

    fn read_rows(
        &mut self,
        tenant: TenantId,
        table: &Table,
        after: Option<&[Value]>,
        rows: usize,
    ) -> Result<Vec<Record>, StoreError> {
        let select = table.select_sql(&column_list(table.columns), table.name, after.is_some(), &param_placeholder);
        let mut params = params![tenant.0];
        for (value, column) in after.unwrap_or_default().iter().zip(table.columns) {
            params.extend(value_params(value, column.kind));
        }
        let statement = Statement::new(format!("{select} limit {}", row_limit(rows)), params);
        let rows = self.read_statement(Some(tenant), statement)?;
        Ok(rows.iter().map(|row| read_record(row, table.columns)).collect::<Result<_, _>>()?)
    }

    /// Inserts all rows in one statement. A statement takes 65,535 parameters; a batch has 256 rows of fewer than 100
    /// columns.
    fn write_rows(&mut self, tenant: TenantId, table: &Table, records: &[Record]) -> Result<(), StoreError> {
        if table.columns.iter().any(|column| column.kind == ColumnKind::Vector) {
            self.ensure_model_indexes(records);
        }
        let (mut params, mut rows) = (params![tenant.0], Vec::with_capacity(records.len()));
        for record in records {
            let mut placeholders = vec![param_placeholder(1)];
            for (value, column) in
                record.iter().zip(table.columns).filter(|(_, column)| column.kind != ColumnKind::Tags)
            {
                for param in value_params(value, column.kind) {
                    params.push(param);
                    // The driver sends the text; the server converts it.
                    let cast = if column.kind == ColumnKind::Json { "::text::jsonb" } else { "" };
                    placeholders.push(format!("{}{cast}", param_placeholder(params.len())));
                }
            }
            rows.push(format!("({})", placeholders.join(", ")));
        }
        let stored = table.columns.iter().filter(|column| column.kind != ColumnKind::Tags);
        let columns = stored.flat_map(|column| stored_columns(column).to_vec()).collect::<Vec<_>>().join(", ");
        // Without `on conflict`: a batch starts after the last key of the target, so an existing row means another
        // writer.
        let sql = format!("insert into {} (tenant, {columns}) values {}", table.name, rows.join(", "));
        let mut statements = vec![Statement::new(sql, params)];
        // In the same transaction: a resumed copy starts after the last memory and would never add missing tags.
        statements.extend(insert_tags(tenant, records));
        self.write_statements(Some(tenant), &statements)
    }

    fn update_derived_columns(&mut self, tenant: TenantId) -> Result<(), StoreError> {
        // Total length of the active memories of a scope, from which a search takes the average length.
        let statement = Statement::new(
            "update scopes s
             set live_len = coalesce(
               (select sum(c.len) from recall c where c.tenant = $1 and c.scope = s.id and c.state = 'active'), 0)
             where s.tenant = $1",
            params![tenant.0],
        );
        self.write_statements(Some(tenant), &[statement])
    }
}

/// Inserts the tags of memories into their own table; `None` where there are none.
fn insert_tags(tenant: TenantId, records: &[Record]) -> Option<Statement> {
    let (mut memories, mut tags) = (Vec::new(), Vec::new());
    for record in records {
        let (Some(Value::Id(memory)), Some(Value::Tags(memory_tags))) = (record.first(), record.last()) else {
            continue;
        };
        for tag in memory_tags {
            memories.push(*memory);
            tags.push(tag.clone());
        }
    }
    (!tags.is_empty()).then(|| {
        Statement::new(
            "insert into tags (tenant, memory, tag) select $1, memory, tag from unnest($2, $3) of_memory (memory, tag)",
            params![tenant.0, memories, tags],
        )
    })
}

fn param_placeholder(at: usize) -> String {
    format!("${at}")
}

/// The columns of this backend that hold one column of the copy.
fn stored_columns(column: &Column) -> &[&'static str] {
    match column.kind {
        ColumnKind::Words => &["once", "often", "times", "len"],
        ColumnKind::Vector => &["scale", "vector"],
        _ => std::slice::from_ref(&column.name),
    }
}

fn column_list(columns: &[Column]) -> String {
    let name = |column: &Column| match column.kind {
        ColumnKind::Json => format!("{}::text", column.name),
        ColumnKind::Tags => {
            "array(select t.tag from tags t where t.tenant = memories.tenant and t.memory = memories.id)".to_owned()
        }
        _ => stored_columns(column).join(", "),
    };
    match columns {
        // The table `heads` has no key columns, but a select needs one.
        [] => "1".to_owned(),
        columns => columns.iter().map(name).collect::<Vec<_>>().join(", "),
    }
}

fn read_record(row: &Row, columns: &[Column]) -> Result<Record, Fault> {
    let mut at = 0;
    let mut record = Vec::with_capacity(columns.len());
    for column in columns {
        record.push(read_value(row, at, column.kind)?);
        at += stored_columns(column).len();
    }
    Ok(record)
}

fn read_value(row: &Row, at: usize, kind: ColumnKind) -> Result<Value, Fault> {
    let value = match kind {
        ColumnKind::Text => read_column::<Option<String>>(row, at)?.map(Value::Text),
        ColumnKind::Json => read_column::<Option<String>>(row, at)?.map(Value::Json),
        ColumnKind::Int => read_column::<Option<i64>>(row, at)?.map(Value::Int),
        ColumnKind::Real => read_column::<Option<f64>>(row, at)?.map(Value::Real),
        ColumnKind::Bool => read_column::<Option<bool>>(row, at)?.map(Value::Bool),
        ColumnKind::Bytes => read_column::<Option<Vec<u8>>>(row, at)?.map(Value::Bytes),
        ColumnKind::Id => read_column::<Option<uuid::Uuid>>(row, at)?.map(Value::Id),
        ColumnKind::Tags => Some(Value::Tags(read_column::<Vec<String>>(row, at)?.into_iter().collect())),
        ColumnKind::Words => Some(Value::Words(recall::read_words(row, at)?)),
        ColumnKind::Vector => recall::read_vector(row, at)?.map(Value::Vector),
    };
    Ok(value.unwrap_or(Value::Null))
}

fn value_params(value: &Value, kind: ColumnKind) -> Vec<Param> {
    match (value, kind) {
        (Value::Int(number), _) => params![*number],
        (Value::Real(number), _) => params![*number],
        (Value::Bool(flag), _) => params![*flag],
        (Value::Text(text) | Value::Json(text), _) => params![text],
        (Value::Id(id), _) => params![*id],
        (Value::Bytes(bytes), _) => params![bytes.clone()],
        (Value::Null, ColumnKind::Bytes) => params![None::<Vec<u8>>],
        (Value::Words(words), _) => word_params(words),
        (Value::Vector(vector), _) => params![vector.scale, recall::vector_column(vector)],
        (Value::Null, ColumnKind::Text | ColumnKind::Json) => params![None::<String>],
        (Value::Null, ColumnKind::Int) => params![None::<i64>],
        (Value::Null, ColumnKind::Id) => params![None::<uuid::Uuid>],
        (Value::Null, ColumnKind::Vector) => params![None::<f32>, None::<Vec<u8>>],
        // Columns of these kinds are never null.
        (Value::Null, ColumnKind::Real) => params![0.0],
        (Value::Null, ColumnKind::Bool) => params![false],
        (Value::Null, ColumnKind::Words) => word_params(&IndexedWords::default()),
        // Written to their own table by `insert_tags`.
        (Value::Tags(_), _) | (Value::Null, ColumnKind::Tags) => Vec::new(),
    }
}

fn word_params(words: &IndexedWords) -> Vec<Param> {
    let (once, often, times, len) = recall::word_columns(words);
    params![once, often, times, len]
}
