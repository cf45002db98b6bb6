//! The outermost layer of every request: request id, host and origin checks, timeout, security headers, log line.

use std::net::IpAddr;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tracing::Instrument;

use crate::app::App;
use crate::config::ServerConfig;
use crate::connection_timer::ConnectionTimer;
use crate::metrics::AnsweredTenant;
use crate::problem::Problem;
use crate::{endpoint, telemetry, unread_body};

/// Longest request id accepted from a client.
const REQUEST_ID_BYTES_MAX: usize = 128;
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Headers a page of an allowed origin may send.
const CORS_HEADERS: &str = "authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, \
     x-agent-id, x-api-key, x-conversation-id, x-pipeline-id, x-project-id, x-request-id, x-run-id, \
     x-session-id, x-user-id";

/// Handles one request: assigns an id, checks host and origin, bounds its time, renders problems and logs one line.
pub(crate) async fn handle_request(State(app): State<App>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(request.headers()).unwrap_or_else(|| app.entrance.engine().clock.fresh_id().to_string());
    let path = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let verb = endpoint::route_verb(request.method(), path.as_deref());
    let method = request.method().clone();
    // The route pattern, not the path: a path may hold names and search terms.
    let route = path.unwrap_or_default();
    let span = telemetry::request_span(&id, method.as_str(), &route, verb);
    let (request, reading) = unread_body::watch_body(request);
    let time = app.config.limits.request_timeout();
    // Without a connection, as in tests of the router alone, the request has a timer of its own.
    let timer = request.extensions().get::<ConnectionTimer>().cloned().unwrap_or_else(|| ConnectionTimer::new(time));
    let work = async {
        match reading.read_small_body(request).await {
            Ok(request) => check_host_and_origin(&app, request, next).await,
            Err(problem) => problem.into_response(),
        }
    };
    let answer = timer.run_within(time, work.instrument(span.clone())).await;
    let mut response = answer.unwrap_or_else(|| Problem::timeout().into_response());
    let tenant = response.extensions().get::<AnsweredTenant>().map(|answered| answered.0);
    let problem = take_problem(&mut response);
    let code = problem.as_ref().map(|problem| problem.code.clone());
    if let Some(problem) = problem {
        // Keep headers that inner layers added, such as `allow` and the rate limit.
        let headers = std::mem::take(response.headers_mut());
        response = problem.into_response_for(&id);
        for (name, value) in headers {
            if let Some(name) = name.filter(|name| !response.headers().contains_key(name)) {
                response.headers_mut().insert(name, value);
            }
        }
    }
    let status = response.status().as_u16();
    app.metrics.record_answer(tenant, verb, status, code.as_deref());
    let ms = started.elapsed().as_secs_f64() * 1000.0;
    span.in_scope(|| tracing::info!(verb, status, code = code.as_deref(), ms, "answered {verb} with {status}"));
    set_security_headers(response.headers_mut());
    reading.announce_close(&mut response);
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}

/// The problem that a handler or layer left in the response; axum's own 405 counts as one.
fn take_problem(response: &mut Response) -> Option<Problem> {
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        return Some(problem);
    }
    match response.status() {
        StatusCode::METHOD_NOT_ALLOWED => {
            Some(Problem::new(StatusCode::METHOD_NOT_ALLOWED, "http.method", "this path does not support that method"))
        }
        _ => None,
    }
}

fn request_id(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(REQUEST_ID)?.to_str().ok()?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':');
    let is_plain = !text.is_empty() && text.len() <= REQUEST_ID_BYTES_MAX && text.bytes().all(plain);
    // It is logged with every line of the request, so a token sent by mistake is replaced by an id of our own.
    (is_plain && engine::safety::find_token_format(text).is_none()).then(|| text.to_owned())
}

/// Sets security headers; keeps a content policy and cache control that the handler set.
fn set_security_headers(headers: &mut HeaderMap) {
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// Refuses unknown host names and origins, so that a web page elsewhere cannot reach a server on this machine, not even
/// by DNS rebinding.
async fn check_host_and_origin(app: &App, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    // Health probes use any name for the machine, and these answers reveal nothing.
    let probing = path == "/healthz" || path == "/readyz";
    let host = requested_host(request.headers(), request.uri());
    if !probing && !host.as_deref().is_some_and(|host| is_own_host(&app.config, host)) {
        let message = "this server does not answer to that host name; an admin can add it to `hosts`";
        return Problem::new(StatusCode::MISDIRECTED_REQUEST, "http.host", message).into_response();
    }
    let origin = request.headers().get(ORIGIN).map(|origin| origin.to_str().unwrap_or_default().to_owned());
    let Some(origin) = origin else { return next.run(request).await };
    let allowed = app.config.origins.contains(&origin);
    // A page of this very server needs no entry in `origins`.
    let same = host.as_deref().is_some_and(|host| is_same_origin(&origin, host, request.headers()));
    if !allowed && !same {
        return Problem::forbidden(
            "http.origin",
            "this origin may not call this server; an admin can add it to `origins`",
        )
        .into_response();
    }
    let preflight =
        request.method() == Method::OPTIONS && request.headers().contains_key("access-control-request-method");
    let mut response = match preflight && allowed {
        true => StatusCode::NO_CONTENT.into_response(),
        // Also an OPTIONS request from the same origin: browsers send no preflight for that.
        false => next.run(request).await,
    };
    if allowed {
        set_cors_headers(response.headers_mut(), &origin, preflight);
    }
    response
}

fn set_cors_headers(headers: &mut HeaderMap, origin: &str, preflight: bool) {
    let Ok(origin) = HeaderValue::from_str(origin) else { return };
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    // Caches must not serve an answer to one origin to another.
    headers.append(VARY, HeaderValue::from_static("origin"));
    let expose = "etag, location, retry-after, x-request-id, ratelimit, ratelimit-policy";
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(expose));
    if preflight {
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, PATCH, PUT, DELETE"));
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(CORS_HEADERS));
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    }
}

/// The requested host name, without its port, in lower case.
fn requested_host(headers: &HeaderMap, uri: &Uri) -> Option<String> {
    // With two `Host` headers a proxy might check one and this server read the other.
    if headers.get_all(HOST).iter().count() > 1 {
        return None;
    }
    let text = uri.authority().map(|authority| authority.as_str()).or_else(|| headers.get(HOST)?.to_str().ok())?;
    Some(without_port(text).to_ascii_lowercase())
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        // Without brackets, a text with several colons is an IPv6 address, not a host and port.
        Some((name, port))
            if port.bytes().all(|b| b.is_ascii_digit()) && (!name.contains(':') || name.ends_with(']')) =>
        {
            name
        }
        _ => host,
    }
}

fn is_own_host(config: &ServerConfig, host: &str) -> bool {
    let address: Option<IpAddr> = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
    let loopback = host == "localhost" || address.is_some_and(|address| address.is_loopback());
    // An IP address cannot be rebound by DNS, but in local mode, which needs no key, only loopback is trusted.
    let plain = address.is_some() && config.local.is_none();
    loopback || plain || config.hosts.iter().any(|name| name == "*" || name.eq_ignore_ascii_case(host))
}

/// Whether the origin is this server itself.
fn is_same_origin(origin: &str, host: &str, headers: &HeaderMap) -> bool {
    let Some((scheme, rest)) = origin.split_once("://") else { return false };
    let full = headers.get(HOST).and_then(|value| value.to_str().ok()).unwrap_or(host);
    matches!(scheme, "http" | "https") && rest.eq_ignore_ascii_case(full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_with_and_without_ports() {
        for (text, name) in [
            ("localhost:8080", "localhost"),
            ("localhost", "localhost"),
            ("[::1]:80", "[::1]"),
            ("[::1]", "[::1]"),
            ("a.example:x", "a.example:x"),
        ] {
            assert_eq!(without_port(text), name, "{text}");
        }
    }

    #[test]
    fn names_that_are_ours() {
        let open = ServerConfig { hosts: vec!["Memory.example".to_owned()], ..ServerConfig::default() };
        let caller = engine::model::caller::Caller::admin(engine::model::id::TenantId(uuid::Uuid::nil()));
        let local = ServerConfig { local: Some(caller), ..ServerConfig::default() };
        for (host, when_open, when_local) in [
            ("localhost", true, true),
            ("127.0.0.1", true, true),
            ("[::1]", true, true),
            ("10.0.0.7", true, false),
            ("memory.example", true, false),
            ("evil.example", false, false),
            ("localhost.evil.example", false, false),
            ("127.0.0.1.evil.example", false, false),
        ] {
            assert_eq!(is_own_host(&open, host), when_open, "{host}");
            assert_eq!(is_own_host(&local, host), when_local, "{host} in local mode");
        }
    }
}
