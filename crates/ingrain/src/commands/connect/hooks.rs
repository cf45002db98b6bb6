//! The hooks of a client: where it keeps them, and what `connect` adds there.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::clients::{Base, Place, at, at_variable};
use super::entry::{Addition, ServerAddress, Slot};
use crate::commands::hook::{HookClient, HookEvent};
use crate::config::Environment;

/// Where a client keeps its hooks, and in which words.
#[derive(Debug)]
pub struct HookFile {
    /// Id of the client, here and for `ingrain hook`.
    pub client: &'static str,
    /// File of the user.
    user: Place,
    /// File in a project, relative to its root.
    project: &'static str,
    shape: HookShape,
    /// Events that are left out, because another one of this client does the same more cheaply.
    left_out: &'static [HookEvent],
    /// What the person must know or do.
    pub note: Option<&'static str>,
}

/// How a client writes one hook.
#[derive(Clone, Copy, Debug)]
enum HookShape {
    /// A group of commands, each with a time limit in seconds.
    Group,
    /// As [`HookShape::Group`], in milliseconds and with a name.
    NamedGroup,
    /// The command alone, in a file with a version.
    Command,
}

/// Longest run before a client ends a hook, in seconds: a little more than the hook's own limit. Codex allows 3 at the
/// end of a session.
const TIMEOUT_SECS: u64 = 5;
const TIMEOUT_SECS_AT_END: u64 = 3;

/// Claude Code, Codex and Gemini CLI were run; Cursor is by its documentation.
pub const HOOK_FILES: &[HookFile] = &[
    HookFile {
        client: "claude-code",
        user: at_variable("CLAUDE_CONFIG_DIR", "settings.json", ".claude/settings.json"),
        project: ".claude/settings.json",
        shape: HookShape::Group,
        left_out: &[],
        note: None,
    },
    HookFile {
        client: "codex",
        user: at_variable("CODEX_HOME", "hooks.json", ".codex/hooks.json"),
        project: ".codex/hooks.json",
        shape: HookShape::Group,
        left_out: &[],
        note: Some("Codex runs hooks only after you trust them: start `codex` and review them there (`/hooks`)"),
    },
    HookFile {
        client: "gemini",
        user: at_variable("GEMINI_CLI_HOME", ".gemini/settings.json", ".gemini/settings.json"),
        project: ".gemini/settings.json",
        shape: HookShape::NamedGroup,
        // Gemini CLI calls it before every request to the model.
        left_out: &[HookEvent::PreCompact],
        note: None,
    },
    HookFile {
        client: "cursor",
        user: at(Base::Home, ".cursor/hooks.json"),
        project: ".cursor/hooks.json",
        shape: HookShape::Command,
        left_out: &[],
        note: None,
    },
];

impl HookFile {
    pub fn find(client: &str) -> Option<&'static HookFile> {
        HOOK_FILES.iter().find(|file| file.client == client)
    }

    pub fn path(&self, project: Option<&Path>, environment: &Environment) -> Option<PathBuf> {
        match project {
            Some(root) => Some(root.join(self.project)),
            None => self.user.resolve(environment),
        }
    }

    /// The additions that make the client call the command of `address` with the words of `ingrain hook`.
    pub fn build_additions(&self, address: &ServerAddress) -> Result<Vec<Addition>, String> {
        let ServerAddress::Command { program, arguments } = address else {
            return Err("hooks need the memory on this machine".to_owned());
        };
        let client = HookClient::find(self.client).ok_or("no such hooks")?;
        let mut additions = Vec::new();
        if matches!(self.shape, HookShape::Command) {
            let fields = vec![(String::new(), json!(1))];
            additions.push(Addition { path: vec!["version".to_owned()], slot: Slot::IfMissing, fields });
        }
        for event in HookEvent::ALL.into_iter().filter(|event| !self.left_out.contains(event)) {
            let words = [program.as_str(), "hook", self.client, event.as_str()].into_iter();
            let words = words.chain(arguments.iter().map(String::as_str)).map(quote_word);
            let command = words.collect::<Vec<_>>().join(" ");
            let Value::Object(fields) = self.shape.render(&command, event) else { continue };
            let path = vec!["hooks".to_owned(), client.name_of(event).to_owned()];
            additions.push(Addition { path, slot: Slot::ListItem, fields: fields.into_iter().collect() });
        }
        Ok(additions)
    }
}

impl HookShape {
    fn render(self, command: &str, event: HookEvent) -> Value {
        let seconds = if event == HookEvent::SessionEnd { TIMEOUT_SECS_AT_END } else { TIMEOUT_SECS };
        match self {
            HookShape::Group => {
                json!({ "hooks": [{ "type": "command", "command": command, "timeout": seconds }] })
            }
            HookShape::NamedGroup => {
                let hook = json!({
                    "name": "ingrain", "type": "command", "command": command, "timeout": seconds * 1_000,
                });
                json!({ "hooks": [hook] })
            }
            HookShape::Command => json!({ "command": command, "timeout": seconds }),
        }
    }
}

/// What tells our hook in a list: the client and event that its command names. `None` for hooks of others.
pub fn hook_id(item: &Value) -> Option<String> {
    let command = item.pointer("/hooks/0/command").or_else(|| item.get("command"))?.as_str()?;
    let words: Vec<&str> = command.split_whitespace().collect();
    words.windows(3).find_map(|words| {
        let is_ours = words[0] == "hook" && HookEvent::ALL.iter().any(|event| event.as_str() == words[2]);
        (is_ours && HookClient::find(words[1]).is_some()).then(|| words.join(" "))
    })
}

/// A word for the shell, in quotes where it needs them.
fn quote_word(word: &str) -> String {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '=' | '+' | ',' | '@' | '%');
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_hooks_are_told_from_others_and_odd_paths_are_quoted() {
        let program = "/home/ann b/bin/ingrain".to_owned();
        let address = ServerAddress::Command { program, arguments: vec!["--home".to_owned(), "/it's".to_owned()] };
        for file in HOOK_FILES {
            let additions = file.build_additions(&address).expect("additions");
            for addition in additions.iter().filter(|addition| addition.slot == Slot::ListItem) {
                let id = hook_id(&addition.value()).expect("an id");
                assert!(id.starts_with(&format!("hook {} ", file.client)), "{id}");
                let text = addition.value().to_string();
                assert!(text.contains(r"'/home/ann b/bin/ingrain' hook ") && text.contains(r"'/it'\\''s'"), "{text}");
            }
        }
        for other in [json!({"command": "lint"}), json!({"hooks": [{"command": "hook me up"}]}), json!(7)] {
            assert_eq!(hook_id(&other), None, "{other}");
        }
    }
}
