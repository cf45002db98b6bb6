//! What the server can do with vectors.

use std::collections::HashSet;
use std::fmt;
use std::sync::Mutex;

use engine::ports::change::{Change, Write};

use crate::postgres::fault::Fault;
use crate::postgres::pool::{Pool, TransactionMode};
use crate::postgres::row_codec::{Statement, params, read_column};
use crate::sync::lock;

/// How many neighbours the index looks at before it says which are nearest: more is slower and more exact.
const EF_SEARCH: u32 = 200;

pub(in crate::postgres) enum VectorSupport {
    /// pgvector is there: its version and where its operators are.
    On { version: String, schema: String, exact_max: u64 },
    /// Why not.
    Off(&'static str),
}

/// Asks the server once, when the backend opens, and prepares the pool for what it is.
pub(in crate::postgres) async fn detect_vectors(pool: &Pool) -> Result<VectorSupport, Fault> {
    let spread = Statement::new("select 1 from pg_extension where extname = 'citus'", params![]);
    let answer = pool.query_read_only(None, &[spread]).await?;
    let vectors = detect_pgvector(pool).await?;
    let is_cluster = answer.iter().flatten().next().is_some();
    pool.add_settings(vectors.transaction_settings() + if is_cluster { CLUSTER_SETTINGS } else { "" });
    Ok(vectors)
}

/// On a Citus cluster the owner's functions run on the worker the tenant lives on, and ask it again from there.
const CLUSTER_SETTINGS: &str = "set local citus.allow_nested_distributed_execution = true;";

async fn detect_pgvector(pool: &Pool) -> Result<VectorSupport, Fault> {
    let step = Statement::new(
        "select e.extversion, quote_ident(n.nspname),
           exists (select 1 from pg_attribute a where a.attrelid = 'recall'::regclass and a.attname = 'meaning')
         from pg_extension e
         join pg_namespace n on n.oid = e.extnamespace
         where e.extname = 'vector'",
        params![],
    );
    let answer = pool.query_read_only(None, &[step]).await?;
    let Some(row) = answer.iter().flatten().next() else {
        return Ok(VectorSupport::Off("pgvector is not installed: add it and run `ingrain migrate`"));
    };
    match read_column(row, 2)? {
        true => Ok(VectorSupport::On {
            version: read_column(row, 0)?,
            schema: read_column(row, 1)?,
            exact_max: pool.options.exact_max,
        }),
        false => {
            Ok(VectorSupport::Off("pgvector came after the last migration or is older than 0.8: run `ingrain migrate`"))
        }
    }
}

impl VectorSupport {
    pub(in crate::postgres) fn is_on(&self) -> bool {
        matches!(self, VectorSupport::On { .. })
    }

    /// What every transaction sets.
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
            VectorSupport::Off(why) => write!(f, "off, words only: {why}"),
        }
    }
}

/// Models whose index this process knows to be there.
#[derive(Default)]
pub(in crate::postgres) struct IndexedModels(Mutex<HashSet<(String, usize)>>);

impl IndexedModels {
    /// Models a change brings vectors of that were not met before.
    pub(in crate::postgres) fn take_new_models(&self, change: &Change) -> Vec<(String, usize)> {
        let embeddings = change.writes.iter().filter_map(|write| match write {
            Write::Entry(entry) => entry.embedding(),
            Write::SetEmbedding { embedding, .. } => Some(embedding),
            _ => None,
        });
        let mut met = lock(&self.0);
        embeddings
            .map(|embedding| (embedding.model.clone(), embedding.vector.values.len()))
            .filter(|model| met.insert(model.clone()))
            .collect()
    }
}

/// Gives a model's vectors an index. Without one they are found all the same, one by one.
pub(in crate::postgres) async fn add_model_index(pool: &Pool, model: &str, dimensions: usize) -> Result<(), Fault> {
    let dimensions = i32::try_from(dimensions).map_err(Fault::corrupt)?;
    let step = Statement::new("select add_model($1, $2)", params![model, dimensions]);
    let session = pool.acquire().await?;
    session.run_transaction(&pool.begin_sql(None, TransactionMode::Write), &[step], "commit").await.map(drop)
}
