//! Detects pgvector, and creates vector indexes.

use std::collections::HashSet;
use std::fmt;
use std::sync::Mutex;

use engine::ports::change::{Change, Write};

use crate::postgres::fault::Fault;
use crate::postgres::pool::{Pool, TransactionMode};
use crate::postgres::row_codec::{Statement, params, read_column};
use crate::sync::lock;

/// `hnsw.ef_search`: candidates that an index scan keeps. More is slower and more exact.
const EF_SEARCH: u32 = 200;

/// Whether the server can search vectors.
pub(in crate::postgres) enum VectorSupport {
    /// With pgvector: its version and the schema of its operators.
    On { version: String, schema: String, exact_max: u64 },
    /// Without; the reason, for people.
    Off(&'static str),
}

/// Detects the extensions when the backend opens, and adds the settings they need to the pool.
pub(in crate::postgres) async fn detect_vectors(pool: &Pool) -> Result<VectorSupport, Fault> {
    let citus = Statement::new("select 1 from pg_extension where extname = 'citus'", params![]);
    let results = pool.query_read_only(None, &[citus]).await?;
    let vectors = detect_pgvector(pool).await?;
    let is_cluster = results.iter().flatten().next().is_some();
    pool.add_settings(vectors.transaction_settings() + if is_cluster { CLUSTER_SETTINGS } else { "" });
    Ok(vectors)
}

/// On a Citus cluster the owner's functions run on the worker that holds the tenant and query distributed tables there.
const CLUSTER_SETTINGS: &str = "set local citus.allow_nested_distributed_execution = true;";

async fn detect_pgvector(pool: &Pool) -> Result<VectorSupport, Fault> {
    let statement = Statement::new(
        "select e.extversion, quote_ident(n.nspname),
           exists (select 1 from pg_attribute a where a.attrelid = 'recall'::regclass and a.attname = 'meaning')
         from pg_extension e
         join pg_namespace n on n.oid = e.extnamespace
         where e.extname = 'vector'",
        params![],
    );
    let results = pool.query_read_only(None, &[statement]).await?;
    let Some(row) = results.iter().flatten().next() else {
        return Ok(VectorSupport::Off("pgvector is not installed: add it and run `ingrain migrate`"));
    };
    match read_column(row, 2)? {
        true => Ok(VectorSupport::On {
            version: read_column(row, 0)?,
            schema: read_column(row, 1)?,
            exact_max: pool.options.exact_max,
        }),
        false => Ok(VectorSupport::Off(
            "pgvector was added after the last migration or is older than 0.8: run `ingrain migrate`",
        )),
    }
}

impl VectorSupport {
    pub(in crate::postgres) fn is_on(&self) -> bool {
        matches!(self, VectorSupport::On { .. })
    }

    /// Settings of every transaction.
    fn transaction_settings(&self) -> String {
        match self {
            VectorSupport::On { schema, .. } => format!(
                "set local search_path = ingrain, {schema}; set local hnsw.iterative_scan = strict_order;
                 set local hnsw.ef_search = {EF_SEARCH};"
            ),
            VectorSupport::Off(_) => "set local search_path = ingrain;".to_owned(),
        }
    }
}

impl fmt::Display for VectorSupport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VectorSupport::On { version, exact_max, .. } => {
                write!(f, "pgvector {version}: exact up to {exact_max} visible memories, HNSW beyond")
            }
            VectorSupport::Off(reason) => write!(f, "off, words only: {reason}"),
        }
    }
}

/// Models, with their dimensions, whose index this process has requested.
#[derive(Default)]
pub(in crate::postgres) struct IndexedModels(Mutex<HashSet<(String, usize)>>);

impl IndexedModels {
    /// Models of the vectors in a change that were not seen before; marks them as seen.
    pub(in crate::postgres) fn take_new_models(&self, change: &Change) -> Vec<(String, usize)> {
        let embeddings = change.writes.iter().filter_map(|write| match write {
            Write::Entry(entry) => entry.embedding(),
            Write::SetEmbedding { embedding, .. } => Some(embedding),
            _ => None,
        });
        let mut seen = lock(&self.0);
        embeddings
            .map(|embedding| (embedding.model.clone(), embedding.vector.values.len()))
            .filter(|model| seen.insert(model.clone()))
            .collect()
    }
}

/// Creates the index for a model's vectors. Without it they are compared one by one.
pub(in crate::postgres) async fn add_model_index(pool: &Pool, model: &str, dimensions: usize) -> Result<(), Fault> {
    let dimensions = i32::try_from(dimensions).map_err(Fault::corrupt)?;
    let statement = Statement::new("select add_model($1, $2)", params![model, dimensions]);
    let session = pool.acquire().await?;
    session.run_transaction(&pool.begin_sql(None, TransactionMode::Write), &[statement], "commit").await.map(drop)
}
