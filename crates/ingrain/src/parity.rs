//! Test: every command has a REST operation, except those that concern this machine only.

use std::collections::BTreeSet;

use clap::CommandFactory;

use crate::cli::Cli;

/// Commands and the REST operations that do the same.
const SAME: &[(&str, &[&str])] = &[
    ("remember", &["remember"]),
    ("search", &["search"]),
    ("context", &["context"]),
    ("receipt list", &["receipts"]),
    ("receipt show", &["receipt"]),
    ("receipt replay", &["replay"]),
    ("blame", &["blame"]),
    ("reach", &["reach"]),
    ("episodes", &["list", "sessions"]),
    ("episodes list", &["list"]),
    ("episodes sessions", &["sessions"]),
    ("episodes add", &["remember_turns"]),
    ("recall", &["recall"]),
    ("ingest", &["ingest", "documents"]),
    ("ingest publish", &["publish"]),
    ("ingest remove", &["remove_document"]),
    ("audit add", &["record_audit"]),
    ("workflow step", &["record_step"]),
    ("why-not", &["diagnose"]),
    ("diagnose session", &["diagnose_session"]),
    ("read", &["read"]),
    ("list", &["list"]),
    ("history", &["history", "version"]),
    ("patch", &["patch"]),
    ("forget", &["forget"]),
    ("propose", &["propose", "propose_forget"]),
    ("review list", &["reviews"]),
    ("review show", &["review"]),
    ("review confirm", &["approve", "decide_all"]),
    ("review reject", &["reject", "decide_all"]),
    ("review request-changes", &["request_changes"]),
    ("profile propose", &["propose_profile"]),
    ("semantic compact", &["compact"]),
    ("procedural dedup", &["dedup"]),
    ("rollback", &["rollback"]),
    ("run open", &["open_run"]),
    ("run close", &["close_run"]),
    ("run list", &["runs"]),
    ("redact", &["redact"]),
    ("erase", &["erase"]),
    ("certificate list", &["certificates"]),
    ("certificate show", &["certificate"]),
    ("certificate verify", &["check_certificate", "check_kept_certificate"]),
    ("quarantine", &["quarantine", "release"]),
    ("lineage", &["lineage"]),
    ("verify-by", &["verify_by"]),
    ("ban list", &["bans"]),
    ("ban lift", &["lift_ban"]),
    ("owners list", &["owners"]),
    ("owners set", &["set_owners"]),
    ("owners clear", &["set_owners"]),
    ("inspect", &["read", "history", "lineage", "reviews"]),
    ("memory context", &["layer_context"]),
    ("export", &["export"]),
    ("import", &["import", "import_markdown"]),
    ("pin", &["pin"]),
    ("unpin", &["pin"]),
    ("store list", &["stores"]),
    ("store create", &["create_store"]),
    ("store archive", &["archive_store"]),
    ("project list", &["projects"]),
    ("project show", &["project"]),
    ("project rename", &["rename_project"]),
    ("project merge", &["merge_project"]),
    ("project unmerge", &["unmerge_project"]),
    ("project delete", &["erase"]),
    ("pipeline enable", &["set_opt_in"]),
    ("pipeline disable", &["set_opt_in"]),
    ("pipeline delete", &["delete_pipeline"]),
    ("pipeline list", &["pipelines"]),
    ("scan", &["scan", "scan_all"]),
    ("scan allow", &["allow"]),
    ("scan allowed", &["allowed"]),
    ("scan disallow", &["disallow"]),
    ("upkeep", &["upkeep"]),
    ("events", &["events"]),
    ("verify", &["verify"]),
    ("key list", &["keys"]),
    ("key create", &["create_key"]),
    ("key rotate", &["rotate_key"]),
    ("key revoke", &["revoke_key"]),
    ("tenant list", &["tenants"]),
    ("tenant create", &["create_tenant"]),
];

/// Commands about this machine and this binary; not offered over HTTP.
const ONLY_HERE: &[&str] = &[
    "init",
    // The files of the clients on this machine.
    "connect",
    "disconnect",
    // The folders of this machine.
    "project allow",
    // Called by clients on this machine; what they tell comes from `context`.
    "hook claude-code",
    "hook codex",
    "hook cursor",
    "hook gemini",
    "hook log",
    "serve",
    "mcp",
    // Needs the URL of the database owner, before a server runs.
    "migrate",
    "copy",
    "config",
    "doctor",
    // Follows `verify`, by whoever runs the database.
    "repair",
    "demo",
    "bench",
    "completions",
    "man",
];

/// All commands with an effect. Those under `memory` are aliases, except `memory context`.
fn commands() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for command in Cli::command().get_subcommands() {
        let name = command.get_name();
        let parts: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        match (name, parts.is_empty() || ONLY_HERE.contains(&name)) {
            ("help", _) => {}
            ("memory", _) => {
                found.insert("memory context".to_owned());
            }
            (_, true) => {
                found.insert(name.to_owned());
            }
            (_, false) => {
                // Some commands also work without a subcommand.
                found.extend((!command.is_subcommand_required_set()).then(|| name.to_owned()));
                found.extend(parts.iter().filter(|part| **part != "help").map(|part| format!("{name} {part}")));
            }
        }
    }
    found
}

fn operations() -> BTreeSet<String> {
    let document = server::openapi();
    let paths = document["paths"].as_object().into_iter().flatten();
    let methods = paths.flat_map(|(_, methods)| methods.as_object().into_iter().flatten());
    methods.filter_map(|(_, operation)| operation["operationId"].as_str().map(str::to_owned)).collect()
}

#[test]
fn every_command_has_a_rest_operation() {
    let named: BTreeSet<String> = SAME.iter().map(|(command, _)| (*command).to_owned()).collect();
    let excused = |command: &str| ONLY_HERE.contains(&command);
    let missing: Vec<String> =
        commands().into_iter().filter(|command| !named.contains(command) && !excused(command)).collect();
    assert!(missing.is_empty(), "commands without an operation: {missing:?}");
    let gone: Vec<&String> = named.iter().filter(|command| !commands().contains(*command)).collect();
    assert!(gone.is_empty(), "no such commands: {gone:?}");
    let operations = operations();
    for (command, doing) in SAME {
        for operation in *doing {
            assert!(operations.contains(*operation), "`{command}` says it is `{operation}`, which is not there");
        }
    }
}
