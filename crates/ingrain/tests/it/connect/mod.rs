//! `connect` and `disconnect` on the configuration files of real clients, in a fresh `HOME`.

mod handshakes;
mod machine;
mod odd_files;
pub mod terminal;

use std::fs;

use serde_json::{Value, json};

use self::machine::Machine;
use crate::world::{column, rows, text};

const ALL: &str = "claude-code codex gemini cursor vscode windsurf zed opencode";

fn read(file: impl AsRef<std::path::Path>) -> String {
    fs::read_to_string(file).expect("a file")
}

fn read_json(file: impl AsRef<std::path::Path>) -> Value {
    serde_json::from_str(&read(file)).expect("JSON")
}

#[test]
fn init_works_on_a_fresh_machine_and_says_what_to_type_next() {
    let machine = Machine::new();
    machine.install("claude");
    machine.put(".cursor/argv.json", "{}");
    let ran = machine.run("init");
    assert_eq!(ran.exit, 0, "{ran:?}");
    assert!(ran.stdout.contains("next:") && ran.stdout.contains("ingrain connect"), "{ran:?}");
    assert!(ran.stdout.contains("Claude Code, Cursor"), "it names what it found: {ran:?}");
    assert!(machine.home().join(".config/ingrain/config.toml").is_file());
    assert!(machine.home().join(".local/share/ingrain/ingrain.db").is_file());
    assert!(!machine.home().join(".claude.json").exists(), "without a terminal nothing is asked and nothing connected");
    let again = machine.json("init");
    assert_eq!(
        (text(&again["status"]), column_of(&again["clients_found"])),
        ("unchanged".into(), "claude-code cursor".into())
    );
    let nobody = Machine::new();
    assert!(nobody.run("init").stdout.contains("ingrain connect --print"), "no client was found");
}

fn column_of(list: &Value) -> String {
    rows(list).iter().map(text).collect::<Vec<_>>().join(" ")
}

#[test]
fn connect_finds_what_is_installed_and_nothing_else() {
    let machine = Machine::new();
    let failed = machine.ends(2, "connect");
    assert_eq!(text(&failed["code"]), "connect.none_found");
    machine.install("claude");
    machine.put(".codex/auth.json", "{}");
    let done = machine.json("connect");
    assert_eq!(column(&done["clients"], "client"), ["claude-code", "codex"]);
    assert_eq!(text(&done["status"]), "connected");
    let entry = &read_json(machine.home().join(".claude.json"))["mcpServers"]["ingrain"];
    assert_eq!(entry["args"], json!(["mcp"]));
    assert_eq!((text(&entry["type"]), text(&entry["command"])), ("stdio".into(), env!("CARGO_BIN_EXE_ingrain").into()));
    let codex = read(machine.home().join(".codex/config.toml"));
    assert!(codex.starts_with("[mcp_servers.ingrain]\ncommand = \"") && codex.contains("args = [\"mcp\"]"), "{codex}");
}

#[test]
fn every_client_is_connected_in_its_own_format_and_restored() {
    let machine = Machine::new();
    let before = machine.snapshot();
    let done = machine.json(&format!("connect {ALL}"));
    assert_eq!(column(&done["clients"], "status"), ["connected"; 8], "{done}");
    let home = machine.home();
    for (file, pointer) in [
        (".claude.json", "/mcpServers/ingrain/command"),
        (".gemini/settings.json", "/mcpServers/ingrain/command"),
        (".cursor/mcp.json", "/mcpServers/ingrain/command"),
        (".config/Code/User/mcp.json", "/servers/ingrain/command"),
        (".codeium/windsurf/mcp_config.json", "/mcpServers/ingrain/command"),
        (".config/zed/settings.json", "/context_servers/ingrain/command"),
        (".config/opencode/opencode.json", "/mcp/ingrain/command/0"),
    ] {
        let config = read_json(home.join(file));
        assert_eq!(config.pointer(pointer), Some(&json!(env!("CARGO_BIN_EXE_ingrain"))), "{file}: {config}");
    }
    let again = machine.json(&format!("connect {ALL}"));
    assert_eq!(column(&again["clients"], "status"), ["unchanged"; 8], "{again}");
    let undone = machine.json("disconnect");
    assert_eq!(column(&undone["clients"], "status"), ["restored"; 8], "{undone}");
    assert_eq!(machine.snapshot(), before, "files and folders that connect made are gone");
    assert_eq!(text(&machine.json("disconnect")["status"]), "unchanged");
}

#[test]
fn a_project_is_connected_without_paths_of_this_machine() {
    let machine = Machine::new();
    let before = machine.snapshot();
    let done = machine.json("connect --scope project claude-code codex gemini cursor vscode zed opencode");
    assert_eq!(column(&done["clients"], "status"), ["connected"; 7], "{done}");
    for file in [".mcp.json", ".codex/config.toml", ".gemini/settings.json", ".cursor/mcp.json", ".vscode/mcp.json"] {
        let config = read(machine.project().join(file));
        assert!(config.contains("\"ingrain\"") && !config.contains('/'), "{file}: {config}");
    }
    assert!(text(&done["clients"][0]["note"]).contains("asks"), "{done}");
    let windsurf = machine.ends(1, "connect --scope project windsurf");
    assert!(text(&windsurf["clients"][0]["reason"]).contains("no configuration in a project"), "{windsurf}");
    let undone = machine.json("disconnect --scope user");
    assert_eq!(rows(&undone["clients"]).len(), 0, "only the other scope");
    machine.json("disconnect --scope project");
    assert_eq!(machine.snapshot(), before);
}

#[test]
fn a_dry_run_and_print_write_nothing() {
    let machine = Machine::new();
    machine.put(".cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" }\n  }\n}\n");
    let before = machine.snapshot();
    let planned = machine.json("connect cursor --dry-run");
    assert_eq!(
        (text(&planned["status"]), text(&planned["clients"][0]["status"])),
        ("dry_run".into(), "planned".into())
    );
    assert!(text(&planned["clients"][0]["diff"]).contains("+    \"ingrain\": {"), "{planned}");
    let printed = machine.run("connect codex --print");
    assert!(printed.stdout.starts_with("[mcp_servers.ingrain]\n") && printed.stderr.contains(".codex/config.toml"));
    let generic: Value = machine.run("connect --print").json();
    assert!(generic["mcpServers"]["ingrain"]["args"].is_array(), "{generic}");
    assert_eq!(machine.snapshot(), before);
    assert!(!machine.home().join(".local").exists(), "not even Ingrain's own folder is made");
    machine.json("connect cursor");
    let connected = machine.snapshot();
    let planned = machine.json("disconnect --dry-run");
    assert_eq!(text(&planned["clients"][0]["status"]), "planned");
    assert_eq!(machine.snapshot(), connected);
}

#[test]
fn a_team_server_is_connected_without_its_key_in_any_file() {
    let machine = Machine::new();
    let line = "--url https://memory.example --key-variable TEAM_KEY";
    let done = machine.ends(1, &format!("connect {ALL} {line}"));
    let failed: Vec<&Value> = rows(&done["clients"]).iter().filter(|client| client["status"] == "failed").collect();
    assert!(failed.len() == 1 && failed[0]["client"] == "zed", "Zed cannot refer to a key: {done}");
    let home = machine.home();
    let header = |file: &str, pointer: &str, expected: &str| {
        let config = read_json(home.join(file));
        assert_eq!(config.pointer(pointer).map(text).as_deref(), Some(expected), "{file}: {config}");
    };
    header(".claude.json", "/mcpServers/ingrain/headers/Authorization", "Bearer ${TEAM_KEY}");
    header(".gemini/settings.json", "/mcpServers/ingrain/headers/Authorization", "Bearer ${TEAM_KEY}");
    header(".gemini/settings.json", "/mcpServers/ingrain/httpUrl", "https://memory.example/mcp");
    header(".cursor/mcp.json", "/mcpServers/ingrain/headers/Authorization", "Bearer ${env:TEAM_KEY}");
    header(".codeium/windsurf/mcp_config.json", "/mcpServers/ingrain/serverUrl", "https://memory.example/mcp");
    header(".config/opencode/opencode.json", "/mcp/ingrain/headers/Authorization", "Bearer {env:TEAM_KEY}");
    header(".config/Code/User/mcp.json", "/servers/ingrain/headers/Authorization", "Bearer ${input:ingrain-key}");
    header(".config/Code/User/mcp.json", "/inputs/0/type", "promptString");
    assert!(read(home.join(".codex/config.toml")).contains("bearer_token_env_var = \"TEAM_KEY\""));
    // VS Code's list of inputs belongs to others too.
    machine.json("disconnect vscode");
    let shared =
        "{\n  \"inputs\": [\n    { \"id\": \"mine\", \"type\": \"promptString\" }\n  ],\n  \"servers\": {}\n}\n";
    let file = machine.put(".config/Code/User/mcp.json", shared);
    machine.json(&format!("connect vscode {line}"));
    fs::write(&file, read(&file).replace("mine", "yours")).expect("somebody edits it");
    let undone = machine.json("disconnect vscode");
    assert_eq!(text(&undone["clients"][0]["status"]), "removed", "{undone}");
    assert_eq!(read_json(&file), json!({ "inputs": [{ "id": "yours", "type": "promptString" }], "servers": {} }));
    for url in ["http://memory.example/mcp", "https://ann:secret@memory.example", "memory.example"] {
        assert_eq!(text(&machine.ends(2, &format!("connect codex --url {url}"))["code"]), "connect.url", "{url}");
    }
}

#[test]
fn disconnect_after_somebody_elses_change_removes_only_our_entry() {
    let machine = Machine::new();
    let before = "{\n  // my servers\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" }\n  }\n}\n";
    let file = machine.put(".cursor/mcp.json", before);
    machine.json("connect cursor");
    let theirs = read(&file).replace("\"other\"", "\"renamed\"");
    fs::write(&file, &theirs).expect("written");
    let undone = machine.json("disconnect");
    assert_eq!(text(&undone["clients"][0]["status"]), "removed");
    assert!(text(&undone["clients"][0]["reason"]).contains("somebody else changed"), "{undone}");
    assert_eq!(read(&file), before.replace("\"other\"", "\"renamed\""));
    assert_eq!(read(text(&undone["clients"][0]["backup"])), before, "the copy is kept and named");

    // The same in TOML, and the entry edited too.
    let toml = machine.put(".codex/config.toml", "# mine\nmodel = \"a\"\n");
    machine.json("connect codex");
    fs::write(&toml, read(&toml).replace("\"a\"", "\"b\"") + "startup_timeout_sec = 5\n\n[tui]\nx = 1\n")
        .expect("written");
    machine.json("disconnect");
    assert_eq!(read(&toml), "# mine\nmodel = \"b\"\n\n[tui]\nx = 1\n");

    // Broken since: left alone, with the way back, and the record stays.
    machine.json("connect codex");
    let whole = read(&toml);
    fs::write(&toml, "model = \n").expect("written");
    let failed = machine.ends(1, "disconnect");
    assert!(text(&failed["clients"][0]["reason"]).contains("cannot be understood, line 1"), "{failed}");
    assert_eq!(read(&toml), "model = \n");
    fs::write(&toml, &whole).expect("written");
    assert_eq!(text(&machine.json("disconnect")["clients"][0]["status"]), "restored");
}

#[test]
fn connecting_again_elsewhere_still_restores_the_first_file() {
    let machine = Machine::new();
    let before = "{ \"mcpServers\": { \"other\": {} } }";
    let file = machine.put(".cursor/mcp.json", before);
    machine.json("connect cursor");
    machine.json("connect cursor --url https://memory.example/mcp");
    assert!(read(&file).contains("memory.example"), "the entry is replaced");
    machine.json("connect cursor --name team --url https://team.example/mcp");
    assert!(read(&file).contains("team.example") && read(&file).contains("memory.example"));
    machine.json("disconnect");
    assert_eq!(read(&file), before);
}

#[test]
fn an_entry_of_somebody_else_is_not_replaced_without_force() {
    let machine = Machine::new();
    let before = "{\"mcpServers\": {\"ingrain\": {\"command\": \"theirs\"}}}";
    let file = machine.put(".cursor/mcp.json", before);
    let failed = machine.ends(1, "connect cursor");
    assert!(text(&failed["clients"][0]["reason"]).contains("--force"), "{failed}");
    assert_eq!(read(&file), before);
    assert_eq!(text(&machine.json("disconnect cursor")["status"]), "unchanged", "it is not ours");
    machine.json("connect cursor --force");
    assert!(!read(&file).contains("theirs"));
    machine.json("disconnect");
    assert_eq!(read(&file), before);
}

#[test]
fn two_commands_at_once_lose_no_record() {
    let machine = Machine::new();
    let before = machine.snapshot();
    let started: Vec<_> = ALL
        .split(' ')
        .map(|client| machine.command(&format!("connect {client} --json")).spawn().expect("the binary starts"))
        .collect();
    for child in started {
        assert_eq!(crate::world::finished(child).exit, 0);
    }
    assert_eq!(column(&machine.json("disconnect")["clients"], "status"), ["restored"; 8]);
    assert_eq!(machine.snapshot(), before);
}

#[test]
fn keys_beside_the_change_are_not_shown() {
    let machine = Machine::new();
    // Joined at run time, so that secret scanners do not report this file.
    let key = format!("{}{}", "AKIA", "Q3ZT7WGLB5XKPN2M");
    let text = format!(
        "{{\n  \"mcpServers\": {{\n    \"other\": {{ \"env\": {{ \"AWS_ACCESS_KEY_ID\": \"{key}\" }} }}\n  }}\n}}\n"
    );
    machine.put(".cursor/mcp.json", text);
    for line in ["connect cursor --dry-run", "connect cursor --json", "disconnect"] {
        let ran = machine.run(line);
        assert!(ran.exit == 0 && !ran.stdout.contains(&key) && !ran.stderr.contains(&key), "{line}: {ran:?}");
    }
}

#[test]
fn passwords_of_a_database_are_not_written_into_clients() {
    let machine = Machine::new();
    let failed = machine.ends(2, "connect cursor --db postgres://app:secret@db/ingrain");
    assert_eq!(text(&failed["code"]), "connect.password");
    machine.json("connect cursor --home elsewhere");
    let entry = &read_json(machine.home().join(".cursor/mcp.json"))["mcpServers"]["ingrain"];
    assert_eq!(entry["args"][2], json!(machine.project().join("elsewhere")), "{entry}");
}

/// Events in a file of hooks that call our command.
fn hooked_events(hooks: &Value, client: &str) -> Vec<String> {
    let calls_us = |items: &Value| items.to_string().contains(&format!("ingrain hook {client} "));
    let events = hooks["hooks"].as_object().expect("hooks").iter();
    events.filter(|(_, items)| calls_us(items)).map(|(event, _)| event.clone()).collect()
}

#[test]
fn clients_with_hooks_get_them_beside_those_of_others_and_are_restored() {
    let machine = Machine::new();
    let home = machine.home();
    let prettier = r#"{ "matcher": "Edit", "hooks": [{ "type": "command", "command": "prettier" }] }"#;
    machine.put(
        ".claude/settings.json",
        format!("{{\n  // mine\n  \"hooks\": {{\n    \"Stop\": [{prettier}],\n    \"Edit\": [{prettier}]\n  }},\n}}\n"),
    );
    machine.put(".gemini/settings.json", "{\"theme\": \"dark\"}\n");
    machine.put(".cursor/hooks.json", "{\"version\": 1, \"hooks\": {}}");
    let before = machine.snapshot();
    let done = machine.json("connect claude-code codex gemini cursor vscode");
    assert_eq!(column(&done["hooks"], "client"), ["claude-code", "codex", "gemini", "cursor"]);
    assert_eq!(column(&done["hooks"], "status"), ["connected"; 4], "{done}");
    assert!(text(&done["hooks"][1]["note"]).contains("trust"), "Codex asks the person: {done}");
    let settings = read(home.join(".claude/settings.json"));
    assert!(settings.contains("// mine") && settings.matches("prettier").count() == 2, "{settings}");
    assert_eq!(settings.matches("ingrain hook claude-code").count(), 5, "{settings}");
    let codex = read_json(home.join(".codex/hooks.json"));
    assert_eq!(
        hooked_events(&codex, "codex"),
        ["PreCompact", "SessionEnd", "SessionStart", "Stop", "UserPromptSubmit"]
    );
    assert_eq!(codex["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], 3, "Codex allows no more");
    let gemini = read_json(home.join(".gemini/settings.json"));
    assert_eq!(hooked_events(&gemini, "gemini"), ["AfterAgent", "BeforeAgent", "SessionEnd", "SessionStart"]);
    assert_eq!((text(&gemini["theme"]), &gemini["mcpServers"]["ingrain"]["args"]), ("dark".into(), &json!(["mcp"])));
    let cursor = read_json(home.join(".cursor/hooks.json"));
    assert_eq!(hooked_events(&cursor, "cursor").len(), 5);
    assert_eq!((cursor["version"].as_u64(), cursor["hooks"]["stop"][0]["timeout"].as_u64()), (Some(1), Some(5)));
    let again = machine.json("connect claude-code codex gemini cursor");
    assert_eq!(text(&again["status"]), "unchanged", "{again}");
    let checks = machine.json("doctor")["checks"].clone();
    assert!(rows(&checks).iter().all(|check| check["status"] != "broken"), "hooks are no servers: {checks}");
    let undone = machine.json("disconnect");
    assert_eq!(column(&undone["hooks"], "status"), ["restored"; 4], "{undone}");
    assert_eq!(machine.snapshot(), before, "byte for byte");
}

#[test]
fn hooks_come_off_a_file_that_others_changed_since() {
    let machine = Machine::new();
    let file = machine.put(".cursor/hooks.json", "{ \"hooks\": { \"stop\": [{ \"command\": \"lint\" }] } }\n");
    machine.json("connect cursor");
    assert_eq!(read_json(&file)["version"], 1, "Cursor wants a version");
    fs::write(&file, read(&file).replace("lint", "lint --fix")).expect("written");
    let undone = machine.json("disconnect");
    assert_eq!(column(&undone["hooks"], "status"), ["removed"], "{undone}");
    assert_eq!(read_json(&file), json!({ "hooks": { "stop": [{ "command": "lint --fix" }] } }));
}

#[test]
fn hooks_can_be_left_out_and_a_server_elsewhere_has_none() {
    let machine = Machine::new();
    let done = machine.json("connect claude-code --no-hooks");
    assert_eq!(rows(&done["hooks"]).len(), 0, "{done}");
    machine.json("disconnect");
    let done = machine.json("connect claude-code --url https://memory.example/mcp --no-key");
    assert_eq!(rows(&done["hooks"]).len(), 0, "{done}");
    machine.json("disconnect");
    // In a project the command is the plain name: the file is committed.
    machine.json("connect claude-code --scope project");
    let settings = read(machine.project().join(".claude/settings.json"));
    assert!(settings.contains("\"ingrain hook claude-code stop\""), "{settings}");
    machine.json("disconnect");
    assert!(!machine.project().join(".claude/settings.json").exists());
}
