//! What the server can do with vectors.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use engine::ports::change::{Change, Write};

use crate::postgres::fault::Fault;
use crate::postgres::pool::{Mode, Pool};
use crate::postgres::rows::{Step, column, params};

/// How many neighbours the index looks at before it says which are nearest: more is slower and more exact.
const EF_SEARCH: u32 = 200;

pub(in crate::postgres) enum Vectors {
    /// pgvector is there: its version and where its operators are.
    On { version: String, schema: String, exact_max: u64 },
    /// Why not.
    Off(&'static str),
}

/// Asks the server once, when the backend opens, and prepares the pool for what it is.
pub(in crate::postgres) async fn vectors(pool: &Pool) -> Result<Vectors, Fault> {
    let spread = Step::new("select 1 from pg_extension where extname = 'citus'", params![]);
    let answer = pool.read(None, &[spread]).await?;
    let vectors = extension(pool).await?;
    let is_cluster = answer.iter().flatten().next().is_some();
    pool.prepare(vectors.settings() + if is_cluster { CLUSTER } else { "" });
    Ok(vectors)
}

/// On a Citus cluster the owner's functions run on the worker the tenant lives on, and ask it again from there.
const CLUSTER: &str = "set local citus.allow_nested_distributed_execution = true;";

async fn extension(pool: &Pool) -> Result<Vectors, Fault> {
    let step = Step::new(
        "select e.extversion, quote_ident(n.nspname),
           exists (select 1 from pg_attribute a where a.attrelid = 'recall'::regclass and a.attname = 'meaning')
         from pg_extension e
         join pg_namespace n on n.oid = e.extnamespace
         where e.extname = 'vector'",
        params![],
    );
    let answer = pool.read(None, &[step]).await?;
    let Some(row) = answer.iter().flatten().next() else {
        return Ok(Vectors::Off("pgvector is not installed: add it and run `ingrain migrate`"));
    };
    match column(row, 2)? {
        true => {
            Ok(Vectors::On { version: column(row, 0)?, schema: column(row, 1)?, exact_max: pool.options.exact_max })
        }
        false => Ok(Vectors::Off("pgvector came after the last migration or is older than 0.8: run `ingrain migrate`")),
    }
}

impl Vectors {
    pub(in crate::postgres) fn is_on(&self) -> bool {
        matches!(self, Vectors::On { .. })
    }

    /// What every transaction sets.
    fn settings(&self) -> String {
        match self {
            Vectors::On { schema, .. } => format!(
                "set local search_path = ingrain, {schema}; set local hnsw.iterative_scan = strict_order;
                 set local hnsw.ef_search = {EF_SEARCH};"
            ),
            Vectors::Off(_) => "set local search_path = ingrain;".to_owned(),
        }
    }
}

impl fmt::Display for Vectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Vectors::On { version, exact_max, .. } => {
                write!(f, "pgvector {version}: exact up to {exact_max} visible memories, HNSW beyond")
            }
            Vectors::Off(why) => write!(f, "off, words only: {why}"),
        }
    }
}

/// Models whose index this process knows to be there.
#[derive(Default)]
pub(in crate::postgres) struct Models(Mutex<HashSet<(String, usize)>>);

impl Models {
    /// Models a change brings vectors of that were not met before.
    pub(in crate::postgres) fn unmet(&self, change: &Change) -> Vec<(String, usize)> {
        let embeddings = change.writes.iter().filter_map(|write| match write {
            Write::Entry(entry) => entry.embedding(),
            Write::Embedded { embedding, .. } => Some(embedding),
            _ => None,
        });
        let mut met = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        embeddings
            .map(|embedding| (embedding.model.clone(), embedding.vector.values.len()))
            .filter(|model| met.insert(model.clone()))
            .collect()
    }
}

/// Gives a model's vectors an index. Without one they are found all the same, one by one.
pub(in crate::postgres) async fn add_model(pool: &Pool, model: &str, dimensions: usize) -> Result<(), Fault> {
    let dimensions = i32::try_from(dimensions).map_err(Fault::corrupt)?;
    let step = Step::new("select add_model($1, $2)", params![model, dimensions]);
    let session = pool.acquire().await?;
    session.transaction(&pool.open(None, Mode::Write), &[step], "commit").await.map(drop)
}
