//! Configuration of the server. Every number has a unit and a reason.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::model::caller::{Caller, Grant, MemoryPermissions};
use engine::model::key::Settable;
use engine::model::vocabulary::Role;
use serde::{Deserialize, Serialize};

/// Settings of the HTTP server. An empty string means "not set".
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
    /// OpenTelemetry collector that gets a span per request, such as `http://127.0.0.1:4318`. Only in builds with the
    /// feature `otlp`.
    pub otlp_endpoint: String,
    /// Host names this server answers to, besides loopback and IP addresses; `*` for any.
    pub hosts: Vec<String>,
    /// Web origins whose pages may call this server, such as `https://console.example.com`.
    pub origins: Vec<String>,
    /// Number of proxies in front of this server that add to `X-Forwarded-For`. The address that the outermost of them
    /// saw counts for the throttle of wrong keys; with 0 the header is not read. Only if nobody can reach this server
    /// past them.
    pub proxy_hops: usize,
    /// Whether `/metrics` needs no key and shows the whole installation to everybody. In local mode it never needs one.
    pub metrics_open: bool,
    /// Whether configured endpoints (key sets, the grant resolver) may be on loopback or private networks.
    pub private_endpoints: bool,
    /// Permissions of each role; from the configuration shared with the command line.
    #[serde(skip)]
    pub rules: BTreeMap<Role, MemoryPermissions>,
    /// Grants on systems by principal; from the configuration shared with the command line.
    #[serde(skip)]
    pub grants: BTreeMap<String, BTreeMap<String, Grant>>,
    /// Endpoint that returns the grants of a caller.
    pub grants_url: String,
    pub token: TokenConfig,
    pub limits: HttpLimits,
    /// Caller of requests without a key (local mode); `None`: a key is required. Set by a flag, never by a file.
    #[serde(skip)]
    pub local: Option<Caller>,
}

/// Default port: "INGR" on a telephone keypad.
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
            proxy_hops: 0,
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

/// Tokens of an identity provider, and the meaning of their claims. Without an issuer tokens are not accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TokenConfig {
    pub issuer: String,
    pub audience: String,
    /// Address of the provider's public keys (JWKS).
    pub jwks_url: String,
    /// Slug of the tenant for tokens without a tenant claim.
    pub tenant: String,
    /// Role for tokens without a role claim.
    pub role: Role,
    /// The provider's names for roles, where they differ.
    pub roles: BTreeMap<String, Role>,
    pub claims: ClaimNames,
    /// Identity headers that holders of tokens may set.
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

/// Names of the claims that are read; a dot descends into an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClaimNames {
    pub subject: String,
    pub tenant: String,
    pub role: String,
    pub agent: String,
    /// A list of `memory.read` and `memory.manage`; without the claim, both.
    pub rules: String,
    /// An object that maps systems to `read` or `manage`.
    pub grants: String,
}

impl Default for ClaimNames {
    fn default() -> Self {
        let name = str::to_owned;
        ClaimNames {
            subject: name("sub"),
            tenant: name("tenant"),
            role: name("role"),
            agent: name("agent"),
            rules: name("rules"),
            grants: name("grants"),
        }
    }
}

/// Bounds of the server. MCP on stdio uses those of calls too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpLimits {
    /// Largest request body: the largest document in its longest JSON escaping, with its metadata.
    pub body_bytes_max: usize,
    /// Longest time until an answer begins, and until an MCP call ends.
    pub timeout_secs: u64,
    /// Concurrent engine calls, and as many concurrent saves. Saves that wait together share one commit, so there may
    /// be far more of them than cores.
    pub calls_max: usize,
    /// Calls that may wait for a permit; the next one is refused with `http.busy`.
    pub waiting_max: usize,
    /// Calls per second that one key (or the subject of a token) may make in the long run.
    pub rate_per_second: u32,
    /// Calls that one key (or the subject of a token) may make at once.
    pub rate_burst: u32,
    /// Failed credentials with one beginning that an address may send at once, and a tenth of those it may send in all;
    /// one more is forgiven every few seconds. Good keys are let in all the same.
    pub failures_burst: u32,
    /// Concurrent connections.
    pub connections_max: usize,
    /// Longest time a client may take to send its headers.
    pub header_secs: u64,
    /// Concurrent event streams.
    pub streams_max: usize,
    /// Batches of events a slow stream may lag behind before it is closed.
    pub stream_lag_max: usize,
    /// Silence after which a stream sends a heartbeat.
    pub heartbeat_secs: u64,
    /// Time between two rounds of upkeep.
    pub upkeep_secs: u64,
    /// How long answers of the grant resolver are cached.
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
