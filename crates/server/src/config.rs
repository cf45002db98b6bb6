//! What configuration can say about the server. Every number has a unit and a reason.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::model::caller::{Caller, Grant, MemoryPermissions};
use engine::model::key::Settable;
use engine::model::vocabulary::Role;
use serde::{Deserialize, Serialize};

/// Settings of the HTTP door. An empty text means "not set".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// Address to listen at.
    pub host: String,
    pub port: u16,
    /// `text` or `json`, on stderr.
    pub log: String,
    /// `error`, `warn`, `info`, `debug` or `off`.
    pub log_level: String,
    /// An OpenTelemetry collector that gets a span of every request, such as `http://127.0.0.1:4318`. In builds with
    /// the feature `otlp`.
    pub otlp_endpoint: String,
    /// Names this server answers to, besides loopback and plain addresses; `*` for any.
    pub hosts: Vec<String>,
    /// Web origins that may call from a browser, such as `https://console.example.com`.
    pub origins: Vec<String>,
    /// Whether `/metrics` needs no key. In local mode it never does.
    pub metrics_open: bool,
    /// Whether configured endpoints (key sets, the grant resolver) may be on loopback or private networks.
    pub private_endpoints: bool,
    /// Rules each role holds; comes from the configuration shared with the command line.
    #[serde(skip)]
    pub rules: BTreeMap<Role, MemoryPermissions>,
    /// Grants on systems by principal; comes from the configuration shared with the command line.
    #[serde(skip)]
    pub grants: BTreeMap<String, BTreeMap<String, Grant>>,
    /// Asked for the grants of whoever calls.
    pub grants_url: String,
    pub token: TokenConfig,
    pub limits: HttpLimits,
    /// Who calls without a key, where anybody may. Set by a flag, never by a file.
    #[serde(skip)]
    pub local: Option<Caller>,
}

/// The port nobody else claims: "INGR" on a telephone's keys.
const PORT: u16 = 4647;

impl Default for ServerConfig {
    fn default() -> Self {
        ServerConfig {
            host: "127.0.0.1".to_owned(),
            port: PORT,
            log: "text".to_owned(),
            log_level: "info".to_owned(),
            otlp_endpoint: String::new(),
            hosts: Vec::new(),
            origins: Vec::new(),
            metrics_open: false,
            private_endpoints: false,
            rules: BTreeMap::new(),
            grants: BTreeMap::new(),
            grants_url: String::new(),
            token: TokenConfig::default(),
            limits: HttpLimits::default(),
            local: None,
        }
    }
}

/// Tokens of an identity provider, and what their claims mean here. Without an issuer there are none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TokenConfig {
    pub issuer: String,
    pub audience: String,
    /// Where the provider's public keys are.
    pub jwks_url: String,
    /// Slug of the tenant of tokens that name none.
    pub tenant: String,
    /// Role of tokens that name none.
    pub role: Role,
    /// The provider's words for roles, where they are not ours.
    pub roles: BTreeMap<String, Role>,
    pub claims: ClaimNames,
    /// What holders of tokens may say about themselves in headers.
    pub may_set: Vec<Settable>,
}

impl Default for TokenConfig {
    fn default() -> Self {
        TokenConfig {
            issuer: String::new(),
            audience: String::new(),
            jwks_url: String::new(),
            tenant: String::new(),
            role: Role::User,
            roles: BTreeMap::new(),
            claims: ClaimNames::default(),
            may_set: Vec::new(),
        }
    }
}

/// Names of the claims that are read; a dot goes into an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClaimNames {
    pub subject: String,
    pub tenant: String,
    pub role: String,
    pub agent: String,
    /// A list holding `memory.read`, `memory.manage`; where absent, both.
    pub rules: String,
    /// An object of system to `read` or `manage`.
    pub grants: String,
}

impl Default for ClaimNames {
    fn default() -> Self {
        let of = str::to_owned;
        ClaimNames {
            subject: of("sub"),
            tenant: of("tenant"),
            role: of("role"),
            agent: of("agent"),
            rules: of("rules"),
            grants: of("grants"),
        }
    }
}

/// Bounds of the HTTP door.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpLimits {
    /// Largest request body: the largest document, escaped at its worst, with its metadata.
    pub body_bytes_max: usize,
    /// Longest a request may take before its answer begins.
    pub timeout_secs: u64,
    /// Engine calls at once, and as many saves. These wait for one disk together, so many share one commit.
    pub calls_max: usize,
    /// Calls that may wait for a turn; the next is told to come back.
    pub waiting_max: usize,
    /// Calls one principal may make each second, for long.
    pub rate_per_second: u32,
    /// Calls one principal may make in one go.
    pub rate_burst: u32,
    /// Failed credentials one address may send in one go; one more is forgiven every few seconds.
    pub failures_burst: u32,
    /// Connections at once.
    pub connections_max: usize,
    /// Longest a client may take to send its headers.
    pub header_secs: u64,
    /// Event streams at once.
    pub streams_max: usize,
    /// Batches of events a slow stream may lag behind before it is dropped.
    pub stream_lag_max: usize,
    /// Silence after which a stream says that it is alive.
    pub heartbeat_secs: u64,
    /// Between two rounds of upkeep.
    pub upkeep_secs: u64,
    /// Answers of the grant resolver are believed so long.
    pub grants_cache_secs: u64,
}

impl Default for HttpLimits {
    fn default() -> Self {
        HttpLimits {
            body_bytes_max: 1 << 20,
            timeout_secs: 30,
            calls_max: 64,
            waiting_max: 1_024,
            rate_per_second: 500,
            rate_burst: 1_000,
            failures_burst: 20,
            connections_max: 4_096,
            header_secs: 10,
            streams_max: 2_000,
            stream_lag_max: 256,
            heartbeat_secs: 15,
            upkeep_secs: 60,
            grants_cache_secs: 30,
        }
    }
}

impl HttpLimits {
    pub(crate) fn request_timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_secs)
    }

    pub(crate) fn heartbeat_interval(&self) -> Duration {
        Duration::from_secs(self.heartbeat_secs)
    }
}
