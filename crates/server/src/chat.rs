//! One question to an OpenAI-compatible endpoint, and what it says.

use serde::Deserialize;
use serde_json::Value;

use crate::outbound::{Outbound, Trouble};

#[derive(Deserialize)]
struct Reply {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
}

#[derive(Deserialize)]
struct Said {
    content: String,
}

/// Where the questions go, for a base such as `http://localhost:8080/v1`.
pub(crate) fn address(base_url: &str) -> String {
    format!("{}/chat/completions", base_url.trim_end_matches('/'))
}

/// The text of the first choice.
pub(crate) fn ask(outbound: &Outbound, url: &str, key: Option<&str>, question: &Value) -> Result<String, Trouble> {
    let reply: Reply = outbound.post_json(url, key, question)?;
    let text = reply.choices.into_iter().next().map(|choice| choice.message.content.trim().to_owned());
    text.filter(|text| !text.is_empty()).ok_or(Trouble::Lasting("it answered with nothing".to_owned()))
}
