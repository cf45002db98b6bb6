//! Tools, resources and prompts that the official MCP conformance suite expects of a server under test. In test builds
//! only, on the product's own handler and transport. Names and texts are those of the suite.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse,
    InputResponses, Prompt, ReadResourceResponse, Resource, ResourceTemplate, ServerCapabilities, Tool,
};
use rmcp::service::RequestContext;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Door;

/// A PNG of one pixel, and an empty WAV file.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
const STATE_ONE: &str = "fixture-state-1";
const STATE_TWO: &str = "fixture-state-2";
/// The protocol's code for a capability the client did not declare.
const MISSING_CAPABILITY: i32 = -32_021;

const TOOLS: &[&str] = &[
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_logging_tool",
    "test_error_handling",
    "test_tool_with_progress",
    "test_sampling",
    "test_elicitation",
    "test_streaming_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];

fn from_json<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// Adds logging and resource subscriptions, which only the fixtures have.
pub(super) fn extend_capabilities(standing: ServerCapabilities) -> ServerCapabilities {
    let mut value = serde_json::to_value(&standing).unwrap_or_default();
    value["logging"] = json!({});
    value["resources"] = json!({ "subscribe": true });
    from_json(value).unwrap_or(standing)
}

pub(super) fn list_tools() -> Vec<Tool> {
    let tool = |name: &&str| json!({ "name": name, "description": "a fixture", "inputSchema": { "type": "object" } });
    TOOLS.iter().map(tool).filter_map(|tool| from_json(tool).ok()).collect()
}

pub(super) fn list_resources() -> Vec<Resource> {
    let resource = |name: &str, kind: &str| {
        from_json(
            json!({ "uri": format!("test://{name}"), "name": name, "description": "a fixture", "mimeType": kind }),
        )
    };
    let all = [("static-text", "text/plain"), ("static-binary", "image/png"), ("watched-resource", "text/plain")];
    all.iter().filter_map(|(name, kind)| resource(name, kind).ok()).collect()
}

pub(super) fn list_templates() -> Vec<ResourceTemplate> {
    let template =
        json!({ "uriTemplate": "test://template/{id}/data", "name": "template", "mimeType": "application/json" });
    from_json(template).into_iter().collect()
}

pub(super) fn list_prompts() -> Vec<Prompt> {
    let prompt = |name: &str, arguments: &[&str]| {
        let arguments: Vec<Value> = arguments
            .iter()
            .map(|name| json!({ "name": name, "description": "a fixture", "required": true }))
            .collect();
        from_json(json!({ "name": name, "description": "a fixture", "arguments": arguments }))
    };
    let all: [(&str, &[&str]); 5] = [
        ("test_simple_prompt", &[]),
        ("test_prompt_with_arguments", &["arg1", "arg2"]),
        ("test_prompt_with_embedded_resource", &["resourceUri"]),
        ("test_prompt_with_image", &[]),
        ("test_input_required_result_prompt", &[]),
    ];
    all.iter().filter_map(|(name, arguments)| prompt(name, arguments).ok()).collect()
}

pub(super) fn read_resource(uri: &str) -> Option<Result<ReadResourceResponse, ErrorData>> {
    let contents = match uri {
        "test://static-text" => {
            json!({ "mimeType": "text/plain", "text": "This is the content of the static text resource." })
        }
        "test://static-binary" => json!({ "mimeType": "image/png", "blob": PIXEL }),
        "test://watched-resource" => json!({ "mimeType": "text/plain", "text": "watched" }),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            json!({ "mimeType": "application/json", "text": data.to_string() })
        }
    };
    let mut contents = contents;
    contents["uri"] = uri.into();
    Some(from_json(json!({ "resultType": "complete", "contents": [contents] })).map(ReadResourceResponse::Complete))
}

pub(super) fn get_prompt(request: &GetPromptRequestParams) -> Option<Result<GetPromptResponse, ErrorData>> {
    let given = |name: &str| request.arguments.as_ref().and_then(|map| map.get(name)).cloned().unwrap_or_default();
    let text = |text: String| json!({ "role": "user", "content": { "type": "text", "text": text } });
    let messages = match request.name.as_str() {
        "test_simple_prompt" => json!([text("This is a simple prompt for testing.".to_owned())]),
        "test_prompt_with_arguments" => {
            let (one, two) = (given("arg1"), given("arg2"));
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            json!([text(format!("Prompt with arguments: arg1='{}', arg2='{}'", word(&json!(one)), word(&json!(two))))])
        }
        "test_prompt_with_embedded_resource" => {
            let resource = json!({ "uri": given("resourceUri"), "mimeType": "text/plain",
                "text": "Embedded resource content for testing." });
            json!([{ "role": "user", "content": { "type": "resource", "resource": resource } },
                text("Please process the embedded resource above.".to_owned())])
        }
        "test_prompt_with_image" => {
            json!([{ "role": "user", "content": { "type": "image", "data": PIXEL, "mimeType": "image/png" } },
                text("Please analyze the image above.".to_owned())])
        }
        "test_input_required_result_prompt" => match find_reply(request.input_responses.as_ref(), "user_context") {
            Some(reply) => json!([text(format!("Use this context: {}", reply["content"]["context"]))]),
            None => {
                let question = elicitation_request(
                    "What context should the prompt use?",
                    &json!({ "context": { "type": "string" } }),
                );
                let required = json!({ "resultType": "input_required", "inputRequests": { "user_context": question } });
                return Some(from_json(required).map(GetPromptResponse::InputRequired));
            }
        },
        _ => return None,
    };
    Some(from_json(json!({ "resultType": "complete", "messages": messages })).map(GetPromptResponse::Complete))
}

fn find_reply(replies: Option<&InputResponses>, key: &str) -> Option<Value> {
    let replies = serde_json::to_value(replies?).ok()?;
    replies.get(key).filter(|reply| reply.is_object()).cloned()
}

fn elicitation_request(message: &str, properties: &Value) -> Value {
    let required: Vec<&String> = properties.as_object().into_iter().flat_map(|map| map.keys()).collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    json!({ "method": "elicitation/create", "params": { "message": message, "requestedSchema": schema } })
}

fn sampling_request(text: &str) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
    json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": 100 } })
}

fn text_response(text: impl Into<String>) -> Result<CallToolResponse, ErrorData> {
    content_response(json!([{ "type": "text", "text": text.into() }]), false)
}

fn content_response(content: Value, error: bool) -> Result<CallToolResponse, ErrorData> {
    from_json(json!({ "resultType": "complete", "content": content, "isError": error })).map(CallToolResponse::Complete)
}

fn input_required(requests: Value, state: Option<&str>) -> Result<CallToolResponse, ErrorData> {
    let mut required = json!({ "resultType": "input_required", "inputRequests": requests });
    if let Some(state) = state {
        required["requestState"] = state.into();
    }
    from_json(required).map(CallToolResponse::InputRequired)
}

/// A fixture's answer; `None` if the tool is one of the product.
pub(super) async fn call_tool(
    door: &Door,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResponse, ErrorData>> {
    let name = request.name.as_ref();
    if !TOOLS.contains(&name) {
        return None;
    }
    Some(match name.strip_prefix("test_input_required_result_") {
        Some(which) => call_input_tool(which, request, context),
        None => call_plain_tool(door, name, request, context).await,
    })
}

fn call_input_tool(
    which: &str,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let reply = |key: &str| find_reply(request.input_responses.as_ref(), key);
    let state = request.request_state.as_deref();
    let name = || elicitation_request("What is your name?", &json!({ "name": { "type": "string" } }));
    let confirm =
        || json!({ "confirm": elicitation_request("Please confirm", &json!({ "ok": { "type": "boolean" } })) });
    let roots = || json!({ "method": "roots/list", "params": {} });
    match which {
        "elicitation" => match reply("user_name") {
            Some(reply) => text_response(format!("Hello, {}!", reply["content"]["name"].as_str().unwrap_or_default())),
            None => input_required(json!({ "user_name": name() }), None),
        },
        "sampling" => match reply("capital_question") {
            Some(reply) => text_response(reply["content"]["text"].as_str().unwrap_or_default()),
            None => {
                input_required(json!({ "capital_question": sampling_request("What is the capital of France?") }), None)
            }
        },
        "list_roots" => match reply("client_roots") {
            Some(reply) => text_response(format!("Roots: {}", reply["roots"])),
            None => input_required(json!({ "client_roots": roots() }), None),
        },
        "request_state" | "tampered_state" => match (reply("confirm"), state) {
            (Some(_), Some(STATE_ONE)) => text_response("state-ok"),
            (_, Some(state)) if state != STATE_ONE => Err(ErrorData::invalid_params("the state was changed", None)),
            _ => input_required(confirm(), Some(STATE_ONE)),
        },
        "multiple_inputs" => match (reply("user_name"), reply("greeting"), reply("client_roots"), state) {
            (Some(_), Some(_), Some(_), Some(STATE_ONE)) => text_response("all inputs received"),
            _ => {
                let greeting = sampling_request("Generate a greeting");
                let all = json!({ "user_name": name(), "greeting": greeting, "client_roots": roots() });
                input_required(all, Some(STATE_ONE))
            }
        },
        "multi_round" => match (state, reply("step1"), reply("step2")) {
            (Some(STATE_TWO), _, Some(_)) => text_response("both steps done"),
            (Some(STATE_ONE), Some(_), _) => {
                let step = elicitation_request(
                    "Step 2: What is your favorite color?",
                    &json!({ "color": { "type": "string" } }),
                );
                input_required(json!({ "step2": step }), Some(STATE_TWO))
            }
            _ => {
                let step = elicitation_request("Step 1: What is your name?", &json!({ "name": { "type": "string" } }));
                input_required(json!({ "step1": step }), Some(STATE_ONE))
            }
        },
        _ => {
            let can = context.client_capabilities().unwrap_or_default();
            let mut requests = json!({});
            if can.sampling.is_some() {
                requests["greeting"] = sampling_request("Generate a greeting");
            }
            if can.elicitation.is_some() {
                requests["user_name"] = name();
            }
            input_required(requests, None)
        }
    }
}

#[expect(deprecated, reason = "the older era, which the suite tests too, has logging and sampling")]
async fn call_plain_tool(
    door: &Door,
    name: &str,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let embedded = |uri: &str, kind: &str, text: &str| {
        let resource = json!({ "uri": uri, "mimeType": kind, "text": text });
        json!({ "type": "resource", "resource": resource })
    };
    let image = json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" });
    let given = |key: &str| request.arguments.as_ref().and_then(|map| map.get(key)).cloned().unwrap_or_default();
    match name {
        "test_simple_text" => text_response("This is a simple text response for testing."),
        "test_image_content" => content_response(json!([image]), false),
        "test_audio_content" => {
            content_response(json!([{ "type": "audio", "data": SILENCE, "mimeType": "audio/wav" }]), false)
        }
        "test_embedded_resource" => {
            let resource = embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.");
            content_response(json!([resource]), false)
        }
        "test_multiple_content_types" => {
            let text = json!({ "type": "text", "text": "Multiple content types test:" });
            let data =
                embedded("test://mixed-content-resource", "application/json", "{\"test\":\"data\",\"value\":123}");
            content_response(json!([text, image, data]), false)
        }
        "test_error_handling" => content_response(
            json!([{ "type": "text", "text": "This tool intentionally returns an error for testing" }]),
            true,
        ),
        "test_tool_with_logging" => {
            for text in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                let message = from_json(json!({ "level": "info", "data": text }))?;
                let _ = context.peer.notify_logging_message(message).await;
            }
            text_response("Tool with logging executed successfully")
        }
        // In the stateless protocol a server logs only if the request asks for it.
        "test_logging_tool" | "test_trigger_prompt_change" => text_response("done"),
        "test_trigger_tool_change" => {
            door.notify_tools_changed(context).await;
            text_response("done")
        }
        "test_tool_with_progress" => {
            if let Some(token) = context.meta.get_progress_token() {
                for progress in [0, 50, 100] {
                    let note = from_json(json!({ "progressToken": token, "progress": progress, "total": 100 }))?;
                    let _ = context.peer.notify_progress(note).await;
                }
            }
            text_response("Tool with progress executed successfully")
        }
        "test_missing_capability" => match context.client_capabilities().unwrap_or_default().sampling {
            Some(_) => text_response("done"),
            None => {
                let data = json!({ "requiredCapabilities": { "sampling": {} } });
                let code = ErrorCode(MISSING_CAPABILITY);
                Err(ErrorData::new(code, "this needs the client's `sampling`", Some(data)))
            }
        },
        "test_streaming_elicitation" => input_required(
            json!({ "user_name": elicitation_request("What is your name?", &json!({ "name": { "type": "string" } })) }),
            None,
        ),
        "test_sampling" => {
            let params = sampling_request(given("prompt").as_str().unwrap_or_default())["params"].clone();
            let answer = context.peer.create_message(from_json(params)?).await.map_err(internal_error)?;
            let answer = serde_json::to_value(&answer).unwrap_or_default();
            text_response(format!("LLM response: {}", answer["content"]["text"].as_str().unwrap_or_default()))
        }
        _ => {
            let properties = elicitation_properties(name);
            let message = given("message");
            let params =
                elicitation_request(message.as_str().unwrap_or("Please answer"), &properties)["params"].clone();
            let answer = context.peer.create_elicitation(from_json(params)?).await.map_err(internal_error)?;
            let answer = serde_json::to_value(&answer).unwrap_or_default();
            text_response(format!("User response: action={}, content={}", answer["action"], answer["content"]))
        }
    }
}

fn internal_error(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn elicitation_properties(name: &str) -> Value {
    let titled = |word: &str| {
        let option = |(number, which)| json!({ "const": format!("value{number}"), "title": format!("{which} {word}") });
        [(1, "First"), (2, "Second"), (3, "Third")].map(option).to_vec()
    };
    let options = json!(["option1", "option2", "option3"]);
    match name {
        "test_elicitation_sep1034_defaults" => json!({
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
            "verified": { "type": "boolean", "default": true },
        }),
        "test_elicitation_sep1330_enums" => json!({
            "untitledSingle": { "type": "string", "enum": options },
            "titledSingle": { "type": "string", "oneOf": titled("Option") },
            "legacyEnum": { "type": "string", "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"] },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
            "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
        }),
        _ => json!({ "username": { "type": "string" }, "email": { "type": "string" } }),
    }
}
