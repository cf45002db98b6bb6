//! Reading side records (see `model/row.rs`): by id, by filter, and in pages with visibility applied.

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::id::TenantId;
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::ports::{Backend, cursor};

/// Reads one record by id.
pub fn get_record<T: SideRecord>(backend: &dyn Backend, tenant: TenantId, id: &str) -> Result<Option<T>, Error> {
    backend.get_row(tenant, T::KIND, id)?.map(T::from_row).transpose()
}

/// Reads `filter.limit` records that pass `sees`. Reads further pages until there are enough, so that hidden records do
/// not shorten the result.
pub(crate) fn select_visible<T: SideRecord>(
    backend: &dyn Backend,
    tenant: TenantId,
    filter: &RowFilter,
    sees: impl Fn(&T) -> bool,
) -> Result<Vec<T>, Error> {
    let (mut visible, mut filter) = (Vec::new(), filter.clone());
    let limit = filter.limit;
    loop {
        let page: Vec<T> = select_records(backend, tenant, &filter)?;
        let is_last = page.len() < filter.limit;
        filter.after = page.last().map(|row| (row.row_time(), row.row_id()));
        visible.extend(page.into_iter().filter(&sees));
        if is_last || visible.len() >= limit {
            visible.truncate(limit);
            return Ok(visible);
        }
    }
}

/// The page of a listing to return.
#[derive(Clone, Debug, Default)]
pub struct Paging {
    /// [`RecordPage::next`] of the page before.
    pub after: Option<String>,
    pub limit: Option<usize>,
}

/// A page of a listing; `next` is the cursor token of the next one, if there is one.
#[derive(Clone, Debug)]
pub struct RecordPage<T> {
    pub items: Vec<T>,
    pub next: Option<String>,
}

/// As [`select_visible`], one page after a cursor token.
pub(crate) fn select_page<T: SideRecord>(
    backend: &dyn Backend,
    tenant: TenantId,
    filter: RowFilter,
    after: Option<&str>,
    limit: usize,
    sees: impl Fn(&T) -> bool,
) -> Result<RecordPage<T>, Error> {
    let after = after.map(|token| cursor::decode_time_cursor(T::KIND.as_str(), token)).transpose()?;
    // One more than wanted, to know whether there is a next page.
    let mut items = select_visible(backend, tenant, &RowFilter { after, limit: limit + 1, ..filter }, sees)?;
    let more = items.len() > limit;
    items.truncate(limit);
    let next = items
        .last()
        .filter(|_| more)
        .map(|last| cursor::encode_time_cursor(T::KIND.as_str(), last.row_time(), &last.row_id()));
    Ok(RecordPage { items, next })
}

/// Reads records by filter.
pub fn select_records<T: SideRecord>(
    backend: &dyn Backend,
    tenant: TenantId,
    filter: &RowFilter,
) -> Result<Vec<T>, Error> {
    backend.list_rows(tenant, T::KIND, filter)?.into_iter().map(T::from_row).collect()
}

/// Visits all rows of a kind, page by page, oldest first.
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
