//! MCP over HTTP, behind the same authentication as REST.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use engine::model::caller::Caller;
use futures_util::StreamExt as _;
use rmcp::model::{ClientJsonRpcMessage, ErrorData};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::watch;

use super::caller::{CallerSource, HttpSession};
use super::door::LoadedWrites;
use super::{Door, DoorSetup, Toolset, stdio};
use crate::app::App;
use crate::auth::AuthenticatedCaller;
use crate::config::ServerConfig;
use crate::entrance::Entrance;
use crate::extract::read_body;
use crate::problem::Problem;

const HEADER_SESSION_ID: &str = "mcp-session-id";
const EVENT_STREAM_TYPE: &[u8] = b"text/event-stream";
/// Time for calls under way to answer at shutdown: far more than one takes.
const CLOSING_GRACE: Duration = Duration::from_secs(1);

/// The service behind `/mcp`. The library's own checks of hosts and origins are off: the outer layers check them by the
/// configuration.
pub(crate) fn build_service(
    entrance: Entrance,
    config: &ServerConfig,
) -> StreamableHttpService<Door, LocalSessionManager> {
    let transport = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(config.limits.body_bytes_max);
    // One for all doors: in the stateless protocol the request that changes the tools and the one that listens for it
    // have different doors.
    let changes = watch::Sender::new(0);
    let loads = LoadedWrites::default();
    let door = move || {
        let conversation = entrance.engine().clock.fresh_id().to_string();
        let session = HttpSession { conversation, holder: Arc::new(OnceLock::new()) };
        // A placeholder without a tenant, replaced by the caller of each request.
        let nobody = Caller::agent(engine::model::id::TenantId(uuid::Uuid::nil()), "nobody");
        let door = Door::with_entrance(entrance.clone(), nobody, DoorSetup::default());
        let (caller_source, tool_changes) = (CallerSource::Request(session), changes.clone());
        Ok(Door { caller_source, tool_changes, stateless_loads: loads.clone(), ..door })
    };
    StreamableHttpService::new(door, Arc::new(LocalSessionManager::default()), transport)
}

/// Turns the library's plain-text errors into problem documents, and ends streams at shutdown.
pub(crate) async fn translate_response(State(app): State<App>, request: Request, next: Next) -> Response {
    let method = request.method().clone();
    // INVARIANT: `guard_request` runs before this layer and inserts the caller.
    let Some(holder) = request.extensions().get::<AuthenticatedCaller>().map(AuthenticatedCaller::session_holder)
    else {
        return Problem::unauthorized("the request is not authenticated").into_response();
    };
    let response = match open_session_id(&app, &holder, request) {
        Ok(request) => seal_session_id(&app, &holder, forward_request(&app, request, next).await),
        // As for a session that does not exist.
        Err(()) => return problem_for_status(&method, StatusCode::NOT_FOUND).into_response(),
    };
    // Every other path answers errors as problem documents; the library uses plain text.
    // Problems made here carry an extension; the rest of plain 4xx comes from the library.
    let plain = response.headers().get(CONTENT_TYPE).is_none_or(|kind| kind.as_bytes().starts_with(b"text/plain"));
    match response.status().is_client_error() && plain && response.extensions().get::<Problem>().is_none() {
        true => problem_for_status(&method, response.status()).into_response(),
        false => close_on_shutdown(&app, response),
    }
}

/// Replaces the client's session id by the library's. An error if this holder was not given it.
fn open_session_id(app: &App, holder: &str, mut request: Request) -> Result<Request, ()> {
    let Some(sealed) = request.headers().get(HEADER_SESSION_ID) else { return Ok(request) };
    let opened = sealed.to_str().ok().and_then(|sealed| app.session_seal.open_id(sealed, holder));
    let id = opened.and_then(|id| HeaderValue::from_str(id).ok()).ok_or(())?;
    request.headers_mut().insert(HEADER_SESSION_ID, id);
    Ok(request)
}

/// Replaces the library's session id in an answer by the one that only this holder can use.
fn seal_session_id(app: &App, holder: &str, mut response: Response) -> Response {
    if let Some(id) = response.headers_mut().remove(HEADER_SESSION_ID) {
        let sealed = id.to_str().ok().and_then(|id| app.session_seal.seal_id(id, holder));
        if let Some(sealed) = sealed.and_then(|sealed| HeaderValue::from_str(&sealed).ok()) {
            response.headers_mut().insert(HEADER_SESSION_ID, sealed);
        }
    }
    response
}

/// Ends event streams at shutdown, after a moment for calls that are under way: streams that only listen look the same.
fn close_on_shutdown(app: &App, response: Response) -> Response {
    let streams =
        response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(EVENT_STREAM_TYPE));
    if !streams {
        return response;
    }
    let mut closing = app.closing_signal();
    let end = async move {
        // An error means that the sender is gone, which ends the stream too.
        let _ = closing.wait_for(|closing| *closing).await;
        tokio::time::sleep(CLOSING_GRACE).await;
    };
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(end))))
}

fn problem_for_status(method: &Method, status: StatusCode) -> Problem {
    let (code, detail) = match status {
        StatusCode::NOT_ACCEPTABLE if *method == Method::GET => ("http.accept", "send `accept: text/event-stream`"),
        StatusCode::NOT_ACCEPTABLE => ("http.accept", "send `accept: application/json, text/event-stream`"),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => ("http.media_type", "send `content-type: application/json`"),
        // MCP: 404 tells a client to start a new session.
        StatusCode::NOT_FOUND => ("mcp.session", "there is no such session: initialize a new one"),
        StatusCode::METHOD_NOT_ALLOWED => ("http.method", "this address takes GET, POST and DELETE"),
        _ => ("mcp.request", "the request does not follow Streamable HTTP; check its headers"),
    };
    Problem::new(status, code, detail)
}

async fn forward_request(app: &App, request: Request, next: Next) -> Response {
    match *request.method() {
        Method::POST => forward_post(app, request, next).await.unwrap_or_else(Problem::into_response),
        Method::DELETE => {
            let mut response = next.run(request).await;
            // The library answers 202, which some clients take for a failure.
            if response.status() == StatusCode::ACCEPTED {
                *response.status_mut() = StatusCode::NO_CONTENT;
            }
            response
        }
        _ => next.run(request).await,
    }
}

/// Checks that the body is a JSON-RPC message. The library would answer 415 and quote the body.
async fn forward_post(app: &App, request: Request, next: Next) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let bytes = read_body(Request::new(body), app).await?;
    let read = serde_json::from_slice::<ClientJsonRpcMessage>(&bytes);
    // The library handles readable messages, and unreadable ones that want no reply.
    match read.err().and_then(|_| stdio::reject_unreadable(&bytes)) {
        Some(answer) => Ok((StatusCode::BAD_REQUEST, Json(answer)).into_response()),
        None => Ok(next.run(Request::from_parts(parts, Body::from(bytes))).await),
    }
}

/// The query string may choose the tools: `/mcp?tools=core,note&write_tools=never`. It grants nothing the caller lacks.
pub(super) fn setup_from_query(default_setup: &DoorSetup, query: &str) -> Result<DoorSetup, ErrorData> {
    let mut setup = default_setup.clone();
    let invalid = |error: engine::model::error::Error| ErrorData::invalid_params(error.to_string(), None);
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        match name {
            "tools" => {
                // Some clients encode the comma.
                let words = value.split(',').flat_map(|word| word.split("%2C"));
                setup.toolsets = words.map(str::parse).collect::<Result<Vec<Toolset>, _>>().map_err(invalid)?;
            }
            "write_tools" => setup.write_tools = value.parse().map_err(invalid)?,
            _ => {}
        }
    }
    Ok(setup)
}
