//! What the scanner would say of a text, without saving it.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use engine::safety::{self, Strictness, Verdict};
use serde_json::json;

use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::Sent;
use crate::problem::Problem;
use crate::wire::search::{ScanBody, ScannedView};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/scan", "scan", scan)
            .says("search", "Scan a text", "Looks for secrets, orders to a model and raw logs. Nothing is kept.")
            .body::<ScanBody>(json!({ "text": "billing retries failed webhooks for 24 hours" }))
            .answer::<ScannedView>(
                StatusCode::OK,
                "What was found",
                json!({ "verdict": "clean", "verdict_in_conversation": "clean", "findings": [] }),
            ),
    ]
}

async fn scan(State(app): State<App>, _: Who, Sent(body): Sent<ScanBody>) -> Result<Json<ScannedView>, Problem> {
    let word = |verdict| match verdict {
        Verdict::Clean => "clean",
        Verdict::Flagged => "flagged",
        Verdict::Blocked => "blocked",
    };
    let scanned = app
        .call("scan", move |_| {
            let findings = safety::inspect(&body.text);
            Ok(ScannedView {
                verdict: word(safety::verdict(&findings, Strictness::Strict)),
                verdict_in_conversation: word(safety::verdict(&findings, Strictness::Conversation)),
                findings,
            })
        })
        .await?;
    Ok(Json(scanned))
}
