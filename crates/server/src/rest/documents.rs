//! Documents: into the knowledge base, chunk by chunk through the gate.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::{DocumentText, Engine, IngestOutcome};
use serde_json::{Value, json};

use super::REFUSED;
use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::Sent;
use crate::problem::Problem;
use crate::wire::Page;
use crate::wire::documents::{DocumentBody, DocumentView, IngestedView};

const TAG: &str = "documents";

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/documents", "documents", list)
            .says(TAG, "List documents", "Newest first.")
            .answer::<Page<DocumentView>>(StatusCode::OK, "Documents", json!({ "items": [example()] })),
        Endpoint::new(Method::POST, "/v1/documents", "ingest", ingest)
            .says(TAG, "Ingest a document", "The same text again changes nothing; a changed one replaces its stale chunks. Admins only.")
            .body::<DocumentBody>(json!({
                "path": "handbook/on-call.md", "text": "# On call\n\nThe pager rotates on Mondays.", "category": "operations",
            }))
            .answer::<IngestedView>(StatusCode::CREATED, "A new document", ingested_example("created"))
            .answer::<IngestedView>(StatusCode::OK, "Updated, or known already", ingested_example("unchanged"))
            .problems(&[REFUSED])
            .once(),
    ]
}

async fn list(State(app): State<App>, who: Who) -> Result<Json<Page<DocumentView>>, Problem> {
    let documents = app.call("documents", move |engine| Ok(engine.documents(&who.caller)?)).await?;
    Ok(Json(Page::whole(documents.into_iter().map(DocumentView::from).collect())))
}

async fn ingest(
    State(app): State<App>,
    who: Who,
    Sent(body): Sent<DocumentBody>,
) -> Result<(StatusCode, Json<IngestedView>), Problem> {
    let text = DocumentText::from(body);
    let ingested = app.call("ingest", move |engine: &Engine| Ok(engine.ingest(&who.caller, &text)?)).await?;
    let status = if ingested.outcome == IngestOutcome::Created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(ingested.into())))
}

fn example() -> Value {
    json!({
        "path": "handbook/on-call.md", "title": "On call", "category": "operations", "status": "published",
        "sha256": "0".repeat(64), "chunks": 1, "ingested_at": "2026-01-01T00:00:00Z", "ingested_by": "admin",
    })
}

fn ingested_example(outcome: &str) -> Value {
    json!({ "outcome": outcome, "document": example(), "written": 1, "archived": 0, "refused": [] })
}
