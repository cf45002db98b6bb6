//! Endpoints for operators: health, readiness, metrics, and the pages that describe the API.

use std::net::SocketAddr;

use axum::Json;
use axum::extract::{ConnectInfo, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use engine::model::caller::Caller;
use engine::model::error::Error;
use engine::model::vocabulary::Role;
use serde_json::{Value, json};

use crate::app::App;
use crate::endpoint::Endpoint;
use crate::metrics::Gauges;
use crate::problem::Problem;
use crate::{auth, docs, openapi};

pub(super) fn health_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/healthz", "healthz", healthz)
            .with_description("watch", "Liveness", "")
            .with_plain_answer(StatusCode::OK, "Alive", "text/plain")
            .with_public_access(),
        Endpoint::new(Method::GET, "/readyz", "readyz", readyz)
            .with_description(
                "watch",
                "Readiness",
                "Checks within 2 seconds that the database answers, has its migrations and can be written.",
            )
            .with_json_answer::<Value>(
                StatusCode::OK,
                "Ready",
                json!({ "status": "ready", "database": "sqlite", "migration": 1 }),
            )
            .with_problems(&[(StatusCode::SERVICE_UNAVAILABLE, "Not ready")])
            .with_public_access(),
        Endpoint::new(Method::GET, "/metrics", "metrics", show_metrics)
            .with_description(
                "watch",
                "Counters",
                "Prometheus text. Operators see the whole installation, other admins their tenant. Needs a key unless \
                 the configuration makes it public.",
            )
            .with_plain_answer(StatusCode::OK, "Counters", "text/plain")
            .with_public_access(),
        Endpoint::new(Method::GET, "/openapi.json", "openapi", show_openapi)
            .with_description("watch", "This API as OpenAPI 3.1", "")
            .with_json_answer::<Value>(StatusCode::OK, "The document", json!({ "openapi": "3.1.0" }))
            .with_public_access(),
        Endpoint::new(Method::GET, "/docs", "docs", show_docs)
            .with_description("watch", "This API as a page", "")
            .with_plain_answer(StatusCode::OK, "The page", "text/html")
            .with_public_access(),
    ]
}

async fn healthz() -> &'static str {
    // Without the database: a failed liveness probe restarts the process, which would not bring the database back.
    "ok\n"
}

async fn readyz(State(app): State<App>) -> Result<Json<Value>, Problem> {
    // Every server error becomes a 503: the prober asks whether the server is ready, and the code says why not.
    app.readiness.check(&app).await.map(Json).map_err(Problem::into_unavailable)
}

/// Authenticates by itself, not by the guard of other routes: whether a key is needed depends on configuration.
async fn show_metrics(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if !app.config.metrics_open && app.config.local.is_none() {
        let auth = auth::authenticate_request(&app, peer.ip(), &headers).await?;
        if auth.caller.role != Role::Admin {
            return Err(Problem::forbidden("policy.admins_only", "only an admin may do this"));
        }
        if !auth.operator {
            return show_tenant_metrics(&app, auth.caller).await;
        }
    }
    let health = app.entrance.call("ready", |engine| Ok(engine.database().health().map_err(Error::from)?)).await?;
    let gauges = Gauges {
        queue_depth: app.entrance.queue_depth(),
        running: app.entrance.running_count(),
        memories: health.memories,
        bytes: health.bytes,
        findings: app.entrance.engine().scan_counters().counts(),
    };
    Ok(metrics_page(app.metrics.render_page(&gauges)))
}

/// The page of a tenant's admin: counts of that tenant only.
async fn show_tenant_metrics(app: &App, caller: Caller) -> Result<Response, Problem> {
    let tenant = caller.tenant;
    let usage = app.entrance.call("ready", move |engine| Ok(engine.tenant_usage(&caller)?)).await?;
    let live_memories = usage.stores.iter().map(|store| store.live).sum();
    Ok(metrics_page(app.metrics.render_tenant_page(tenant, live_memories)))
}

fn metrics_page(text: String) -> Response {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}

async fn show_openapi() -> Response {
    ([(CACHE_CONTROL, "public, max-age=300")], Json(openapi::build_document())).into_response()
}

async fn show_docs() -> Response {
    // The page holds its styles, no script and no asset from elsewhere.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
    let headers = [(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, policy)];
    (headers, docs::render_page()).into_response()
}
