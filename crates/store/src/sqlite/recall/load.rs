//! From the table into a part: all of it the first time, afterwards only what is newer.

use std::str::FromStr;

use engine::model::id::TenantId;
use engine::model::vocabulary::{Kind, Layer, State, Trust};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::partition::{Indexed, Meta, Partition};
use crate::sqlite::fault::Fault;
use crate::sqlite::rows::{key, word};
use crate::sqlite::scopes::Seen;

/// Brings a part to the moment of this transaction. Somebody else may have done so meanwhile.
pub(super) fn bring_up(
    conn: &Connection,
    tenant: TenantId,
    scope: &Seen,
    model: Option<&str>,
    part: &mut Partition,
) -> Result<(), Fault> {
    if !part.has_model(model) || part.is_stale() {
        *part = Partition::default();
    }
    if part.owes_sorting() {
        part.sort();
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
    scope: &Seen,
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
    let mut rows = statement.query((key(tenant.0), scope.id, part.seq))?;
    let mut words = Columns::default();
    while let Some(row) = rows.next()? {
        part.check_room()?;
        let row = indexed(row, &mut words, &mut part.vectors.model)?;
        part.put(row, replaces);
    }
    Ok(())
}

/// The columns that hold one of a few words.
#[derive(Default)]
struct Columns {
    state: Column<State>,
    kind: Column<Kind>,
    layer: Column<Layer>,
    trust: Column<Trust>,
}

/// What the row before said, because the next mostly says the same.
struct Column<T> {
    text: Vec<u8>,
    value: Option<T>,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Column { text: Vec::new(), value: None }
    }
}

impl<T: Copy + FromStr<Err = engine::model::error::Error>> Column<T> {
    fn read(&mut self, row: &Row<'_>, at: usize) -> Result<T, Fault> {
        match (row.get_ref(at)?, self.value) {
            (ValueRef::Text(text), Some(value)) if text == self.text => Ok(value),
            (said, _) => {
                let value = word(row, at)?;
                self.text = said.as_bytes().map_err(Fault::corrupt)?.to_vec();
                self.value = Some(value);
                Ok(value)
            }
        }
    }
}

/// The first model met is the one kept, where nobody asked for one.
fn indexed<'a>(row: &'a Row<'_>, words: &mut Columns, model: &mut Option<String>) -> Result<Indexed<'a>, Fault> {
    let state = words.state.read(row, 1)?;
    let mut meta = Meta::new(state, words.kind.read(row, 2)?, words.layer.read(row, 3)?, words.trust.read(row, 4)?);
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
    Ok(Indexed { memory: row.get(0)?, meta, number: row.get(11)?, author, words, vector })
}
