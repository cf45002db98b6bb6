//! The door over HTTP, behind the same gatekeeper as REST.

use std::sync::{Arc, OnceLock};

use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use engine::Engine;
use engine::caller::Caller;
use rmcp::model::ErrorData;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::watch;

use super::caller::{Origin, Session};
use super::{Door, Setup, Toolset};
use crate::config::ServerConfig;

/// The service behind `/mcp`. Hosts and origins were checked by the layers before it, which know the configuration.
pub(crate) fn service(engine: Engine, config: &ServerConfig) -> StreamableHttpService<Door, LocalSessionManager> {
    let transport = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(config.limits.body_bytes_max);
    // One for all: over HTTP in the newer era, who changes the tools and who listens are different requests.
    let changes = watch::Sender::new(0);
    let door = move || {
        let session = Session { conversation: engine.clock.fresh_id().to_string(), holder: Arc::new(OnceLock::new()) };
        // Replaced by the caller of each request; until then it is a nobody without a tenant.
        let nobody = Caller::agent(engine::id::TenantId(uuid::Uuid::nil()), "nobody");
        let door = Door::new(engine.clone(), nobody, Setup::default());
        Ok(Door { origin: Origin::Request(session), changes: changes.clone(), ..door })
    };
    StreamableHttpService::new(door, Arc::new(LocalSessionManager::default()), transport)
}

/// A session's end leaves nothing to say: some clients take the library's 202 for a failure.
pub(crate) async fn ended(request: Request, next: Next) -> Response {
    let ending = request.method() == Method::DELETE;
    let mut response = next.run(request).await;
    if ending && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    response
}

/// The address may choose the tools: `/mcp?tools=core,note&write_tools=never`. It grants nothing the caller lacks.
pub(super) fn setup(standing: &Setup, query: &str) -> Result<Setup, ErrorData> {
    let mut setup = standing.clone();
    let wrong = |error: engine::error::Error| ErrorData::invalid_params(error.to_string(), None);
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        match name {
            "tools" => {
                let words = value.split(',').flat_map(|word| word.split("%2C"));
                setup.toolsets = words.map(str::parse).collect::<Result<Vec<Toolset>, _>>().map_err(wrong)?;
            }
            "write_tools" => setup.write_tools = value.parse().map_err(wrong)?,
            _ => {}
        }
    }
    Ok(setup)
}
