//! Erasure, its certificates, and bans on erased values.

use engine::EraseTarget;
use engine::removal::certificate::{Certificate, CertificateCheck};
use engine::tenant::bans::Ban;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::deserialize::deserialize_optional_reason;

/// Kind of the erased subject.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Erasable")]
pub enum ErasureKind {
    User,
    Project,
    Pipeline,
    Tenant,
}

/// An erasure.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Erase")]
pub struct EraseBody {
    pub what: ErasureKind,
    /// The user's id, the name of the project or pipeline, or, as a safeguard, the slug of your own tenant.
    #[schemars(length(min = 1))]
    pub name: String,
    #[serde(default, deserialize_with = "deserialize_optional_reason")]
    #[schemars(length(max = 4096))]
    pub reason: Option<String>,
    /// Whether the user's values may be saved again.
    #[serde(default)]
    pub may_return: bool,
}

impl EraseBody {
    pub fn to_erase_target(&self) -> EraseTarget {
        let name = self.name.clone();
        match self.what {
            ErasureKind::User => EraseTarget::User(name),
            ErasureKind::Project => EraseTarget::Project(name),
            ErasureKind::Pipeline => EraseTarget::Pipeline(name),
            ErasureKind::Tenant => EraseTarget::Tenant(name),
        }
    }
}

/// The certificate of an erasure.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(rename = "Certificate")]
pub struct CertificateView {
    #[schemars(with = "Map<String, Value>")]
    pub certificate: Certificate,
}

/// Result of checking a certificate.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(rename = "CheckedCertificate")]
pub struct CheckedCertificateView {
    #[schemars(with = "CheckedShape")]
    pub verified: CertificateCheck,
}

#[derive(JsonSchema)]
#[schemars(rename = "Checked")]
#[expect(dead_code, reason = "only its schema is used: the engine's own type is written")]
struct CheckedShape {
    valid: bool,
    /// The certificate matches its seal.
    sealed: bool,
    /// The log of this database holds the same seal.
    logged: bool,
    /// Nothing it lists can be read any more.
    gone: bool,
}

/// A ban on a value: when, why and where, never the value.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(rename = "Ban")]
pub struct BanView {
    #[schemars(with = "Map<String, Value>")]
    pub ban: Ban,
}
