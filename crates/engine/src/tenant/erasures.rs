//! Erasures of a tenant: a save that began before an erasure must not be committed after it.

use jiff::Timestamp;

use crate::Engine;
use crate::model::error::Error;
use crate::model::guard::Guard;
use crate::model::id::TenantId;
use crate::model::row::{RowFilter, RowKind};
use crate::model::time::is_ahead;

/// State of certificates of tenant erasures; those of users and single memories have others.
const TENANT_ERASURE_STATE: &str = "tenant";

/// Most certificates that are counted.
const ERASURES_MAX: usize = 10_000;

/// Guard that the tenant was not erased since its erasures were counted.
pub(crate) fn erasure_count_guard(count: u64) -> Guard {
    Guard::RowCountIs { kind: RowKind::Certificates, state: TENANT_ERASURE_STATE, count }
}

/// Number of erasures of the tenant.
pub(crate) fn count_erasures(engine: &Engine, tenant: TenantId) -> Result<u64, Error> {
    let erasures =
        RowFilter { state: Some(TENANT_ERASURE_STATE.to_owned()), limit: ERASURES_MAX, ..RowFilter::default() };
    Ok(engine.backend.list_rows(tenant, RowKind::Certificates, &erasures)?.len() as u64)
}

/// As [`count_erasures`], from the cache. A write that relies on it needs [`erasure_count_guard`].
pub(crate) fn cached_erasure_count(engine: &Engine, tenant: TenantId) -> Result<u64, Error> {
    if let Some(count) = engine.tenant_cache.erasure_count(tenant) {
        return Ok(count);
    }
    let count = count_erasures(engine, tenant)?;
    engine.tenant_cache.cache_erasure_count(tenant, count);
    Ok(count)
}

/// Fails if the tenant was erased after a save began. Without this check, the retry of a save whose guard failed
/// because of the erasure would write the erased text again.
pub(crate) fn ensure_not_erased_since(engine: &Engine, tenant: TenantId, began_at: Timestamp) -> Result<(), Error> {
    let newest = RowFilter {
        state: Some(TENANT_ERASURE_STATE.to_owned()),
        newest_first: true,
        limit: 1,
        ..RowFilter::default()
    };
    let certificates = engine.backend.list_rows(tenant, RowKind::Certificates, &newest)?;
    match certificates.first() {
        // Made by a clock that was set back since: long over, and else every save would fail until that time.
        Some(certificate) if is_ahead(certificate.at, engine.clock.now()) => Ok(()),
        // An erasure in the same microsecond counts as later.
        Some(certificate) if certificate.at >= began_at => {
            Err(Error::conflict("conflict.erased", "the tenant was erased in the meantime; nothing was saved"))
        }
        _ => Ok(()),
    }
}
