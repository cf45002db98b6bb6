//! The knowledge base: ingest, publish, remove, list and search documents; and the list of skills.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::ports::row::Paging;
use engine::{DocumentText, Engine};
use serde_json::{Value, json};

use super::NOT_FOUND;
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::{JsonBody, QueryParams};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::documents::{
    DocumentParams, DocumentView, IngestBody, IngestedView, KnowledgeSearchBody, PassagesView, PublishBody,
    RemoveParams, RemovedView, SkillBody,
};
use crate::wire::search::HitView;

const TAG: &str = "documents";

pub(super) fn document_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/documents", "ingest", ingest_document)
            .with_description(
                TAG,
                "Ingest a document",
                "Cuts it into chunks, each through the gate. Repeating the request changes nothing; a changed text \
                 replaces the chunks that changed. Admins only.",
            )
            .with_body::<IngestBody>(
                json!({ "path": "guides/turbines.md", "text": "# Turbines\n\nOil them in spring." }),
            )
            .with_json_answer::<IngestedView>(StatusCode::OK, "The result", Value::Null)
            .with_idempotency_key(),
        Endpoint::new(Method::POST, "/v1/documents/publish", "publish", publish_document)
            .with_description(TAG, "Publish a draft", "From then on searches find it. Admins only.")
            .with_body::<PublishBody>(json!({ "path": "guides/turbines.md" }))
            .with_json_answer::<IngestedView>(StatusCode::OK, "The result", Value::Null)
            .with_problems(&[NOT_FOUND]),
        Endpoint::new(Method::DELETE, "/v1/documents", "remove_document", remove_document)
            .with_description(
                TAG,
                "Remove a document",
                "Archives its chunks. The same text may be ingested again. Admins only.",
            )
            .with_query::<RemoveParams>()
            .with_json_answer::<RemovedView>(StatusCode::OK, "The removed document", Value::Null)
            .with_problems(&[NOT_FOUND]),
        Endpoint::new(Method::GET, "/v1/documents", "documents", list_documents)
            .with_description(TAG, "List documents", "Newest first; drafts only for callers who may decide reviews.")
            .with_query::<DocumentParams>()
            .with_json_answer::<Page<DocumentView>>(StatusCode::OK, "Documents", json!({ "items": [] })),
        Endpoint::new(Method::POST, "/v1/documents/search", "search_knowledge", search_documents)
            .with_description(
                TAG,
                "Search documents",
                "Passages that match a query. An agent that is mapped to categories sees only these.",
            )
            .with_body::<KnowledgeSearchBody>(json!({ "query": "when are turbines oiled?" }))
            .with_json_answer::<PassagesView>(
                StatusCode::OK,
                "Passages, best first",
                json!({ "items": [], "warnings": [] }),
            ),
        Endpoint::new(Method::GET, "/v1/skills", "skills", list_skills)
            .with_description(
                TAG,
                "List skills",
                "The SKILL.md files in the configured folders, read now. `ingrain doctor` lists invalid ones.",
            )
            .with_json_answer::<Page<SkillBody>>(StatusCode::OK, "Skills", json!({ "items": [] })),
    ]
}

async fn ingest_document(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<IngestBody>,
) -> Result<Json<IngestedView>, Problem> {
    let document = DocumentText::from(body);
    let done = app.entrance.call("ingest", move |engine| Ok(engine.ingest(&auth.caller, &document)?)).await?;
    Ok(Json(done.into()))
}

async fn publish_document(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<PublishBody>,
) -> Result<Json<IngestedView>, Problem> {
    let done = app.entrance.call("publish", move |engine| Ok(engine.publish(&auth.caller, &body.path)?)).await?;
    Ok(Json(done.into()))
}

async fn remove_document(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    QueryParams(params): QueryParams<RemoveParams>,
) -> Result<Json<RemovedView>, Problem> {
    let removed = app
        .entrance
        .call("remove_document", move |engine| Ok(engine.remove_document(&auth.caller, &params.path)?))
        .await?;
    Ok(Json(removed.into()))
}

async fn list_documents(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    QueryParams(params): QueryParams<DocumentParams>,
) -> Result<Json<Page<DocumentView>>, Problem> {
    let paging = Paging { after: params.cursor, limit: params.limit };
    let documents = app.entrance.call("documents", move |engine| Ok(engine.documents(&auth.caller, &paging)?)).await?;
    Ok(Json(Page::from_record_page(documents, |document| DocumentView { document })))
}

async fn search_documents(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<KnowledgeSearchBody>,
) -> Result<Json<PassagesView>, Problem> {
    let work =
        move |engine: &Engine| Ok(engine.search_knowledge(&auth.caller, &body.query, &body.categories, body.limit)?);
    let found = app.entrance.call("search_knowledge", work).await?;
    let items = found.hits.into_iter().map(HitView::from).collect();
    Ok(Json(PassagesView { items, warnings: found.warnings }))
}

async fn list_skills(State(app): State<App>, _: AuthenticatedCaller) -> Result<Json<Page<SkillBody>>, Problem> {
    // Read from the configured folders at each call: files may change while the server runs.
    let loaded = app.entrance.call("skills", |engine| Ok(engine.skills())).await?;
    Ok(Json(Page::from_items(loaded.skills.into_iter().map(SkillBody::from).collect())))
}
