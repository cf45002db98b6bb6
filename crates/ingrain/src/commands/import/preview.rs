//! What an import would do, or did: a table for people, one JSON value for programs.

use engine::model::vocabulary::Trust;
use engine::safety;
use engine::text::plural::format_count;
use engine::{ImportAction, PlannedDraft};
use serde_json::{Map, Value, json};

use crate::error::Failure;
use crate::import_formats::FoundMemory;
use crate::output::{Output, Tone};
use crate::text_io::one_line;

/// The memories of an import with the plan for each.
pub struct Preview {
    pub store: String,
    pub formats: Vec<String>,
    pub memories: Vec<FoundMemory>,
    pub plans: Vec<PlannedDraft>,
    pub notes: Vec<String>,
    /// Set once it is saved.
    pub batch: Option<String>,
}

/// Most rows of the table; `--json` has all.
const ROWS_MAX: usize = 100;

impl Preview {
    fn count(&self, action: ImportAction) -> usize {
        self.plans.iter().filter(|plan| plan.action == action).count()
    }

    pub fn to_save(&self) -> usize {
        self.count(ImportAction::Save) + self.count(ImportAction::Update)
    }

    /// Exit 3 if something was refused, although the rest was imported: a script must notice.
    pub fn exit(&self) -> Result<(), Failure> {
        if self.count(ImportAction::Refuse) == 0 { Ok(()) } else { Err(Failure::REFUSAL_REPORTED) }
    }

    pub fn print_plan(&self, output: &Output, status: &str) -> Result<(), Failure> {
        output.print_answer(&self.to_json(status), || {
            let rows = self.memories.iter().zip(&self.plans).take(ROWS_MAX);
            let mut text = output.render_table(&["", "kind", "path", "title", "from"], rows.map(table_row));
            if self.plans.len() > ROWS_MAX {
                text += &format!("\n… and {} more", self.plans.len() - ROWS_MAX);
            }
            text += &format!("\n\n{}\n", self.summary("to import"));
            text + &self.details(output)
        })
    }

    pub fn print_done(&self, output: &Output) -> Result<(), Failure> {
        output.print_answer(&self.to_json("imported"), || {
            let mut text = self.summary(&output.paint(Tone::Good, "imported")) + "\n";
            text += &self.details(output);
            if let Some(batch) = &self.batch {
                text += &format!("undo with: ingrain import --undo {batch}");
            }
            text
        })
    }

    fn summary(&self, word: &str) -> String {
        let drafts = self.memories.iter().zip(&self.plans);
        let drafts = drafts.filter(|(memory, plan)| is_saved(plan) && memory.writer.trust() < Trust::UserAuthored);
        let drafts = drafts.count();
        let mut parts =
            vec![format!("{} {word} into {}", format_count(self.to_save(), "memory", "memories"), self.store)];
        if drafts > 0 {
            parts.push(format!("{drafts} of them as unreviewed drafts, because a model wrote them"));
        }
        for (action, words) in [
            (ImportAction::Unchanged, "here already"),
            (ImportAction::Duplicate, "with a text that is here already"),
            (ImportAction::Keep, "changed here and kept (`--replace` takes the file's text)"),
            (ImportAction::Refuse, "refused"),
        ] {
            let count = self.count(action);
            parts.extend((count > 0).then(|| format!("{count} {words}")));
        }
        parts.join("; ")
    }

    /// Refusals with their reasons, and notes.
    fn details(&self, output: &Output) -> String {
        let mut text = String::new();
        for (memory, plan) in self.memories.iter().zip(&self.plans) {
            if let Some(refusal) = &plan.refusal {
                let word = output.paint(Tone::Bad, "refused");
                text += &format!("  {word} {}: {} [{}]\n", shown_source(memory), refusal.message, refusal.code);
            }
        }
        self.notes.iter().for_each(|note| text += &format!("  note: {}\n", one_line(note)));
        text
    }

    fn to_json(&self, status: &str) -> Value {
        let memories: Vec<Value> =
            self.memories.iter().zip(&self.plans).map(|(memory, plan)| row_json(memory, plan)).collect();
        let refused: Vec<Value> = self
            .memories
            .iter()
            .zip(&self.plans)
            .filter_map(|(memory, plan)| {
                let refusal = plan.refusal.as_ref()?;
                Some(json!({ "what": shown_source(memory), "code": refusal.code, "message": refusal.message }))
            })
            .collect();
        let imported = if self.batch.is_some() { self.to_save() } else { 0 };
        json!({
            "status": status,
            "store": self.store,
            "formats": self.formats,
            "batch": self.batch,
            "to_import": self.to_save(),
            "imported": imported,
            "unchanged": self.count(ImportAction::Unchanged) + self.count(ImportAction::Duplicate),
            "kept": self.count(ImportAction::Keep),
            "refused": refused,
            "memories": memories,
            "notes": self.notes,
        })
    }
}

fn is_saved(plan: &PlannedDraft) -> bool {
    matches!(plan.action, ImportAction::Save | ImportAction::Update)
}

fn table_row((memory, plan): (&FoundMemory, &PlannedDraft)) -> Vec<String> {
    let word = match plan.action {
        ImportAction::Save => "new",
        ImportAction::Update => "update",
        ImportAction::Unchanged => "same",
        ImportAction::Duplicate => "duplicate",
        ImportAction::Keep => "keep",
        ImportAction::Refuse => "refused",
    };
    // Title and path of a refused text may hold what it was refused for.
    let shown = |text: &str| if plan.action == ImportAction::Refuse { String::new() } else { one_line(text) };
    let title = shown(memory.title.as_deref().unwrap_or_default());
    vec![word.to_owned(), memory.kind.to_string(), shown(&memory.path), title, shown_source(memory)]
}

/// File and heading, with secrets redacted.
fn shown_source(memory: &FoundMemory) -> String {
    one_line(&safety::redact_secrets(&memory.source, &safety::inspect(&memory.source)))
}

fn row_json(memory: &FoundMemory, plan: &PlannedDraft) -> Value {
    let mut row = Map::new();
    row.insert("action".to_owned(), json!(plan.action));
    row.insert("kind".to_owned(), json!(memory.kind));
    row.insert("trust_at_most".to_owned(), json!(memory.writer.trust()));
    row.insert("from".to_owned(), json!(shown_source(memory)));
    if plan.action != ImportAction::Refuse {
        row.insert("path".to_owned(), json!(memory.path));
        row.insert("title".to_owned(), json!(memory.title));
    }
    if let Some(same_as) = &plan.same_as {
        row.insert("same_as".to_owned(), json!(same_as));
    }
    if let Some(refusal) = &plan.refusal {
        row.insert("code".to_owned(), json!(refusal.code));
        row.insert("message".to_owned(), json!(refusal.message));
    }
    Value::Object(row)
}
