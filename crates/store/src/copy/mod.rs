//! Moves everything from one database to another: row by row in the order of their keys, so that a copy that broke
//! goes on where it stopped, and compared at the end, row by row again.

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

/// Rows read and written at a time. A version may hold 100 kB, so a batch stays below 30 MB.
const BATCH_ROWS: usize = 256;

/// A database, by where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Database {
    Sqlite(PathBuf),
    Postgres(String),
}

/// How far a copy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyProgress {
    pub stage: CopyStage,
    pub table: &'static str,
    /// Rows done of this stage, of all there are.
    pub done: u64,
    pub total: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyStage {
    Copying,
    Comparing,
}

/// What a copy did, and what a look at both sides afterwards showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyReport {
    pub tenants: usize,
    /// Rows this call wrote; the others stood there from an earlier one.
    pub written: u64,
    pub tables: Vec<TableComparison>,
}

/// One table on both sides.
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

/// Why nothing, or not everything, was copied.
#[derive(Debug)]
pub enum CopyError {
    /// The target holds something else; the reason in words.
    Occupied(String),
    From(StoreError),
    To(StoreError),
}

/// One end of a copy. Both are read; only the target is written.
pub(crate) trait CopyEndpoint {
    fn list_tenants(&mut self) -> Result<Vec<Tenant>, StoreError>;

    /// Adds a tenant without a head: nobody can write for it yet.
    fn add_tenant(&mut self, tenant: &Tenant) -> Result<(), StoreError>;

    fn count_rows(&mut self, tenant: TenantId, table: &Table) -> Result<u64, StoreError>;

    /// The key of the last row.
    fn last_key(&mut self, tenant: TenantId, table: &Table) -> Result<Option<Record>, StoreError>;

    /// Rows after a key, in the order of their keys.
    fn read_rows(
        &mut self,
        tenant: TenantId,
        table: &Table,
        after: Option<&[Value]>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError>;

    /// Adds rows, all or none.
    fn write_rows(&mut self, tenant: TenantId, table: &Table, records: &[Record]) -> Result<(), StoreError>;

    /// Works out what this backend keeps beside the rows.
    fn update_derived_columns(&mut self, tenant: TenantId) -> Result<(), StoreError>;
}

/// Copies what is missing and compares both sides. `told` hears of every batch after it is safe.
pub fn copy_database(
    from: &Database,
    to: &Database,
    told: &mut dyn FnMut(CopyProgress),
) -> Result<CopyReport, CopyError> {
    let mut source = open_source(from).map_err(CopyError::From)?;
    let mut target = open_target(to).map_err(CopyError::To)?;
    let tenants = source.list_tenants().map_err(CopyError::From)?;
    let mut copy =
        CopyJob { source: &mut *source, target: &mut *target, on_progress: told, done: 0, total: 0, written: 0 };
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
    /// The tenants that are in the target already; refuses a target with anything that did not come from the source.
    fn find_complete_tenants(&mut self, tenants: &[Tenant]) -> Result<Vec<TenantId>, CopyError> {
        let mut complete = Vec::new();
        for standing in self.target.list_tenants().map_err(CopyError::To)? {
            if !tenants.contains(&standing) {
                return Err(CopyError::Occupied(format!("it has a tenant `{}` of its own", standing.slug)));
            }
            let (there, here) = (self.target_head(standing.id)?, self.source_head(standing.id)?);
            if there.is_some() && there != here {
                let why = format!("its tenant `{}` and the source's have moved apart", standing.slug);
                return Err(CopyError::Occupied(why));
            }
            complete.extend(there.map(|_| standing.id));
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
        // INVARIANT: the head comes last, so that a tenant with a head is whole.
        self.copy_table(tenant.id, &HEAD_TABLE)
    }

    fn copy_table(&mut self, tenant: TenantId, table: &'static Table) -> Result<(), CopyError> {
        let mut after = self.target.last_key(tenant, table).map_err(CopyError::To)?;
        self.done += self.target.count_rows(tenant, table).map_err(CopyError::To)?;
        loop {
            let records =
                self.source.read_rows(tenant, table, after.as_deref(), BATCH_ROWS).map_err(CopyError::From)?;
            let Some(last) = records.last() else { return Ok(()) };
            self.target.write_rows(tenant, table, &records).map_err(CopyError::To)?;
            self.written += records.len() as u64;
            self.report_progress(CopyStage::Copying, table, records.len());
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
            for tenant in tenants {
                for_each_batch(self.source, tenant.id, table, &mut |records| {
                    records.iter().for_each(|record| from.add_record(tenant.id.0, record));
                    self.done += records.len() as u64;
                    let (done, total) = (self.done, self.total);
                    (self.on_progress)(CopyProgress { stage: CopyStage::Comparing, table: table.name, done, total });
                })
                .map_err(CopyError::From)?;
                let mut take =
                    |records: &[Record]| records.iter().for_each(|record| to.add_record(tenant.id.0, record));
                for_each_batch(self.target, tenant.id, table, &mut take).map_err(CopyError::To)?;
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

/// All rows of a table, a batch at a time.
fn for_each_batch(
    end: &mut dyn CopyEndpoint,
    tenant: TenantId,
    table: &'static Table,
    take: &mut dyn FnMut(&[Record]),
) -> Result<(), StoreError> {
    let mut after: Option<Record> = None;
    loop {
        let records = end.read_rows(tenant, table, after.as_deref(), BATCH_ROWS)?;
        let Some(last) = records.last() else { return Ok(()) };
        take(&records);
        after = Some(last[..table.key].to_vec());
    }
}
