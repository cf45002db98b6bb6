//! The knowledge base and skills: documents in, published, listed, searched.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::ports::row::Paging;
use engine::{DocumentText, Engine};
use serde_json::{Value, json};

use super::NOT_FOUND;
use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::{Params, Sent};
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::episodic::{
    DocumentParams, DocumentView, IngestBody, IngestedView, KnowledgeBody, PublishBody, RemoveParams, RemovedView,
    SkillBody,
};
use crate::wire::memory::MemoryView;
use crate::wire::search::HitView;

const TAG: &str = "documents";

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/documents", "ingest", ingest)
            .says(
                TAG,
                "Ingest a document",
                "Cut into chunks, each through the gate. Doing it again changes nothing; a changed text replaces its stale chunks. Admins only.",
            )
            .body::<IngestBody>(json!({ "path": "guides/turbines.md", "text": "# Turbines\n\nOil them in spring." }))
            .answer::<IngestedView>(StatusCode::OK, "What became of it", Value::Null)
            .once(),
        Endpoint::new(Method::POST, "/v1/documents/publish", "publish", publish)
            .says(TAG, "Publish a draft", "From now on it is found. Admins only.")
            .body::<PublishBody>(json!({ "path": "guides/turbines.md" }))
            .answer::<IngestedView>(StatusCode::OK, "What became of it", Value::Null)
            .problems(&[NOT_FOUND]),
        Endpoint::new(Method::DELETE, "/v1/documents", "remove_document", remove)
            .says(TAG, "Remove a document", "Its chunks are archived; the same text may come back any time. Admins only.")
            .query::<RemoveParams>()
            .answer::<RemovedView>(StatusCode::OK, "What stood there", Value::Null)
            .problems(&[NOT_FOUND]),
        Endpoint::new(Method::GET, "/v1/documents", "documents", documents)
            .says(TAG, "List documents", "Newest first; drafts for those who decide.")
            .query::<DocumentParams>()
            .answer::<Page<DocumentView>>(StatusCode::OK, "Documents", json!({ "items": [] })),
        Endpoint::new(Method::POST, "/v1/documents/search", "search_knowledge", search)
            .says(TAG, "Search documents", "Passages that answer. An agent mapped to categories sees no others.")
            .body::<KnowledgeBody>(json!({ "query": "when are turbines oiled?" }))
            .answer::<Page<HitView>>(StatusCode::OK, "Passages, best first", json!({ "items": [] })),
        Endpoint::new(Method::GET, "/v1/skills", "skills", skills)
            .says(TAG, "List skills", "The SKILL.md files of the configured folders, as they are now; `doctor` names those left out.")
            .answer::<Page<SkillBody>>(StatusCode::OK, "Skills", json!({ "items": [] })),
    ]
}

async fn ingest(State(app): State<App>, who: Who, Sent(body): Sent<IngestBody>) -> Result<Json<IngestedView>, Problem> {
    let given = DocumentText::from(body);
    let done = app.call("ingest", move |engine| Ok(engine.ingest(&who.caller, &given)?)).await?;
    Ok(Json(done.into()))
}

async fn publish(
    State(app): State<App>,
    who: Who,
    Sent(body): Sent<PublishBody>,
) -> Result<Json<IngestedView>, Problem> {
    let done = app.call("publish", move |engine| Ok(engine.publish(&who.caller, &body.path)?)).await?;
    Ok(Json(done.into()))
}

async fn remove(
    State(app): State<App>,
    who: Who,
    Params(params): Params<RemoveParams>,
) -> Result<Json<RemovedView>, Problem> {
    let removed =
        app.call("remove_document", move |engine| Ok(engine.remove_document(&who.caller, &params.path)?)).await?;
    Ok(Json(removed.into()))
}

async fn documents(
    State(app): State<App>,
    who: Who,
    Params(params): Params<DocumentParams>,
) -> Result<Json<Page<DocumentView>>, Problem> {
    let paging = Paging { after: params.cursor, limit: params.limit };
    let documents = app.call("documents", move |engine| Ok(engine.documents(&who.caller, &paging)?)).await?;
    Ok(Json(Page::of(documents, |document| DocumentView { document })))
}

async fn search(
    State(app): State<App>,
    who: Who,
    Sent(body): Sent<KnowledgeBody>,
) -> Result<Json<Page<HitView>>, Problem> {
    let work =
        move |engine: &Engine| Ok(engine.search_knowledge(&who.caller, &body.query, &body.categories, body.limit)?);
    let hits = app.call("search_knowledge", work).await?;
    let view = |hit: engine::recall::ranking::Hit| HitView {
        score: hit.score,
        parts: hit.parts,
        memory: MemoryView::whole(hit.memory),
    };
    Ok(Json(Page::whole(hits.into_iter().map(view).collect())))
}

async fn skills(State(app): State<App>, _: Who) -> Result<Json<Page<SkillBody>>, Problem> {
    let shelved = app.call("skills", |engine| Ok(engine.skills())).await?;
    Ok(Json(Page::whole(shelved.skills.into_iter().map(SkillBody::from).collect())))
}
