//! The OpenAPI 3.1 document, generated from the table of endpoints.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::endpoint::{Endpoint, EndpointAnswer};
use crate::problem::PROBLEM_TYPE;
use crate::rest;
use crate::wire::ProblemShape;

const API_DESCRIPTION: &str = "Governed memory for AI agents. Send a key as `Authorization: Bearer ing_…`. The \
                               headers `X-Agent-Id`, `X-User-Id`, `X-Conversation-Id`, `X-Session-Id`, `X-Run-Id` \
                               and `X-Pipeline-Id` identify the caller further, if the key may set them. Failures \
                               are problem documents with a stable `code`. Records that the caller may not see are \
                               answered with 404.";

const IDEMPOTENCY_HELP: &str = "A request with the same key within 24 hours gets the first answer and is not executed \
                                again. 409 with `Retry-After` while the first request runs; 409 \
                                `idempotency.answer_lost` if the server stopped after a write but before the answer \
                                was stored";

// In the order of the reference.
const TAGS: &[(&str, &str)] = &[
    ("memories", "Save, read, list, patch, forget and pin memories, and read their history"),
    ("search", "Search memories, explain results and scan texts"),
    ("context", "The memories shown to a model, and receipts of them"),
    ("reviews", "Proposals and their decisions"),
    ("layers", "Profile facts, and proposals to merge similar memories"),
    ("governance", "Redaction, rollback, quarantine and lineage"),
    ("erasure", "Erasure, certificates and bans"),
    ("sessions", "Conversations and their turns"),
    ("documents", "The knowledge base"),
    ("logs", "Audit entries and workflow steps that callers send"),
    ("runs", "Runs of an agent, with working memory"),
    ("stores", "Named containers of memories"),
    ("projects", "What agents work on: listing, renaming and merging"),
    ("pipelines", "Agents that may use memory, by pipeline"),
    ("events", "The event log, also as a live stream"),
    ("keys", "API keys"),
    ("tenants", "Tenants: fully separate sets of data"),
    ("upkeep", "Upkeep and usage"),
    ("transfer", "Export and import"),
    ("records", "Layered memory, read-only"),
    ("watch", "Health, metrics and this document"),
];

/// Builds the document.
pub fn build_document() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| s.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    let problem = generator.subschema_for::<ProblemShape>();
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in rest::all_endpoints() {
        let operation = build_operation(&endpoint, &mut generator);
        let methods = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        methods[endpoint.method.as_str().to_lowercase()] = operation;
    }
    let tags: Vec<Value> =
        TAGS.iter().map(|(name, description)| json!({ "name": name, "description": description })).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Ingrain", "version": env!("CARGO_PKG_VERSION"), "description": API_DESCRIPTION,
            "license": { "name": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "tags": tags,
        "security": [{ "key": [] }],
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": { "key": {
                "type": "http", "scheme": "bearer", "description": "An API key or a token of the identity provider",
            } },
            "responses": { "Problem": {
                "description": "A problem", "content": { PROBLEM_TYPE: { "schema": problem } },
            } },
        },
    })
}

fn build_operation(endpoint: &Endpoint, generator: &mut SchemaGenerator) -> Value {
    let mut parameters = path_parameters(endpoint.path);
    if let Some(make) = endpoint.query {
        parameters.extend(query_parameters(&make(generator).to_value()));
    }
    let idempotency = endpoint.takes_idempotency_key.then_some(("Idempotency-Key", IDEMPOTENCY_HELP));
    for (name, description) in endpoint.headers.iter().copied().chain(idempotency) {
        let schema = match name {
            "Last-Event-ID" => json!({ "type": "integer", "minimum": 0 }),
            "Idempotency-Key" => json!({ "type": "string", "minLength": 1, "maxLength": 256 }),
            _ => json!({ "type": "string" }),
        };
        parameters.push(json!({ "name": name, "in": "header", "description": description, "schema": schema }));
    }
    let mut operation = json!({
        "operationId": endpoint.verb, "tags": [endpoint.tag], "summary": endpoint.summary, "parameters": parameters,
        "responses": build_responses(endpoint, generator),
    });
    if !endpoint.details.is_empty() {
        operation["description"] = endpoint.details.into();
    }
    if let Some((make, example)) = &endpoint.body {
        let media = json!({ "schema": make(generator), "example": example });
        let mut content = json!({ "application/json": media });
        if let Some(media) = endpoint.text_body_media {
            content[media] = json!({ "schema": { "type": "string" } });
        }
        operation["requestBody"] = json!({ "required": true, "content": content });
    }
    if endpoint.is_public {
        operation["security"] = json!([]);
    }
    operation
}

fn build_responses(endpoint: &Endpoint, generator: &mut SchemaGenerator) -> Value {
    let mut responses = json!({ "default": { "$ref": "#/components/responses/Problem" } });
    for answer in &endpoint.answers {
        let status = answer.status.as_str().to_owned();
        let described = build_response(answer, generator);
        match responses.get_mut(&status) {
            // The same status in another media type, such as a page and a stream.
            Some(existing) => merge_content(existing, &described),
            None => responses[status] = described,
        }
    }
    responses
}

fn merge_content(existing: &mut Value, more: &Value) {
    for (media, content) in more["content"].as_object().into_iter().flatten() {
        existing["content"][media] = content.clone();
    }
}

fn build_response(answer: &EndpointAnswer, generator: &mut SchemaGenerator) -> Value {
    if answer.media == PROBLEM_TYPE {
        let schema = generator.subschema_for::<ProblemShape>();
        return json!({ "description": answer.description, "content": { PROBLEM_TYPE: { "schema": schema } } });
    }
    let mut described = json!({ "description": answer.description });
    if let Some((make, example)) = &answer.schema {
        let mut media = json!({ "schema": make(generator) });
        if !example.is_null() {
            media["example"] = example.clone();
        }
        described["content"] = json!({ answer.media: media });
    } else if !answer.media.is_empty() {
        described["content"] = json!({ answer.media: { "schema": { "type": "string" } } });
    }
    described
}

fn path_parameters(path: &str) -> Vec<Value> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let parameter = |name: &str| {
        let schema = match name {
            "id" => json!({ "type": "string", "format": "uuid" }),
            "slug" => json!({ "type": "string", "pattern": "^[a-z0-9_-]{1,64}$" }),
            _ => json!({ "type": "string", "minLength": 1 }),
        };
        json!({ "name": name, "in": "path", "required": true, "schema": schema })
    };
    names.map(parameter).collect()
}

/// An object's properties as query parameters. A query string has no `null`, so it is removed from the schemas.
fn query_parameters(schema: &Value) -> Vec<Value> {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let parameter = |(name, schema): (&String, &Value)| {
        let mut schema = without_null(schema.clone());
        let description = schema.as_object_mut().and_then(|schema| {
            schema.remove("default");
            schema.remove("description")
        });
        let mut parameter = json!({ "name": name, "in": "query", "schema": schema });
        if let Some(description) = description {
            parameter["description"] = description;
        }
        if required.contains(&name.as_str()) {
            parameter["required"] = true.into();
        }
        parameter
    };
    properties.map(parameter).collect()
}

/// The schema without its `null` alternative.
fn without_null(mut schema: Value) -> Value {
    if let Some(choices) = schema["anyOf"].as_array() {
        let real = choices.iter().find(|choice| choice["type"] != "null").cloned();
        let description = schema.get("description").cloned();
        let mut real = real.unwrap_or(Value::Null);
        if let Some(description) = description {
            real["description"] = description;
        }
        return real;
    }
    if let Some(types) = schema["type"].as_array() {
        let real = types.iter().find(|name| *name != "null").cloned();
        schema["type"] = real.unwrap_or(Value::Null);
    }
    schema
}
