//! Tenants.

use engine::model::id::TenantId;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::keys::IssuedKeyView;
use super::schema_words::{Id, Moment};

/// A tenant to create.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewTenant")]
pub struct NewTenantBody {
    #[schemars(length(min = 1, max = 64), extend("pattern" = "^[a-z0-9_-]+$"))]
    pub slug: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Tenant")]
pub struct TenantView {
    #[schemars(with = "Id")]
    pub id: TenantId,
    pub slug: String,
    #[schemars(with = "Moment")]
    pub created_at: Timestamp,
    /// Time of its erasure, if it was erased and is still empty.
    #[schemars(with = "Option<Moment>")]
    pub erased_at: Option<Timestamp>,
}

impl From<engine::TenantStatus> for TenantView {
    fn from(status: engine::TenantStatus) -> TenantView {
        let engine::TenantStatus { tenant, erased_at } = status;
        TenantView { id: tenant.id, slug: tenant.slug, created_at: tenant.created_at, erased_at }
    }
}

/// A new tenant, with a key for its first admin.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "CreatedTenant")]
pub struct CreatedTenantView {
    pub tenant: TenantView,
    pub admin_key: IssuedKeyView,
}
