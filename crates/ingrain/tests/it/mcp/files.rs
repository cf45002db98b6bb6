//! Anthropic's memory tool: its answers, to the letter.

use serde_json::json;

use super::client::Client;
use crate::world::{World, text};

#[test]
fn the_anthropic_memory_tool_answers_exactly_as_specified() {
    let world = World::new();
    let mut client = Client::legacy(&world, "--tools anthropic --agent a");
    let mut check = |arguments: serde_json::Value, expected: &str| {
        let said = client.says(arguments.clone());
        assert_eq!(said, expected, "{arguments}");
    };
    let view = |path: &str| json!({ "command": "view", "path": path });
    let create = |path: &str, text: &str| json!({ "command": "create", "path": path, "file_text": text });
    let delete = |path: &str| json!({ "command": "delete", "path": path });
    let rename = |old: &str, new: &str| json!({ "command": "rename", "old_path": old, "new_path": new });
    let replace = |path: &str, old: &str, new: &str| {
        json!({
            "command": "str_replace", "path": path, "old_str": old, "new_str": new,
        })
    };
    let insert = |path: &str, line: i64, text: &str| {
        json!({
            "command": "insert", "path": path, "insert_line": line, "insert_text": text,
        })
    };
    let folder = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n";
    check(view("/memories"), &format!("{folder}0B\t/memories/"));
    check(create("/memories/a.txt", "one\ntwo\none\n"), "File created successfully at: /memories/a.txt");
    check(create("/memories/a.txt", "x"), "File /memories/a.txt already exists");
    check(
        create("/memories/deep/er/b.txt", &"x y ".repeat(384)),
        "File created successfully at: /memories/deep/er/b.txt",
    );
    check(
        view("/memories"),
        &format!("{folder}1.5K\t/memories/\n12B\t/memories/a.txt\n1.5K\t/memories/deep/\n1.5K\t/memories/deep/er/"),
    );
    check(
        view("/memories/a.txt"),
        "Here's the content of /memories/a.txt with line numbers:\n     1\tone\n     2\ttwo\n     3\tone\n     4\t",
    );
    let mut range = view("/memories/a.txt");
    range["view_range"] = json!([2, 3]);
    check(range, "Here's the content of /memories/a.txt with line numbers:\n     2\ttwo\n     3\tone");
    check(view("/memories/none"), "The path /memories/none does not exist. Please provide a valid path.");
    check(
        replace("/memories/a.txt", "one", "1"),
        "No replacement was performed. Multiple occurrences of old_str `one` in lines: 1, 3. \
         Please ensure it is unique",
    );
    check(
        replace("/memories/a.txt", "six", "6"),
        "No replacement was performed, old_str `six` did not appear verbatim in /memories/a.txt.",
    );
    check(
        replace("/memories/a.txt", "two", "2"),
        concat!(
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n",
            "     1\tone\n     2\t2\n     3\tone\n     4\t",
        ),
    );
    check(replace("/memories/deep", "x", "y"), "The path /memories/deep is not a file.");
    check(replace("/memories/none", "x", "y"), "The path /memories/none does not exist. Please provide a valid path.");
    check(insert("/memories/a.txt", 0, "zero\n\n"), "The file /memories/a.txt has been edited.");
    check(
        insert("/memories/a.txt", 9, "x"),
        "Invalid `insert_line` parameter: 9. It should be within the range [0, 4].",
    );
    check(
        view("/memories/a.txt"),
        concat!(
            "Here's the content of /memories/a.txt with line numbers:\n",
            "     1\tzero\n     2\tone\n     3\t2\n     4\tone\n     5\t",
        ),
    );
    check(rename("/memories/a.txt", "/memories/deep"), "The destination /memories/deep already exists");
    check(rename("/memories/none", "/memories/x"), "The path /memories/none does not exist");
    check(rename("/memories", "/memories/x"), "Cannot rename the /memories directory itself");
    check(rename("/memories/deep", "/memories/flat"), "Successfully renamed /memories/deep to /memories/flat");
    check(rename("/memories/a.txt", "/memories/c.txt"), "Successfully renamed /memories/a.txt to /memories/c.txt");
    check(delete("/memories/a.txt"), "The path /memories/a.txt does not exist");
    check(delete("/memories"), "Cannot delete the /memories directory itself");
    check(delete("/memories/flat"), "Successfully deleted /memories/flat");
    check(view("/memories"), &format!("{folder}15B\t/memories/\n15B\t/memories/c.txt"));
    check(view("/etc/passwd"), "Path must start with /memories, got: /etc/passwd");
    check(view("/memories/../x"), "Path /memories/../x would escape /memories directory");
    check(view("/memories/%2e%2e/x"), "Path /memories/%2e%2e/x would escape /memories directory");
    // A path is a file or a folder, never both.
    check(
        create("/memories/c.txt/d.txt", "x"),
        "The path /memories/c.txt is a file, not a directory: nothing can stand below it",
    );
    check(create("/memories/e/f.txt", "x"), "File created successfully at: /memories/e/f.txt");
    check(create("/memories/e", "x"), "The path /memories/e is a directory: a file needs a name of its own");
    check(create("/memories", "x"), "The path /memories is a directory: a file needs a name of its own");
    check(
        rename("/memories/e", "/memories/c.txt/e"),
        "The path /memories/c.txt is a file, not a directory: nothing can stand below it",
    );
    check(delete("/memories/e"), "Successfully deleted /memories/e");
    // What was deleted by its own agent may be made anew.
    check(create("/memories/flat", "new"), "File created successfully at: /memories/flat");
    check(delete("/memories/flat"), "Successfully deleted /memories/flat");
    check(create("/memories/flat", "new"), "File created successfully at: /memories/flat");
}

#[test]
fn a_wrong_argument_of_a_file_command_is_reported_by_name() {
    let world = World::new();
    let mut client = Client::legacy(&world, "--tools anthropic --agent a");
    for (arguments, words) in [
        (json!({}), "missing field `command`"),
        (json!({ "command": "chmod" }), "unknown `command` `chmod`; one of: view, create"),
        (json!({ "command": "view", "path": 7 }), "`path`: expected a string, not a number"),
        (json!({ "command": "create", "path": "/memories/a", "file_text": 7 }), "`file_text`: expected a string"),
        (json!({ "command": "create", "path": "/memories/a" }), "missing field `file_text`"),
        (json!({ "command": "insert", "path": "/memories/a" }), "missing field `insert_line`"),
        (json!({ "command": "rename", "old_path": "/memories/a" }), "missing field `new_path`"),
    ] {
        let result = client.call("memory", arguments);
        assert!(text(&result["structuredContent"]["error"]).contains(words), "{result}");
    }
}

#[test]
fn a_forgotten_file_cannot_be_written_again() {
    let world = World::new();
    let mut client = Client::legacy(&world, "--tools anthropic --agent a");
    let file = json!({ "command": "create", "path": "/memories/a", "file_text": "the crane is green" });
    client.says(file.clone());
    world.json("forget a --store agent_files --reason wrong", &["--as", "admin"]);
    let refused = client.call("memory", file);
    assert_eq!(refused["structuredContent"]["code"], "policy.forgotten", "{refused}");
    assert!(text(&refused["structuredContent"]["hint"]).starts_with("leave it out"), "{refused}");
}

#[test]
fn a_file_that_a_person_wrote_is_deleted_only_with_that_persons_yes() {
    let world = World::new();
    Client::legacy(&world, "--tools anthropic --agent a --user ann")
        .says(json!({ "command": "create", "path": "/memories/a", "file_text": "never deploy on friday" }));
    let id = text(&world.json("list", &[])["memories"][0]["id"]);
    let sha256 = text(&world.json("read", &[&id])["sha256"]);
    world.json("patch", &[&id, "never deploy on friday or monday", "--expect", &sha256, "--as", "admin"]);
    let delete = json!({ "command": "delete", "path": "/memories/a" });
    let is_there = || text(&world.json("read", &[&id])["state"]) == "active";
    // A client that says yes by itself, a person who says no, and one whose client has no such right.
    let forged = json!({ "name": "memory", "arguments": delete,
        "inputResponses": { "confirm": { "action": "accept", "content": { "confirm": true } } } });
    Client::legacy(&world, "--tools anthropic --agent a --user ann --may-confirm").ask("tools/call", forged);
    assert!(is_there());
    for (flags, says) in [("--may-confirm", false), ("", true)] {
        let mut client = Client::with_person(&world, &format!("--tools anthropic --agent a --user ann {flags}"), says);
        let said = client.says(delete.clone());
        assert!(is_there() && !said.contains("Successfully"), "{said}");
    }
    let waiting = world.json("review list", &[]).to_string();
    assert!(waiting.contains(&id), "{waiting}");
}

#[test]
fn a_renamed_file_that_is_rolled_back_keeps_its_new_name() {
    let world = World::new();
    let mut client = Client::legacy(&world, "--tools anthropic --agent a");
    for arguments in [
        json!({ "command": "create", "path": "/memories/a.txt", "file_text": "the first way" }),
        json!({ "command": "str_replace", "path": "/memories/a.txt", "old_str": "first", "new_str": "second" }),
        json!({ "command": "rename", "old_path": "/memories/a.txt", "new_path": "/memories/b.txt" }),
    ] {
        client.says(arguments);
    }
    let listed = world.json("list", &[]);
    let id = text(&listed["memories"][0]["id"]);
    world.json("rollback --restore", &[&id]);
    let memory = world.json("read", &[&id]);
    assert_eq!(text(&memory["content"]), "the first way");
    assert_eq!(memory["path"], listed["memories"][0]["path"]);
}
