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
    pub(crate) body_also: Option<&'static str>,
    pub(crate) answers: Vec<Answer>,
    /// Whether anybody may call it.
    pub(crate) open: bool,
    /// Whether an `Idempotency-Key` is honoured.
    pub(crate) once: bool,
    router: MethodRouter<App>,
}

/// One thing an endpoint may answer.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) what: &'static str,
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
            body_also: None,
            answers: Vec::new(),
            open: false,
            once: false,
            router: on(filter, handler),
        }
    }

    pub(crate) fn says(mut self, tag: &'static str, summary: &'static str, details: &'static str) -> Endpoint {
        (self.tag, self.summary, self.details) = (tag, summary, details);
        self
    }

    pub(crate) fn query<T: JsonSchema>(mut self) -> Endpoint {
        self.query = Some(|generator| T::json_schema(generator));
        self
    }

    pub(crate) fn header(mut self, name: &'static str, what: &'static str) -> Endpoint {
        self.headers.push((name, what));
        self
    }

    pub(crate) fn body<T: JsonSchema>(mut self, example: Value) -> Endpoint {
        self.body = Some((|generator| generator.subschema_for::<T>(), example));
        self
    }

    pub(crate) fn body_also(mut self, media: &'static str) -> Endpoint {
        self.body_also = Some(media);
        self
    }

    pub(crate) fn answer<T: JsonSchema>(self, status: StatusCode, what: &'static str, example: Value) -> Endpoint {
        self.answers(status, what, "application/json", Some((|generator| generator.subschema_for::<T>(), example)))
    }

    pub(crate) fn plain(self, status: StatusCode, what: &'static str, media: &'static str) -> Endpoint {
        self.answers(status, what, media, None)
    }

    fn answers(
        mut self,
        status: StatusCode,
        what: &'static str,
        media: &'static str,
        schema: Option<(MakeSchema, Value)>,
    ) -> Endpoint {
        self.answers.push(Answer { status, what, media, schema });
        self
    }

    /// Problems this endpoint may answer besides those every one may.
    pub(crate) fn problems(mut self, problems: &[(StatusCode, &'static str)]) -> Endpoint {
        for (status, what) in problems {
            self.answers.push(Answer { status: *status, what, media: crate::problem::PROBLEM_TYPE, schema: None });
        }
        self
    }

    pub(crate) fn open(mut self) -> Endpoint {
        self.open = true;
        self
    }

    pub(crate) fn once(mut self) -> Endpoint {
        self.once = true;
        self
    }
}

/// The routes of all endpoints that are open, or of all that are guarded.
pub(crate) fn routes(open: bool) -> Router<App> {
    let endpoints = rest::endpoints().into_iter().filter(|endpoint| endpoint.open == open);
    endpoints.fold(Router::new(), |router, endpoint| router.route(endpoint.path, endpoint.router))
}

/// What is known of an endpoint by its address.
struct Known {
    verb: &'static str,
    once: bool,
}

static KNOWN: LazyLock<HashMap<String, Known>> = LazyLock::new(|| {
    let known = |endpoint: Endpoint| {
        let known = Known { verb: endpoint.verb, once: endpoint.once };
        (format!("{} {}", endpoint.method, endpoint.path), known)
    };
    rest::endpoints().into_iter().map(known).collect()
});

fn known(method: &Method, path: Option<&str>) -> Option<&'static Known> {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    KNOWN.get(&format!("{method} {}", path?))
}

/// The verb of a call, for counting.
pub(crate) fn verb(method: &Method, path: Option<&str>) -> &'static str {
    known(method, path).map_or("unknown", |known| known.verb)
}

/// Whether a call there may be made once under a key.
pub(crate) fn is_once(method: &Method, path: Option<&str>) -> bool {
    known(method, path).is_some_and(|known| known.once)
}
