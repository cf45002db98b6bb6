//! One chat completion of an OpenAI-compatible endpoint.

use serde::Deserialize;
use serde_json::Value;

use crate::outbound::{OutboundClient, OutboundError};

#[derive(Deserialize)]
struct ChatReply {
    choices: Vec<ChatChoice>,
}

#[derive(Deserialize)]
struct ChatChoice {
    message: ChatMessage,
}

#[derive(Deserialize)]
struct ChatMessage {
    content: String,
}

/// Address of chat completions under a base such as `http://localhost:8080/v1`.
pub(crate) fn completions_url(base_url: &str) -> String {
    format!("{}/chat/completions", base_url.trim_end_matches('/'))
}

/// The text of the first choice; an empty one is an error.
pub(crate) fn request_completion(
    outbound: &OutboundClient,
    url: &str,
    key: Option<&str>,
    request: &Value,
) -> Result<String, OutboundError> {
    let reply: ChatReply = outbound.post_json(url, key, request)?;
    let text = reply.choices.into_iter().next().map(|choice| choice.message.content.trim().to_owned());
    text.filter(|text| !text.is_empty()).ok_or(OutboundError::Permanent("its answer is empty".to_owned()))
}
