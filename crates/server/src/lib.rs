//! The server: REST and live events over HTTP, MCP over HTTP and stdio. Async code and wire formats stay in this crate.

mod app;
mod auth;
mod chat_completion;
mod classifier;
mod config;
mod connection_timer;
mod decode_error;
mod docs;
mod edge;
mod endpoint;
mod entrance;
mod event_reader;
mod extract;
mod idempotency;
mod listen;
mod lock;
pub mod mcp;
mod metrics;
mod openapi;
#[cfg(feature = "otlp")]
mod otlp;
mod outbound;
mod problem;
mod rate_limit;
mod readiness;
mod rest;
mod stalled_socket;
mod streamed_answer;
mod summariser;
mod telemetry;
mod unread_body;
mod upkeep_loop;
pub mod wire;

pub use app::App;
pub use classifier::{ChatClassifier, ClassifierConfig};
pub use config::{ClaimNames, HttpLimits, ServerConfig, TokenConfig};
pub use docs::render_reference;
pub use listen::serve;
pub use openapi::build_document as openapi;
#[cfg(feature = "otlp")]
pub use otlp::Otlp;
pub use problem::Problem;
pub use summariser::{ChatSummariser, SummariserConfig};

use axum::Router;
use axum::middleware::from_fn_with_state;
use engine::Engine;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

/// The router with all endpoints.
pub fn router(engine: Engine, config: ServerConfig) -> Router {
    router_for_app(App::new(engine, config))
}

/// The router on a state that the caller keeps, to close its streams.
pub fn router_for_app(app: App) -> Router {
    let guarded = endpoint::build_routes(false).route_layer(from_fn_with_state(app.clone(), auth::guard_request));
    // The layer added last runs first: a request to `/mcp` is authenticated before its body is read.
    let mcp = Router::new()
        .route_service("/mcp", mcp::build_service(app.entrance.clone(), &app.config))
        .route_layer(from_fn_with_state(app.clone(), mcp::translate_response))
        .route_layer(from_fn_with_state(app.clone(), auth::guard_request));
    endpoint::build_routes(true)
        .merge(guarded)
        .merge(mcp)
        .fallback(rest::unknown_address)
        // Inside the edge layer, so that a panic is answered, counted and logged like any other problem.
        .layer(CatchPanicLayer::custom(rest::handle_panic))
        .layer(from_fn_with_state(app.clone(), edge::handle_request))
        // Outermost, because the edge layer writes the bodies of problems.
        .layer(CompressionLayer::new())
        .with_state(app)
}
