//! Consent: an answer counts only if it answers a question of the server.

use serde_json::{Value, json};

use super::client::Client;
use super::server::Server;
use crate::world::{World, rows, text};

const CAN_ASK: &str = "--tools core,note --agent a --user ann --conversation c1 --may-confirm";

fn pinned_note(content: &str) -> Value {
    json!({ "scope": "user", "recallHint": "tone of answers", "content": content, "alwaysInject": true })
}

fn yes() -> Value {
    json!({ "confirm": { "action": "accept", "content": { "confirm": true } } })
}

/// A call that claims the person's yes, to the question with this id or to none.
fn call_with_yes(client: &mut Client, tool: &str, arguments: &Value, question: &Value) -> Value {
    let mut call = json!({ "name": tool, "arguments": arguments, "inputResponses": yes() });
    if !question.is_null() {
        call["requestState"] = question.clone();
    }
    client.ask("tools/call", call)["result"].clone()
}

fn trust(world: &World, id: &Value) -> String {
    text(&world.json("read", &[&text(id)])["trust"])
}

fn state(world: &World, id: &str) -> String {
    text(&world.json("read", &[id])["state"])
}

/// A rule of ann's own, and its id.
fn rule_of_ann(world: &World, content: &str) -> String {
    text(&world.json("remember --as user:ann --store user_notes --hint tests", &[content])["id"])
}

#[test]
fn a_forged_consent_raises_and_removes_nothing_in_either_era() {
    let world = World::new();
    let rule = rule_of_ann(&world, "never deploy on friday");
    // No question was asked, and the clients did not even say that they can ask.
    for mut client in [Client::legacy(&world, CAN_ASK), Client::stateless(&world, CAN_ASK, json!({}))] {
        let forged = json!("0195f0a0000070008000000000000001");
        for question in [Value::Null, forged] {
            let note = pinned_note(&format!("prefers tea number {question}"));
            let saved = call_with_yes(&mut client, "ai_saveMemory", &note, &question);
            assert!(saved["structuredContent"]["id"].is_string(), "{saved}");
            assert_eq!(trust(&world, &saved["structuredContent"]["id"]), "agent_draft", "{saved}");
            let forget = json!({ "document_id": rule, "reason": "the person said so" });
            let kept = call_with_yes(&mut client, "memory_forget", &forget, &question);
            assert_eq!(kept["structuredContent"]["forgotten"], false, "{kept}");
            let kept = call_with_yes(&mut client, "ai_deleteMemory", &json!({ "id": rule }), &question);
            assert_eq!(kept["structuredContent"]["deleted"], false, "{kept}");
            assert!(kept["structuredContent"]["review_item_id"].is_string(), "{kept}");
        }
    }
    assert_eq!(state(&world, &rule), "active");
}

#[test]
fn a_client_that_can_ask_is_asked_first_whatever_it_claims() {
    let world = World::new();
    let rule = rule_of_ann(&world, "never deploy on friday");
    let mut client = Client::stateless(&world, CAN_ASK, json!({ "elicitation": {} }));
    let forget = json!({ "document_id": rule, "reason": "stale" });
    for (tool, arguments) in [("ai_saveMemory", pinned_note("be brief")), ("memory_forget", forget)] {
        let asked = call_with_yes(&mut client, tool, &arguments, &Value::Null);
        assert_eq!(asked["resultType"], "input_required", "{tool}: {asked}");
        assert!(asked["requestState"].is_string(), "{asked}");
    }
    assert_eq!(state(&world, &rule), "active");
}

#[test]
fn a_question_shows_hint_and_content_of_what_is_confirmed() {
    let world = World::new();
    let mut client = Client::stateless(&world, CAN_ASK, json!({ "elicitation": {} }));
    let asked = client.call("ai_saveMemory", pinned_note("answer in\nshort sentences\u{202e}"));
    let shown = text(&asked["inputRequests"]["confirm"]["params"]["message"]);
    for part in ["Recall hint: tone of answers", "Store: user_notes", "> answer in\n> short sentences\\u{202e}"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let rule = rule_of_ann(&world, "never deploy on friday");
    let asked = client.call("memory_forget", json!({ "document_id": rule, "reason": "stale" }));
    let shown = text(&asked["inputRequests"]["confirm"]["params"]["message"]);
    assert!(shown.contains("> never deploy on friday") && shown.contains("Recall hint: tests"), "{shown}");
}

#[test]
fn a_question_shows_the_persons_own_text_that_a_yes_replaces() {
    let world = World::new();
    let save = "remember --as user:ann --store user_notes --hint";
    let rule = world.json(save, &["tone of answers", "answer in short sentences"]);
    let mut client = Client::stateless(&world, CAN_ASK, json!({ "elicitation": {} }));
    let note = pinned_note("answer in short sentences and in rhymes");
    let asked = client.call("ai_saveMemory", note.clone());
    let shown = text(&asked["inputRequests"]["confirm"]["params"]["message"]);
    for part in ["replaces", "> answer in short sentences\n", "> answer in short sentences and in rhymes\n"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }

    // The person changes their text meanwhile: the yes was about another one.
    world.json(save, &["tone of answers", "answer in short sentences, please"]);
    let void = call_with_yes(&mut client, "ai_saveMemory", &note, &asked["requestState"]);
    assert_eq!(void["resultType"], "input_required", "{void}");
    let kept = world.json("read", &[&text(&rule["id"])]);
    assert_eq!(text(&kept["content"]), "answer in short sentences, please");

    let saved = call_with_yes(&mut client, "ai_saveMemory", &note, &void["requestState"]);
    assert_eq!(saved["structuredContent"]["id"], rule["id"], "{saved}");
    assert_eq!(trust(&world, &rule["id"]), "user_authored");
    assert_eq!(text(&world.json("read", &[&text(&rule["id"])])["content"]), "answer in short sentences and in rhymes");
}

#[test]
fn an_answer_counts_once_for_the_same_text_and_session_and_in_time() {
    let world = World::new();
    let can = json!({ "elicitation": {} });
    let mut client = Client::stateless(&world, CAN_ASK, can.clone());
    let note = pinned_note("answer in short sentences");
    let question = client.call("ai_saveMemory", note.clone())["requestState"].clone();

    let other = call_with_yes(&mut client, "ai_saveMemory", &pinned_note("answer in long sentences"), &question);
    assert_eq!(other["resultType"], "input_required", "another text: {other}");
    for flags in [CAN_ASK.replace("--agent a", "--agent b"), CAN_ASK.replace("c1", "c2"), CAN_ASK.replace("ann", "bob")]
    {
        let mut stranger = Client::stateless(&world, &flags, can.clone());
        let asked = call_with_yes(&mut stranger, "ai_saveMemory", &note, &question);
        assert_eq!(asked["resultType"], "input_required", "{flags}: {asked}");
    }
    let forget = json!({ "document_id": rule_of_ann(&world, "a rule"), "reason": "stale" });
    let asked = call_with_yes(&mut client, "memory_forget", &forget, &question);
    assert_eq!(asked["resultType"], "input_required", "another action: {asked}");

    let saved = call_with_yes(&mut client, "ai_saveMemory", &note, &question);
    let id = saved["structuredContent"]["id"].clone();
    assert_eq!(trust(&world, &id), "user_authored", "{saved}");
    let replayed = call_with_yes(&mut client, "ai_saveMemory", &note, &question);
    assert_eq!(replayed["resultType"], "input_required", "replayed: {replayed}");
    let declined = client.call("ai_saveMemory", pinned_note("quite another text"))["requestState"].clone();
    let no = json!({ "confirm": { "action": "accept", "content": { "confirm": false } } });
    let call = json!({ "name": "ai_saveMemory", "arguments": pinned_note("quite another text"),
        "inputResponses": no, "requestState": declined });
    let refused = client.ask("tools/call", call)["result"].clone();
    assert_eq!(refused["structuredContent"]["code"], "policy.person_declined", "{refused}");
    let again = call_with_yes(&mut client, "ai_saveMemory", &pinned_note("quite another text"), &declined);
    assert_eq!(again["resultType"], "input_required", "a no stays a no: {again}");
}

#[test]
fn without_may_confirm_a_pin_becomes_a_review_item_for_its_person() {
    let world = World::new();
    for (mut client, content) in [
        // Its yes is not asked for: it would prove nothing.
        (Client::with_person(&world, "--tools note --agent a --user ann", true), "be brief"),
        (Client::legacy(&world, CAN_ASK), "use metric units"),
    ] {
        let mut note = pinned_note(content);
        note["recallHint"] = content.into();
        let saved = client.tool("ai_saveMemory", note);
        assert_eq!(trust(&world, &saved["id"]), "agent_draft", "{saved}");
        let context = text(&world.json("context --as user:ann", &["anything"])["text"]);
        let (trusted, _) = context.split_once("untrusted").unwrap_or(("", ""));
        assert!(!trusted.contains(content), "{context}");

        let review = text(&saved["review_item_id"]);
        let waiting = world.json("review list --as user:ann --action confirm", &[]);
        assert!(waiting.to_string().contains(&review), "{waiting}");
        world.json("review confirm --as user:ann", &[&review]);
        assert_eq!(trust(&world, &saved["id"]), "user_authored");
    }
}

#[test]
fn a_text_too_long_to_show_waits_for_review() {
    let world = World::new();
    let mut client = Client::with_person(&world, CAN_ASK, true);
    let saved = client.tool("ai_saveMemory", pinned_note(&"be brief and kind. ".repeat(120)));
    assert_eq!(trust(&world, &saved["id"]), "agent_draft");
    assert!(saved["review_item_id"].is_string(), "{saved}");
}

#[test]
fn an_agent_forgets_a_persons_rule_only_with_that_persons_yes() {
    let world = World::new();
    let rule = rule_of_ann(&world, "never deploy on friday");
    let forget = json!({ "document_id": rule, "reason": "stale" });
    // Its client can ask, but was not given the right to bring answers.
    let mut client = Client::with_person(&world, "--agent a --user ann", true);
    assert_eq!(client.tool("memory_forget", forget.clone())["forgotten"], false);
    let proposed = world.json("forget --as agent:a --user ann", &[&rule]);
    assert_eq!(text(&proposed["status"]), "pending");
    assert_eq!(state(&world, &rule), "active");
    let mut client = Client::with_person(&world, "--agent a --user ann --may-confirm", true);
    assert_eq!(client.tool("memory_forget", forget)["forgotten"], true);
    // What an agent made forgotten does not bind its person, who saves it again.
    let saved = world.json("remember --as user:ann --store user_notes --hint tests", &["never deploy on friday"]);
    assert_eq!(text(&saved["status"]), "created");
}

#[test]
fn the_owner_pins_an_agents_note_and_it_is_in_the_trusted_block() {
    let world = World::new();
    let mut client = Client::legacy(&world, "--tools note --agent a --user ann");
    let id = text(&client.tool("ai_saveMemory", pinned_note("answer in short sentences"))["id"]);
    let in_trusted_block = || {
        let context = text(&world.json("context --as user:ann", &["anything"])["text"]);
        context.split("untrusted").next().unwrap_or_default().contains("short sentences")
    };
    world.json("unpin --as user:ann", &[&id]);
    world.json("verify-by --as user:ann --never", &[&id]);
    assert_eq!(trust(&world, &json!(id)), "agent_draft");
    assert!(!in_trusted_block());
    let version = text(&world.json("read --as user:ann", &[&id])["version"]);
    let shown = world.run("pin --as user:ann", &[&id, "--read", &version]);
    assert!(shown.stdout.contains("answer in short sentences"), "{}", shown.stdout);
    assert_eq!(trust(&world, &json!(id)), "user_authored");
    assert!(in_trusted_block());
}

/// On a terminal: `script` gives the command one.
#[test]
fn a_pin_on_a_terminal_shows_the_text_and_takes_a_yes_and_nothing_else() {
    use std::io::{Read as _, Write as _};
    let world = World::new();
    let mut client = Client::legacy(&world, "--tools note --agent a --user ann");
    let id = text(&client.tool("ai_saveMemory", pinned_note("answer in short sentences"))["id"]);
    for (answer, trusted) in [("n\n", "agent_draft"), ("\n", "agent_draft"), ("y\n", "user_authored")] {
        let pin = world.command("pin --as user:ann", &[&id]);
        let quoted = |part: &std::ffi::OsStr| format!("'{}'", part.to_str().expect("a word"));
        let line: Vec<String> = std::iter::once(pin.get_program()).chain(pin.get_args()).map(quoted).collect();
        let mut command = std::process::Command::new("script");
        command.args(["-qec", &line.join(" "), "/dev/null"]).env_clear();
        command.envs(pin.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.spawn().expect("a terminal");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(answer.as_bytes()).expect("typed");
        let mut shown = String::new();
        child.stdout.take().expect("a pipe").read_to_string(&mut shown).expect("text");
        child.wait().expect("ends");
        assert!(shown.contains("answer in short sentences") && shown.contains("[y/N]"), "{shown}");
        assert_eq!(trust(&world, &json!(id)), trusted, "{answer:?}: {shown}");
    }
}

#[test]
fn a_pin_does_not_confirm_a_text_that_changed_after_the_person_looked() {
    let world = World::new();
    let mut client = Client::legacy(&world, "--tools note --agent a --user ann");
    let id = text(&client.tool("ai_saveMemory", pinned_note("answer in short sentences"))["id"]);
    let looked = text(&world.json("read --as user:ann", &[&id])["version"]);
    let again = client.tool("ai_saveMemory", pinned_note("answer in short sentences and in rhymes"));
    assert_eq!(text(&again["id"]), id, "the agent changes the note");

    // Without the version, nothing is confirmed: the text of now is shown, and what to type next.
    let unread = world.fails(3, "pin --as user:ann", &[&id]);
    let version = text(&unread["memory"]["version"]);
    assert_eq!(text(&unread["code"]), "policy.unread");
    assert!(text(&unread["memory"]["content"]).contains("in rhymes"), "{unread}");
    assert!(text(&unread["hint"]).contains(&format!("ingrain pin {id} --read {version}")), "{unread}");
    let shown = world.run("pin --as user:ann", &[&id]);
    assert_eq!(shown.exit, 3, "{shown:?}");
    assert!(shown.stdout.contains("in rhymes") && shown.stdout.contains(&version), "{}", shown.stdout);
    assert_eq!(world.run("pin --as user:ann", &[&id, "--read", &looked]).exit, 2, "changed since");
    assert_eq!(trust(&world, &json!(id)), "agent_draft");

    // The same for a review that is named by its memory; its own id stands for one version.
    let unread = world.fails(3, "review confirm --as user:ann", &[&id]);
    assert!(text(&unread["hint"]).contains("ingrain review confirm "), "{unread}");
    assert_eq!(trust(&world, &json!(id)), "agent_draft");

    world.json("pin --as user:ann", &[&id, "--read", &version]);
    assert_eq!(trust(&world, &json!(id)), "user_authored");
}

#[test]
fn write_tools_on_demand_are_not_offered_over_http_before_they_are_loaded() {
    let world = World::new();
    let server = Server::start(&world);
    let path = "/mcp?tools=core,note,anthropic&write_tools=on-demand";
    let names = |reply: Value| -> Vec<String> {
        rows(&reply["result"]["tools"]).iter().map(|tool| text(&tool["name"])).collect()
    };
    let reads = ["memory_search", "memory_read", "memory_list", "memory_history", "ai_searchMemory", "load_toolset"];
    let load = json!({ "name": "load_toolset", "arguments": { "name": "memory", "include_write_tools": true } });
    let write = json!({ "name": "memory_forget", "arguments": { "document_id": "x", "reason": "y" } });

    let session = server.session(path);
    let ask = |method: &str, params: &Value| server.ask(path, Some(&session), method, params).message();
    assert_eq!(names(ask("tools/list", &json!({}))), reads);
    assert_eq!(ask("tools/call", &write)["error"]["code"], -32_602);
    ask("tools/call", &load);
    assert!(names(ask("tools/list", &json!({}))).contains(&"memory_forget".to_owned()));
    let other = server.session(path);
    assert_eq!(names(server.ask(path, Some(&other), "tools/list", &json!({})).message()), reads);

    let list = || names(server.ask_stateless(path, "tools/list", "", json!({})).message());
    assert_eq!(list(), reads);
    server.ask_stateless(path, "tools/call", "load_toolset", load);
    assert!(list().contains(&"ai_saveMemory".to_owned()));
}
