//! Copies a whole database to another one, of the same or the other backend. Rows go in the order of their keys, so
//! that an interrupted copy continues where it stopped; at the end both sides are read again and compared.

mod tables;
mod value;

use std::path::PathBuf;

use engine::model::error::StoreError;
use engine::model::id::TenantId;
use engine::ports::Tenant;

pub(crate) use tables::{Column, ColumnKind, Table};
use tables::{HEAD_TABLE, copied_tables};
use value::Fingerprint;
pub(crate) use value::{Record, Value};

/// Rows per batch. A version may hold 100 kB, so a batch stays below 30 MB.
const BATCH_ROWS: usize = 256;

/// A database by its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Database {
    Sqlite(PathBuf),
    /// By URL.
    Postgres(String),
}

/// Progress of a copy, reported after each batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyProgress {
    pub stage: CopyStage,
    pub table: &'static str,
    /// Rows of this stage handled so far, and rows in the source.
    pub done: u64,
    pub total: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyStage {
    Copying,
    Comparing,
}

/// Outcome of a copy, with the comparison of both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyReport {
    pub tenants: usize,
    /// Rows this call wrote, without those an earlier, interrupted call had written.
    pub written: u64,
    pub tables: Vec<TableComparison>,
}

/// Row counts and fingerprints of one table on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableComparison {
    pub table: &'static str,
    pub rows_from: u64,
    pub rows_to: u64,
    pub sha256_from: String,
    pub sha256_to: String,
}

impl TableComparison {
    pub fn is_equal(&self) -> bool {
        (self.rows_from, &self.sha256_from) == (self.rows_to, &self.sha256_to)
    }
}

impl CopyReport {
    pub fn is_equal(&self) -> bool {
        self.tables.iter().all(TableComparison::is_equal)
    }
}

/// Why a copy failed or was refused.
#[derive(Debug)]
pub enum CopyError {
    /// The target holds data that did not come from this source; the reason, for people.
    Occupied(String),
    /// The source failed.
    From(StoreError),
    /// The target failed.
    To(StoreError),
}

/// One end of a copy. Both are read; only the target is written.
pub(crate) trait CopyEndpoint {
    fn list_tenants(&mut self) -> Result<Vec<Tenant>, StoreError>;

    /// Adds a tenant without its row in `heads`, so that nothing can write to it yet.
    fn add_tenant(&mut self, tenant: &Tenant) -> Result<(), StoreError>;

    fn count_rows(&mut self, tenant: TenantId, table: &Table) -> Result<u64, StoreError>;

    /// Key of the last row in key order; `None` where the table is empty.
    fn last_key(&mut self, tenant: TenantId, table: &Table) -> Result<Option<Record>, StoreError>;

    /// Rows after a key, in key order.
    fn read_rows(
        &mut self,
        tenant: TenantId,
        table: &Table,
        after: Option<&[Value]>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError>;

    /// Inserts rows in one transaction.
    fn write_rows(&mut self, tenant: TenantId, table: &Table, records: &[Record]) -> Result<(), StoreError>;

    /// Computes the columns of this backend that are derived from the copied rows.
    fn update_derived_columns(&mut self, tenant: TenantId) -> Result<(), StoreError>;

    /// Called at the end: what is kept outside the database about an earlier one in its place no longer counts.
    fn finish(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Copies the missing rows and compares both sides. Calls `on_progress` after each batch is committed.
pub fn copy_database(
    from: &Database,
    to: &Database,
    on_progress: &mut dyn FnMut(CopyProgress),
) -> Result<CopyReport, CopyError> {
    // First, because opening a SQLite target creates its file: a wrong source must not leave one behind.
    let mut source = open_source(from).map_err(CopyError::From)?;
    let mut target = open_target(to).map_err(CopyError::To)?;
    let tenants = source.list_tenants().map_err(CopyError::From)?;
    let mut copy = CopyJob { source: &mut *source, target: &mut *target, on_progress, done: 0, total: 0, written: 0 };
    let complete = copy.find_complete_tenants(&tenants)?;
    for tenant in &tenants {
        copy.total += copy.count_rows(tenant.id)?;
    }
    for tenant in &tenants {
        match complete.contains(&tenant.id) {
            true => copy.done += copy.count_rows(tenant.id)?,
            false => copy.copy_tenant(tenant)?,
        }
    }
    copy.target.finish().map_err(CopyError::To)?;
    let written = copy.written;
    Ok(CopyReport { tenants: tenants.len(), written, tables: copy.compare_tables(&tenants)? })
}

fn open_source(from: &Database) -> Result<Box<dyn CopyEndpoint>, StoreError> {
    match from {
        Database::Sqlite(path) => crate::sqlite::open_copy_source(path),
        Database::Postgres(url) => crate::postgres::open_copy_source(url),
    }
}

fn open_target(to: &Database) -> Result<Box<dyn CopyEndpoint>, StoreError> {
    match to {
        Database::Sqlite(path) => crate::sqlite::open_copy_target(path),
        Database::Postgres(url) => crate::postgres::open_copy_target(url),
    }
}

struct CopyJob<'a> {
    source: &'a mut dyn CopyEndpoint,
    target: &'a mut dyn CopyEndpoint,
    on_progress: &'a mut dyn FnMut(CopyProgress),
    done: u64,
    total: u64,
    written: u64,
}

impl CopyJob<'_> {
    /// Tenants that the target already holds in full. Refuses a target with data that did not come from this source.
    fn find_complete_tenants(&mut self, tenants: &[Tenant]) -> Result<Vec<TenantId>, CopyError> {
        let mut complete = Vec::new();
        for existing in self.target.list_tenants().map_err(CopyError::To)? {
            // Compared as a whole, so that another tenant with the same slug does not pass for this one.
            if !tenants.contains(&existing) {
                return Err(CopyError::Occupied(format!("it has a tenant `{}` of its own", existing.slug)));
            }
            let (target_head, source_head) = (self.target_head(existing.id)?, self.source_head(existing.id)?);
            // A tenant without a head is half copied; one with another head was written to after the copy.
            if target_head.is_some() && target_head != source_head {
                let reason =
                    format!("its tenant `{}` has changed since it was copied, or the source has", existing.slug);
                return Err(CopyError::Occupied(reason));
            }
            complete.extend(target_head.map(|_| existing.id));
        }
        Ok(complete)
    }

    fn source_head(&mut self, tenant: TenantId) -> Result<Option<Record>, CopyError> {
        Ok(self.source.read_rows(tenant, &HEAD_TABLE, None, 1).map_err(CopyError::From)?.pop())
    }

    fn target_head(&mut self, tenant: TenantId) -> Result<Option<Record>, CopyError> {
        Ok(self.target.read_rows(tenant, &HEAD_TABLE, None, 1).map_err(CopyError::To)?.pop())
    }

    fn count_rows(&mut self, tenant: TenantId) -> Result<u64, CopyError> {
        // One for the head, which `copied_tables` leaves out.
        let mut rows = 1;
        for table in copied_tables() {
            rows += self.source.count_rows(tenant, table).map_err(CopyError::From)?;
        }
        Ok(rows)
    }

    fn copy_tenant(&mut self, tenant: &Tenant) -> Result<(), CopyError> {
        self.target.add_tenant(tenant).map_err(CopyError::To)?;
        for table in copied_tables() {
            self.copy_table(tenant.id, table)?;
        }
        self.target.update_derived_columns(tenant.id).map_err(CopyError::To)?;
        // INVARIANT: the head is written last, so a tenant with a head is complete.
        self.copy_table(tenant.id, &HEAD_TABLE)
    }

    fn copy_table(&mut self, tenant: TenantId, table: &'static Table) -> Result<(), CopyError> {
        // Rows are written in key order, so everything up to the last key is there already.
        let mut after = self.target.last_key(tenant, table).map_err(CopyError::To)?;
        self.done += self.target.count_rows(tenant, table).map_err(CopyError::To)?;
        loop {
            let records =
                self.source.read_rows(tenant, table, after.as_deref(), BATCH_ROWS).map_err(CopyError::From)?;
            let Some(last) = records.last() else { return Ok(()) };
            self.target.write_rows(tenant, table, &records).map_err(CopyError::To)?;
            self.written += records.len() as u64;
            self.report_progress(CopyStage::Copying, table, records.len());
            // Empty for `heads`, for which `select_sql` then returns nothing more.
            after = Some(last[..table.key].to_vec());
        }
    }

    fn report_progress(&mut self, stage: CopyStage, table: &Table, rows: usize) {
        self.done += rows as u64;
        (self.on_progress)(CopyProgress { stage, table: table.name, done: self.done, total: self.total });
    }

    fn compare_tables(mut self, tenants: &[Tenant]) -> Result<Vec<TableComparison>, CopyError> {
        self.done = 0;
        let mut compared = Vec::new();
        for table in copied_tables().chain([&HEAD_TABLE]) {
            let (mut from, mut to) = (Fingerprint::default(), Fingerprint::default());
            // In the source's order on both sides, because the hash depends on the order of rows.
            for tenant in tenants {
                for_each_batch(self.source, tenant.id, table, &mut |records| {
                    records.iter().for_each(|record| from.add_record(tenant.id.0, record));
                    self.done += records.len() as u64;
                    let (done, total) = (self.done, self.total);
                    (self.on_progress)(CopyProgress { stage: CopyStage::Comparing, table: table.name, done, total });
                })
                .map_err(CopyError::From)?;
                let mut add = |records: &[Record]| records.iter().for_each(|record| to.add_record(tenant.id.0, record));
                for_each_batch(self.target, tenant.id, table, &mut add).map_err(CopyError::To)?;
            }
            compared.push(TableComparison {
                table: table.name,
                rows_from: from.rows,
                rows_to: to.rows,
                sha256_from: from.into_hex(),
                sha256_to: to.into_hex(),
            });
        }
        Ok(compared)
    }
}

/// Calls `visit` with all rows of a table, batch by batch.
fn for_each_batch(
    endpoint: &mut dyn CopyEndpoint,
    tenant: TenantId,
    table: &'static Table,
    visit: &mut dyn FnMut(&[Record]),
) -> Result<(), StoreError> {
    let mut after: Option<Record> = None;
    loop {
        let records = endpoint.read_rows(tenant, table, after.as_deref(), BATCH_ROWS)?;
        let Some(last) = records.last() else { return Ok(()) };
        visit(&records);
        after = Some(last[..table.key].to_vec());
    }
}
