//! Upkeep on request, and the usage of a tenant and of the installation.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::UpkeepOptions;
use engine::model::error::Error;
use serde_json::json;

use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::problem::Problem;
use crate::wire::upkeep::{InstallationView, StoreUsageView, TenantUsageView, UpkeepView};

pub(super) fn upkeep_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/upkeep", "upkeep", run_upkeep)
            .with_description(
                "upkeep",
                "Run upkeep now",
                "Expiry, decay and missing vectors. The server also does it by itself. Admins only.",
            )
            .with_json_answer::<UpkeepView>(StatusCode::OK, "Counts", json!({ "expired": 0, "embedded": 0 })),
        Endpoint::new(Method::GET, "/v1/usage", "usage", show_usage)
            .with_description(
                "upkeep",
                "Usage",
                "Number of active memories in each store; for operators also of the whole installation. Admins only.",
            )
            .with_json_answer::<TenantUsageView>(
                StatusCode::OK,
                "Usage",
                json!({ "stores": [{ "store": "conversation_memory", "live": 3 }], "last_event": 12 }),
            ),
    ]
}

async fn run_upkeep(State(app): State<App>, auth: AuthenticatedCaller) -> Result<Json<UpkeepView>, Problem> {
    let done = app
        .entrance
        .call("upkeep", move |engine| Ok(engine.upkeep_now(&auth.caller, UpkeepOptions::default())?))
        .await?;
    // A map of counters rather than fields, so that a new kind of upkeep shows up without a change here.
    let done: BTreeMap<String, u64> =
        serde_json::to_value(done).and_then(serde_json::from_value).map_err(|_| Problem::internal())?;
    Ok(Json(UpkeepView { done }))
}

async fn show_usage(State(app): State<App>, auth: AuthenticatedCaller) -> Result<Json<TenantUsageView>, Problem> {
    let work = move |engine: &engine::Engine| {
        let usage = engine.tenant_usage(&auth.caller)?;
        // Totals of the installation would tell a tenant about the others.
        let installation = match auth.operator {
            true => {
                let health = engine.database().health().map_err(Error::from)?;
                let tenants = engine.database().list_tenants().map_err(Error::from)?.len();
                Some(InstallationView {
                    tenants,
                    memories: health.memories,
                    bytes: health.bytes,
                    backend: health.backend,
                    migration: health.migration,
                })
            }
            false => None,
        };
        let stores = usage.stores.into_iter().map(StoreUsageView::from).collect();
        Ok(TenantUsageView { stores, last_event: usage.last_event, installation })
    };
    Ok(Json(app.entrance.call("usage", work).await?))
}
