//! What `connect` wrote works: `doctor` speaks MCP to it, and a later session knows what an earlier one saved.

use std::fs;

use serde_json::{Value, json};

use super::machine::Machine;
use crate::mcp::client::Client;
use crate::mcp::server::Server;
use crate::world::{World, rows, text};

fn connections(report: &Value) -> Vec<(String, String)> {
    let checks = rows(&report["checks"]).iter().filter(|check| check["name"] == "connection");
    checks.map(|check| (text(&check["verdict"]), text(&check["detail"]))).collect()
}

#[test]
fn doctor_proves_each_connection_with_a_handshake() {
    let machine = Machine::new();
    let nobody = connections(&machine.json("doctor"));
    assert!(nobody.len() == 1 && nobody[0].0 == "warning", "{nobody:?}");
    machine.json("connect claude-code codex");
    // Written by hand, by somebody else.
    let program = env!("CARGO_BIN_EXE_ingrain");
    let by_hand = json!({ "mcpServers": { "ingrain": { "command": program, "args": ["mcp"] } } });
    machine.put(".cursor/mcp.json", by_hand.to_string());
    let good = connections(&machine.json("doctor"));
    assert_eq!(good.len(), 3, "{good:?}");
    assert!(good.iter().all(|(verdict, detail)| verdict == "good" && detail.contains("8 tools")), "{good:?}");

    machine.put(".cursor/mcp.json", "{\"mcpServers\": {\"ingrain\": {\"command\": \"/nowhere/ingrain\"}}}");
    fs::write(machine.home().join(".claude.json"), "{}").expect("written");
    let failed = connections(&machine.ends(1, "doctor"));
    let verdicts: Vec<&str> = failed.iter().map(|(verdict, _)| verdict.as_str()).collect();
    assert_eq!(verdicts, ["failed", "good", "failed"], "{failed:?}");
    assert!(failed[0].1.contains("the entry is gone") && failed[2].1.contains("does not start"), "{failed:?}");
}

#[test]
fn doctor_runs_nothing_that_came_with_a_repository() {
    let machine = Machine::new();
    let ran = machine.project().join("ran");
    let write = |entry: Value| {
        let config = json!({ "mcpServers": { "ingrain": entry } }).to_string();
        fs::write(machine.project().join(".mcp.json"), config).expect("written");
    };
    let planted = json!({ "type": "stdio", "command": "/bin/touch", "args": [ran.to_string_lossy()] });
    write(planted.clone());
    let said = connections(&machine.json("doctor"));
    assert!(said[0].0 == "warning" && said[0].1.contains("not contacted") && !ran.exists(), "{said:?}");
    // Nor a later change of an entry that `connect` wrote.
    fs::remove_file(machine.project().join(".mcp.json")).expect("removed");
    machine.json("connect claude-code --scope project");
    write(planted);
    let said = connections(&machine.json("doctor"));
    assert!(said[0].0 == "warning" && !ran.exists(), "{said:?}");
    // Nor does it send a key of this shell anywhere.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("set");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    write(json!({ "type": "http", "url": url, "headers": { "Authorization": "Bearer ${USER}" } }));
    machine.json("doctor");
    assert!(listener.accept().is_err(), "nobody called");
}

#[test]
fn doctor_notices_a_program_that_is_no_server() {
    let machine = Machine::new();
    machine.put(
        ".cursor/mcp.json",
        "{\"mcpServers\": {\"ingrain\": {\"command\": \"/bin/echo\", \"args\": [\"hello\"]}}}",
    );
    let failed = connections(&machine.ends(1, "doctor"));
    assert!(failed[0].0 == "failed" && failed[0].1.contains("protocol 2025-11-25"), "{failed:?}");
}

#[test]
fn doctor_calls_the_url_of_a_team_server_with_its_key() {
    let world = World::new();
    let server = Server::start(&world);
    let machine = Machine::new();
    machine.json(&format!("connect claude-code gemini --no-key --url http://{}", server.address()));
    let good = connections(&machine.json("doctor"));
    assert!(good.len() == 2 && good.iter().all(|(verdict, _)| verdict == "good"), "{good:?}");
    drop(server);
    let failed = connections(&machine.ends(1, "doctor"));
    assert!(failed.iter().all(|(verdict, detail)| verdict == "failed" && detail.contains("reached")), "{failed:?}");
}

#[test]
fn doctor_needs_the_key_of_a_server_in_the_shell() {
    let world = World::new();
    let key = text(&world.json("key create team --for agent:coder", &[])["text"]);
    let server = Server::start_with_keys(&world);
    let machine = Machine::new();
    machine.json(&format!("connect codex vscode --url http://{}/mcp", server.address()));
    let unknown = connections(&machine.json("doctor"));
    assert!(unknown.iter().all(|(verdict, detail)| verdict == "warning" && detail.contains("key")), "{unknown:?}");
    let with_key = |key: &str| {
        let ran = machine.command("doctor --json").env("INGRAIN_KEY", key).spawn().expect("starts");
        connections(&crate::world::finished(ran).json())
    };
    assert_eq!(with_key(&key)[0].0, "good", "{:?}", with_key(&key));
    let wrong = with_key("wrong");
    assert!(wrong[0].0 == "failed" && wrong[0].1.contains("refused the key"), "{wrong:?}");
    let everything = fs::read_to_string(machine.home().join(".codex/config.toml")).expect("a file");
    assert!(!everything.contains(&key));
}

#[test]
fn doctor_calls_words_only_search_a_warning() {
    let world = World::on_file().configured("[embeddings]\nmodel = 'none'\n");
    let report = world.json("doctor", &[]);
    let check = rows(&report["checks"]).iter().find(|check| check["name"] == "embedder").expect("a check");
    assert!(check["verdict"] == "warning" && text(&check["detail"]).contains("words only"), "{check}");
}

#[test]
fn a_later_session_in_the_same_folder_knows_what_an_earlier_one_saved() {
    let machine = Machine::new();
    machine.json("connect claude-code codex");
    let draft = json!({ "path": "notes/deploys", "content": "deploys go through the blue pipeline" });
    let folder = machine.project().join("src");
    fs::create_dir_all(&folder).expect("made");
    let session = |folder: &std::path::Path| {
        let mut command = machine.command("mcp");
        command.current_dir(folder);
        Client::start_command(command).shaken(json!({}))
    };
    let mut first = session(&folder);
    first.tool("memory_remember", draft);
    first.leave();
    let find = |folder: &std::path::Path| {
        let mut later = session(folder);
        let found = later.tool("memory_search", json!({ "query": "how do we deploy" }));
        let paths = crate::world::column(&found["results"], "path");
        paths.contains(&"notes/deploys".to_owned())
    };
    assert!(find(&machine.project()), "the same repository");
    let elsewhere = machine.project().join("../other");
    fs::create_dir_all(&elsewhere).expect("made");
    assert!(!find(&elsewhere), "another project");
    assert!(!find(&machine.home()), "the home directory is no project");
}
