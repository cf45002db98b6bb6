//! Tenants: operators make them; everybody else sees their own.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::TenantStanding;
use engine::admin::keys::{NewKey, Rights, Settable};
use engine::model::caller::Caller;
use engine::model::vocabulary::Role;
use serde_json::{Value, json};

use super::CONFLICT;
use super::keys::{dice, issued_example};
use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::Sent;
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::keys::{CreatedTenantView, TenantBody, TenantView};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/tenants", "tenants", list)
            .says("tenants", "List tenants", "All of them for an operator, else your own.")
            .answer::<Page<TenantView>>(StatusCode::OK, "Tenants", json!({ "items": [example()] })),
        Endpoint::new(Method::POST, "/v1/tenants", "create_tenant", create)
            .says("tenants", "Create a tenant", "Seeds it and makes a key for its first admin, which may set every header: who may make keys may speak for anybody. Operators only.")
            .body::<TenantBody>(json!({ "slug": "acme" }))
            .answer::<CreatedTenantView>(
                StatusCode::CREATED,
                "The tenant and its key",
                json!({ "tenant": example(), "admin_key": issued_example() }),
            )
            .problems(&[CONFLICT]),
    ]
}

async fn list(State(app): State<App>, who: Who) -> Result<Json<Page<TenantView>>, Problem> {
    let tenants = app.call("tenants", move |engine| Ok(engine.tenants()?)).await?;
    let own = |standing: &TenantStanding| who.operator || standing.tenant.id == who.caller.tenant;
    Ok(Json(Page::whole(tenants.into_iter().filter(own).map(TenantView::from).collect())))
}

async fn create(
    State(app): State<App>,
    who: Who,
    Sent(body): Sent<TenantBody>,
) -> Result<(StatusCode, Json<CreatedTenantView>), Problem> {
    if !who.operator {
        return Err(Problem::forbidden("policy.operators_only", "only an operator may do this"));
    }
    let random = dice()?;
    let made = app
        .call("create_tenant", move |engine| {
            let tenant = engine.create_tenant(&body.slug)?;
            // It can make keys that may set anything; so it may do so itself.
            let rights = Rights { may_set: Settable::ALL.to_vec(), ..Rights::of(Role::Admin) };
            let new = NewKey { name: "first admin".to_owned(), rights, expires_at: None };
            let issued = engine.create_key(&Caller::admin(tenant.id), new, random)?;
            Ok(CreatedTenantView {
                tenant: TenantStanding { tenant, erased_at: None }.into(),
                admin_key: issued.into(),
            })
        })
        .await?;
    Ok((StatusCode::CREATED, Json(made)))
}

fn example() -> Value {
    json!({ "id": "01980000-0000-7000-8000-000000000005", "slug": "acme", "created_at": "2026-01-01T00:00:00Z", "erased_at": null })
}
