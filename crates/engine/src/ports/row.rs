//! Side records: everything that is kept beside memories, in tables of one shape.
//!
//! A review, a run, a key or a receipt is found by id, state, subject or parent and otherwise read whole. One shape
//! means one code path a backend, so a new noun costs neither backend a line.

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::id::TenantId;
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::ports::{Backend, cursor};

/// Reads one noun by id.
pub fn get_record<T: SideRecord>(backend: &dyn Backend, tenant: TenantId, id: &str) -> Result<Option<T>, Error> {
    backend.get_row(tenant, T::KIND, id)?.map(T::from_row).transpose()
}

/// So many rows that the caller may see, page by page: others between them do not make the answer shorter.
pub(crate) fn select_visible<T: SideRecord>(
    backend: &dyn Backend,
    tenant: TenantId,
    filter: &RowFilter,
    sees: impl Fn(&T) -> bool,
) -> Result<Vec<T>, Error> {
    let (mut seen, mut filter) = (Vec::new(), filter.clone());
    let most = filter.limit;
    loop {
        let page: Vec<T> = select_records(backend, tenant, &filter)?;
        let last = page.len() < filter.limit;
        filter.after = page.last().map(|row| (row.row_time(), row.row_id()));
        seen.extend(page.into_iter().filter(&sees));
        if last || seen.len() >= most {
            seen.truncate(most);
            return Ok(seen);
        }
    }
}

/// Which stretch of a listing: where it goes on, and how many.
#[derive(Clone, Debug, Default)]
pub struct Paging {
    /// The [`Stretch::next`] of the stretch before.
    pub after: Option<String>,
    pub limit: Option<usize>,
}

/// A stretch of a listing, and the word for where the next begins.
#[derive(Clone, Debug)]
pub struct RecordPage<T> {
    pub items: Vec<T>,
    pub next: Option<String>,
}

/// As [`select_seen`], a stretch of it: so many, after where the stretch before ended.
pub(crate) fn select_page<T: SideRecord>(
    backend: &dyn Backend,
    tenant: TenantId,
    filter: RowFilter,
    after: Option<&str>,
    limit: usize,
    sees: impl Fn(&T) -> bool,
) -> Result<RecordPage<T>, Error> {
    let after = after.map(|word| cursor::decode_time_cursor(T::KIND.as_str(), word)).transpose()?;
    let mut items = select_visible(backend, tenant, &RowFilter { after, limit: limit + 1, ..filter }, sees)?;
    let more = items.len() > limit;
    items.truncate(limit);
    let next = items
        .last()
        .filter(|_| more)
        .map(|last| cursor::encode_time_cursor(T::KIND.as_str(), last.row_time(), &last.row_id()));
    Ok(RecordPage { items, next })
}

/// Reads nouns by their columns.
pub fn select_records<T: SideRecord>(
    backend: &dyn Backend,
    tenant: TenantId,
    filter: &RowFilter,
) -> Result<Vec<T>, Error> {
    backend.list_rows(tenant, T::KIND, filter)?.into_iter().map(T::from_row).collect()
}

pub(crate) fn for_each_row(
    engine: &Engine,
    caller: &Caller,
    kind: RowKind,
    mut visit: impl FnMut(&crate::model::row::Row),
) -> Result<(), Error> {
    let mut filter = RowFilter { limit: engine.limits().list_max, ..RowFilter::default() };
    loop {
        let rows = engine.backend.list_rows(caller.tenant, kind, &filter)?;
        rows.iter().for_each(&mut visit);
        match rows.last() {
            Some(last) if rows.len() == filter.limit => filter.after = Some((last.at, last.id.clone())),
            _ => return Ok(()),
        }
    }
}
