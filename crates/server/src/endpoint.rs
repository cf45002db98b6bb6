//! The table of REST endpoints. Router, OpenAPI document, reference and metrics are generated from it.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::Router;
use axum::http::{Method, StatusCode};
use axum::routing::{MethodFilter, MethodRouter, on};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use crate::app::App;
use crate::rest;

/// Builds a schema with the generator of the OpenAPI document.
pub(crate) type MakeSchema = fn(&mut SchemaGenerator) -> Schema;

/// One method on one path: its handler, input, answers and description.
pub(crate) struct Endpoint {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    /// Name of the engine verb; also the operation id and the label in metrics.
    pub(crate) verb: &'static str,
    pub(crate) tag: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) details: &'static str,
    pub(crate) query: Option<MakeSchema>,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) body: Option<(MakeSchema, Value)>,
    /// Media type of a second, plain-text form of the body.
    pub(crate) text_body_media: Option<&'static str>,
    pub(crate) answers: Vec<EndpointAnswer>,
    /// Whether it needs no key.
    pub(crate) is_public: bool,
    /// Whether an `Idempotency-Key` is honoured.
    pub(crate) takes_idempotency_key: bool,
    router: MethodRouter<App>,
}

/// One possible answer of an endpoint.
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
        // Cannot fail: every method in the table has a filter.
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
        // The bare schema, not a reference: its properties become single parameters.
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

    /// Problems specific to this endpoint, besides those that any endpoint may answer.
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

/// The routes of all public endpoints, or of all that need a key.
pub(crate) fn build_routes(public: bool) -> Router<App> {
    let endpoints = rest::all_endpoints().into_iter().filter(|endpoint| endpoint.is_public == public);
    // `route` merges the methods of a path that appears more than once.
    endpoints.fold(Router::new(), |router, endpoint| router.route(endpoint.path, endpoint.router))
}

/// The facts about an endpoint that layers before its handler need.
struct RouteInfo {
    verb: &'static str,
    takes_idempotency_key: bool,
}

static ROUTE_INFO: LazyLock<HashMap<String, RouteInfo>> = LazyLock::new(|| {
    let entry = |endpoint: Endpoint| {
        let info = RouteInfo { verb: endpoint.verb, takes_idempotency_key: endpoint.takes_idempotency_key };
        (format!("{} {}", endpoint.method, endpoint.path), info)
    };
    rest::all_endpoints().into_iter().map(entry).collect()
});

fn find_route(method: &Method, path: Option<&str>) -> Option<&'static RouteInfo> {
    // axum answers HEAD with the handler of GET.
    let method = if method == Method::HEAD { &Method::GET } else { method };
    ROUTE_INFO.get(&format!("{method} {}", path?))
}

/// The verb of a route, for metrics and logs.
pub(crate) fn route_verb(method: &Method, path: Option<&str>) -> &'static str {
    find_route(method, path).map_or("unknown", |info| info.verb)
}

/// Whether the route honours an `Idempotency-Key`.
pub(crate) fn takes_idempotency_key(method: &Method, path: Option<&str>) -> bool {
    find_route(method, path).is_some_and(|info| info.takes_idempotency_key)
}
