//! The rest of what the product can do, over HTTP: bulk decisions, layers, owners, erasure, sessions, documents,
//! transfer.

use engine::ConsentRequest;
use engine::model::caller::Caller;
use engine::model::key::KeyRights;
use engine::model::memory::Draft;
use engine::model::row::{RowFilter, RowKind};
use engine::model::vocabulary::Role;
use serde_json::{Value, json};

use crate::house::{House, Reply};

fn post(house: &House, path: &str, body: &Value) -> Reply {
    house.ask("POST", path).json(body).send()
}

/// The answer of a call that worked.
fn done(reply: &Reply, status: u16) -> Value {
    assert_eq!(reply.status, status, "{}", reply.body);
    reply.json()
}

fn get(house: &House, path: &str) -> Value {
    done(&house.ask("GET", path).send(), 200)
}

fn count(page: &Value) -> usize {
    page["items"].as_array().map_or(0, Vec::len)
}

fn save(house: &House, key: &str, body: &Value) -> String {
    let saved = house.ask_as(key, "POST", "/v1/memories").header("x-conversation-id", "c1").json(body).send();
    done(&saved, 201)["id"].as_str().expect("an id").to_owned()
}

/// A person's key.
fn person(house: &House) -> String {
    let may_set = engine::model::key::Settable::ALL.to_vec();
    house.key(KeyRights { user: Some("ada".to_owned()), may_set, ..KeyRights::for_role(Role::User) }).text
}

fn note(house: &House, key: &str, path: &str, content: &str) -> String {
    let evidence = json!([{ "kind": "user_statement", "summary": "said so" }]);
    let body = json!({
        "store": "conversation_memory", "path": path, "kind": "runbook", "content": content, "evidence": evidence,
    });
    save(house, key, &body)
}

#[test]
fn many_decisions_at_once() {
    let house = House::new();
    let agent = house.agent("triage");
    let mut reviews = Vec::new();
    for n in 0..3 {
        let id = note(&house, &agent, &format!("draft/{n}"), &format!("lesson number {n}"));
        let body = json!({
            "memory": id, "target_store": "workspace_runbooks", "target_path": format!("lessons/{n}"),
            "rationale": "it helped",
            "evidence": [{ "kind": "verification_result", "summary": "tried" }],
        });
        let ask = house.ask_as(&agent, "POST", "/v1/reviews").header("x-conversation-id", "c1").json(&body).send();
        let review = &done(&ask, 201)["review"];
        reviews.push(json!({ "id": review["id"], "version": review["version"] }));
    }
    let rejected = post(&house, "/v1/reviews/decisions", &json!({ "approve": false, "reviews": [reviews[0]] }));
    assert_eq!(done(&rejected, 200), json!({ "decided": 1, "not_decided": [] }));
    let again = json!({ "approve": true, "reviews": [reviews[0], reviews[1]], "comment": "fine" });
    let again = done(&post(&house, "/v1/reviews/decisions", &again), 200);
    assert_eq!(
        (again["decided"].as_u64(), &again["not_decided"][0]["review"]),
        (Some(1), &reviews[0]["id"]),
        "{again}"
    );
    let unread = json!({ "approve": true, "reviews": [{ "id": reviews[2]["id"] }] });
    let unread = done(&post(&house, "/v1/reviews/decisions", &unread), 200);
    assert_eq!(unread["not_decided"][0]["code"], "review.version_missing", "{unread}");
    let all = json!({ "approve": true, "reviews": [reviews[2]] });
    assert_eq!(done(&post(&house, "/v1/reviews/decisions", &all), 200)["decided"], 1);
    assert_eq!(count(&get(&house, "/v1/memories?store=workspace_runbooks&path_prefix=lessons/")), 2);
    let refused = house.ask_as(&agent, "POST", "/v1/reviews/decisions").json(&all).send();
    assert_eq!(done(&refused, 200)["decided"], 0, "an agent decides nothing");
}

#[test]
fn fact_30_layers_and_owners_over_rest() {
    let house = House::new();
    let user = person(&house);
    let fact = json!({ "key": "editor", "value": "helix", "reason": "said so twice" });
    let propose = || house.ask_as(&user, "POST", "/v1/layers/profile").json(&fact).send();
    assert_eq!((propose().status, propose().status), (201, 200));
    let semantic = |text: &str| {
        let body = json!({ "store": "layers", "layer": "semantic", "recall_hint": text, "content": text });
        done(&post(&house, "/v1/memories", &body), 201)
    };
    semantic("Billing retries for a day.");
    semantic("billing retries for a day");
    let group = |propose: bool| done(&post(&house, "/v1/layers/compact", &json!({ "create_proposals": propose })), 200);
    let (dry, wet, again) = (group(false), group(true), group(true));
    assert_eq!(
        (&dry["dry_run"], &dry["proposed"], dry["groups"].as_array().map(Vec::len)),
        (&json!(true), &json!(0), Some(1))
    );
    assert_eq!((&wet["proposed"], &again["proposed"]), (&json!(1), &json!(0)), "{again}");
    assert_eq!(
        done(&house.ask_as(&user, "POST", "/v1/layers/dedup").json(&json!({})).send(), 200)["groups"],
        json!([])
    );
    let context = house.ask_as(&user, "POST", "/v1/layers/context").json(&json!({ "goal": "billing retries" })).send();
    assert_eq!(done(&context, 200)["semantic"].as_array().map(Vec::len), Some(2), "{}", context.body);

    let rules = json!({ "rules": [{ "pattern": "nginx/**", "reviewers": ["reviewer:ana"] }] });
    let set = |key: &str| house.ask_as(key, "PUT", "/v1/stores/workspace_runbooks/owners").json(&rules).send();
    assert_eq!((set(&house.admin).status, set(&user).status), (200, 403));
    assert_eq!(get(&house, "/v1/owners")["items"][0]["rules"], rules["rules"]);
}

/// Approves what waits alone, and says what became of a second decision.
fn approve_alone(house: &House) -> u16 {
    let waiting = get(house, "/v1/reviews?state=pending");
    assert_eq!(count(&waiting), 1, "{waiting}");
    let path = format!("/v1/reviews/{}/approve", waiting["items"][0]["id"].as_str().expect("an id"));
    let decision = json!({ "version": waiting["items"][0]["version"] });
    done(&post(house, &path, &decision), 200);
    post(house, &path, &decision).status
}

#[test]
fn fact_29_and_32_a_profile_is_confirmed_once_and_taken_back_over_rest() {
    let house = House::new();
    let confirmed = |value: &str| {
        let body = json!({ "key": "editor", "value": value, "reason": "said so" });
        let proposed = done(&post(&house, "/v1/layers/profile", &body), 201);
        assert_eq!(approve_alone(&house), 409);
        proposed["review"]["candidate"].as_str().expect("a candidate").to_owned()
    };
    let state = |id: &str| get(&house, &format!("/v1/memories/{id}"))["state"].clone();
    let (old, new) = (confirmed("vim"), confirmed("helix"));
    assert_eq!((state(&old), state(&new)), (json!("superseded"), json!("active")));
    let back = |id: &str| post(&house, &format!("/v1/memories/{id}/rollback"), &json!({ "restore": true }));
    assert_eq!(back(&old).status, 409, "only what is active is rolled back");
    done(&back(&new), 200);
    assert_eq!((state(&old), state(&new)), (json!("active"), json!("tombstoned")));
}

#[test]
fn a_search_in_a_system_finds_nothing_of_another() {
    let house = House::new();
    for system in ["erp", "crm"] {
        let (hint, content) = (format!("{system} proxy"), format!("nginx stands before {system}"));
        let note = json!({ "store": "system_notes", "system": system, "recall_hint": hint, "content": content });
        done(&post(&house, "/v1/memories", &note), 201);
    }
    for (system, stores, expected) in [
        (json!("erp"), json!([]), &["erp proxy"][..]),
        (json!("crm"), json!(["system_notes"]), &["crm proxy"]),
        (json!("nowhere"), json!([]), &[]),
        (json!(null), json!([]), &["crm proxy", "erp proxy"]),
    ] {
        let body = json!({ "query": "nginx", "system": system, "stores": stores });
        let found = done(&post(&house, "/v1/search", &body), 200);
        let hits = found["hits"].as_array().expect("hits");
        let mut hints: Vec<&str> = hits.iter().filter_map(|hit| hit["memory"]["recall_hint"].as_str()).collect();
        hints.sort_unstable();
        assert_eq!(hints, expected, "{body}");
    }
}

#[test]
fn fact_31_the_most_confident_procedure_is_canonical_over_rest() {
    let house = House::new();
    let procedure = |how: &str, confidence: f64| {
        let body = json!({
            "store": "layers", "layer": "procedural", "kind": "runbook", "content": how, "confidence": confidence,
            "metadata": { "workflow": "deploy", "canonical": false },
        });
        done(&post(&house, "/v1/memories", &body), 201)["id"].as_str().expect("an id").to_owned()
    };
    let (weak, strong) = (procedure("deploy by hand", 0.5), procedure("deploy with the script", 0.9));
    let dedup = |propose: bool| done(&post(&house, "/v1/layers/dedup", &json!({ "create_proposals": propose })), 200);
    assert_eq!((&dedup(false)["proposed"], &dedup(true)["proposed"]), (&json!(0), &json!(1)));
    assert_eq!(approve_alone(&house), 409);
    for id in [weak, strong] {
        assert_eq!(get(&house, &format!("/v1/memories/{id}"))["state"], "superseded");
    }
    let standing = get(&house, "/v1/memories?store=layers&layer=procedural&content=true");
    assert_eq!(count(&standing), 1, "{standing}");
    assert_eq!(standing["items"][0]["content"], "deploy with the script");
}

#[test]
fn erased_with_proof_and_kept_out() {
    let house = House::new();
    let user = person(&house);
    let fact =
        json!({ "store": "user_notes", "recall_hint": "the spare key", "content": "the spare key is under the mat" });
    save(&house, &user, &fact);
    let erase = json!({ "what": "user", "name": "ada", "reason": "asked to be forgotten" });
    assert_eq!(house.ask_as(&user, "POST", "/v1/erasures").json(&erase).send().status, 403);
    let certificate = done(&post(&house, "/v1/erasures", &erase), 201);
    assert_eq!((&certificate["memories"], &certificate["erasure"]), (&json!(1), &json!("user")));
    let id = certificate["id"].as_str().expect("an id");
    assert_eq!(get(&house, &format!("/v1/certificates/{id}/check"))["valid"], true);
    assert_eq!(done(&post(&house, "/v1/certificates/check", &certificate), 200)["valid"], true);
    let mut forged = certificate.clone();
    forged["memories"] = 2.into();
    assert_eq!(done(&post(&house, "/v1/certificates/check", &forged), 200)["sealed"], false);
    assert_eq!(count(&get(&house, "/v1/certificates")), 1);
    assert_eq!(house.ask_as(&user, "GET", "/v1/stores").send().status, 401, "the person's keys have ended");
    let user = person(&house);
    let back = house.ask_as(&user, "POST", "/v1/memories").json(&fact).send();
    assert_eq!(back.said().0, 403, "{}", back.body);
    let digest = get(&house, "/v1/bans")["items"][0]["digest"].as_str().expect("a digest").to_owned();
    done(&house.ask("DELETE", &format!("/v1/bans/{digest}")).send(), 200);
    assert_eq!(house.ask_as(&user, "POST", "/v1/memories").json(&fact).send().status, 201);
    assert_eq!(post(&house, "/v1/erasures", &json!({ "what": "tenant", "name": "other" })).status, 404);
}

#[test]
fn nothing_but_the_log_the_certificate_and_bans_names_an_erased_person() {
    let house = House::new();
    let user = house.key(KeyRights { user: Some("ada".to_owned()), ..KeyRights::for_role(Role::User) }).text;
    let note = json!({
        "store": "user_notes", "path": "doctors/knee.md", "recall_hint": "the knee",
        "content": "the knee hurts on stairs",
    });
    let saved = house.ask_as(&user, "POST", "/v1/memories").header("idempotency-key", "once").json(&note).send();
    assert_eq!(saved.status, 201, "{}", saved.body);
    let id = saved.json()["id"].as_str().expect("an id").to_owned();
    let run = json!({ "goal": "find a doctor for the knee" });
    assert_eq!(house.ask_as(&user, "POST", "/v1/runs").json(&run).send().status, 201);
    let context = json!({ "message": "what about the knee" });
    assert_eq!(house.ask_as(&user, "POST", "/v1/context").json(&context).send().status, 200);
    let agent = Caller::agent(house.tenant.id, "helper");
    let agent = Caller { may_confirm: true, user: Some("ada".to_owned()), ..agent };
    let (store, recall_hint) = ("user_notes".to_owned(), Some("a cane".to_owned()));
    let draft = Draft { store, recall_hint, content: "uses a cane".to_owned(), ..Draft::default() };
    assert!(house.engine.ask_person(&agent, &ConsentRequest::Keep(&draft)).expect("asks").is_some());
    house.engine.database().flush().expect("flushed");
    let mut stream = house.ask_as(&user, "GET", "/v1/events").stream();

    let certificate = done(&post(&house, "/v1/erasures", &json!({ "what": "user", "name": "ada" })), 201);
    assert!(certificate["stays"].as_array().is_some_and(|stays| stays.len() > 3), "{certificate}");
    assert_eq!(done(&post(&house, "/v1/certificates/check", &certificate), 200)["valid"], true);
    assert_eq!(house.ask_as(&user, "GET", "/v1/stores").send().status, 401);
    while stream.next().is_some() {}
    house.engine.database().flush().expect("flushed");
    for kind in RowKind::ALL.iter().filter(|kind| !matches!(kind, RowKind::Certificates | RowKind::Bans)) {
        let filter = RowFilter { limit: 1_000, ..RowFilter::default() };
        let rows = format!("{:?}", house.backend.list_rows(house.tenant.id, *kind, &filter).expect("rows"));
        for word in ["\"ada\"", "user:ada", "knee", id.as_str()] {
            assert!(!rows.contains(word), "{kind} {word}: {rows}");
        }
    }
    let events = house.ask("GET", "/v1/events?limit=1000").send().body;
    assert!(!events.contains("knee") && events.contains(&id), "{events}");
}

#[test]
fn a_value_is_let_through_the_scanner_by_an_admin() {
    let house = House::new();
    let agent = house.agent("triage");
    let key = "AKIA".to_owned() + "Z7QK3NTX9WBVY2LM";
    let content = format!("the fixtures use {key}");
    let note = json!({ "store": "workspace_runbooks", "kind": "runbook", "content": content });
    let save = || post(&house, "/v1/memories", &note);
    assert_eq!(save().said(), (422, "safety.secret_found".to_owned()));
    let allow = json!({ "text": note["content"], "reason": "published", "expires_at": "2999-01-01T00:00:00Z" });
    assert_eq!(house.ask_as(&agent, "POST", "/v1/scan/allowed").json(&allow).send().status, 403);
    let digest = done(&post(&house, "/v1/scan/allowed", &allow), 201)["digest"].as_str().expect("a digest").to_owned();
    assert_eq!(save().status, 201);
    assert_eq!(get(&house, "/v1/scan/allowed")["items"][0]["digest"], digest.as_str());
    done(&house.ask("DELETE", &format!("/v1/scan/allowed/{digest}")).send(), 200);
    assert_eq!(count(&get(&house, "/v1/scan/allowed")), 0);
    // What slipped in is found again, and what was refused is counted by its rule.
    let found = done(&post(&house, "/v1/scan/all", &json!({ "propose": true })), 200);
    assert_eq!((&found["proposed"], &found["findings"][0]["field"]), (&json!(1), &json!("content")), "{found}");
    assert!(found["next_cursor"].is_null());
    assert_eq!(get(&house, "/v1/reviews")["items"][0]["action"], "redact");
    let rule = found["findings"][0]["rule"].as_str().expect("a rule");
    let counted = format!("ingrain_scanner_findings_total{{rule=\"{rule}\",verdict=\"blocked\"}} 1");
    let metrics = house.ask("GET", "/metrics").send().body;
    assert!(metrics.contains(&counted), "{metrics}");
    let neither = json!({ "reason": "published", "expires_at": "2999-01-01T00:00:00Z" });
    assert_eq!(post(&house, "/v1/scan/allowed", &neither).said().1, "shape.allow");
}

#[test]
fn conversations_and_documents_in_bulk() {
    let house = House::new();
    let agent = house.agent("triage");
    let key = "AKIA".to_owned() + "Z7QK3NTX9WBVY2LM";
    let turns = json!({ "session": "s-1", "turns": [
        { "role": "user", "content": "billing stopped retrying webhooks" },
        { "role": "user", "content": format!("our key is {key}") },
        { "role": "assistant", "content": "the webhook had moved, decided to follow redirects", "kind": "decision" },
    ] });
    let saved = done(&house.ask_as(&agent, "POST", "/v1/episodes").json(&turns).send(), 200);
    assert_eq!((&saved["saved"], &saved["refused"]), (&json!(2), &json!(1)), "{saved}");
    assert_eq!(saved["turns"][1]["code"], "safety.secret_found");
    assert!(!saved.to_string().contains(&key));
    let of = |path: &str| done(&house.ask_as(&agent, "GET", path).send(), 200);
    assert_eq!(of("/v1/sessions")["items"][0]["turns"], 2);
    assert_eq!(of("/v1/sessions/s-1/diagnosis")["memories"].as_array().map(Vec::len), Some(2));

    let document = json!({ "path": "handbook/on-call", "text": "# On call\n\nThe pager rotates on Mondays." });
    assert_eq!(done(&post(&house, "/v1/documents", &document), 200)["written"], 1);
    assert_eq!(done(&post(&house, "/v1/documents", &document), 200)["outcome"], "unchanged");
    assert_eq!(house.ask_as(&agent, "POST", "/v1/documents").json(&document).send().status, 403);
    assert_eq!(count(&of("/v1/documents")), 1);
    let recall = house.ask_as(&agent, "POST", "/v1/recall").json(&json!({ "query": "when does the pager rotate" }));
    let recalled = done(&recall.send(), 200);
    assert_eq!(recalled["recollections"][0]["source"], "knowledge", "{recalled}");
}

#[test]
fn fact_33_everything_out_and_back_over_rest() {
    let (here, there) = (House::new(), House::new());
    let agent = here.agent("triage");
    for n in 0..30 {
        note(&here, &agent, &format!("notes/{n}"), &format!("note {n}: {}", "long ".repeat(900)));
    }
    let export = get(&here, "/v1/export?store=conversation_memory");
    assert_eq!(export["memories"].as_array().map(Vec::len), Some(30));
    let import = || done(&post(&there, "/v1/import", &export), 200);
    let (first, again) = (import(), import());
    assert_eq!((first["imported"].as_u64() >= Some(30), &first["refused"]), (true, &json!([])), "{first}");
    assert_eq!(again["imported"], 0, "{again}");
    let list = |house: &House| get(house, "/v1/memories?store=conversation_memory&limit=100&content=true&sort=path");
    assert_eq!(list(&here)["items"], list(&there)["items"]);
    let zipped = here.ask("GET", "/v1/export").header("accept-encoding", "gzip").status();
    assert_eq!(zipped, 200);
    // The same, a line at a time: any of the lines will do.
    let asked = here.ask("GET", "/v1/export?store=conversation_memory").header("accept", "application/x-ndjson").send();
    assert_eq!(asked.header("content-type"), Some("application/x-ndjson"));
    let lines: Vec<&str> = asked.body.lines().collect();
    assert!(lines[0].starts_with("{\"ingrain_export\":") && lines[lines.len() - 1].starts_with("{\"end\":"));
    let third = House::new();
    let send = |house: &House, lines: &str| {
        done(&house.ask("POST", "/v1/import").header("content-type", "application/x-ndjson").text(lines).send(), 200)
    };
    let (half, rest) = lines.split_at(lines.len() / 2);
    let taken = [half, rest].map(|part| send(&third, &part.join("\n")));
    assert!(taken.iter().all(|done| done["refused"] == json!([])), "{taken:?}");
    assert_eq!(list(&here)["items"], list(&third)["items"]);
    assert_eq!(send(&third, &asked.body)["imported"], 0);
    let torn =
        here.ask("POST", "/v1/import").header("content-type", "application/x-ndjson").text("{\"memory\":7}").send();
    assert_eq!(torn.said(), (400, "shape.export".to_owned()));
    let newer = post(&there, "/v1/import", &json!({ "ingrain_export": 999 }));
    assert_eq!(newer.said(), (400, "shape.export_newer".to_owned()));
    let file = json!({
        "store": "workspace_runbooks",
        "text": "---\npath: ops/fuses\nkind: runbook\n---\nspare fuses are in rack nine\n",
    });
    assert_eq!(done(&post(&there, "/v1/import/markdown", &file), 200)["imported"], 1);
    let rules = engine::model::caller::MemoryPermissions { read: false, manage: true };
    let blind = here.key(KeyRights { rules, ..KeyRights::for_role(Role::Admin) }).text;
    assert_eq!(here.ask_as(&blind, "GET", "/v1/export").send().status, 403, "said before the first byte");
}

#[test]
fn confirmed_forgotten_and_counted() {
    let house = House::new();
    let agent = house.agent("triage");
    let id = note(&house, &agent, "ops/port", "the port is 8080");
    let path = format!("/v1/memories/{id}");
    let confirm = |key: &str, until: &str| {
        house.ask_as(key, "PUT", &format!("{path}/verify-by")).json(&json!({ "until": until })).send()
    };
    assert_eq!(confirm(&agent, "2030-01-01T00:00:00Z").said(), (404, "not_found".to_owned()), "not its conversation");
    let before = house.ask("GET", &path).send().header("etag").expect("a tag").to_owned();
    assert_eq!(done(&confirm(&house.admin, "2030-01-01T00:00:00Z"), 200)["outcome"], "confirmed");
    assert_eq!(confirm(&house.admin, "2020-01-01T00:00:00Z").said(), (400, "shape.verify_by".to_owned()));

    let why = json!({ "query": "which port", "explain": id });
    let ask = house.ask_as(&agent, "POST", "/v1/why-not").header("x-conversation-id", "c1").json(&why).send();
    assert_eq!(done(&ask, 200)["search"]["returned"], true, "{}", ask.body);
    assert_eq!(post(&house, "/v1/why-not", &json!({ "query": "x" })).said(), (400, "shape.explain".to_owned()));
    let live = |store: &str| {
        let usage = get(&house, "/v1/usage");
        let stores = usage["stores"].as_array().expect("stores").clone();
        stores.iter().find(|row| row["store"] == store).map_or(0, |row| row["live"].as_u64().expect("a number"))
    };
    assert_eq!((live("conversation_memory"), live("workspace_conventions"), live("workspace_runbooks")), (1, 4, 0));

    let key = "AKIA".to_owned() + "Z7QK3NTX9WBVY2LM";
    let forget = |tag: &str| {
        house.ask("DELETE", &format!("{path}?may_return=true&reason=it+held+{key}")).header("if-match", tag)
    };
    assert_eq!(forget(&before).send().said(), (412, "conflict.sha256".to_owned()), "another version stands");
    let now = house.ask("GET", &path).send().header("etag").expect("a tag").to_owned();
    assert_eq!(done(&forget(&now).send(), 200)["outcome"], "forgotten");
    let reason = get(&house, &format!("{path}/history"))["items"][0]["reason"].clone();
    assert!(reason.as_str().is_some_and(|text| text.starts_with("it held [REDACTED:")), "{reason}");
    assert_eq!(live("conversation_memory"), 0);
    note(&house, &agent, "ops/port", "the port is 8080");
}
