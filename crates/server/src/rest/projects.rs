//! Projects: listing, renaming and merging. An erasure (`/v1/erasures`) deletes one.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::NOT_FOUND;
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::{JsonBody, PathParam};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::projects::{MergeBody, ProjectView, RenameBody};

const TAG: &str = "projects";

pub(super) fn project_endpoints() -> Vec<Endpoint> {
    let changed = |endpoint: Endpoint| {
        endpoint.with_json_answer::<ProjectView>(StatusCode::OK, "The project", example()).with_problems(&[NOT_FOUND])
    };
    vec![
        Endpoint::new(Method::GET, "/v1/projects", "projects", list_projects)
            .with_description(TAG, "List projects", "All projects for an admin, else your own.")
            .with_json_answer::<Page<ProjectView>>(StatusCode::OK, "Projects", json!({ "items": [example()] })),
        changed(Endpoint::new(Method::GET, "/v1/projects/{name}", "project", show_project).with_description(
            TAG,
            "One project",
            "By its name or a former one; write `/` as `%2F`.",
        )),
        changed(
            Endpoint::new(Method::POST, "/v1/projects/{name}/rename", "rename_project", rename_project)
                .with_description(TAG, "Rename a project", "The old name keeps working. Admins only.")
                .with_body::<RenameBody>(json!({ "to": "github.com/acme/store" })),
        ),
        changed(
            Endpoint::new(Method::POST, "/v1/projects/{name}/merge", "merge_project", merge_project)
                .with_description(
                    TAG,
                    "Merge a project into another one",
                    "Members of either read both and save into the other. No memory is moved. Admins only.",
                )
                .with_body::<MergeBody>(json!({ "into": "github.com/acme/shop" })),
        ),
        changed(
            Endpoint::new(Method::POST, "/v1/projects/{name}/unmerge", "unmerge_project", unmerge_project)
                .with_description(TAG, "Undo a rename or merge", "Admins only."),
        ),
    ]
}

async fn list_projects(State(app): State<App>, auth: AuthenticatedCaller) -> Result<Json<Page<ProjectView>>, Problem> {
    let projects = app.entrance.call("projects", move |engine| Ok(engine.projects(&auth.caller)?)).await?;
    Ok(Json(Page::from_items(projects.into_iter().map(ProjectView::from).collect())))
}

async fn show_project(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(name): PathParam<String>,
) -> Result<Json<ProjectView>, Problem> {
    let project = app.entrance.call("project", move |engine| Ok(engine.project(&auth.caller, &name)?)).await?;
    Ok(Json(project.into()))
}

async fn rename_project(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(name): PathParam<String>,
    JsonBody(body): JsonBody<RenameBody>,
) -> Result<Json<ProjectView>, Problem> {
    let rename = move |engine: &engine::Engine| Ok(engine.rename_project(&auth.caller, &name, &body.to)?);
    Ok(Json(app.entrance.call("rename_project", rename).await?.into()))
}

async fn merge_project(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(name): PathParam<String>,
    JsonBody(body): JsonBody<MergeBody>,
) -> Result<Json<ProjectView>, Problem> {
    let merge = move |engine: &engine::Engine| Ok(engine.merge_project(&auth.caller, &name, &body.into)?);
    Ok(Json(app.entrance.call("merge_project", merge).await?.into()))
}

async fn unmerge_project(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    PathParam(name): PathParam<String>,
) -> Result<Json<ProjectView>, Problem> {
    let unmerge = move |engine: &engine::Engine| Ok(engine.unmerge_project(&auth.caller, &name)?);
    Ok(Json(app.entrance.call("unmerge_project", unmerge).await?.into()))
}

fn example() -> Value {
    json!({
        "name": "github.com/acme/shop", "merged": [], "memories": 12, "stores": { "project_memory": 12 },
        "last_saved_at": "2026-01-01T00:00:00Z",
    })
}
