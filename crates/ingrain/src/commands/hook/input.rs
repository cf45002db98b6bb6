//! The input of a hook on stdin. It comes from a program that runs as the person, but its texts are anybody's: ids are
//! checked, sizes are bounded, and unknown fields are ignored.

use std::io::Read;
use std::path::PathBuf;

use serde_json::Value;

/// Largest input: a prompt may hold a pasted file.
const INPUT_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Longest id of a session; clients use UUIDs.
const SESSION_CHARS_MAX: usize = 128;

/// What all clients tell, in our words.
#[derive(Debug, Default, PartialEq)]
pub struct HookInput {
    pub session: Option<String>,
    pub transcript: Option<PathBuf>,
    /// The folder that the session works in.
    pub folder: Option<PathBuf>,
    pub prompt: String,
}

impl HookInput {
    /// Reads the input; the error is a code for the log.
    pub fn read(reader: impl Read) -> Result<HookInput, &'static str> {
        let mut bytes = Vec::new();
        reader.take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|_| "hook.input_unreadable")?;
        if bytes.len() as u64 > INPUT_BYTES_MAX {
            return Err("hook.input_too_large");
        }
        let value: Value = serde_json::from_slice(&bytes).map_err(|_| "hook.input_not_json")?;
        if !value.is_object() {
            return Err("hook.input_not_json");
        }
        let text = |key: &str| value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let path = |text: &str| Some(PathBuf::from(text)).filter(|path| path.is_absolute());
        let root = || value.get("workspace_roots")?.as_array()?.first()?.as_str();
        Ok(HookInput {
            session: text("session_id")
                .or_else(|| text("conversation_id"))
                .filter(|id| is_session_id(id))
                .map(str::to_owned),
            transcript: text("transcript_path").and_then(path),
            folder: text("cwd").or_else(root).and_then(path),
            prompt: text("prompt").unwrap_or_default().to_owned(),
        })
    }
}

/// Ids become parts of records and of file names.
fn is_session_id(id: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    id.len() <= SESSION_CHARS_MAX && id.chars().all(plain) && !id.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<HookInput, &'static str> {
        HookInput::read(text.as_bytes())
    }

    #[test]
    fn inputs_of_all_clients_are_understood() {
        let claude = r#"{"session_id":"a-1","transcript_path":"/t/a.jsonl","cwd":"/shop","prompt":"hi","x":[1]}"#;
        let expected = HookInput {
            session: Some("a-1".to_owned()),
            transcript: Some("/t/a.jsonl".into()),
            folder: Some("/shop".into()),
            prompt: "hi".to_owned(),
        };
        assert_eq!(read(claude), Ok(expected));
        let cursor =
            r#"{"conversation_id":"c","generation_id":"g","workspace_roots":["/shop"],"transcript_path":null}"#;
        let input = read(cursor).expect("an input");
        assert_eq!((input.session.as_deref(), input.folder, input.transcript), (Some("c"), Some("/shop".into()), None));
    }

    #[test]
    fn odd_inputs_are_named_and_odd_fields_left_out() {
        for odd in ["", "nonsense", "[]", "7", "{\"a\":", "\u{0}"] {
            assert_eq!(read(odd), Err("hook.input_not_json"), "{odd}");
        }
        assert_eq!(read(&" ".repeat(INPUT_BYTES_MAX as usize + 1)), Err("hook.input_too_large"));
        let odd = r#"{"session_id":"../../etc","cwd":"relative","transcript_path":7,"prompt":{}}"#;
        assert_eq!(read(odd), Ok(HookInput::default()));
    }
}
