//! MCP prompts: message templates that a person can pick in the client.

use engine::model::caller::Caller;
use engine::model::vocabulary::Purpose;
use engine::{ContextRequest, Engine};
use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult, Prompt, PromptArgument,
    PromptMessage, Role,
};

use serde_json::Value;

struct PromptSpec {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    argument: (&'static str, &'static str),
}

/// The prompt that returns the context of a turn.
const CONTEXT_PROMPT: &str = "session-context";

const PROMPTS: &[PromptSpec] = &[
    PromptSpec {
        name: "recall",
        title: "Recall",
        description: "What memory says about a topic, fenced as data, with a request to use it.",
        argument: ("topic", "what to recall"),
    },
    PromptSpec {
        name: "remember-this",
        title: "Remember this",
        description: "Ask the agent to save something durable, with evidence.",
        argument: ("what", "what shall be remembered"),
    },
    PromptSpec {
        name: CONTEXT_PROMPT,
        title: "Context for this turn",
        description: "The memory block for a message, as it would be put before a model's turn.",
        argument: ("message", "the latest message of the user"),
    },
];

pub(super) fn list_prompts() -> ListPromptsResult {
    let prompt = |spec: &PromptSpec| {
        let argument = PromptArgument::new(spec.argument.0).with_description(spec.argument.1).with_required(true);
        let purposes: Vec<&str> = Purpose::ALL.iter().map(|purpose| purpose.as_str()).collect();
        let purpose = (spec.name == CONTEXT_PROMPT).then(|| {
            let description = format!("a decision point: {}", purposes.join(", "));
            PromptArgument::new("for").with_description(description).with_required(false)
        });
        let arguments = std::iter::once(argument).chain(purpose).collect();
        Prompt::new(spec.name, Some(spec.description), Some(arguments)).with_title(spec.title)
    };
    ListPromptsResult::with_all_items(PROMPTS.iter().map(prompt).collect())
}

pub(super) fn get_prompt(
    engine: &Engine,
    caller: &Caller,
    request: &GetPromptRequestParams,
) -> Result<GetPromptResponse, ErrorData> {
    let spec = PROMPTS.iter().find(|spec| spec.name == request.name);
    let spec = spec.ok_or_else(|| {
        let names: Vec<&str> = PROMPTS.iter().map(|spec| spec.name).collect();
        ErrorData::invalid_params(format!("`name`: no such prompt; one of: {}", names.join(", ")), None)
    })?;
    let argument = |name: &str| match request.arguments.as_ref().and_then(|map| map.get(name)) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(ErrorData::invalid_params(format!("argument `{name}`: expected a string"), None)),
    };
    let unknown =
        |error: engine::model::error::Error| ErrorData::invalid_params(format!("argument `for`: {error}"), None);
    // An empty text counts as missing: forms send one for a field left blank.
    let purpose: Option<Purpose> =
        argument("for")?.filter(|word| !word.is_empty()).map(str::parse).transpose().map_err(unknown)?;
    let value = argument(spec.argument.0)?;
    let value =
        value.ok_or_else(|| ErrorData::invalid_params(format!("argument `{}` is missing", spec.argument.0), None))?;
    let text = match spec.name {
        // Needs no memory: the agent saves with a tool call of its own.
        "remember-this" => format!(
            "Please remember the following with memory_remember, as a durable lesson in your own words, with evidence \
             of where it comes from:\n\n{value}"
        ),
        name => {
            let block = context_block(engine, caller, value, purpose)?;
            match (name, block.is_empty()) {
                ("recall", true) => format!("Memory holds nothing about: {value}"),
                ("recall", false) => format!("{block}\nUse what is relevant of this about: {value}"),
                (_, _) => block,
            }
        }
    };
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(spec.description).into())
}

fn context_block(
    engine: &Engine,
    caller: &Caller,
    message: &str,
    purpose: Option<Purpose>,
) -> Result<String, ErrorData> {
    let request = ContextRequest { message: message.to_owned(), purpose, ..ContextRequest::default() };
    let context = engine.context(caller, &request);
    // Only the code: the message may come from the database driver.
    let context = context.map_err(|error| ErrorData::internal_error(error.code(), None))?;
    // An empty context with skipped sources must not read as "nothing is known".
    let skipped = context.skipped.join("; ");
    Ok(match (context.text.is_empty(), skipped.is_empty()) {
        (_, true) => context.text,
        (true, false) => format!("Memory was left out: {skipped}"),
        (false, false) => format!("{}\nMemory notes: {skipped}", context.text),
    })
}
