//! To be watched: health, readiness, metrics; and the pages that describe the API.

use std::net::SocketAddr;

use axum::Json;
use axum::extract::{ConnectInfo, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use engine::model::error::Error;
use engine::model::vocabulary::Role;
use serde_json::{Value, json};

use crate::app::App;
use crate::endpoint::Endpoint;
use crate::metrics::Gauges;
use crate::problem::Problem;
use crate::{auth, docs, openapi};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/healthz", "healthz", healthz)
            .says("watch", "Is it alive?", "")
            .plain(StatusCode::OK, "Alive", "text/plain")
            .open(),
        Endpoint::new(Method::GET, "/readyz", "readyz", readyz)
            .says("watch", "Can it work?", "Database, migrations and model.")
            .answer::<Value>(
                StatusCode::OK,
                "Ready",
                json!({ "status": "ready", "database": "sqlite", "migration": 1 }),
            )
            .problems(&[(StatusCode::SERVICE_UNAVAILABLE, "Not ready")])
            .open(),
        Endpoint::new(Method::GET, "/metrics", "metrics", metrics)
            .says("watch", "Counters", "Prometheus text. Needs an admin's key unless configured open.")
            .plain(StatusCode::OK, "Counters", "text/plain")
            .open(),
        Endpoint::new(Method::GET, "/openapi.json", "openapi", description)
            .says("watch", "This API as OpenAPI 3.1", "")
            .answer::<Value>(StatusCode::OK, "The document", json!({ "openapi": "3.1.0" }))
            .open(),
        Endpoint::new(Method::GET, "/docs", "docs", page)
            .says("watch", "This API as a page", "")
            .plain(StatusCode::OK, "The page", "text/html")
            .open(),
    ]
}

async fn healthz() -> &'static str {
    "ok\n"
}

async fn readyz(State(app): State<App>) -> Result<Json<Value>, Problem> {
    let ready = app.call("ready", |engine| {
        let health = engine.backend.health().map_err(Error::from)?;
        Ok(json!({
            "status": "ready", "database": health.backend, "migration": health.migration, "vectors": health.vectors,
            "model": engine.embedder.model(),
        }))
    });
    // Whatever keeps it from working, a prober is told that it is not ready, and by the code why.
    ready.await.map(Json).map_err(Problem::into_unavailable)
}

async fn metrics(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if !app.config.metrics_open && app.config.local.is_none() {
        let who = auth::admitted(&app, peer.ip(), &headers).await?;
        if who.caller.role != Role::Admin {
            return Err(Problem::forbidden("policy.admins_only", "only an admin may do this"));
        }
    }
    let health = app.call("ready", |engine| Ok(engine.backend.health().map_err(Error::from)?)).await?;
    let gauges = Gauges {
        queue_depth: app.queue_depth(),
        running: app.running(),
        memories: health.memories,
        bytes: health.bytes,
        findings: app.engine.known.tally.counts(),
    };
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4")], app.metrics.page(&gauges)).into_response())
}

async fn description() -> Response {
    ([(CACHE_CONTROL, "public, max-age=300")], Json(openapi::document())).into_response()
}

async fn page() -> Response {
    // No script, no outside asset; the styles are in the page.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
    let headers = [(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, policy)];
    (headers, docs::page()).into_response()
}
