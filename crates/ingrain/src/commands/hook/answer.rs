//! The answer of a hook on stdout: context for the model, in the words of the client.

use std::io::Write;

use serde_json::{Value, json};

use super::clients::{AnswerShape, HookClient, HookEvent};

/// Writes the answer. A client that does not read it is no failure.
pub fn write_answer(client: &HookClient, event: HookEvent, text: &str) {
    let line = format!("{}\n", build_answer(client, event, text));
    let mut stdout = std::io::stdout().lock();
    // Not `println!`, which panics on a closed pipe.
    let _ = stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush());
}

fn build_answer(client: &HookClient, event: HookEvent, text: &str) -> Value {
    match (client.answer, event) {
        (AnswerShape::HookSpecificOutput, _) => {
            let output = json!({ "hookEventName": client.name_of(event), "additionalContext": text });
            json!({ "hookSpecificOutput": output })
        }
        (AnswerShape::AdditionalContext, HookEvent::Prompt) => json!({ "continue": true, "additional_context": text }),
        (AnswerShape::AdditionalContext, _) => json!({ "additional_context": text }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::hook::clients::{CLAUDE_CODE, CURSOR, GEMINI};

    #[test]
    fn each_client_gets_its_own_words() {
        let check = |client, event, expected: &str| assert_eq!(build_answer(client, event, "T").to_string(), expected);
        let specific =
            |name: &str| format!(r#"{{"hookSpecificOutput":{{"additionalContext":"T","hookEventName":"{name}"}}}}"#);
        check(&CLAUDE_CODE, HookEvent::SessionStart, &specific("SessionStart"));
        check(&CLAUDE_CODE, HookEvent::Prompt, &specific("UserPromptSubmit"));
        check(&GEMINI, HookEvent::Prompt, &specific("BeforeAgent"));
        check(&CURSOR, HookEvent::SessionStart, r#"{"additional_context":"T"}"#);
        check(&CURSOR, HookEvent::Prompt, r#"{"additional_context":"T","continue":true}"#);
    }
}
