//! Moves everything from one database to another: row by row in the order of their keys, so that a copy that broke
//! goes on where it stopped, and compared at the end, row by row again.

mod tables;
mod value;

use std::path::PathBuf;

use engine::model::id::TenantId;
use engine::ports::{StoreError, Tenant};

pub(crate) use tables::{Column, Kind, Table};
use tables::{HEAD, tables};
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
pub struct Progress {
    pub stage: Stage,
    pub table: &'static str,
    /// Rows done of this stage, of all there are.
    pub done: u64,
    pub total: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Copying,
    Comparing,
}

/// What a copy did, and what a look at both sides afterwards showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    pub tenants: usize,
    /// Rows this call wrote; the others stood there from an earlier one.
    pub written: u64,
    pub tables: Vec<Compared>,
}

/// One table on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    pub table: &'static str,
    pub rows_from: u64,
    pub rows_to: u64,
    pub sha256_from: String,
    pub sha256_to: String,
}

impl Compared {
    pub fn is_equal(&self) -> bool {
        (self.rows_from, &self.sha256_from) == (self.rows_to, &self.sha256_to)
    }
}

impl Copied {
    pub fn is_equal(&self) -> bool {
        self.tables.iter().all(Compared::is_equal)
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
pub(crate) trait End {
    fn tenants(&mut self) -> Result<Vec<Tenant>, StoreError>;

    /// Adds a tenant without a head: nobody can write for it yet.
    fn add_tenant(&mut self, tenant: &Tenant) -> Result<(), StoreError>;

    fn count(&mut self, tenant: TenantId, table: &Table) -> Result<u64, StoreError>;

    /// The key of the last row.
    fn last(&mut self, tenant: TenantId, table: &Table) -> Result<Option<Record>, StoreError>;

    /// Rows after a key, in the order of their keys.
    fn read(
        &mut self,
        tenant: TenantId,
        table: &Table,
        after: Option<&[Value]>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError>;

    /// Adds rows, all or none.
    fn write(&mut self, tenant: TenantId, table: &Table, records: &[Record]) -> Result<(), StoreError>;

    /// Works out what this backend keeps beside the rows.
    fn settle(&mut self, tenant: TenantId) -> Result<(), StoreError>;
}

/// Copies what is missing and compares both sides. `told` hears of every batch after it is safe.
pub fn copy(from: &Database, to: &Database, told: &mut dyn FnMut(Progress)) -> Result<Copied, CopyError> {
    let mut source = source(from).map_err(CopyError::From)?;
    let mut target = target(to).map_err(CopyError::To)?;
    let tenants = source.tenants().map_err(CopyError::From)?;
    let mut copy = Copy { source: &mut *source, target: &mut *target, told, done: 0, total: 0, written: 0 };
    let complete = copy.fitting(&tenants)?;
    for tenant in &tenants {
        copy.total += copy.rows(tenant.id)?;
    }
    for tenant in &tenants {
        match complete.contains(&tenant.id) {
            true => copy.done += copy.rows(tenant.id)?,
            false => copy.tenant(tenant)?,
        }
    }
    let written = copy.written;
    Ok(Copied { tenants: tenants.len(), written, tables: copy.compare(&tenants)? })
}

fn source(from: &Database) -> Result<Box<dyn End>, StoreError> {
    match from {
        Database::Sqlite(path) => crate::sqlite::copy_source(path),
        Database::Postgres(url) => crate::postgres::copy_source(url),
    }
}

fn target(to: &Database) -> Result<Box<dyn End>, StoreError> {
    match to {
        Database::Sqlite(path) => crate::sqlite::copy_target(path),
        Database::Postgres(url) => crate::postgres::copy_target(url),
    }
}

struct Copy<'a> {
    source: &'a mut dyn End,
    target: &'a mut dyn End,
    told: &'a mut dyn FnMut(Progress),
    done: u64,
    total: u64,
    written: u64,
}

impl Copy<'_> {
    /// The tenants that are in the target already; refuses a target with anything that did not come from the source.
    fn fitting(&mut self, tenants: &[Tenant]) -> Result<Vec<TenantId>, CopyError> {
        let mut complete = Vec::new();
        for standing in self.target.tenants().map_err(CopyError::To)? {
            if !tenants.contains(&standing) {
                return Err(CopyError::Occupied(format!("it has a tenant `{}` of its own", standing.slug)));
            }
            let (there, here) = (self.head_of_target(standing.id)?, self.head_of_source(standing.id)?);
            if there.is_some() && there != here {
                let why = format!("its tenant `{}` and the source's have moved apart", standing.slug);
                return Err(CopyError::Occupied(why));
            }
            complete.extend(there.map(|_| standing.id));
        }
        Ok(complete)
    }

    fn head_of_source(&mut self, tenant: TenantId) -> Result<Option<Record>, CopyError> {
        Ok(self.source.read(tenant, &HEAD, None, 1).map_err(CopyError::From)?.pop())
    }

    fn head_of_target(&mut self, tenant: TenantId) -> Result<Option<Record>, CopyError> {
        Ok(self.target.read(tenant, &HEAD, None, 1).map_err(CopyError::To)?.pop())
    }

    fn rows(&mut self, tenant: TenantId) -> Result<u64, CopyError> {
        let mut rows = 1;
        for table in tables() {
            rows += self.source.count(tenant, table).map_err(CopyError::From)?;
        }
        Ok(rows)
    }

    fn tenant(&mut self, tenant: &Tenant) -> Result<(), CopyError> {
        self.target.add_tenant(tenant).map_err(CopyError::To)?;
        for table in tables() {
            self.table(tenant.id, table)?;
        }
        self.target.settle(tenant.id).map_err(CopyError::To)?;
        // INVARIANT: the head comes last, so that a tenant with a head is whole.
        self.table(tenant.id, &HEAD)
    }

    fn table(&mut self, tenant: TenantId, table: &'static Table) -> Result<(), CopyError> {
        let mut after = self.target.last(tenant, table).map_err(CopyError::To)?;
        self.done += self.target.count(tenant, table).map_err(CopyError::To)?;
        loop {
            let records = self.source.read(tenant, table, after.as_deref(), BATCH_ROWS).map_err(CopyError::From)?;
            let Some(last) = records.last() else { return Ok(()) };
            self.target.write(tenant, table, &records).map_err(CopyError::To)?;
            self.written += records.len() as u64;
            self.tell(Stage::Copying, table, records.len());
            after = Some(last[..table.key].to_vec());
        }
    }

    fn tell(&mut self, stage: Stage, table: &Table, rows: usize) {
        self.done += rows as u64;
        (self.told)(Progress { stage, table: table.name, done: self.done, total: self.total });
    }

    fn compare(mut self, tenants: &[Tenant]) -> Result<Vec<Compared>, CopyError> {
        self.done = 0;
        let mut compared = Vec::new();
        for table in tables().chain([&HEAD]) {
            let (mut from, mut to) = (Fingerprint::default(), Fingerprint::default());
            for tenant in tenants {
                each(self.source, tenant.id, table, &mut |records| {
                    records.iter().for_each(|record| from.add(tenant.id.0, record));
                    self.done += records.len() as u64;
                    let (done, total) = (self.done, self.total);
                    (self.told)(Progress { stage: Stage::Comparing, table: table.name, done, total });
                })
                .map_err(CopyError::From)?;
                let mut take = |records: &[Record]| records.iter().for_each(|record| to.add(tenant.id.0, record));
                each(self.target, tenant.id, table, &mut take).map_err(CopyError::To)?;
            }
            compared.push(Compared {
                table: table.name,
                rows_from: from.rows,
                rows_to: to.rows,
                sha256_from: from.hex(),
                sha256_to: to.hex(),
            });
        }
        Ok(compared)
    }
}

/// All rows of a table, a batch at a time.
fn each(
    end: &mut dyn End,
    tenant: TenantId,
    table: &'static Table,
    take: &mut dyn FnMut(&[Record]),
) -> Result<(), StoreError> {
    let mut after: Option<Record> = None;
    loop {
        let records = end.read(tenant, table, after.as_deref(), BATCH_ROWS)?;
        let Some(last) = records.last() else { return Ok(()) };
        take(&records);
        after = Some(last[..table.key].to_vec());
    }
}
