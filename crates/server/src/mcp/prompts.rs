//! Prompts: ready words for a person to start with.

use engine::ContextRequest;
use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult, Prompt, PromptArgument,
    PromptMessage, Role,
};

use super::Door;

struct Words {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    argument: (&'static str, &'static str),
}

const PROMPTS: &[Words] = &[
    Words {
        name: "recall",
        title: "Recall",
        description: "What memory says about a topic, fenced as data, with a request to use it.",
        argument: ("topic", "what to recall"),
    },
    Words {
        name: "remember-this",
        title: "Remember this",
        description: "Ask the agent to save something durable, with evidence.",
        argument: ("what", "what shall be remembered"),
    },
    Words {
        name: "session-context",
        title: "Context for this turn",
        description: "The memory block for a message, as it would be put before a model's turn.",
        argument: ("message", "the latest message of the user"),
    },
];

pub(super) fn list() -> ListPromptsResult {
    let prompt = |words: &Words| {
        let argument = PromptArgument::new(words.argument.0).with_description(words.argument.1).with_required(true);
        Prompt::new(words.name, Some(words.description), Some(vec![argument])).with_title(words.title)
    };
    ListPromptsResult::with_all_items(PROMPTS.iter().map(prompt).collect())
}

pub(super) fn get(door: &Door, request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let words = PROMPTS.iter().find(|words| words.name == request.name);
    let words = words.ok_or_else(|| ErrorData::invalid_params("no such prompt", None))?;
    let given = request.arguments.as_ref().and_then(|map| map.get(words.argument.0)).and_then(|value| value.as_str());
    let given =
        given.ok_or_else(|| ErrorData::invalid_params(format!("argument `{}` is missing", words.argument.0), None))?;
    let text = match words.name {
        "remember-this" => format!(
            "Please remember the following with memory_remember, as a durable lesson in your own words, with evidence of where it comes from:\n\n{given}"
        ),
        name => {
            let block = context(door, given)?;
            match (name, block.is_empty()) {
                ("recall", true) => format!("Memory holds nothing about: {given}"),
                ("recall", false) => format!("{block}\nUse what is relevant of this about: {given}"),
                (_, _) => block,
            }
        }
    };
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(words.description).into())
}

fn context(door: &Door, message: &str) -> Result<String, ErrorData> {
    let request = ContextRequest { message: message.to_owned(), ..ContextRequest::default() };
    let context = door.engine.context(&door.caller, &request);
    context.map(|context| context.text).map_err(|error| ErrorData::internal_error(error.code(), None))
}
