//! `demo`: a short guided tour on a temporary database.

use engine::model::caller::Caller;
use engine::model::memory::{Draft, Evidence};
use engine::model::vocabulary::{EvidenceKind, Kind};
use engine::text::plural::format_count;
use engine::{Engine, MemoryReference, Patch, PatchOutcome, Remembered, SavedMemory, SearchQuery};
use serde_json::{Value, json};

use crate::assemble::Session;
use crate::commands::temp_home::TempHome;
use crate::config::Config;
use crate::error::Failure;
use crate::output::{Output, Tone};

/// Steps of the tour: printed as they happen, or collected for `--json`.
struct DemoTour<'a> {
    engine: Engine,
    output: &'a Output,
    steps: Vec<Value>,
}

pub fn run(config: &Config, output: &Output) -> Result<(), Failure> {
    let place = TempHome::new("demo")?;
    let session = Session::open(&place.redirect_config(config))?;
    let tenant = session.caller.tenant;
    let agent = Caller::agent(tenant, "triage").in_conversation("incident-42");
    // The same agent: only the conversation may keep the two apart.
    let stranger = Caller::agent(tenant, "triage").in_conversation("incident-43");
    let mut tour = DemoTour { engine: session.engine.clone(), output, steps: Vec::new() };
    tour.show_seeding(&session.caller)?;
    let saved = tour.show_saving(&agent)?;
    tour.show_secret_refused(&agent)?;
    tour.show_runbook_refused(&agent)?;
    tour.show_search(&agent)?;
    tour.show_isolation(&stranger)?;
    tour.show_patching(&agent, &saved)?;
    tour.show_log_check(&session.caller)?;
    session.close()?;
    tour.finish_tour()
}

impl DemoTour<'_> {
    fn add_step(&mut self, title: &str, lines: &[String], facts: &Value) -> Result<(), Failure> {
        // The list is kept without `--json` too, to number the steps.
        let number = self.steps.len() + 1;
        self.steps.push(json!({ "step": title, "facts": facts }));
        if self.output.json {
            return Ok(());
        }
        let head = self.output.paint(Tone::Strong, &format!("{number}. {title}"));
        let body: String = lines.iter().map(|line| format!("   {line}\n")).collect();
        self.output.print_text(&format!("{head}\n{body}\n"))
    }

    fn show_seeding(&mut self, admin: &Caller) -> Result<(), Failure> {
        let stores = self.engine.stores(admin)?;
        let lines: Vec<String> = stores
            .iter()
            .map(|store| format!("{:<22} {:<13} {:<14} {}", store.slug, store.scope, store.default_trust, store.access))
            .collect();
        let slugs: Vec<&str> = stores.iter().map(|store| store.slug.as_str()).collect();
        self.add_step("A new database has three stores and four policy documents", &lines, &json!({ "stores": slugs }))
    }

    fn show_saving(&mut self, agent: &Caller) -> Result<SavedMemory, Failure> {
        let draft = Draft {
            store: "conversation_memory".to_owned(),
            path: Some("notes/nginx".to_owned()),
            title: Some("nginx crash loop in prod".to_owned()),
            kind: Some(Kind::IncidentLesson),
            content:
                "nginx in namespace prod crashlooped: configmap nginx-conf named an upstream that does not exist. \
                      Rolling the configmap back fixed it."
                    .to_owned(),
            evidence: vec![Evidence::new(EvidenceKind::ToolResult, "kubectl logs, tool call 17")],
            ..Draft::default()
        };
        match self.engine.remember(agent, draft)? {
            Remembered::Refused(refusal) => Err(refusal.into()),
            Remembered::Saved(saved) => {
                let memory = &saved.memory;
                let lines = [
                    format!("saved {}/{} as {}", memory.store, "notes/nginx", memory.trust),
                    format!("entities found: {}", join_words(memory.entities.iter().map(|entity| entity.to_string()))),
                ];
                self.add_step("An agent saves what it found out, with evidence", &lines, &json!({ "id": memory.id }))?;
                Ok(*saved)
            }
        }
    }

    fn show_secret_refused(&mut self, agent: &Caller) -> Result<(), Failure> {
        // Joined at run time, so that secret scanners do not report this file.
        let content = format!("deploy with AWS key {}{}", "AKIA", "Q3ZT7WGLB5XKPN2M");
        let evidence = vec![Evidence::new(EvidenceKind::ToolResult, "tool call 18")];
        let draft = Draft { store: "conversation_memory".to_owned(), content, evidence, ..Draft::default() };
        self.show_refusal("A secret is refused: it is not stored, indexed or logged", agent, draft)
    }

    fn show_runbook_refused(&mut self, agent: &Caller) -> Result<(), Failure> {
        let draft = Draft {
            store: "workspace_runbooks".to_owned(),
            path: Some("runbooks/nginx".to_owned()),
            kind: Some(Kind::Runbook),
            content: "When nginx crashloops, roll the configmap back.".to_owned(),
            evidence: vec![Evidence::new(EvidenceKind::ToolResult, "tool call 19")],
            ..Draft::default()
        };
        self.show_refusal("An agent cannot write shared runbooks; it proposes them", agent, draft)
    }

    fn show_refusal(&mut self, title: &str, agent: &Caller, draft: Draft) -> Result<(), Failure> {
        let Remembered::Refused(refusal) = self.engine.remember(agent, draft)? else {
            return Err(Failure::system_error("demo", "a save was accepted that must be refused"));
        };
        let lines = [
            format!("{} {}: {}", self.output.paint(Tone::Bad, "refused"), refusal.code, refusal.message),
            format!("next: {}", refusal.hint.as_deref().unwrap_or("leave it out")),
        ];
        self.add_step(title, &lines, &json!({ "code": refusal.code }))
    }

    fn show_search(&mut self, agent: &Caller) -> Result<(), Failure> {
        let text = "why did nginx crash in prod?";
        let answer = self
            .engine
            .search(agent, &SearchQuery { text: text.to_owned(), limit: Some(2), ..SearchQuery::default() })?;
        let mut lines = vec![format!("? {text}")];
        for hit in &answer.hits {
            let name = hit.memory.path.as_deref().unwrap_or_default();
            lines.push(format!("{:.4}  {}/{name}  ({})", hit.score, hit.memory.store, hit.memory.trust));
            let parts = hit.parts.iter().filter(|(name, _)| !name.contains('.'));
            lines.push(format!("        {}", join_words(parts.map(|(name, part)| format!("{name} {part:.2}")))));
        }
        let first = answer.hits.first().and_then(|hit| hit.memory.path.clone());
        self.add_step(
            "Search ranks by words, meaning, entities, trust and age, and explains the score",
            &lines,
            &json!({ "first": first }),
        )
    }

    fn show_isolation(&mut self, stranger: &Caller) -> Result<(), Failure> {
        let query = SearchQuery { text: "why did nginx crash in prod?".to_owned(), ..SearchQuery::default() };
        let answer = self.engine.search(stranger, &query)?;
        let seen = answer.hits.iter().any(|hit| hit.memory.path.as_deref() == Some("notes/nginx"));
        let lines =
            [format!("the same query in another conversation: the note is {}found", if seen { "" } else { "not " })];
        self.add_step("Conversations are isolated from each other", &lines, &json!({ "seen": seen }))
    }

    fn show_patching(&mut self, agent: &Caller, saved: &SavedMemory) -> Result<(), Failure> {
        let patch = |expected: &str| Patch {
            memory: saved.memory.id,
            expected_sha256: expected.to_owned(),
            content: format!("{} A canary catches it before prod does.", saved.memory.content),
            summary: Some("what to do next time".to_owned()),
            evidence: vec![Evidence::new(EvidenceKind::VerificationResult, "tool call 23")],
        };
        let PatchOutcome::Saved(memory) = self.engine.patch(agent, patch(&saved.memory.sha256))? else {
            return Err(Failure::system_error("demo", "the patch was refused"));
        };
        let stale = self.engine.patch(agent, patch(&saved.memory.sha256)).err().map(|error| error.code());
        let history = self.engine.history(agent, &MemoryReference::Id(memory.id), None, None)?;
        let mut lines: Vec<String> = history
            .iter()
            .map(|version| format!("version {}  {:<7} by {}", version.number, version.operation, version.actor))
            .collect();
        lines.push(format!("a second patch of the old text: {}", stale.unwrap_or("passed")));
        self.add_step("Every change makes a version; a stale patch is a conflict", &lines, &json!({ "stale": stale }))
    }

    fn show_log_check(&mut self, admin: &Caller) -> Result<(), Failure> {
        // Deferred writes add events, which the check would otherwise miss.
        self.engine.database().flush()?;
        let verified = self.engine.verify(admin)?;
        let word = if verified.broken.is_none() { "intact" } else { "broken" };
        let hash: String = verified.hash.chars().take(16).collect();
        let entries = format_count(verified.entries, "event", "events");
        let lines = [format!("{entries}, hash-chained: {word} ({hash}…)")];
        self.add_step(
            "The event log is a verifiable hash chain",
            &lines,
            &json!({ "entries": verified.entries, "log": word }),
        )
    }

    fn finish_tour(self) -> Result<(), Failure> {
        if self.output.json {
            return self.output.print_json(&json!({ "status": "done", "steps": self.steps }));
        }
        self.output
            .print_text("The database of this tour is deleted. Start your own: ingrain remember 'what you learnt'")
    }
}

fn join_words(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}
