//! One table of endpoints: the router, the OpenAPI document and the reference are all made from it.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::Router;
use axum::http::{Method, StatusCode};
use axum::routing::{MethodFilter, MethodRouter, on};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use crate::app::App;
use crate::rest;

/// Makes a schema with the document's own generator.
pub(crate) type MakeSchema = fn(&mut SchemaGenerator) -> Schema;

/// One method at one address: what it does, what it takes, what it answers.
pub(crate) struct Endpoint {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    /// The engine's word for it; also the operation's id.
    pub(crate) verb: &'static str,
    pub(crate) tag: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) details: &'static str,
    pub(crate) query: Option<MakeSchema>,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) body: Option<(MakeSchema, Value)>,
    /// Another form the body may have, as plain text.
    pub(crate) text_body_media: Option<&'static str>,
    pub(crate) answers: Vec<EndpointAnswer>,
    /// Whether anybody may call it.
    pub(crate) is_public: bool,
    /// Whether an `Idempotency-Key` is honoured.
    pub(crate) takes_idempotency_key: bool,
    router: MethodRouter<App>,
}

/// One thing an endpoint may answer.
pub(crate) struct EndpointAnswer {
    pub(crate) status: StatusCode,
    pub(crate) description: &'static str,
    pub(crate) media: &'static str,
    pub(crate) schema: Option<(MakeSchema, Value)>,
}

impl Endpoint {
    pub(crate) fn new<H, T>(method: Method, path: &'static str, verb: &'static str, handler: H) -> Endpoint
    where
        H: axum::handler::Handler<T, App>,
        T: 'static,
    {
        // Only the methods used here, all of which have a filter.
        let filter = MethodFilter::try_from(method.clone()).unwrap_or(MethodFilter::GET);
        Endpoint {
            method,
            path,
            verb,
            tag: "",
            summary: "",
            details: "",
            query: None,
            headers: Vec::new(),
            body: None,
            text_body_media: None,
            answers: Vec::new(),
            is_public: false,
            takes_idempotency_key: false,
            router: on(filter, handler),
        }
    }

    pub(crate) fn with_description(
        mut self,
        tag: &'static str,
        summary: &'static str,
        details: &'static str,
    ) -> Endpoint {
        (self.tag, self.summary, self.details) = (tag, summary, details);
        self
    }

    pub(crate) fn with_query<T: JsonSchema>(mut self) -> Endpoint {
        self.query = Some(|generator| T::json_schema(generator));
        self
    }

    pub(crate) fn with_header(mut self, name: &'static str, what: &'static str) -> Endpoint {
        self.headers.push((name, what));
        self
    }

    pub(crate) fn with_body<T: JsonSchema>(mut self, example: Value) -> Endpoint {
        self.body = Some((|generator| generator.subschema_for::<T>(), example));
        self
    }

    pub(crate) fn with_text_body(mut self, media: &'static str) -> Endpoint {
        self.text_body_media = Some(media);
        self
    }

    pub(crate) fn with_json_answer<T: JsonSchema>(
        self,
        status: StatusCode,
        what: &'static str,
        example: Value,
    ) -> Endpoint {
        self.with_answer(status, what, "application/json", Some((|generator| generator.subschema_for::<T>(), example)))
    }

    pub(crate) fn with_plain_answer(self, status: StatusCode, what: &'static str, media: &'static str) -> Endpoint {
        self.with_answer(status, what, media, None)
    }

    fn with_answer(
        mut self,
        status: StatusCode,
        what: &'static str,
        media: &'static str,
        schema: Option<(MakeSchema, Value)>,
    ) -> Endpoint {
        self.answers.push(EndpointAnswer { status, description: what, media, schema });
        self
    }

    /// Problems this endpoint may answer besides those every one may.
    pub(crate) fn with_problems(mut self, problems: &[(StatusCode, &'static str)]) -> Endpoint {
        for (status, what) in problems {
            self.answers.push(EndpointAnswer {
                status: *status,
                description: what,
                media: crate::problem::PROBLEM_TYPE,
                schema: None,
            });
        }
        self
    }

    pub(crate) fn with_public_access(mut self) -> Endpoint {
        self.is_public = true;
        self
    }

    pub(crate) fn with_idempotency_key(mut self) -> Endpoint {
        self.takes_idempotency_key = true;
        self
    }
}

/// The routes of all endpoints that are open, or of all that are guarded.
pub(crate) fn build_routes(open: bool) -> Router<App> {
    let endpoints = rest::all_endpoints().into_iter().filter(|endpoint| endpoint.is_public == open);
    endpoints.fold(Router::new(), |router, endpoint| router.route(endpoint.path, endpoint.router))
}

/// What is known of an endpoint by its address.
struct RouteInfo {
    verb: &'static str,
    takes_idempotency_key: bool,
}

static ROUTE_INFO: LazyLock<HashMap<String, RouteInfo>> = LazyLock::new(|| {
    let known = |endpoint: Endpoint| {
        let known = RouteInfo { verb: endpoint.verb, takes_idempotency_key: endpoint.takes_idempotency_key };
        (format!("{} {}", endpoint.method, endpoint.path), known)
    };
    rest::all_endpoints().into_iter().map(known).collect()
});

fn find_route(method: &Method, path: Option<&str>) -> Option<&'static RouteInfo> {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    ROUTE_INFO.get(&format!("{method} {}", path?))
}

/// The verb of a call, for counting.
pub(crate) fn route_verb(method: &Method, path: Option<&str>) -> &'static str {
    find_route(method, path).map_or("unknown", |known| known.verb)
}

/// Whether a call there may be made once under a key.
pub(crate) fn takes_idempotency_key(method: &Method, path: Option<&str>) -> bool {
    find_route(method, path).is_some_and(|known| known.takes_idempotency_key)
}
