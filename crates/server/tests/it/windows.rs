//! Windows and their summaries: what is sent where, how often somebody is asked, and that no room is wasted.

use std::sync::{Arc, Barrier, Mutex, PoisonError};

use engine::model::caller::Caller;
use engine::text::token_estimate;
use engine::{Engine, Remembered, Settings, Summariser, Turn, Window, WindowRequest};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use crate::house::House;

const KEY: &str = "AKIAIOSFODNN7REALKEZ";
const TOKEN: &str = concat!(
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4ifQ.",
    "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
);
/// Tokens a chat format spends on each message beside its text.
const MESSAGE_TOKENS: usize = 4;

/// Remembers what it was sent.
#[derive(Debug)]
struct Scribe {
    answers: Result<&'static str, &'static str>,
    sent: Mutex<Vec<String>>,
}

impl Scribe {
    fn saying(answers: Result<&'static str, &'static str>) -> Arc<Scribe> {
        Arc::new(Scribe { answers, sent: Mutex::default() })
    }

    fn calls(&self) -> Vec<String> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Summariser for Scribe {
    fn summarise(&self, turns: &[Turn], _tokens_max: usize) -> Result<String, String> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{turns:?}"));
        self.answers.map(str::to_owned).map_err(str::to_owned)
    }
}

fn asking(house: &House, scribe: &Arc<Scribe>) -> Engine {
    let settings = Settings { summariser: Some(scribe.clone()), ..Settings::default() };
    house.engine.with_settings(settings)
}

fn agent(house: &House, conversation: &str) -> Caller {
    Caller { conversation: Some(conversation.to_owned()), ..Caller::agent(house.tenant.id, "clerk") }
}

fn said(content: String) -> Turn {
    Turn { content, ..Turn::default() }
}

/// Forty turns in a window for some of them.
fn request() -> WindowRequest {
    let turns = (0..40).map(|number| said(format!("turn {number}: {}", "some more words. ".repeat(12)))).collect();
    WindowRequest { window_tokens: 1_500, turns, message: "what now?".to_owned(), ..WindowRequest::default() }
}

fn answered(engine: &Engine, caller: &Caller, request: &WindowRequest) -> Window {
    engine.working_memory(caller, request).expect("it fits")
}

fn summary(window: &Window) -> &str {
    let found = window.messages.iter().find(|message| message.content.starts_with("Summary of"));
    &found.expect("a summary").content
}

#[test]
fn a_secret_in_an_old_turn_reaches_neither_endpoint_nor_summary() {
    let house = House::new();
    let mut request = request();
    request.turns[2] = said(format!("We decided that the key is {KEY} and the valve stays shut"));
    request.turns[3] = Turn { speaker: Some(format!("ann {KEY}")), ..said(format!("We decided on {TOKEN} for now")) };
    let scribe = Scribe::saying(Ok("they talked"));
    answered(&asking(&house, &scribe), &agent(&house, "c1"), &request);
    let sent = scribe.calls().concat();
    assert!(sent.contains("the valve stays shut") && sent.contains("[REDACTED:"), "{sent}");
    // Made here, sentence by sentence: no piece of a token stays either.
    let window = answered(&house.engine, &agent(&house, "c2"), &request);
    assert!(summary(&window).contains("the valve stays shut"), "{window:?}");
    for piece in std::iter::once(KEY).chain(TOKEN.split('.')) {
        assert!(!sent.contains(piece) && !summary(&window).contains(piece), "{piece}");
    }
}

#[test]
fn a_summary_is_asked_for_once_however_many_want_it_at_once() {
    let house = House::new();
    let scribe = Scribe::saying(Ok("they chose the brass lantern"));
    let (engine, request, start) = (asking(&house, &scribe), request(), Barrier::new(8));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                let window = answered(&engine, &agent(&house, "c1"), &request);
                assert!(summary(&window).contains("brass lantern") && window.notes.is_empty(), "{window:?}");
            });
        }
    });
    answered(&engine, &agent(&house, "c1"), &request);
    let turns = [&request.turns[..], &[said("one more".to_owned())]].concat();
    answered(&engine, &agent(&house, "c1"), &WindowRequest { turns, ..request.clone() });
    assert_eq!(scribe.calls().len(), 1, "the next turn rides beside it");
    answered(&engine, &agent(&house, "c2"), &request);
    assert_eq!(scribe.calls().len(), 2, "another conversation has its own");
}

#[test]
fn a_summary_of_what_is_forgotten_is_not_answered_from_memory() {
    let house = House::new();
    let scribe = Scribe::saying(Ok("they chose the brass lantern"));
    let (engine, request, caller) = (asking(&house, &scribe), request(), agent(&house, "c1"));
    let saved = engine.remember_turns(&caller, "s1", &request.turns[3..4]).expect("saved");
    let Remembered::Saved(saved) = &saved[0] else { panic!("{saved:?}") };
    answered(&engine, &caller, &request);
    engine.forget(&Caller::admin(house.tenant.id), saved.memory.id, None).expect("forgotten");
    answered(&engine, &caller, &request);
    let calls = scribe.calls();
    let tells: Vec<bool> = calls.iter().map(|sent| sent.contains("turn 3:")).collect();
    assert_eq!(tells, [true, false]);
}

#[test]
fn an_endpoint_that_fails_is_left_alone_for_five_minutes() {
    let house = House::new();
    let scribe = Scribe::saying(Err("it did not answer"));
    let engine = asking(&house, &scribe);
    let check = |conversation: &str, turns: usize, calls: usize| {
        let mut request = request();
        request.turns.truncate(turns);
        let window = answered(&engine, &agent(&house, conversation), &request);
        assert!(window.notes.concat().contains("summarised without the endpoint"), "{:?}", window.notes);
        assert_eq!(scribe.calls().len(), calls, "{conversation} {turns}");
        summary(&window).to_owned()
    };
    assert!(check("c1", 40, 1).contains("some more words"));
    check("c1", 39, 1);
    house.clock.pass(4 * 60);
    check("c2", 40, 1);
    // Counted from the failure, not from the last summary that was made without it.
    house.clock.pass(61);
    check("c2", 40, 2);
    // Another process learns it from what is kept of the conversation.
    let elsewhere = engine.with_empty_caches();
    engine.database().flush().expect("written");
    answered(&elsewhere, &agent(&house, "c2"), &WindowRequest { window_tokens: 900, ..request() });
    assert_eq!(scribe.calls().len(), 2);
}

/// A window of so many tokens for turns and results of so many words.
fn filled(window_tokens: usize, turns: &[usize], results: &[usize]) -> WindowRequest {
    let words = |what: &str, number: usize, words: usize| format!("{what} {number} {}", "valve ".repeat(words));
    let turns = turns.iter().enumerate().map(|(number, many)| said(words("turn", number, *many))).collect();
    let tool_results = results.iter().enumerate().map(|(number, many)| words("result", number, *many)).collect();
    WindowRequest { window_tokens, turns, tool_results, message: "what now?".to_owned(), ..WindowRequest::default() }
}

fn cost(turn: &Turn) -> usize {
    token_estimate::estimate(&turn.content) + MESSAGE_TOKENS
}

#[test]
fn a_window_is_never_over_and_leaves_out_no_turn_that_would_fit() {
    let house = House::new();
    for number in 0..4 {
        let words = format!("gateway {number}: {}", "the gateway drains before a reload. ".repeat(4 * number + 1));
        let runbook = json!({
            "store": "workspace_runbooks", "kind": "runbook", "path": format!("g/{number}"), "content": words,
        });
        assert_eq!(house.ask("POST", "/v1/memories").json(&runbook).send().status, 201);
    }
    let caller = Caller::agent(house.tenant.id, "clerk");
    let sizes = proptest::collection::vec(0_usize..150, 0..30);
    let messages = prop_oneof![Just("what now?"), Just("how does the gateway reload?")];
    let inputs = (15_usize..2_500, sizes, proptest::collection::vec(0_usize..150, 0..3), messages);
    let check = |(window_tokens, turns, results, message): (usize, Vec<usize>, Vec<usize>, &str)| {
        let message = message.to_owned();
        let request = WindowRequest { message, ..filled(window_tokens, &turns, &results) };
        let whole = answered(&house.engine, &caller, &WindowRequest { window_tokens: 1_000_000, ..request.clone() });
        let window = answered(&house.engine, &caller, &request);
        let told: usize = window.cuts.iter().map(|cut| cut.tokens_removed).sum();
        prop_assert!(window.tokens <= window_tokens);
        prop_assert_eq!(told, whole.tokens - window.tokens, "{:?}", window.cuts);

        let shown: Vec<&str> = window.messages.iter().map(|message| message.content.as_str()).collect();
        let kept = request.turns.iter().filter(|turn| shown.contains(&turn.content.as_str())).count();
        let (older, newest) = request.turns.split_at(request.turns.len() - kept);
        let first = shown.iter().position(|content| content.starts_with("turn ")).unwrap_or(0);
        prop_assert!(newest.iter().zip(&shown[first..]).all(|(turn, content)| turn.content == *content));
        let touched: usize = window.cuts.iter().filter(|cut| cut.source == "turns").map(|cut| cut.touched).sum();
        prop_assert_eq!(touched, older.len());
        if let Some(turn) = older.last().filter(|_| kept < 20) {
            prop_assert!(window.tokens + cost(turn) > window_tokens, "room for one more: {window:?}");
            let told = shown.iter().any(|content| content.starts_with("Summary of"));
            prop_assert!(told || window.notes.iter().any(|note| note.contains("left out")), "{:?}", window.notes);
        }
        Ok(())
    };
    TestRunner::new(Config::with_cases(200)).run(&inputs, check).expect("it holds");
}

#[test]
fn a_short_window_holds_turns_and_a_shorter_summary() {
    let house = House::new();
    let check = |window_tokens: usize, turns: usize, kept: usize, note: &str| {
        let request = filled(window_tokens, &vec![60; turns], &[]);
        let window = answered(&house.engine, &agent(&house, "c1"), &request);
        let shown = window.messages.iter().filter(|message| message.content.starts_with("turn ")).count();
        assert_eq!((shown, window.notes.concat().contains(note)), (kept, true), "{window_tokens}: {window:?}");
    };
    let turn = cost(&filled(0, &[60], &[]).turns[0]);
    let alone = answered(&house.engine, &agent(&house, "c1"), &filled(100, &[], &[])).tokens;
    check(alone + 20 * turn, 20, 20, "");
    check(alone + 6 * turn, 20, 3, "");
    check(alone + 3 * turn - 1, 3, 1, "shortened to fit");
    check(alone + 2 * turn, 3, 2, "the first 1 turn is left out");
}

#[test]
fn a_turn_that_never_fits_is_summarised_and_drives_nothing_out() {
    let house = House::new();
    let request = filled(400, &[5, 2_000], &[50]);
    let window = answered(&house.engine, &agent(&house, "c1"), &request);
    assert!(summary(&window).starts_with("Summary of the first 2 turns"), "{window:?}");
    assert!(window.messages.iter().any(|message| message.content == request.tool_results[0]), "{window:?}");
}
