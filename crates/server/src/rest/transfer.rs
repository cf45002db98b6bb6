//! Export and import, in the formats of the command line.

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use engine::{Engine, ExportFile, ExportLayout, ExportLineReader, ExportPiece, ExportWriter, ImportReport};
use futures_util::{StreamExt, stream};
use serde_json::json;

use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::endpoint::Endpoint;
use crate::extract::{JsonBody, QueryParams, read_body};
use crate::problem::Problem;
use crate::streamed_answer::PieceSender;
use crate::wire::transfer::{ExportBody, ExportParams, ImportedView, MarkdownBody};

const TAG: &str = "transfer";
/// Media type of an export with one JSON value per line.
const NDJSON: &str = "application/x-ndjson";
/// Bytes collected before a piece of an export is sent, so that writes are few and large.
const PIECE_BYTES: usize = 64 * 1024;

pub(super) fn transfer_endpoints() -> Vec<Endpoint> {
    let imported = |endpoint: Endpoint| {
        endpoint.with_json_answer::<ImportedView>(
            StatusCode::OK,
            "Imported and refused items",
            json!({ "imported": 1, "unchanged": 0, "left_behind": 0, "refused": [] }),
        )
    };
    vec![
        Endpoint::new(Method::GET, "/v1/export", "export", stream_export)
            .with_description(
                TAG,
                "Export",
                "All records the caller may see, in every state and with history, as one JSON document. A document \
                 without the final `}` is incomplete. With `Accept: application/x-ndjson`, one item per line, such as \
                 `{\"memory\": {…}}`; the first line is `ingrain_export`, the last is `end` with the counts.",
            )
            .with_query::<ExportParams>()
            .with_json_answer::<ExportBody>(StatusCode::OK, "The export", json!({ "ingrain_export": 1 }))
            .with_plain_answer(StatusCode::OK, "The export, one item per line", NDJSON),
        imported(
            Endpoint::new(Method::POST, "/v1/import", "import", import_pieces)
                .with_description(
                    TAG,
                    "Import an export",
                    "Every memory passes the gate; repeating an import changes nothing. Large exports can be sent in \
                 parts: each list is optional, and with `application/x-ndjson` any subset of the lines is valid.",
                )
                .with_body::<ExportBody>(json!({ "ingrain_export": 1, "memories": [] }))
                .with_text_body(NDJSON),
        ),
        imported(
            Endpoint::new(Method::POST, "/v1/import/markdown", "import_markdown", import_markdown)
                .with_description(
                    TAG,
                    "Import a Markdown file",
                    "One memory with its front matter, in the format of the Markdown export.",
                )
                .with_body::<MarkdownBody>(json!({
                    "store": "user_notes", "text": "---\npath: notes/fuses\n---\nspare fuses are in rack nine\n",
                })),
        ),
    ]
}

async fn stream_export(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    headers: HeaderMap,
    QueryParams(params): QueryParams<ExportParams>,
) -> Result<Response, Problem> {
    let (layout, media) = match is_ndjson(&headers, &ACCEPT) {
        true => (ExportLayout::Lines, NDJSON),
        false => (ExportLayout::Document, "application/json"),
    };
    let work = move |engine: &Engine, sender: &PieceSender| write_export(engine, &auth, layout, &params.store, sender);
    let mut pieces = app.entrance.stream("export", work).await?;
    // An error in the first piece still becomes a problem document. A later one can only cut the answer short.
    let first = pieces.recv().await.ok_or_else(Problem::internal)??;
    let rest = stream::unfold(pieces, |mut pieces| async move { Some((pieces.recv().await?, pieces)) });
    // Fused, because the compression layer polls once more after the end.
    let frames = stream::once(async { Ok(first) }).chain(rest.map(|piece| piece.map_err(|_| ExportBroken))).fuse();
    // Caches have to know that the layout depends on `Accept`.
    Ok(([(CONTENT_TYPE, media), (VARY, ACCEPT.as_str())], Body::from_stream(frames)).into_response())
}

fn is_ndjson(headers: &HeaderMap, name: &HeaderName) -> bool {
    headers.get(name).and_then(|value| value.to_str().ok()).is_some_and(|value| value.contains(NDJSON))
}

/// The body stream's error for an export that failed after its first piece.
#[derive(Debug)]
struct ExportBroken;

impl std::fmt::Display for ExportBroken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the export broke off")
    }
}

impl std::error::Error for ExportBroken {}

fn write_export(
    engine: &Engine,
    auth: &AuthenticatedCaller,
    layout: ExportLayout,
    stores: &[String],
    sender: &PieceSender,
) -> Result<(), Problem> {
    let mut text = ExportWriter::new(layout);
    let mut pending = text.write_header(engine.clock.now())?;
    engine.export(&auth.caller, stores, |piece| -> Result<(), Problem> {
        pending += &text.write_piece(&piece)?;
        if pending.len() >= PIECE_BYTES {
            sender.send_piece(Bytes::from(std::mem::take(&mut pending)))?;
        }
        Ok(())
    })?;
    let (end, _) = text.write_footer()?;
    sender.send_piece(Bytes::from(pending + &end))
}

/// The pieces of an uploaded export, in either layout.
struct ImportPieces(Vec<ExportPiece>);

impl FromRequest<App> for ImportPieces {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<ImportPieces, Problem> {
        if !is_ndjson(request.headers(), &CONTENT_TYPE) {
            let JsonBody(file) = JsonBody::<ExportFile>::from_request(request, app).await?;
            return Ok(ImportPieces(file.into_pieces()?.collect()));
        }
        let bytes = read_body(request, app).await?;
        let not_text = |_| Problem::bad_request("shape.export", "the body is not UTF-8 text");
        // Counts lines for its errors, and checks the format version if there is a header.
        let mut export = ExportLineReader::default();
        let mut pieces = Vec::new();
        for line in std::str::from_utf8(&bytes).map_err(not_text)?.lines() {
            pieces.extend(export.parse_line(line)?);
        }
        Ok(ImportPieces(pieces))
    }
}

async fn import_pieces(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    ImportPieces(pieces): ImportPieces,
) -> Result<Json<ImportedView>, Problem> {
    let work = move |engine: &Engine| {
        let mut done = ImportReport::default();
        // Pieces before an error stay imported: importing again changes nothing.
        for piece in pieces {
            engine.import(&auth.caller, piece, &mut done)?;
        }
        Ok(done)
    };
    Ok(Json(app.entrance.call("import", work).await?.into()))
}

async fn import_markdown(
    State(app): State<App>,
    auth: AuthenticatedCaller,
    JsonBody(body): JsonBody<MarkdownBody>,
) -> Result<Json<ImportedView>, Problem> {
    let work = move |engine: &Engine| {
        let mut done = ImportReport::default();
        engine.import_markdown(&auth.caller, &body.store, &body.text, &mut done)?;
        Ok(done)
    };
    Ok(Json(app.entrance.call("import_markdown", work).await?.into()))
}
