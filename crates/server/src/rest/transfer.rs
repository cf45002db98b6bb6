//! Export and import: everything out, everything back, in the format of the command line's JSON.

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use engine::{Engine, ExportFile, ExportText, ImportDone};
use futures_util::{StreamExt, stream};
use serde_json::json;

use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::{Params, Sent};
use crate::outlet::Outlet;
use crate::problem::Problem;
use crate::wire::transfer::{ExportBody, ExportParams, ImportedView, MarkdownBody};

const TAG: &str = "transfer";
/// Bytes gathered before a piece of an export is sent: fewer, larger writes.
const PIECE_BYTES: usize = 64 * 1024;

pub(super) fn endpoints() -> Vec<Endpoint> {
    let imported = |endpoint: Endpoint| {
        endpoint.answer::<ImportedView>(
            StatusCode::OK,
            "What was taken, and what was not",
            json!({ "imported": 1, "unchanged": 0, "refused": [] }),
        )
    };
    vec![
        Endpoint::new(Method::GET, "/v1/export", "export", export)
            .says(TAG, "Export", "Everything you may see, in every state, with history, as one stream of JSON that ends with `}`: one that broke off is no whole document.")
            .query::<ExportParams>()
            .answer::<ExportBody>(StatusCode::OK, "The export", json!({ "ingrain_export": 1 })),
        imported(
            Endpoint::new(Method::POST, "/v1/import", "import", import)
                .says(TAG, "Import an export", "Through the gate; doing it again changes nothing. Larger ones are brought in parts: each list may be missing.")
                .body::<ExportBody>(json!({ "ingrain_export": 1, "memories": [] })),
        ),
        imported(
            Endpoint::new(Method::POST, "/v1/import/markdown", "import_markdown", import_markdown)
                .says(TAG, "Import a Markdown file", "One memory with its front matter, as an export of Markdown writes it.")
                .body::<MarkdownBody>(json!({ "store": "user_notes", "text": "---\npath: notes/fuses\n---\nspare fuses are in rack nine\n" })),
        ),
    ]
}

async fn export(State(app): State<App>, who: Who, Params(params): Params<ExportParams>) -> Result<Response, Problem> {
    let mut pieces = app.produce("export", move |engine, outlet| written(engine, &who, &params.store, outlet)).await?;
    // The first piece says whether there will be any; what breaks later can only break off.
    let first = pieces.recv().await.ok_or_else(Problem::internal)??;
    let rest = stream::unfold(pieces, |mut pieces| async move { Some((pieces.recv().await?, pieces)) });
    // Fused: whoever compresses an answer may ask once more after its end.
    let frames = stream::once(async { Ok(first) }).chain(rest.map(|piece| piece.map_err(|_| Broken))).fuse();
    Ok(([(CONTENT_TYPE, "application/json")], Body::from_stream(frames)).into_response())
}

/// An export that could not be finished.
#[derive(Debug)]
struct Broken;

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the export broke off")
    }
}

impl std::error::Error for Broken {}

fn written(engine: &Engine, who: &Who, stores: &[String], outlet: &Outlet) -> Result<(), Problem> {
    let mut text = ExportText::default();
    let mut waiting = ExportText::start(engine.clock.now());
    engine.export(&who.caller, stores, |piece| -> Result<(), Problem> {
        waiting += &text.piece(&piece)?;
        if waiting.len() >= PIECE_BYTES {
            outlet.send(Bytes::from(std::mem::take(&mut waiting)))?;
        }
        Ok(())
    })?;
    let (end, _) = text.end();
    outlet.send(Bytes::from(waiting + end))
}

async fn import(State(app): State<App>, who: Who, Sent(file): Sent<ExportFile>) -> Result<Json<ImportedView>, Problem> {
    let work = move |engine: &Engine| {
        let mut done = ImportDone::default();
        for piece in file.pieces()? {
            engine.import(&who.caller, piece, &mut done)?;
        }
        Ok(done)
    };
    Ok(Json(app.call("import", work).await?.into()))
}

async fn import_markdown(
    State(app): State<App>,
    who: Who,
    Sent(body): Sent<MarkdownBody>,
) -> Result<Json<ImportedView>, Problem> {
    let work = move |engine: &Engine| {
        let mut done = ImportDone::default();
        engine.import_markdown(&who.caller, &body.store, &body.text, &mut done)?;
        Ok(done)
    };
    Ok(Json(app.call("import_markdown", work).await?.into()))
}
