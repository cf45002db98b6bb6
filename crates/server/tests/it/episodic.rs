//! Conversations, logs, documents and windows over HTTP: facts 19, 20, 21.

use engine::model::caller::Caller;
use engine::ports::Clock as _;
use engine::text::chunks::DocumentFormat;
use engine::{DocumentText, IngestOutcome};
use serde_json::{Value, json};

use crate::house::{House, Reply};

fn ok(reply: &Reply) -> Value {
    assert!(reply.status < 300, "{}: {}", reply.status, reply.body);
    reply.json()
}

fn items(value: &Value) -> &[Value] {
    value["items"].as_array().expect("a list")
}

#[test]
fn fact_19_and_20_what_was_told_is_recalled_by_the_whole_tenant_and_crowds_no_search() {
    let house = House::new();
    let (own, other) = (house.agent("t"), house.agent("x"));
    let turns = json!({ "session": "s1", "turns": [
        { "role": "user", "speaker": "Ana", "content": "was the harbour crane inspected?" },
        { "role": "assistant", "content": "the harbour crane was inspected on tuesday" },
    ] });
    let saved = ok(&house.ask_as(&own, "POST", "/v1/episodes").json(&turns).send());
    assert_eq!((saved["saved"].as_u64(), saved["refused"].as_u64()), (Some(2), Some(0)), "{saved}");
    let at = "2025-12-24T08:00:00Z";
    let entry = json!({ "action": "crane.inspect", "message": "the harbour crane passed", "meta": { "by": "yard" },
        "timestamp": at });
    assert_eq!(house.ask_as(&other, "POST", "/v1/audit").json(&entry).send().status, 201);
    let step = json!({ "step": "cables", "output": "the harbour crane got new cables", "completed_at": at });
    assert_eq!(house.ask_as(&other, "POST", "/v1/workflows/yearly/steps").json(&step).send().status, 201);
    let document = json!({ "path": "crane.md", "text": "# Crane\n\nthe harbour crane lifts forty tonnes" });
    assert_eq!(ok(&house.ask("POST", "/v1/documents").json(&document).send())["outcome"], json!("created"));

    let recall = |key: &str| {
        let asked = json!({ "query": "harbour crane" });
        ok(&house.ask_as(key, "POST", "/v1/recall").json(&asked).send())
    };
    let mine = recall(&own);
    let sources: std::collections::BTreeSet<&str> =
        mine["recollections"].as_array().expect("a list").iter().filter_map(|one| one["source"].as_str()).collect();
    assert_eq!(sources.into_iter().collect::<Vec<_>>(), ["audit", "knowledge", "memory", "workflow"], "{mine}");
    let theirs = recall(&other).to_string();
    assert!(!theirs.contains("tuesday") && theirs.contains("passed") && theirs.contains("new cables"), "{theirs}");

    let listed = ok(&house.ask_as(&own, "GET", "/v1/audit").send());
    let told = &items(&listed)[0];
    assert_eq!(
        (&told["action"], &told["at"], &told["text"], &told["meta"]["by"]),
        (&json!("crane.inspect"), &json!(at), &json!("the harbour crane passed"), &json!("yard"))
    );
    let steps = ok(&house.ask_as(&own, "GET", "/v1/workflows/yearly/steps").send());
    assert_eq!((items(&steps).len(), &items(&steps)[0]["step"]), (1, &json!("cables")));
    assert!(items(&ok(&house.ask_as(&own, "GET", "/v1/workflows/other/steps").send())).is_empty());
    let sessions = ok(&house.ask_as(&own, "GET", "/v1/sessions").send());
    assert_eq!(items(&sessions)[0]["turns"], json!(2));
    assert!(items(&ok(&house.ask_as(&other, "GET", "/v1/sessions").send())).is_empty());

    // Two hundred better matches in the log leave an ordinary search what it had.
    for number in 0..200 {
        let entry = json!({ "action": "crane.tick", "message": format!("harbour crane harbour crane {number}") });
        house.ask_as(&other, "POST", "/v1/audit").json(&entry).send();
    }
    let found = ok(&house.ask_as(&own, "POST", "/v1/search").json(&json!({ "query": "harbour crane" })).send());
    let contents: Vec<&str> =
        found["hits"].as_array().expect("hits").iter().filter_map(|hit| hit["memory"]["content"].as_str()).collect();
    assert_eq!(contents.len(), 3, "{contents:?}");
    assert!(contents.iter().any(|content| content.contains("tuesday")), "{contents:?}");
}

#[test]
fn logs_pass_the_scanner_and_are_only_appended_to() {
    let house = House::new();
    let key = house.agent("t");
    let secret = format!("{}{}", "AKIA", "Q3EGRTZPLMXW7YVB");
    let entry = json!({ "action": "leak", "message": format!("found {secret}") });
    assert_eq!(house.ask_as(&key, "POST", "/v1/audit").json(&entry).send().said().0, 422);
    let hidden = json!({ "action": "leak", "message": "found it", "meta": { "key": secret } });
    assert_eq!(house.ask_as(&key, "POST", "/v1/audit").json(&hidden).send().said().0, 422);
    let step = json!({ "step": "leak", "output": format!("found {secret}") });
    assert_eq!(house.ask_as(&key, "POST", "/v1/workflows/w/steps").json(&step).send().said().0, 422);
    let entry = json!({ "action": "fine", "message": "all is well" });
    let saved = ok(&house.ask_as(&key, "POST", "/v1/audit").json(&entry).send());
    let id = saved["id"].as_str().expect("an id").to_owned();
    let patch = json!({ "content": "all was never well", "expected_sha256": saved["sha256"] });
    assert_eq!(house.ask_as(&key, "PATCH", &format!("/v1/memories/{id}")).json(&patch).send().said().0, 403);
    assert_eq!(house.ask_as(&key, "DELETE", &format!("/v1/memories/{id}")).send().said().0, 403);
    assert_eq!(
        house.ask_as(&key, "POST", "/v1/audit").json(&json!({ "action": " ", "message": "x" })).send().status,
        400
    );
}

#[test]
fn a_turn_over_rest_is_ready_to_be_sent_and_as_it_stood() {
    let house = House::new();
    let runbook = |content: &str| {
        let body =
            json!({ "store": "workspace_runbooks", "kind": "runbook", "path": "quay/crane", "content": content });
        ok(&house.ask("POST", "/v1/memories").json(&body).send())
    };
    let id = runbook("the harbour crane is green")["id"].as_str().expect("an id").to_owned();
    house.clock.pass(3_600);
    let between = house.clock.now().to_string();
    house.clock.pass(3_600);
    runbook("the harbour crane is blue");
    let read = |query: &str| house.ask("GET", &format!("/v1/memories/{id}{query}")).send();
    assert_eq!(ok(&read(""))["content"], json!("the harbour crane is blue"));
    let then = read(&format!("?as_of={between}"));
    assert_eq!(ok(&then)["content"], json!("the harbour crane is green"));
    assert_ne!(then.header("etag"), read("").header("etag"));
    assert_eq!(read("?as_of=2020-01-01T00:00:00Z").said(), (404, "not_found".to_owned()));

    let ask = |more: Value| {
        let mut body = json!({ "message": "which colour has the harbour crane?" });
        body.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        house.ask("POST", "/v1/context").json(&body).send()
    };
    assert!(ok(&ask(json!({})))["messages"].is_null());
    for (more, colour) in [(json!({}), "blue"), (json!({ "as_of": between }), "green")] {
        let mut more = more;
        more["format"] = json!("messages");
        let answer = ok(&ask(more));
        let messages = answer["messages"].as_array().expect("messages");
        assert_eq!(messages.iter().map(|message| &message["role"]).collect::<Vec<_>>(), ["system", "user"]);
        assert_eq!(messages[0]["content"], answer["text"]);
        assert!(messages[0]["content"].as_str().is_some_and(|text| text.contains(colour)), "{answer}");
        assert_eq!(messages[1]["content"], json!("which colour has the harbour crane?"));
    }
    // A window answers for everything itself.
    for more in [json!({ "as_of": between }), json!({ "format": "messages" }), json!({ "budget_tokens": 50 })] {
        let mut more = more;
        more["window"] = json!({ "window_tokens": 4000 });
        assert_eq!(ask(more).said(), (400, "shape.window".to_owned()));
    }
}

#[test]
fn fact_21_a_window_over_rest_fits_and_has_a_receipt() {
    let house = House::new();
    let key = house.agent("t");
    let runbook = |number: usize| {
        json!({ "store": "workspace_runbooks", "kind": "runbook", "path": format!("g/{number}"),
        "content": format!("gateway {number}: {}", "the gateway drains before a reload. ".repeat(20)) })
    };
    for number in 0..6 {
        ok(&house.ask("POST", "/v1/memories").json(&runbook(number)).send());
    }
    let turns: Vec<Value> = (0..30)
        .map(|number| {
            json!({
                "role": "user", "content": format!("turn {number}: we decided. {}", "words ".repeat(40)),
            })
        })
        .collect();
    let ask = |tokens: usize| {
        let window = json!({ "window_tokens": tokens, "system_prompt": "You keep the gateway running.", "turns": turns,
            "skills": [{ "name": "deploy", "body": "never on fridays" }], "tool_results": ["ok\n".repeat(400)] });
        let body = json!({ "message": "how do I reload the gateway?", "window": window });
        house.ask_as(&key, "POST", "/v1/context").header("x-conversation-id", "c1").json(&body).send()
    };
    let roomy = ok(&ask(100_000));
    assert_eq!((roomy["cuts"].as_array().map(Vec::len), roomy["tokens"].as_u64() > Some(2_000)), (Some(0), true));
    for tokens in [2_500, 1_200, 500, 120] {
        let tight = ok(&ask(tokens));
        assert!(tight["tokens"].as_u64() <= Some(tokens as u64), "{tokens}: {}", tight["tokens"]);
        let text = tight["messages"].to_string();
        assert!(text.contains("never on fridays") && text.contains("You keep the gateway running."), "{tokens}");
        let receipt = tight["receipt"].as_str().expect("a receipt");
        let replay = house.ask_as(&key, "GET", &format!("/v1/receipts/{receipt}/replay"));
        assert_eq!(ok(&replay.header("x-conversation-id", "c1").send())["exact"], json!(true), "{tokens}");
    }
    assert_eq!(ask(20).said(), (400, "context.too_large".to_owned()));
}

#[test]
fn purposes_and_the_past_are_asked_for_in_the_body() {
    let house = House::new();
    let key = house.agent("t");
    let step = json!({ "step": "export", "output": "the harbour ledger was exported" });
    ok(&house.ask_as(&key, "POST", "/v1/workflows/ledger/steps").json(&step).send());
    let ask = |more: Value| {
        let mut body = json!({ "message": "export the harbour ledger" });
        body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        house.ask_as(&key, "POST", "/v1/context").json(&body).send()
    };
    assert_eq!(ok(&ask(json!({})))["text"], json!(""));
    let found = ok(&ask(json!({ "for": "delegation" })));
    assert!(found["text"].as_str().is_some_and(|text| text.contains("by: agent:t")), "{found}");
    assert_eq!(ask(json!({ "for": "lunch" })).status, 400);
    let before = ok(&ask(json!({ "for": "delegation", "as_of": "2025-01-01T00:00:00Z" })));
    assert_eq!(before["text"], json!(""), "{before}");
}

#[test]
fn documents_are_drafted_published_and_searched() {
    let house = House::new();
    let key = house.agent("t");
    let document = json!({ "path": "plan.md", "text": "# Plan\n\nmove the cabinets in october", "draft": true,
        "category": "office" });
    ok(&house.ask("POST", "/v1/documents").json(&document).send());
    let search = || {
        let asked = json!({ "query": "cabinets in october", "categories": ["office"] });
        ok(&house.ask_as(&key, "POST", "/v1/documents/search").json(&asked).send())
    };
    assert!(items(&search()).is_empty());
    // Sent again without a word about it, it stays a draft.
    let longer = json!({ "path": "plan.md", "text": "# Plan\n\nmove all the cabinets in october" });
    assert_eq!(ok(&house.ask("POST", "/v1/documents").json(&longer).send())["document"]["status"], json!("draft"));
    assert!(items(&search()).is_empty());
    let broken = json!({ "path": "broken.md", "text": "half a\u{0} file" });
    assert_eq!(house.ask("POST", "/v1/documents").json(&broken).send().status, 400);
    assert_eq!(items(&ok(&house.ask("GET", "/v1/documents").send())).len(), 1, "no row of what was refused");
    assert!(items(&ok(&house.ask_as(&key, "GET", "/v1/documents").send())).is_empty());
    let publish = json!({ "path": "plan.md" });
    assert_eq!(house.ask_as(&key, "POST", "/v1/documents/publish").json(&publish).send().said().0, 403);
    assert_eq!(ok(&house.ask("POST", "/v1/documents/publish").json(&publish).send())["written"], json!(1));
    assert_eq!(items(&search()).len(), 1);
    assert_eq!(items(&ok(&house.ask_as(&key, "GET", "/v1/documents").send()))[0]["status"], json!("published"));
    let again = ok(&house.ask("POST", "/v1/documents/publish").json(&publish).send());
    assert_eq!(again["outcome"], json!("unchanged"));
    // What a path ends in says what the text is written in.
    let page = json!({
        "path": "a/page.html", "text": "<h1>Caf&eacute;</h1><p>the cabinets in october</p>", "category": "office",
    });
    ok(&house.ask("POST", "/v1/documents").json(&page).send());
    let found = search().to_string();
    assert!(found.contains("Café") && !found.contains("<p>"), "{found}");
    let missing = json!({ "path": "nowhere.md" });
    assert_eq!(house.ask("POST", "/v1/documents/publish").json(&missing).send().status, 404);
    assert!(items(&ok(&house.ask_as(&key, "GET", "/v1/skills").send())).is_empty());
    // Removed by its address, which is asked for.
    let removing = |address: &str| house.ask("DELETE", &format!("/v1/documents{address}")).send();
    assert_eq!(house.ask_as(&key, "DELETE", "/v1/documents?path=a/page.html").send().said().0, 403);
    assert_eq!(removing("").status, 400);
    assert_eq!(ok(&removing("?path=a/page.html"))["archived"], json!(1));
    assert_eq!(removing("?path=a/page.html").status, 404);
    assert!(!search().to_string().contains("Café"));
    assert_eq!(ok(&house.ask("POST", "/v1/documents").json(&page).send())["outcome"], json!("created"));
}

#[test]
fn a_record_without_a_source_learns_it_and_stays_unchanged() {
    let house = House::new();
    let admin = Caller::admin(house.tenant.id);
    let check = |text: &str, source: Option<&str>, expected: (IngestOutcome, bool), kept: Option<&str>| {
        let (path, text, source) = ("docs/a.md".to_owned(), text.to_owned(), source.map(str::to_owned));
        let given = DocumentText { path, text, format: DocumentFormat::Markdown, category: None, status: None, source };
        let done = house.engine.ingest(&admin, &given).expect("taken");
        assert_eq!((done.outcome, done.replaced_other), expected, "{given:?}");
        let standing = house.engine.documents_at(&admin, &["docs/a.md".to_owned()]).expect("an answer");
        assert_eq!(standing[0].source.as_deref(), kept, "{given:?}");
    };
    check("heron", None, (IngestOutcome::Created, false), None);
    check("heron", Some("here"), (IngestOutcome::Unchanged, false), Some("here"));
    check("egret", None, (IngestOutcome::Updated, false), Some("here"));
    check("egret", Some("there"), (IngestOutcome::Unchanged, false), Some("there"));
    check("stork", Some("here"), (IngestOutcome::Updated, true), Some("here"));
}

#[test]
fn a_batch_saves_what_passes_and_names_what_does_not() {
    let house = House::new();
    let key = house.agent("t");
    let secret = format!("{}{}", "AKIA", "Q3EGRTZPLMXW7YVB");
    let turns = json!({ "session": "s1", "turns": [
        { "content": "one" }, { "content": format!("the key is {secret}") }, { "content": "three" },
    ] });
    let saved = ok(&house.ask_as(&key, "POST", "/v1/episodes").json(&turns).send());
    assert_eq!((saved["saved"].as_u64(), saved["refused"].as_u64()), (Some(2), Some(1)));
    assert_eq!(saved["turns"][1]["code"], json!("safety.secret_found"), "{saved}");
    assert!(!saved.to_string().contains(&secret));
    let many: Vec<Value> = (0..1_001).map(|number| json!({ "content": format!("turn {number}") })).collect();
    let body = json!({ "session": "s1", "turns": many });
    assert_eq!(
        house.ask_as(&key, "POST", "/v1/episodes").json(&body).send().said(),
        (400, "shape.too_many".to_owned())
    );
    let none = house.ask_as(&key, "POST", "/v1/episodes").json(&json!({ "turns": [] })).send();
    assert_eq!(none.said(), (400, "scope.session_missing".to_owned()));
}
