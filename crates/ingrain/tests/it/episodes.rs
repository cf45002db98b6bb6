//! What agents went through: facts 16, 17, 18, 20.

use crate::world::{World, column, rows, text};

const AGENT: &str = "--as agent:t --session s1";

#[test]
fn fact_16_times_to_live_by_class() {
    let world = World::new();
    let check = |class: &str, expires: Option<&str>, importance: Option<f64>| {
        let saved = world.json(&format!("episodes add {AGENT} --ttl {class}"), &["a plain sentence about the office"]);
        assert_eq!(saved["expires_at"].as_str(), expires, "{class}");
        let memory = world.json(&format!("read {} {AGENT}", text(&saved["id"])), &[]);
        if let Some(importance) = importance {
            assert_eq!(memory["importance"].as_f64(), Some(importance), "{class}");
        }
    };
    check("routine", Some("2026-03-08T12:00:00Z"), Some(0.3));
    check("task_completion", Some("2026-03-31T12:00:00Z"), None);
    check("decision", Some("2026-05-30T12:00:00Z"), None);
    check("error", Some("2026-03-15T12:00:00Z"), None);
    check("remember", None, Some(1.0));
    let said = world.json(&format!("episodes add {AGENT}"), &["Please remember this: the door code changes monthly"]);
    assert!(said["expires_at"].is_null(), "{said}");
    let listed = world.json(&format!("episodes list {AGENT}"), &[]);
    assert_eq!(rows(&listed["memories"]).len(), 6);
    // A day after the routine one is due it is gone from every read, before any upkeep.
    world.at("2026-03-09T12:00:00Z");
    assert_eq!(rows(&world.json(&format!("episodes list {AGENT}"), &[])["memories"]).len(), 5);
    let found = world.json(&format!("search plain sentence office --limit 20 {AGENT}"), &[]);
    let expiries = column(&found["hits"], "expires_at");
    assert!(expiries.len() >= 4 && !expiries.contains(&"2026-03-08T12:00:00Z".to_owned()), "{expiries:?}");
    assert_eq!(world.json("upkeep", &[])["expired"], 1);
}

#[test]
fn fact_17_importance_decays_weekly_and_a_recall_resets_the_clock() {
    let world = World::new();
    let save = |words: &str| {
        let line = format!("remember --store episodes --importance 0.5 --ttl remember {AGENT}");
        text(&world.json(&line, &[words])["id"])
    };
    let (left, recalled) = (save("the printer on floor two jams"), save("the elevator waits for badges"));
    world.at("2026-05-10T12:00:00Z");
    let report = world.json(&format!("diagnose session s1 {AGENT}"), &[]);
    let now = |id: &str| {
        let memory = rows(&report["memories"]).iter().find(|memory| memory["id"] == id).expect("kept");
        memory["importance_now"].as_f64().expect("a number")
    };
    assert!((now(&left) - 0.2994).abs() < 1e-4, "{report}");
    world.at("2026-08-01T12:00:00Z");
    world.json(&format!("search elevator badges --limit 1 {AGENT}"), &[]);
    // 0.5 × 0.95^weeks falls below 0.1 after 31.4 weeks.
    world.at("2026-10-15T12:00:00Z");
    assert_eq!(world.json("upkeep", &[])["archived"], 1);
    assert_eq!(text(&world.json("read", &[&left])["state"]), "archived");
    assert_eq!(text(&world.json("read", &[&recalled])["state"]), "active");
}

#[test]
fn a_clock_that_ran_ahead_and_was_set_back_hides_nothing_for_good() {
    let world = World::new();
    let save = |words: &str| text(&world.json(&format!("remember --store episodes {AGENT}"), &[words])["id"]);
    let is_found = |words: &str, id: &str| {
        let found = world.json(&format!("search {words} --limit 5 {AGENT}"), &[]);
        rows(&found["hits"]).iter().any(|hit| hit["id"] == id)
    };
    let now = world.clock();
    let before = save("the printer on floor two jams");
    world.at("2031-01-01T12:00:00Z");
    let ahead = save("the elevator waits for badges");
    assert!(world.json("upkeep", &[])["expired"].as_u64() >= Some(1), "a routine note does not live for years");
    assert!(!is_found("printer floor", &before));

    world.at(&now);
    assert!(is_found("elevator badges", &ahead), "what was saved ahead of time is found");
    assert_eq!(world.json("upkeep", &[])["restored"], 1);
    assert!(is_found("printer floor", &before), "what was archived ahead of time is active again");
    assert_eq!(world.json("upkeep", &[])["restored"], 0);
    assert!(is_found("elevator badges", &ahead));
}

#[test]
fn fact_18_the_10_001st_memory_archives_the_least_important() {
    let world = World::new();
    // Different enough to be turns, short enough to be saved in seconds.
    let turns: String = (0..10_000)
        .map(|number| {
            let importance = if number == 4_321 { 0.3 } else { 0.6 };
            format!("{{\"content\": \"watch {number}\", \"importance\": {importance}, \"ttl\": \"remember\"}}\n")
        })
        .collect();
    let ran = world.piped(&format!("--json episodes add --turns - {AGENT}"), turns.as_bytes());
    assert_eq!((ran.exit, ran.json()["saved"].as_u64()), (0, Some(10_000)), "{:?}", ran.stderr);
    let counted = |state: &str| {
        let mut after = String::new();
        let mut contents = Vec::new();
        loop {
            let line = format!("list --store episodes --order oldest --limit 1000 --state {state} {AGENT}");
            let more: &[&str] = if after.is_empty() { &[] } else { &["--after", &after] };
            let page = world.json(&line, more);
            contents.extend(column(&page["memories"], "content"));
            match page["next"].as_str() {
                Some(next) => after = next.to_owned(),
                None => return contents,
            }
        }
    };
    assert_eq!((counted("active").len(), counted("archived").len()), (10_000, 0));
    world.json(&format!("episodes add {AGENT} --ttl remember"), &["watch one more"]);
    let live = counted("active");
    assert_eq!((live.len(), counted("archived")), (10_000, vec!["watch 4321".to_owned()]));
    assert!(live.contains(&"watch one more".to_owned()));
}

#[test]
fn fact_18_a_full_place_of_any_size_archives_the_least_important() {
    let world = World::with_config(
        "[rulesets.few]\nlayers = ['episodic']\ndefault_kind = 'turn'\ndedup = 'none'\nsecrets = 'block'\n\
         evidence = 'optional'\ncontent_bytes_max = 16000\nlive_max = 10\nranker = 'episodic'\nimportance = true\n",
    );
    world.json("store create few --scope agent --ruleset few", &[]);
    let save = |number: u32, importance: &str| {
        let line = format!("remember --store few {AGENT} --importance {importance}");
        text(&world.json(&line, &[&format!("episode number {number} of many")])["id"])
    };
    let ids: Vec<String> = (0..10).map(|number| save(number, if number == 4 { "0.3" } else { "0.6" })).collect();
    let live = || rows(&world.json(&format!("list --store few {AGENT}"), &[])["memories"]).len();
    assert_eq!(live(), 10);
    save(10, "0.5");
    assert_eq!(live(), 10);
    assert_eq!(text(&world.json("read", &[&ids[4]])["state"]), "archived");
    let why = text(&world.json("history", &[&ids[4]])["versions"][0]["reason"]);
    assert_eq!(why, "made room: this place keeps at most 10 memories in use (`live_max`)");
    assert_eq!(text(&world.json("read", &[&ids[0]])["state"]), "active");
}

#[test]
fn an_agents_many_saves_never_archive_a_persons_notes() {
    let world = World::with_config(
        "[rulesets.few]\nlayers = ['semantic']\ndefault_kind = 'user_preference'\ndedup = 'none'\nsecrets = 'block'\n\
         evidence = 'optional'\ncontent_bytes_max = 16000\nlive_max = 4\nranker = 'episodic'\nimportance = true\n",
    );
    world.json("store create few --scope user --ruleset few", &[]);
    let agent = "remember --store few --as agent:helper --user ann --importance 0.9";
    let person = "remember --store few --as user:ann --importance 0.5";
    let states =
        |ids: &[String]| -> Vec<String> { ids.iter().map(|id| text(&world.json("read", &[id])["state"])).collect() };
    let own: Vec<String> =
        (0..3).map(|number| text(&world.json(person, &[&format!("rule {number} of ann")])["id"])).collect();
    let drafts: Vec<String> =
        (0..3).map(|number| text(&world.json(agent, &[&format!("draft {number} of the agent")])["id"])).collect();
    assert_eq!(states(&own), ["active"; 3]);
    assert_eq!(states(&drafts), ["archived", "archived", "active"]);
    // Without a draft of an agent in it, the full place takes no more from agents.
    world.json("forget --as user:ann", &[&drafts[2]]);
    world.json(person, &["rule 3 of ann"]);
    assert_eq!(world.code(2, agent, &["draft of an agent in a full place"]), "conflict.place_full");
    assert_eq!(states(&own), ["active"; 3]);
}

#[test]
fn fact_20_an_agent_never_sees_another_agents_episodes() {
    let world = World::new();
    world.json(&format!("episodes add {AGENT}"), &["the vault is behind the painting"]);
    for line in ["search vault painting", "list", "episodes list", "episodes sessions", "context vault"] {
        let answer = world.json(&format!("{line} --as agent:other"), &[]).to_string();
        assert!(!answer.contains("painting") && !answer.contains("s1"), "{line}: {answer}");
    }
    assert_eq!(world.code(2, "diagnose session s1 --as agent:other", &[]), "not_found");
    world.json("tenant create second", &[]);
    let there = world.json("search vault painting --tenant second", &[]).to_string();
    assert!(!there.contains("painting"), "{there}");
}

#[test]
fn a_whole_conversation_is_saved_from_one_file() {
    let world = World::new();
    let lines = concat!(
        r#"{"role": "user", "speaker": "Ana", "content": "which port does the cache use?"}"#,
        "\n\n",
        r#"{"role": "assistant", "content": "we decided on 6380 for the cache"}"#,
        "\n"
    );
    let ran = world.piped(&format!("--json episodes add --turns - {AGENT}"), lines.as_bytes());
    assert_eq!((ran.exit, ran.json()["saved"].as_u64()), (0, Some(2)), "{ran:?}");
    world.json(&format!("episodes add {AGENT} --role user"), &["good"]);
    let listed = world.json(&format!("episodes list {AGENT}"), &[]);
    let turns: Vec<u64> = rows(&listed["memories"]).iter().filter_map(|memory| memory["turn"].as_u64()).collect();
    assert_eq!(turns, [1, 2, 3]);
    assert_eq!(column(&listed["memories"], "role"), ["user", "assistant", "user"]);
    let sessions = world.json(&format!("episodes sessions {AGENT}"), &[]);
    assert_eq!(
        (column(&sessions["sessions"], "session"), sessions["sessions"][0]["turns"].as_u64()),
        (vec!["s1".to_owned()], Some(3))
    );
    let odd = world.piped(&format!("--json episodes add --turns - {AGENT}"), b"{\"role\": \"user\"}\n");
    assert_eq!((odd.exit, text(&odd.json()["code"])), (2, "shape.turn".to_owned()));
    // Which line and field it is, is told, and nothing is saved.
    for (line, code, words) in [
        ("{}", "shape.turn", "line 3, column 2: `content` is missing"),
        ("{\"content\": \"x\", \"role\": 7}", "shape.turn", "line 3, column 26, field `role`: not a turn"),
        ("{\"content\": \"x\", \"importance\": 7}", "shape.out_of_range", "line 3: importance must be"),
        ("{\"content\": \" \"}", "shape.empty", "line 3: there is nothing"),
    ] {
        let lines = format!("{{\"content\": \"one\"}}\n\n{line}\n");
        let odd = world.piped("--json episodes add --turns - --as agent:t --session s2", lines.as_bytes());
        assert_eq!((odd.exit, text(&odd.json()["code"])), (2, code.to_owned()), "{line}");
        assert!(text(&odd.json()["error"]).starts_with(words), "{odd:?}");
    }
    assert!(rows(&world.json("episodes list --as agent:t --session s2", &[])["memories"]).is_empty());
}

#[test]
fn a_conversation_with_only_refused_turns_exits_with_3() {
    let world = World::new();
    let refused = format!("{{\"content\": \"the key is {}{}\"}}\n", "AKIA", "Q3EGRTZPLMXW7YVB");
    let ran = world.piped(&format!("--json episodes add --turns - {AGENT}"), refused.repeat(2).as_bytes());
    assert_eq!((ran.exit, ran.json()["refused"].as_u64()), (3, Some(2)), "{ran:?}");
    // One that was saved is enough, and the others are told by their lines.
    let lines = format!("{{\"content\": \"the cache is on 6380\"}}\n\n{refused}");
    let ran = world.piped(&format!("episodes add --turns - {AGENT}"), lines.as_bytes());
    assert_eq!(ran.exit, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("saved 1 turn of session s1, refused 1\n  refused line 3: "), "{ran:?}");
    assert!(ran.stdout.contains("[safety.secret_found]"), "{ran:?}");
    let empty = world.piped(&format!("--json episodes add --turns - {AGENT}"), b"\n");
    assert_eq!(empty.exit, 0, "{empty:?}");
}
