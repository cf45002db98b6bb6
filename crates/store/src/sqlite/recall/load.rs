//! From the table into a part: all of it the first time, afterwards only what is newer.

use engine::id::TenantId;
use engine::ports::StoreError;
use engine::vocabulary::State;
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
        part.postings.sort();
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
    while let Some(row) = rows.next()? {
        if part.is_full() {
            return Err(StoreError::Unavailable("a place holds more memories than can be searched".to_owned()).into());
        }
        let row = indexed(row, &mut part.vectors.model)?;
        part.put(row, replaces);
    }
    Ok(())
}

/// The first model met is the one kept, where nobody asked for one.
fn indexed<'a>(row: &'a Row<'_>, model: &mut Option<String>) -> Result<Indexed<'a>, Fault> {
    let state: State = word(row, 1)?;
    let mut meta = Meta::new(state, word(row, 2)?, word(row, 3)?, word(row, 4)?);
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
