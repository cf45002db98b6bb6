//! Tenants: operators create and list all of them, other callers see their own.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::TenantStatus;
use engine::admin::keys::NewKey;
use engine::model::caller::Caller;
use engine::model::key::{KeyRights, Settable};
use engine::model::vocabulary::Role;
use serde_json::{Value, json};

use super::CONFLICT;
use super::keys::{issued_example, random_key_bytes};
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::JsonBody;
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::tenants::{CreatedTenantView, NewTenantBody, TenantView};

pub(super) fn tenant_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/tenants", "tenants", list_tenants)
            .with_description("tenants", "List tenants", "For operators all tenants, for others their own.")
            .with_json_answer::<Page<TenantView>>(StatusCode::OK, "Tenants", json!({ "items": [tenant_example()] })),
        Endpoint::new(Method::POST, "/v1/tenants", "create_tenant", create_tenant)
            .with_description(
                "tenants",
                "Create a tenant",
                "Seeds it and creates a key for its first admin. That key may set every identity header, because \
                 an admin can create such keys anyway. Operators only.",
            )
            .with_body::<NewTenantBody>(json!({ "slug": "acme" }))
            .with_json_answer::<CreatedTenantView>(
                StatusCode::CREATED,
                "The tenant and its key",
                json!({ "tenant": tenant_example(), "admin_key": issued_example() }),
            )
            .with_problems(&[CONFLICT]),
    ]
}

async fn list_tenants(State(app): State<App>, auth: AuthenticatedCaller) -> Result<Json<Page<TenantView>>, Problem> {
    let tenants = app.entrance.call("tenants", move |engine| Ok(engine.tenants()?)).await?;
    // The engine lists all tenants; only operators may see those of others.
    let visible = |status: &TenantStatus| auth.operator || status.tenant.id == auth.caller.tenant;
    Ok(Json(Page::from_items(tenants.into_iter().filter(visible).map(TenantView::from).collect())))
}

/// Person of a tenant's first key, whose name nobody knows yet.
const FIRST_ADMIN: &str = "first-admin";

async fn create_tenant(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<NewTenantBody>,
) -> Result<(StatusCode, Json<CreatedTenantView>), Problem> {
    if !auth.operator {
        return Err(Problem::forbidden("policy.operators_only", "only an operator may do this"));
    }
    let random = random_key_bytes()?;
    let created = app
        .entrance
        .call("create_tenant", move |engine| {
            let tenant = engine.create_tenant(&body.slug)?;
            // An admin can issue keys that may set every header, so the first key may set them too.
            let (user, may_set) = (Some(FIRST_ADMIN.to_owned()), Settable::ALL.to_vec());
            let rights = KeyRights { user, may_set, ..KeyRights::for_role(Role::Admin) };
            let new = NewKey { name: "first admin".to_owned(), rights, expires_at: None };
            let issued = engine.create_key(&Caller::admin(tenant.id), new, random)?;
            Ok(CreatedTenantView { tenant: TenantStatus { tenant, erased_at: None }.into(), admin_key: issued.into() })
        })
        .await?;
    app.authenticator.admit_new_keys().await;
    Ok((StatusCode::CREATED, Json(created)))
}

fn tenant_example() -> Value {
    json!({
        "id": "01980000-0000-7000-8000-000000000005", "slug": "acme", "created_at": "2026-01-01T00:00:00Z",
        "erased_at": null,
    })
}
