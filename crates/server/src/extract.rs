//! Extractors for handlers: bodies, query parameters, path parameters and preconditions. Each rejects bad input with
//! a problem that names the field.

use axum::body::{Bytes, HttpBody};
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::header::{CONTENT_TYPE, IF_MATCH, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use engine::model::id::{MemoryId, VersionId};
use engine::model::memory::Memory;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::decode_error;
use crate::problem::Problem;
use crate::unread_body;

/// A JSON body.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<JsonBody<T>, Problem> {
        let bytes = read_json_object(request, app).await?;
        decode_error::from_slice(&bytes).map(JsonBody).map_err(|reason| body_mismatch(&reason))
    }
}

/// A JSON body decoded the fast way: the path of a wrong field is looked for only after decoding failed.
pub(crate) struct FastJsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for FastJsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<FastJsonBody<T>, Problem> {
        let bytes = read_json_object(request, app).await?;
        decode_error::from_slice_fast(&bytes).map(FastJsonBody).map_err(|reason| body_mismatch(&reason))
    }
}

/// The bytes of a body that is a JSON object.
async fn read_json_object(request: Request, app: &App) -> Result<Bytes, Problem> {
    let json = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).is_some_and(is_json);
    if !json {
        let message = "send `content-type: application/json`";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "http.media_type", message));
    }
    let bytes = read_body(request, app).await?;
    // serde also decodes a struct from an array of its fields in order, which the API does not offer.
    match decode_error::strip_bom(&bytes).iter().find(|b| !b.is_ascii_whitespace()) {
        Some(first) if *first != b'{' => Err(Problem::bad_request("shape.json", "the body is not a JSON object")),
        _ => Ok(bytes),
    }
}

fn body_mismatch(reason: &str) -> Problem {
    Problem::bad_request("shape.json", format!("the body is invalid: {reason}"))
}

fn is_json(value: &str) -> bool {
    let media = value.split(';').next().unwrap_or_default().trim();
    media.eq_ignore_ascii_case("application/json")
}

/// All of the body, within bounds.
pub(crate) async fn read_body(request: Request, app: &App) -> Result<Bytes, Problem> {
    let bytes_max = app.config.limits.body_bytes_max;
    let too_large = || {
        let message = format!("the body is larger than {bytes_max} bytes");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "http.body_too_large", message)
    };
    // A declared length above the bound is refused before anything is read.
    if request.body().size_hint().lower() > bytes_max as u64 {
        return Err(too_large());
    }
    axum::body::to_bytes(request.into_body(), bytes_max).await.map_err(|error| {
        match error.into_inner().is::<http_body_util::LengthLimitError>() {
            true => too_large(),
            false => Problem::bad_request("http.body", unread_body::BODY_BROKEN),
        }
    })
}

/// Query parameters.
pub(crate) struct QueryParams<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<App> for QueryParams<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<QueryParams<T>, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        // A parameter without a value is an error, except `query=`: an empty search is allowed.
        let empty = |pair: &&str| !pair.is_empty() && pair.split_once('=').is_none_or(|(_, value)| value.is_empty());
        if let Some(pair) = query.split('&').filter(empty).find(|pair| *pair != "query=") {
            // Shortened: the name comes from the client and is quoted back.
            let name: String = pair.trim_end_matches('=').chars().take(64).collect();
            return Err(Problem::bad_request("shape.query", format!("parameter `{name}` has no value: leave it out")));
        }
        let read = decode_error::from_query(query).map(QueryParams);
        read.map_err(|reason| Problem::bad_request("shape.query", format!("the query string is invalid: {reason}")))
    }
}

/// A path segment. One that cannot be parsed is answered with 404: nothing has such an id.
pub(crate) struct PathParam<T>(pub(crate) T);

impl<T: std::str::FromStr> FromRequestParts<App> for PathParam<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<PathParam<T>, Problem> {
        let not_found = |message: &str| Problem::new(StatusCode::NOT_FOUND, "not_found", message);
        let path = Path::<String>::from_request_parts(parts, app).await;
        let Path(text) = path.map_err(|_| not_found("the id or name in the path is not valid UTF-8"))?;
        text.parse().map(PathParam).map_err(|_| {
            // Shortened: it comes from the client and is quoted back.
            let shown: String = text.chars().filter(|c| !c.is_control()).take(40).collect();
            not_found(&format!("`{shown}` is not an id"))
        })
    }
}

/// Conditions on the current memory, from `If-Match` and `If-None-Match`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Preconditions {
    /// Version ids or content sha256s, one of which must match; `*` matches anything that exists.
    pub(crate) if_match: Option<Vec<String>>,
    pub(crate) if_none_match: Option<Vec<String>>,
}

impl Preconditions {
    /// `If-None-Match: *`: the memory must not exist yet.
    pub(crate) fn is_create_only(&self) -> bool {
        self.if_none_match.as_ref().is_some_and(|tags| tags.iter().any(|tag| tag == "*"))
    }

    /// Whether the client's copy is current.
    pub(crate) fn is_not_modified(&self, memory: VersionId) -> bool {
        let version = memory.to_string();
        self.if_none_match.as_ref().is_some_and(|tags| tags.iter().any(|tag| *tag == version || tag == "*"))
    }

    /// Fails with 412 if `If-Match` does not match the current memory.
    pub(crate) fn check_if_match(&self, memory: &Memory) -> Result<(), Problem> {
        let Some(tags) = &self.if_match else { return Ok(()) };
        let version = memory.version.to_string();
        let matches = |tag: &String| tag == "*" || *tag == version || tag.eq_ignore_ascii_case(&memory.sha256);
        match tags.iter().any(matches) {
            true => Ok(()),
            false => Err(Problem::new(
                StatusCode::PRECONDITION_FAILED,
                "conflict.sha256",
                "the memory has changed since you read it",
            )
            .with_field("current", serde_json::json!({ "version": version, "sha256": memory.sha256 }))),
        }
    }
}

impl FromRequestParts<App> for Preconditions {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Preconditions, Problem> {
        let (if_match, if_none_match) =
            (parse_etags(&parts.headers, &IF_MATCH)?, parse_etags(&parts.headers, &IF_NONE_MATCH)?);
        Ok(Preconditions { if_match, if_none_match })
    }
}

/// The ETags of a header, without quotes and `W/` marks.
fn parse_etags(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Vec<String>>, Problem> {
    if !headers.contains_key(name) {
        return Ok(None);
    }
    let mut tags = Vec::new();
    for value in headers.get_all(name) {
        let unreadable = |_| Problem::bad_request("shape.etag", format!("header `{name}` cannot be read"));
        for tag in value.to_str().map_err(unreadable)?.split(',') {
            let tag = tag.trim();
            tags.push(tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"').to_owned());
        }
    }
    Ok(Some(tags))
}

/// The path parameter `{id}` of a memory.
pub(crate) type MemoryIdParam = PathParam<MemoryId>;
