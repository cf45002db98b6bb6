//! From the table into a part: all of it the first time, afterwards only what is newer.

use std::str::FromStr;

use engine::model::id::TenantId;
use engine::model::vocabulary::{Kind, Layer, State, Trust};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::partition::{DocMeta, IndexedRow, Partition};
use crate::sqlite::fault::Fault;
use crate::sqlite::row_codec::{id_bytes, read_word};
use crate::sqlite::scopes::VisibleScope;

/// Brings a part to the moment of this transaction. Somebody else may have done so meanwhile.
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
        // A read that fails half-way must not leave half a part.
        let mut whole = std::mem::take(part);
        read_newer(conn, tenant, scope, model, &mut whole)?;
        whole.seq = scope.recall_seq;
        *part = whole;
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
    let mut words = CachedColumns::default();
    while let Some(row) = rows.next()? {
        part.check_room()?;
        let row = read_indexed_row(row, &mut words, &mut part.vectors.model)?;
        part.put_row(row, replaces);
    }
    Ok(())
}

/// The columns that hold one of a few words.
#[derive(Default)]
struct CachedColumns {
    state: CachedColumn<State>,
    kind: CachedColumn<Kind>,
    layer: CachedColumn<Layer>,
    trust: CachedColumn<Trust>,
}

/// What the row before said, because the next mostly says the same.
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
            (said, _) => {
                let value = read_word(row, at)?;
                self.text = said.as_bytes().map_err(Fault::corrupt)?.to_vec();
                self.value = Some(value);
                Ok(value)
            }
        }
    }
}

/// The first model met is the one kept, where nobody asked for one.
fn read_indexed_row<'a>(
    row: &'a Row<'_>,
    words: &mut CachedColumns,
    model: &mut Option<String>,
) -> Result<IndexedRow<'a>, Fault> {
    let state = words.state.read_cached(row, 1)?;
    let mut meta = DocMeta::new(
        state,
        words.kind.read_cached(row, 2)?,
        words.layer.read_cached(row, 3)?,
        words.trust.read_cached(row, 4)?,
    );
    meta.updated = row.get(6)?;
    meta.expires = row.get::<_, Option<i64>>(7)?.unwrap_or(i64::MAX);
    let author = if state == State::Constrained { Some(row.get(5)?) } else { None };
    let made_by = row.get_ref(9)?.as_str_or_null().map_err(Fault::corrupt)?;
    let vector = match made_by {
        Some(made_by) if model.as_deref().is_none_or(|model| model == made_by) => {
            model.get_or_insert_with(|| made_by.to_owned());
            row.get_ref(10)?.as_blob_or_null().map_err(Fault::corrupt)?
        }
        _ => None,
    };
    let words = row.get_ref(8)?.as_blob().map_err(Fault::corrupt)?;
    Ok(IndexedRow { memory: row.get(0)?, meta, number: row.get(11)?, author, words, vector })
}
