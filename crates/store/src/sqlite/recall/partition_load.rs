//! Loads a partition from the table `recall`: all rows the first time, later only the newer ones.

use std::str::FromStr;

use engine::model::id::TenantId;
use engine::model::vocabulary::{Kind, Layer, State, Trust};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::partition::{DocMeta, IndexedRow, Partition};
use crate::sqlite::fault::Fault;
use crate::sqlite::row_codec::{id_bytes, read_word};
use crate::sqlite::scopes::VisibleScope;

/// Brings a partition to the state of this transaction. Another search may have done so already.
pub(super) fn refresh_partition(
    conn: &Connection,
    tenant: TenantId,
    scope: &VisibleScope,
    model: Option<&str>,
    part: &mut Partition,
) -> Result<(), Fault> {
    if !part.has_model(model) || part.is_stale() {
        *part = Partition::default();
    }
    if part.needs_sorting() {
        part.sort_and_sign();
    }
    if part.seq < scope.recall_seq {
        // Taken out while it is loaded: a failure or panic then leaves an empty partition, which is loaded again, and
        // not half of one.
        let mut loaded = std::mem::take(part);
        read_newer(conn, tenant, scope, model, &mut loaded)?;
        loaded.seq = scope.recall_seq;
        *part = loaded;
    }
    Ok(())
}

fn read_newer(
    conn: &Connection,
    tenant: TenantId,
    scope: &VisibleScope,
    model: Option<&str>,
    part: &mut Partition,
) -> Result<(), Fault> {
    // The table holds one row per memory, so a first load replaces nothing.
    let replaces = part.seq > 0;
    if !replaces {
        part.reserve(scope.live);
    }
    if part.vectors.model.is_none() {
        part.vectors.model = model.map(str::to_owned);
    }
    let mut statement = conn.prepare_cached(
        "select memory, state, kind, layer, trust, author, updated_at, expires_at, words, model, vector, number
         from recall
         where tenant = ?1 and scope = ?2 and seq > ?3
         order by seq",
    )?;
    let mut rows = statement.query((id_bytes(tenant.0), scope.id, part.seq))?;
    let mut columns = CachedColumns::default();
    while let Some(row) = rows.next()? {
        part.check_room()?;
        let row = read_indexed_row(row, &mut columns, &mut part.vectors.model)?;
        part.put_row(row, replaces);
    }
    Ok(())
}

/// The columns that hold a word of a small vocabulary.
#[derive(Default)]
struct CachedColumns {
    state: CachedColumn<State>,
    kind: CachedColumn<Kind>,
    layer: CachedColumn<Layer>,
    trust: CachedColumn<Trust>,
}

/// The text and value of the previous row: the next row mostly has the same, and comparing is faster than parsing.
struct CachedColumn<T> {
    text: Vec<u8>,
    value: Option<T>,
}

impl<T> Default for CachedColumn<T> {
    fn default() -> Self {
        CachedColumn { text: Vec::new(), value: None }
    }
}

impl<T: Copy + FromStr<Err = engine::model::error::Error>> CachedColumn<T> {
    fn read_cached(&mut self, row: &Row<'_>, at: usize) -> Result<T, Fault> {
        match (row.get_ref(at)?, self.value) {
            (ValueRef::Text(text), Some(value)) if text == self.text => Ok(value),
            (column, _) => {
                let value = read_word(row, at)?;
                self.text = column.as_bytes().map_err(Fault::corrupt)?.to_vec();
                self.value = Some(value);
                Ok(value)
            }
        }
    }
}

/// Reads a row. Vectors of one model are kept: the one the search asks for or, where it asks for none, the first found.
fn read_indexed_row<'a>(
    row: &'a Row<'_>,
    columns: &mut CachedColumns,
    model: &mut Option<String>,
) -> Result<IndexedRow<'a>, Fault> {
    let state = columns.state.read_cached(row, 1)?;
    let mut meta = DocMeta::new(
        state,
        columns.kind.read_cached(row, 2)?,
        columns.layer.read_cached(row, 3)?,
        columns.trust.read_cached(row, 4)?,
    );
    meta.updated = row.get(6)?;
    meta.expires = row.get::<_, Option<i64>>(7)?.unwrap_or(i64::MAX);
    let author = if state == State::Constrained { Some(row.get(5)?) } else { None };
    let row_model = row.get_ref(9)?.as_str_or_null().map_err(Fault::corrupt)?;
    let vector = match row_model {
        Some(row_model) if model.as_deref().is_none_or(|model| model == row_model) => {
            model.get_or_insert_with(|| row_model.to_owned());
            row.get_ref(10)?.as_blob_or_null().map_err(Fault::corrupt)?
        }
        _ => None,
    };
    let words = row.get_ref(8)?.as_blob().map_err(Fault::corrupt)?;
    Ok(IndexedRow { memory: row.get(0)?, meta, number: row.get(11)?, author, words, vector })
}
