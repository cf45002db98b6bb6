//! Erasures of a tenant: a save that began before one is not written after it.
use jiff::Timestamp;

use crate::Engine;
use crate::model::error::Error;
use crate::model::guard::Guard;
use crate::model::id::TenantId;
use crate::model::row::{RowFilter, RowKind};

/// How certificates of tenants are told from others.
const TENANT_ERASURE_STATE: &str = "tenant";

/// Erasures of one tenant that are counted.
const ERASURES_MAX: usize = 10_000;

/// The tenant was not erased since it was looked at: what was let in before that is not written after it.
pub(crate) fn erasure_count_guard(count: u64) -> Guard {
    Guard::RowCountIs { kind: RowKind::Certificates, state: TENANT_ERASURE_STATE, count }
}

/// How often the tenant was erased.
pub(crate) fn count_erasures(engine: &Engine, tenant: TenantId) -> Result<u64, Error> {
    let erasures =
        RowFilter { state: Some(TENANT_ERASURE_STATE.to_owned()), limit: ERASURES_MAX, ..RowFilter::default() };
    Ok(engine.backend.list_rows(tenant, RowKind::Certificates, &erasures)?.len() as u64)
}

/// As [`Engine::erasures`], as last read.
pub(crate) fn cached_erasure_count(engine: &Engine, tenant: TenantId) -> Result<u64, Error> {
    if let Some(count) = engine.tenant_cache.erasure_count(tenant) {
        return Ok(count);
    }
    let count = count_erasures(engine, tenant)?;
    engine.tenant_cache.cache_erasure_count(tenant, count);
    Ok(count)
}

/// What was begun before the tenant was erased does not go on after it.
pub(crate) fn ensure_not_erased_since(engine: &Engine, tenant: TenantId, begun: Timestamp) -> Result<(), Error> {
    let newest = RowFilter {
        state: Some(TENANT_ERASURE_STATE.to_owned()),
        newest_first: true,
        limit: 1,
        ..RowFilter::default()
    };
    let certificates = engine.backend.list_rows(tenant, RowKind::Certificates, &newest)?;
    match certificates.first() {
        Some(certificate) if certificate.at >= begun => {
            Err(Error::conflict("conflict.erased", "the tenant was erased meanwhile; nothing was saved"))
        }
        _ => Ok(()),
    }
}
