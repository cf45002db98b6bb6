//! Odd configuration files: after `connect` and `disconnect` each is byte for byte what it was.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::machine::Machine;
use crate::world::text;

/// What `connect` must do with a file.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Expected {
    Connected,
    LeftAlone,
}
use Expected::{Connected, LeftAlone};

const JSON_FILES: &[(&str, &[u8], Expected)] = &[
    ("empty", b"", Connected),
    ("blank lines", b"\n\n", Connected),
    ("empty object", b"{}", Connected),
    ("empty object with space", b"{ \n }\n", Connected),
    ("empty map of servers", b"{\"mcpServers\":{}}", Connected),
    ("another server", b"{\n  \"mcpServers\": {\n    \"o\": {\"command\": \"x\"}\n  }\n}\n", Connected),
    ("one line", b"{\"a\":1,\"mcpServers\":{\"o\":{\"command\":\"x\"}},\"z\":[1,2]}", Connected),
    ("tabs", b"{\n\t\"mcpServers\": {\n\t\t\"o\": {}\n\t}\n}\n", Connected),
    ("eight spaces", b"{\n        \"a\": {\n                \"b\": 1\n        }\n}\n", Connected),
    (
        "line comments",
        b"// top\n{\n  // inside\n  \"mcpServers\": {\n    \"o\": {} // after\n  }\n}\n// end\n",
        Connected,
    ),
    ("block comments", b"/* a */{/* b */\"mcpServers\"/* c */:/* d */{/* e */}/* f */}/* g */", Connected),
    ("trailing commas", b"{\n  \"a\": [1, 2,],\n  \"mcpServers\": {\n    \"o\": {},\n  },\n}\n", Connected),
    ("comment after trailing comma", b"{\"mcpServers\":{\"o\":{},/* end */},}", Connected),
    ("byte order mark", b"\xef\xbb\xbf{\n  \"mcpServers\": {}\n}\n", Connected),
    ("windows lines", b"{\r\n  \"a\": 1,\r\n  \"mcpServers\": {\r\n    \"o\": {}\r\n  }\r\n}\r\n", Connected),
    ("mixed lines", b"{\r\n  \"a\": 1,\n  \"mcpServers\": {\r\n    \"o\": {}\n  }\r\n}", Connected),
    ("byte order mark and windows lines", b"\xef\xbb\xbf{\r\n}\r\n", Connected),
    ("no newline at the end", b"{\n  \"a\": 1\n}", Connected),
    ("many newlines at the end", b"{\n  \"a\": 1\n}\n\n\n", Connected),
    ("escapes and emoji", "{\"a\": \"\\u00e9\\/\\\"é😀\", \"n\": 1.50e+3}\n".as_bytes(), Connected),
    ("keys out of order", b"{\"z\": 1, \"mcpServers\": {\"z\": {}, \"a\": {}}, \"a\": 2}\n", Connected),
    ("only a comment", b"// nothing yet\n", Connected),
    ("broken: no end", b"{\n  \"mcpServers\": {\n", LeftAlone),
    ("broken: no value", b"{\"a\": }", LeftAlone),
    ("broken: no comma", b"{\"a\": 1 \"b\": 2}", LeftAlone),
    ("broken: two values", b"{} {}", LeftAlone),
    ("broken: merge conflict", b"<<<<<<< ours\n{}\n=======\n{}\n>>>>>>> theirs\n", LeftAlone),
    ("a list", b"[]", LeftAlone),
    ("null", b"null", LeftAlone),
    ("servers as a list", b"{\"mcpServers\": []}", LeftAlone),
    ("servers twice", b"{\"mcpServers\": {}, \"mcpServers\": {\"o\": {}}}", LeftAlone),
    ("not UTF-8", b"{\"a\": \"\xff\"}", LeftAlone),
    ("UTF-16", b"\xff\xfe{\x00}\x00", LeftAlone),
    ("binary", b"\x00\x01\x02", LeftAlone),
];

const TOML_FILES: &[(&str, &[u8], Expected)] = &[
    ("empty", b"", Connected),
    ("comments", b"# top\nmodel = \"o3\" # fast\n\n# end\n", Connected),
    ("another server", b"[mcp_servers.o]\ncommand = \"x\"\n\n# profiles\n[profiles.p]\na = 1\n", Connected),
    ("inline tables", b"mcp_servers = { o = { command = \"x\" } }\n", Connected),
    ("dotted keys", b"mcp_servers.o.command = \"x\"\n[a]\nb = 1\n", Connected),
    ("windows lines", b"a = 1\r\n\r\n[b]\r\nc = \"d\"\r\n", Connected),
    ("mixed lines", b"a = 1\r\n[b]\nc = \"d\"", Connected),
    ("byte order mark", b"\xef\xbb\xbfa = 1\n", Connected),
    ("long strings", b"a = \"\"\"\none\r\n  two\"\"\"\nb   =   [ 1,\n   2 ,]\n", Connected),
    ("broken", b"a = \n", LeftAlone),
    ("a key twice", b"a = 1\na = 2\n", LeftAlone),
    ("servers as a number", b"mcp_servers = 1\n", LeftAlone),
];

fn check(client: &str, path: &str, name: &str, bytes: &[u8], expected: Expected) {
    let machine = Machine::new();
    let file = machine.put(path, bytes);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("mode");
    let before = machine.snapshot();
    let ran = machine.run(&format!("connect {client} --json"));
    let report = &ran.json()["clients"][0];
    match expected {
        Connected => {
            assert_eq!((ran.exit, text(&report["status"])), (0, "connected".into()), "{client}, {name}: {report}");
            assert_ne!(machine.snapshot(), before, "{client}, {name}");
            let again = machine.json(&format!("connect {client}"));
            assert_eq!(text(&again["clients"][0]["status"]), "unchanged", "{client}, {name}: {again}");
        }
        LeftAlone => {
            assert_eq!((ran.exit, text(&report["status"])), (1, "failed".into()), "{client}, {name}: {report}");
            assert!(text(&report["reason"]).starts_with("left alone: it "), "{client}, {name}: {report}");
            assert_eq!(machine.snapshot(), before, "{client}, {name}");
        }
    }
    machine.json("disconnect");
    assert_eq!(machine.snapshot(), before, "{client}, {name}: byte for byte, with its mode");
}

#[test]
fn odd_json_files_are_restored_byte_for_byte() {
    for (name, bytes, expected) in JSON_FILES {
        check("cursor", ".cursor/mcp.json", name, bytes, *expected);
    }
}

#[test]
fn odd_toml_files_are_restored_byte_for_byte() {
    for (name, bytes, expected) in TOML_FILES {
        check("codex", ".codex/config.toml", name, bytes, *expected);
    }
}

#[test]
fn odd_files_of_hooks_are_restored_byte_for_byte() {
    let hooks: &[&[u8]] = &[
        b"",
        b"{}",
        b"{\"version\":1,\"hooks\":{}}",
        b"{\n  // mine\n  \"hooks\": {\n    \"stop\": [\n      { \"command\": \"lint\" }, // after\n    ],\n  },\n}\n",
        b"\xef\xbb\xbf{\r\n  \"hooks\": { \"stop\": [] }\r\n}\r\n",
        b"{\"hooks\": {\"sessionStart\": [{\"command\": \"a\"}, {\"command\": \"b\"}]}, \"z\": 1}",
        b"{\"hooks\": []}",
        b"{\"hooks\": {\"stop\": {}}}",
        b"{\"hooks\": {",
    ];
    for (number, bytes) in hooks.iter().enumerate() {
        let expected = if number < 6 { Connected } else { LeftAlone };
        let machine = Machine::new();
        machine.put(".cursor/hooks.json", bytes);
        let before = machine.snapshot();
        let report = machine.run("connect cursor --json").json();
        let status = if expected == Connected { "connected" } else { "failed" };
        assert_eq!(text(&report["hooks"][0]["status"]), status, "{number}: {report}");
        machine.json("disconnect");
        assert_eq!(machine.snapshot(), before, "{number}: byte for byte");
    }
}

#[test]
fn links_lead_to_the_file_and_stay_links() {
    let machine = Machine::new();
    let target = machine.put("dotfiles/mcp.json", "{ /* mine */ }\n");
    fs::create_dir_all(machine.home().join(".cursor")).expect("made");
    symlink(&target, machine.home().join(".cursor/mcp.json")).expect("linked");
    let before = machine.snapshot();
    machine.json("connect cursor");
    assert!(fs::read_to_string(&target).expect("a file").contains("ingrain"));
    assert!(machine.home().join(".cursor/mcp.json").is_symlink());
    machine.json("disconnect");
    assert_eq!(machine.snapshot(), before);
    fs::remove_file(&target).expect("removed");
    let dangling = machine.ends(1, "connect cursor");
    assert!(text(&dangling["clients"][0]["reason"]).contains("symbolic link"), "{dangling}");
}

#[test]
fn read_only_files_and_folders_in_their_place_are_left_alone() {
    let machine = Machine::new();
    let file = machine.put(".cursor/mcp.json", "{}\n");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).expect("mode");
    fs::create_dir_all(machine.home().join(".codex/config.toml")).expect("made");
    let before = machine.snapshot();
    let failed = machine.ends(1, "connect cursor codex gemini");
    let reason = |index: usize| text(&failed["clients"][index]["reason"]);
    assert!(reason(0).contains("not a regular file") && reason(2).contains("read-only"), "{failed}");
    assert_eq!(text(&failed["clients"][1]["status"]), "connected", "the others are connected: {failed}");
    machine.json("disconnect");
    assert_eq!(machine.snapshot(), before);
}

#[test]
fn private_files_stay_private_and_backups_are_private() {
    let machine = Machine::new();
    let file = machine.put(".gemini/settings.json", "{\"a\": 1}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("mode");
    let done = machine.json("connect gemini");
    let mode = |path: &std::path::Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    let backup = std::path::PathBuf::from(text(&done["clients"][0]["backup"]));
    assert_eq!((mode(&file), mode(&backup), mode(backup.parent().expect("a folder"))), (0o600, 0o600, 0o700));
    assert_eq!(fs::read_to_string(&backup).expect("a copy"), "{\"a\": 1}");
    let leftovers = fs::read_dir(machine.home().join(".gemini")).expect("readable").count();
    assert_eq!(leftovers, 1, "no temporary file stays");
}

#[test]
fn a_crash_between_record_and_file_is_recognised() {
    let machine = Machine::new();
    let file = machine.put(".cursor/mcp.json", "{}\n");
    machine.json("connect cursor");
    // As if the file had never been replaced.
    fs::write(&file, "{}\n").expect("written");
    let undone = machine.json("disconnect");
    assert_eq!(text(&undone["clients"][0]["status"]), "unchanged", "{undone}");
    machine.json("connect cursor");
    fs::write(&file, "{}\n").expect("written");
    machine.json("connect cursor");
    machine.json("disconnect");
    assert_eq!(fs::read_to_string(&file).expect("a file"), "{}\n");
}

#[test]
fn files_that_were_alike_are_all_restored_byte_for_byte() {
    let machine = Machine::new();
    let alike = "{\"mcpServers\": {\"gh\": {\"command\": \"gh\"}}}\n";
    let files = [".cursor/mcp.json", ".codeium/windsurf/mcp_config.json"].map(|path| machine.put(path, alike));
    machine.json("connect --yes --no-hooks cursor windsurf");
    machine.json("disconnect --yes");
    for file in files {
        assert_eq!(fs::read_to_string(&file).expect("there"), alike, "{}", file.display());
    }
}
