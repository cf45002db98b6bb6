use super::*;
use crate::commands::hook::clients::{CLAUDE_CODE, CODEX, CURSOR, GEMINI};

// Shapes as the clients wrote them (Claude Code 2.1, Codex 0.169, Gemini CLI 0.61; Cursor by reports); texts our own.

const CLAUDE_LINES: &str = include_str!("../../../../tests/transcripts/claude-code.jsonl");
const CODEX_LINES: &str = include_str!("../../../../tests/transcripts/codex.jsonl");
const GEMINI_LINES: &str = include_str!("../../../../tests/transcripts/gemini.jsonl");
const CURSOR_LINES: &str = include_str!("../../../../tests/transcripts/cursor.jsonl");

fn settings() -> HookSettings {
    HookSettings {
        session_start: true,
        prompt: true,
        capture: true,
        timeout_ms: 1_000,
        turns_max: 10,
        turn_bytes_max: 1_000,
        result_bytes_max: 100,
    }
}

fn read(client: &HookClient, text: &str, after: u32, settings: &HookSettings) -> NewTurns {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.jsonl");
    std::fs::write(&path, text).expect("written");
    read_turns(&path, client, after, "ingrain", settings, &|folder| !folder.ends_with("elsewhere")).expect("readable")
}

fn told(client: &HookClient, text: &str, after: u32) -> Vec<(u32, TurnRole, String)> {
    let turns = read(client, text, after, &settings()).turns;
    let told = |turn: Turn| (turn.turn.expect("a number"), turn.role.expect("a role"), turn.content);
    turns.into_iter().map(told).collect()
}

fn turn(number: u32, role: TurnRole, text: &str) -> (u32, TurnRole, String) {
    (number, role, text.to_owned())
}

#[test]
fn turns_and_results_of_each_client_without_recalled_memories() {
    use TurnRole::{Assistant, ToolResult, User};
    let expected = [
        turn(3, User, "how do we deploy?"),
        turn(8, ToolResult, "tool Bash failed: {\"command\":\"make deploy\"}\nno rule deploy"),
        turn(10, Assistant, "There is no such rule."),
    ];
    assert_eq!(told(&CLAUDE_CODE, CLAUDE_LINES, 0), expected);
    let expected = [
        turn(4, User, "how do we deploy?"),
        turn(9, ToolResult, "tool exec_command: {\"cmd\":\"make deploy\"}\nno rule deploy"),
        turn(10, Assistant, "There is no such rule."),
    ];
    assert_eq!(told(&CODEX, CODEX_LINES, 0), expected);
    let expected = [
        turn(3, User, "how do we deploy?"),
        turn(4, Assistant, "I will look."),
        turn(5, ToolResult, "tool run_shell_command failed: {\"command\":\"make deploy\"}\nno rule deploy"),
        turn(7, Assistant, "There is no such rule."),
    ];
    assert_eq!(told(&GEMINI, GEMINI_LINES, 0), expected);
    let expected = [turn(1, User, "how do we deploy?"), turn(2, Assistant, "There is no such rule.")];
    assert_eq!(told(&CURSOR, CURSOR_LINES, 0), expected);
}

#[test]
fn only_lines_after_the_last_kept_one_are_told() {
    // The call on line 6 is known, although it is not told again.
    let numbers = |after| told(&CLAUDE_CODE, CLAUDE_LINES, after).iter().map(|turn| turn.0).collect::<Vec<_>>();
    assert_eq!((numbers(3), numbers(8), numbers(10)), (vec![8, 10], vec![10], vec![]));
    let cut = CLAUDE_LINES.replace("{\"type\":\"assistant\",\"uuid\":\"last\"", "{");
    let half = &CODEX_LINES[..CODEX_LINES.len() - 1];
    assert_eq!(told(&CODEX, half, 9), [], "a line that is still being written waits");
    assert_eq!(told(&CLAUDE_CODE, &cut, 8), [], "a broken line is left out");
}

#[test]
fn long_transcripts_and_texts_are_bounded() {
    let line = |number: usize| {
        format!(
            "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{number} {}\"}}}}\n",
            "word ".repeat(900)
        )
    };
    let text: String = (1..=40).map(line).collect();
    let found = read(&CLAUDE_CODE, &text, 0, &settings());
    assert_eq!((found.turns.len(), found.left_out), (10, 30));
    assert_eq!(found.turns[0].turn, Some(31), "the latest are kept");
    assert!(found.turns.iter().all(|turn| turn.content.len() < 1_020));
    let none = read(&CLAUDE_CODE, &text, 0, &HookSettings { turns_max: 0, ..settings() });
    assert_eq!((none.turns.len(), none.left_out), (0, 40));
}

#[test]
fn what_is_no_transcript_is_named() {
    let read = |path: &Path| read_turns(path, &CODEX, 0, "ingrain", &settings(), &|_| true).err();
    assert_eq!(read(Path::new("/dev/zero")), Some("hook.no_transcript"));
    assert_eq!(read(Path::new("/nonexistent/x.jsonl")), Some("hook.no_transcript"));
}

#[test]
fn shell_calls_of_our_own_command_are_recalled_too() {
    let call = |arguments: &str| ToolCall { name: "Bash".to_owned(), arguments: arguments.to_owned() };
    assert!(call(r#"{"command":"ingrain search deploy"}"#).is_of_memory());
    assert!(!call(r#"{"command":"ls /work/ingrained"}"#).is_of_memory());
}

#[test]
fn what_was_said_in_the_folder_of_another_project_stays_there() {
    let line = |folder: &str, text: &str| {
        let message = serde_json::json!({ "type": "user", "cwd": folder, "message": { "content": text } });
        format!("{message}\n")
    };
    let text = line("/work/shop", "how do we deploy?") + &line("/work/elsewhere", "what are the wages?");
    assert_eq!(told(&CLAUDE_CODE, &text, 0), [turn(1, TurnRole::User, "how do we deploy?")]);
}
