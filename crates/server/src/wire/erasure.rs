//! Erasure, its certificates, and bans.

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
    Pipeline,
    Tenant,
}

/// Parameters of an erasure.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Erase")]
pub struct EraseBody {
    pub what: ErasureKind,
    /// Id of the user or name of the pipeline. For a tenant: its slug, as a confirmation.
    #[schemars(length(min = 1))]
    pub name: String,
    #[serde(default, deserialize_with = "deserialize_optional_reason")]
    #[schemars(length(max = 4096))]
    pub reason: Option<String>,
    /// Do not ban the texts of a user: they may be saved again.
    #[serde(default)]
    pub may_return: bool,
}

impl EraseBody {
    pub fn to_erase_target(&self) -> EraseTarget {
        let name = self.name.clone();
        match self.what {
            ErasureKind::User => EraseTarget::User(name),
            ErasureKind::Pipeline => EraseTarget::Pipeline(name),
            ErasureKind::Tenant => EraseTarget::Tenant(name),
        }
    }
}

/// Certificate of an erasure.
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
    /// The certificate was not altered: its text matches its seal.
    sealed: bool,
    /// The event log of this database holds the same seal.
    logged: bool,
    /// None of the listed memories has content in this database.
    gone: bool,
}

/// A ban: its time, reason and scope, never the text.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(rename = "Ban")]
pub struct BanView {
    #[schemars(with = "Map<String, Value>")]
    pub ban: Ban,
}
