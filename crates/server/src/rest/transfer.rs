//! Export and import: everything out, everything back, in the formats of the command line.

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use engine::{Engine, ExportFile, ExportLines, ExportText, Exported, ImportDone, Layout};
use futures_util::{StreamExt, stream};
use serde_json::json;

use crate::app::App;
use crate::auth::Who;
use crate::endpoint::Endpoint;
use crate::extract::{Params, Sent, whole_body};
use crate::outlet::Outlet;
use crate::problem::Problem;
use crate::wire::transfer::{ExportBody, ExportParams, ImportedView, MarkdownBody};

const TAG: &str = "transfer";
/// A piece a line, each JSON.
const LINES: &str = "application/x-ndjson";
/// Bytes gathered before a piece of an export is sent: fewer, larger writes.
const PIECE_BYTES: usize = 64 * 1024;

pub(super) fn endpoints() -> Vec<Endpoint> {
    let imported = |endpoint: Endpoint| {
        endpoint.answer::<ImportedView>(
            StatusCode::OK,
            "What was taken, and what was not",
            json!({ "imported": 1, "unchanged": 0, "left_behind": 0, "refused": [] }),
        )
    };
    vec![
        Endpoint::new(Method::GET, "/v1/export", "export", export)
            .says(TAG, "Export", "Everything you may see, in every state, with history, as one stream of JSON that ends with `}`: one that broke off is no whole document. With `Accept: application/x-ndjson` a piece a line, such as `{\"memory\": {…}}`; the first line is `ingrain_export`, the last is `end` with the counts.")
            .query::<ExportParams>()
            .answer::<ExportBody>(StatusCode::OK, "The export", json!({ "ingrain_export": 1 }))
            .plain(StatusCode::OK, "The export, a piece a line", LINES),
        imported(
            Endpoint::new(Method::POST, "/v1/import", "import", import)
                .says(TAG, "Import an export", "Through the gate; doing it again changes nothing. Larger ones are brought in parts: each list may be missing, and of lines (`application/x-ndjson`) any will do.")
                .body::<ExportBody>(json!({ "ingrain_export": 1, "memories": [] }))
                .body_also(LINES),
        ),
        imported(
            Endpoint::new(Method::POST, "/v1/import/markdown", "import_markdown", import_markdown)
                .says(TAG, "Import a Markdown file", "One memory with its front matter, as an export of Markdown writes it.")
                .body::<MarkdownBody>(json!({ "store": "user_notes", "text": "---\npath: notes/fuses\n---\nspare fuses are in rack nine\n" })),
        ),
    ]
}

async fn export(
    State(app): State<App>,
    who: Who,
    headers: HeaderMap,
    Params(params): Params<ExportParams>,
) -> Result<Response, Problem> {
    let (layout, media) = match is_lines(&headers, &ACCEPT) {
        true => (Layout::Lines, LINES),
        false => (Layout::Document, "application/json"),
    };
    let work = move |engine: &Engine, outlet: &Outlet| written(engine, &who, layout, &params.store, outlet);
    let mut pieces = app.produce("export", work).await?;
    // The first piece says whether there will be any; what breaks later can only break off.
    let first = pieces.recv().await.ok_or_else(Problem::internal)??;
    let rest = stream::unfold(pieces, |mut pieces| async move { Some((pieces.recv().await?, pieces)) });
    // Fused: whoever compresses an answer may ask once more after its end.
    let frames = stream::once(async { Ok(first) }).chain(rest.map(|piece| piece.map_err(|_| Broken))).fuse();
    Ok(([(CONTENT_TYPE, media), (VARY, ACCEPT.as_str())], Body::from_stream(frames)).into_response())
}

fn is_lines(headers: &HeaderMap, name: &HeaderName) -> bool {
    headers.get(name).and_then(|value| value.to_str().ok()).is_some_and(|value| value.contains(LINES))
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

fn written(engine: &Engine, who: &Who, layout: Layout, stores: &[String], outlet: &Outlet) -> Result<(), Problem> {
    let mut text = ExportText::new(layout);
    let mut waiting = text.start(engine.clock.now())?;
    engine.export(&who.caller, stores, |piece| -> Result<(), Problem> {
        waiting += &text.piece(&piece)?;
        if waiting.len() >= PIECE_BYTES {
            outlet.send(Bytes::from(std::mem::take(&mut waiting)))?;
        }
        Ok(())
    })?;
    let (end, _) = text.end()?;
    outlet.send(Bytes::from(waiting + &end))
}

/// The pieces of an export that was sent, in either layout.
struct Pieces(Vec<Exported>);

impl FromRequest<App> for Pieces {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Pieces, Problem> {
        if !is_lines(request.headers(), &CONTENT_TYPE) {
            let Sent(file) = Sent::<ExportFile>::from_request(request, app).await?;
            return Ok(Pieces(file.pieces()?.collect()));
        }
        let bytes = whole_body(request, app).await?;
        let not_text = |_| Problem::bad_request("shape.export", "the body is no text");
        let mut export = ExportLines::default();
        let mut pieces = Vec::new();
        for line in std::str::from_utf8(&bytes).map_err(not_text)?.lines() {
            pieces.extend(export.next(line)?);
        }
        Ok(Pieces(pieces))
    }
}

async fn import(State(app): State<App>, who: Who, Pieces(pieces): Pieces) -> Result<Json<ImportedView>, Problem> {
    let work = move |engine: &Engine| {
        let mut done = ImportDone::default();
        for piece in pieces {
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
