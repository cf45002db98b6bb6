//! A text that was changed behind the program's back is left out wherever texts are shown; a warning names it.

use engine::model::caller::Caller;
use engine::model::memory::Draft;
use engine::text::chunks::DocumentFormat;
use engine::{ContextRequest, DocumentText, RecallQuery, Turn, WindowRequest};

use crate::verify::{Ground, agent, engine_on, note, saved};

fn names(warnings: &[String], name: &str) -> bool {
    warnings.iter().any(|warning| warning.contains("left out") && warning.contains(name))
}

fn a_changed_text_is_left_out_with_a_warning(ground: &Ground) {
    let (engine, tenant) = ground.engine();
    let admin = Caller::admin(tenant);
    let reader = Caller { user: Some("ana".to_owned()), ..agent(tenant) };
    let pin = Draft {
        store: "user_memory".to_owned(),
        path: Some("rules/answers".to_owned()),
        always_inject: Some(true),
        ..note("answer in short sentences")
    };
    saved(&engine, &Caller::user(tenant, "ana"), pin);
    let document = DocumentText {
        path: "crane/manual".to_owned(),
        text: "# Crane\n\nThe harbour crane stops at wind force seven.".to_owned(),
        format: DocumentFormat::Markdown,
        category: None,
        status: None,
        source: None,
    };
    engine.ingest(&admin, &document).expect("ingested");
    let turn = Turn { content: "the harbour crane was oiled".to_owned(), ..Turn::default() };
    engine.remember_turns(&reader, "s1", &[turn]).expect("saved");
    let request = ContextRequest { message: "harbour crane".to_owned(), ..ContextRequest::default() };
    let window =
        WindowRequest { window_tokens: 4_000, message: "harbour crane".to_owned(), ..WindowRequest::default() };
    let recall = RecallQuery { text: "harbour crane".to_owned(), ..RecallQuery::default() };
    let shown = engine.context(&reader, &request).expect("answers");
    assert!(shown.text.contains("short sentences"), "{}", shown.text);
    let receipt = shown.receipt.expect("a receipt");
    assert!(engine.replay(&reader, &receipt).expect("replays").exact);
    engine.database().flush().expect("written");
    drop(engine);
    for (before, after) in [
        ("answer in short sentences", "answer in rhymes"),
        ("the harbour crane was oiled", "the harbour crane was sold"),
        ("wind force seven", "no wind at all"),
    ] {
        let sql = format!("update versions set content = replace(content, '{before}', '{after}')");
        assert_eq!(ground.tamper(&format!("{sql} where content like '%{before}%'")), 1);
    }
    let (engine, _) = engine_on(ground.open());
    let is_clean = |text: &str| !["in rhymes", "was sold", "no wind"].iter().any(|changed| text.contains(changed));
    let context = engine.context(&reader, &request).expect("answers");
    assert!(is_clean(&context.text) && names(&context.skipped, "rules/answers"), "{:?}", context.skipped);
    let window = engine.working_memory(&reader, &window).expect("answers");
    assert!(is_clean(&format!("{:?}", window.messages)), "{:?}", window.messages);
    assert!(names(&window.notes, "rules/answers") && names(&window.notes, "crane/manual"), "{:?}", window.notes);
    let recalled = engine.search_my_memories(&reader, &recall).expect("answers");
    assert!(is_clean(&format!("{:?}", recalled.recollections)), "{:?}", recalled.recollections);
    assert!(names(&recalled.warnings, "crane/manual"), "{:?}", recalled.warnings);
    assert_eq!(recalled.warnings.len(), 2, "the turn too: {:?}", recalled.warnings);
    let passages = engine.search_knowledge(&reader, "harbour crane", &[], None).expect("answers");
    assert!(passages.hits.is_empty() && names(&passages.warnings, "crane/manual"), "{passages:?}");
    let replayed = engine.replay(&reader, &receipt).expect_err("not served");
    assert_eq!(replayed.code(), "store.altered");
}

#[test]
fn a_changed_text_is_left_out_with_a_warning_on_sqlite() {
    a_changed_text_is_left_out_with_a_warning(&Ground::sqlite());
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_changed_text_is_left_out_with_a_warning_on_postgres() {
    a_changed_text_is_left_out_with_a_warning(&Ground::postgres());
}
