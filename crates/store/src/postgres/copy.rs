//! A server as one end of a copy. Everything is read and written as the application, behind the walls.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use engine::model::id::TenantId;
use engine::ports::{StoreError, Tenant};
use engine::text::words::Words;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, Row};

use super::fault::Fault;
use super::pool::{self, Mode, Pool};
use super::rows::{Param, Step, column, count, limit, micros, params};
use super::{Options, migrate, recall, records, runtime};
use crate::copy::{Column, End, Kind, Record, Table, Value};

/// How long one statement of a copy may take: counting a large table is one.
const STATEMENT_MAX: Duration = Duration::from_secs(600);

/// Opens a server to read: one moment of it, whatever others write meanwhile.
pub(crate) fn copy_source(url: &str) -> Result<Box<dyn End>, StoreError> {
    let mut server = open(url)?;
    server.held = Some(server.run(async {
        let client = server.pool.dedicated().await?;
        client.batch_execute(&server.pool.open(None, Mode::Read)).await?;
        Ok(client)
    })?);
    Ok(Box::new(server))
}

/// Opens a server to write, prepared by `ingrain migrate`.
pub(crate) fn copy_target(url: &str) -> Result<Box<dyn End>, StoreError> {
    Ok(Box::new(open(url)?))
}

fn open(url: &str) -> Result<Server, StoreError> {
    let runtime = runtime()?;
    let pool = Pool::new(url, &Options { statement_max: STATEMENT_MAX, ..Options::default() })?;
    let vectors = runtime.block_on(async {
        migrate::check(&pool).await?;
        recall::vectors(&pool).await
    })?;
    let has_vectors = vectors.is_on();
    Ok(Server { runtime, pool, held: None, has_vectors, models: HashSet::new() })
}

struct Server {
    runtime: Runtime,
    pool: Arc<Pool>,
    /// Of a source: one transaction from beginning to end.
    held: Option<Client>,
    has_vectors: bool,
    models: HashSet<(String, usize)>,
}

impl Server {
    fn run<T>(&self, work: impl Future<Output = Result<T, Fault>>) -> Result<T, StoreError> {
        Ok(self.runtime.block_on(work)?)
    }

    fn read_step(&self, tenant: Option<TenantId>, step: Step) -> Result<Vec<Row>, StoreError> {
        self.run(async {
            let Some(client) = &self.held else {
                return Ok(self.pool.read(tenant, &[step]).await?.pop().unwrap_or_default());
            };
            if let Some(tenant) = tenant {
                client.batch_execute(&format!("set local app.tenant = '{tenant}'")).await?;
            }
            pool::query(client, &step).await
        })
    }

    fn write_steps(&self, tenant: Option<TenantId>, steps: &[Step]) -> Result<(), StoreError> {
        self.run(async {
            let session = self.pool.acquire().await?;
            session.transaction(&self.pool.open(tenant, Mode::Write), steps, "commit").await.map(drop)
        })
    }

    /// Before their rows come, so that each index grows with them.
    fn index_models(&mut self, records: &[Record]) {
        for record in records.iter().filter(|_| self.has_vectors) {
            let text = |value: &Value| if let Value::Text(text) = value { Some(text.clone()) } else { None };
            let dimensions =
                |value: &Value| if let Value::Vector(vector) = value { Some(vector.values.len()) } else { None };
            let [.., model, vector] = record.as_slice() else { continue };
            let Some(model) = text(model).zip(dimensions(vector)) else { continue };
            if self.models.insert(model.clone()) {
                // Vectors are found without it too, only slower.
                let _ = self.run(recall::add_model(&self.pool, &model.0, model.1));
            }
        }
    }
}

impl End for Server {
    fn tenants(&mut self) -> Result<Vec<Tenant>, StoreError> {
        let rows = self.read_step(None, Step::new(records::TENANTS, params![]))?;
        Ok(rows.iter().map(records::to_tenant).collect::<Result<_, _>>()?)
    }

    fn add_tenant(&mut self, tenant: &Tenant) -> Result<(), StoreError> {
        let step = Step::new(
            "insert into tenants (id, slug, created_at) values ($1, $2, $3) on conflict do nothing",
            params![tenant.id.0, &tenant.slug, micros(tenant.created_at)],
        );
        self.write_steps(None, &[step])
    }

    fn count(&mut self, tenant: TenantId, table: &Table) -> Result<u64, StoreError> {
        let step = Step::new(format!("select count(*) from {} where tenant = $1", table.name), params![tenant.0]);
        let rows = self.read_step(Some(tenant), step)?;
        Ok(rows.first().map_or(Ok(0), |row| count(row, 0))?)
    }

    fn last(&mut self, tenant: TenantId, table: &Table) -> Result<Option<Record>, StoreError> {
        let columns = table.key_columns();
        let step = Step::new(table.select_last(&names(columns), &mark), params![tenant.0]);
        Ok(self.read_step(Some(tenant), step)?.first().map(|row| record(row, columns)).transpose()?)
    }

    fn read(
        &mut self,
        tenant: TenantId,
        table: &Table,
        after: Option<&[Value]>,
        rows: usize,
    ) -> Result<Vec<Record>, StoreError> {
        let select = table.select(&names(table.columns), table.name, after.is_some(), &mark);
        let mut params = params![tenant.0];
        for (value, column) in after.unwrap_or_default().iter().zip(table.columns) {
            params.extend(self::params(value, column.kind));
        }
        let step = Step::new(format!("{select} limit {}", limit(rows)), params);
        let rows = self.read_step(Some(tenant), step)?;
        Ok(rows.iter().map(|row| record(row, table.columns)).collect::<Result<_, _>>()?)
    }

    /// All rows in one statement; a statement takes 65,535 parameters, and no table has a hundred columns.
    fn write(&mut self, tenant: TenantId, table: &Table, records: &[Record]) -> Result<(), StoreError> {
        if table.columns.iter().any(|column| column.kind == Kind::Vector) {
            self.index_models(records);
        }
        let (mut params, mut rows) = (params![tenant.0], Vec::with_capacity(records.len()));
        for record in records {
            let mut marks = vec![mark(1)];
            for (value, column) in record.iter().zip(table.columns).filter(|(_, column)| column.kind != Kind::Tags) {
                for param in self::params(value, column.kind) {
                    params.push(param);
                    let cast = if column.kind == Kind::Json { "::text::jsonb" } else { "" };
                    marks.push(format!("{}{cast}", mark(params.len())));
                }
            }
            rows.push(format!("({})", marks.join(", ")));
        }
        let stored = table.columns.iter().filter(|column| column.kind != Kind::Tags);
        let columns = stored.flat_map(|column| parts(column).to_vec()).collect::<Vec<_>>().join(", ");
        let sql = format!("insert into {} (tenant, {columns}) values {}", table.name, rows.join(", "));
        let mut steps = vec![Step::new(sql, params)];
        steps.extend(tags(tenant, records));
        self.write_steps(Some(tenant), &steps)
    }

    fn settle(&mut self, tenant: TenantId) -> Result<(), StoreError> {
        // How long the active memories of a place are together, for how long they are on average.
        let step = Step::new(
            "update scopes s
             set live_len = coalesce(
               (select sum(c.len) from recall c where c.tenant = $1 and c.scope = s.id and c.state = 'active'), 0)
             where s.tenant = $1",
            params![tenant.0],
        );
        self.write_steps(Some(tenant), &[step])
    }
}

/// The tags of memories, which stand in a table of their own.
fn tags(tenant: TenantId, records: &[Record]) -> Option<Step> {
    let (mut memories, mut tags) = (Vec::new(), Vec::new());
    for record in records {
        let (Some(Value::Id(memory)), Some(Value::Tags(of_memory))) = (record.first(), record.last()) else { continue };
        for tag in of_memory {
            memories.push(*memory);
            tags.push(tag.clone());
        }
    }
    (!tags.is_empty()).then(|| {
        Step::new(
            "insert into tags (tenant, memory, tag) select $1, memory, tag from unnest($2, $3) of_memory (memory, tag)",
            params![tenant.0, memories, tags],
        )
    })
}

fn mark(at: usize) -> String {
    format!("${at}")
}

/// The columns of this backend that hold one of the copy's.
fn parts(column: &Column) -> &[&'static str] {
    match column.kind {
        Kind::Words => &["once", "often", "times", "len"],
        Kind::Vector => &["scale", "vector"],
        _ => std::slice::from_ref(&column.name),
    }
}

fn names(columns: &[Column]) -> String {
    let name = |column: &Column| match column.kind {
        Kind::Json => format!("{}::text", column.name),
        Kind::Tags => {
            "array(select t.tag from tags t where t.tenant = memories.tenant and t.memory = memories.id)".to_owned()
        }
        _ => parts(column).join(", "),
    };
    match columns {
        [] => "1".to_owned(),
        columns => columns.iter().map(name).collect::<Vec<_>>().join(", "),
    }
}

fn record(row: &Row, columns: &[Column]) -> Result<Record, Fault> {
    let mut at = 0;
    let mut record = Vec::with_capacity(columns.len());
    for column in columns {
        record.push(value(row, at, column.kind)?);
        at += parts(column).len();
    }
    Ok(record)
}

fn value(row: &Row, at: usize, kind: Kind) -> Result<Value, Fault> {
    let value = match kind {
        Kind::Text => column::<Option<String>>(row, at)?.map(Value::Text),
        Kind::Json => column::<Option<String>>(row, at)?.map(Value::Json),
        Kind::Int => column::<Option<i64>>(row, at)?.map(Value::Int),
        Kind::Real => column::<Option<f64>>(row, at)?.map(Value::Real),
        Kind::Bool => column::<Option<bool>>(row, at)?.map(Value::Bool),
        Kind::Id => column::<Option<uuid::Uuid>>(row, at)?.map(Value::Id),
        Kind::Tags => Some(Value::Tags(column::<Vec<String>>(row, at)?.into_iter().collect())),
        Kind::Words => Some(Value::Words(recall::words(row, at)?)),
        Kind::Vector => recall::vector(row, at)?.map(Value::Vector),
    };
    Ok(value.unwrap_or(Value::Null))
}

fn params(value: &Value, kind: Kind) -> Vec<Param> {
    match (value, kind) {
        (Value::Int(number), _) => params![*number],
        (Value::Real(number), _) => params![*number],
        (Value::Bool(is), _) => params![*is],
        (Value::Text(text) | Value::Json(text), _) => params![text],
        (Value::Id(id), _) => params![*id],
        (Value::Words(words), _) => word_params(words),
        (Value::Vector(vector), _) => params![vector.scale, recall::vector_column(vector)],
        (Value::Null, Kind::Text | Kind::Json) => params![None::<String>],
        (Value::Null, Kind::Int) => params![None::<i64>],
        (Value::Null, Kind::Id) => params![None::<uuid::Uuid>],
        (Value::Null, Kind::Vector) => params![None::<f32>, None::<Vec<u8>>],
        // No column of these kinds is ever empty.
        (Value::Null, Kind::Real) => params![0.0],
        (Value::Null, Kind::Bool) => params![false],
        (Value::Null, Kind::Words) => word_params(&Words::default()),
        // Rows of their own.
        (Value::Tags(_), _) | (Value::Null, Kind::Tags) => Vec::new(),
    }
}

fn word_params(words: &Words) -> Vec<Param> {
    let (once, often, times, len) = recall::word_columns(words);
    params![once, often, times, len]
}
