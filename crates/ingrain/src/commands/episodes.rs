//! `episodes`: turns and sessions of an agent.

use std::iter;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use engine::model::memory::Memory;
use engine::model::vocabulary::{Kind, TtlClass, TurnRole};
use engine::ports::{Filter, ListCursor, SortOrder};
use engine::text::plural::format_count;
use engine::{EPISODES_STORE, Remembered, SessionSummary, Turn};
use serde_json::{Value, json};

use crate::commands::Job;
use crate::commands::page_args::{PageArgs, append_next_cursor};
use crate::error::Failure;
use crate::json_views::{MemoryView, SavedView};
use crate::text_io::{one_line, read_content};

#[derive(Debug, Args)]
pub struct EpisodesArgs {
    /// Without a subcommand: the turns of --session, else all sessions
    #[command(subcommand)]
    command: Option<EpisodesCommand>,
}

#[derive(Debug, Subcommand)]
enum EpisodesCommand {
    /// List turns, newest first; with --session, that session's in order
    List {
        #[command(flatten)]
        page: PageArgs,
    },
    /// List sessions, latest first
    Sessions,
    /// Save one turn of --session, or a whole conversation from a JSON Lines file
    Add(AddTurnsArgs),
}

#[derive(Debug, Args)]
struct AddTurnsArgs {
    /// Text of the turn; `-` reads stdin
    content: Option<String>,
    /// JSON Lines file of turns {"role", "content", "speaker"}; `-` reads stdin. A malformed line is an error and
    /// nothing is saved; refused turns are reported and the others saved (exit 3 if none was saved)
    #[arg(long, value_name = "FILE", conflicts_with = "content")]
    turns: Option<PathBuf>,
    /// Role of the speaker: user, assistant, system or tool_result
    #[arg(long)]
    role: Option<TurnRole>,
    #[arg(long, value_name = "NAME", help = "Name of the speaker")]
    speaker: Option<String>,
    /// Position in the session; default: after the last turn
    #[arg(long, value_name = "N")]
    turn: Option<u32>,
    #[arg(long, help = "Kind, for example turn, decision, task_completion or error")]
    kind: Option<Kind>,
    /// Retention class: routine, task_completion, decision, remember or error
    #[arg(long, value_name = "CLASS")]
    ttl: Option<TtlClass>,
}

impl EpisodesArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        match self.command {
            Some(EpisodesCommand::List { page }) => list_turns(job, page.requested_count(), page.after()),
            None if job.session.caller.session.is_some() => list_turns(job, None, None),
            None | Some(EpisodesCommand::Sessions) => list_sessions(job),
            Some(EpisodesCommand::Add(add)) => add.run(job),
        }
    }
}

fn list_turns(job: &Job<'_>, limit: Option<usize>, after: Option<&str>) -> Result<(), Failure> {
    let session = job.session.caller.session.clone();
    let order = if session.is_some() { SortOrder::Oldest } else { SortOrder::Newest };
    let filter = Filter { stores: vec![EPISODES_STORE.to_owned()], session, ..Filter::default() };
    let in_order = filter.session.is_some();
    let after = after.map(|word| ListCursor::from_token(order, word)).transpose()?;
    let mut listing = job.session.engine.read_list(&job.session.caller, filter, order, after, limit)?;
    let next = listing.next.as_ref().map(|next| next.to_token(order));
    if in_order {
        // Turns saved in one batch have the same time; their number gives the order.
        // Within this page only; the pages themselves follow the time.
        listing.memories.sort_by_key(|memory| (memory.turn, memory.created_at));
    }
    let view = json!({ "memories": listing.memories.iter().map(MemoryView::from).collect::<Vec<_>>(), "next": next });
    let row = |memory: &Memory| {
        vec![
            memory.session.clone().unwrap_or_default(),
            memory.turn.map(|turn| turn.to_string()).unwrap_or_default(),
            memory.role.map(|role| role.to_string()).unwrap_or_default(),
            one_line(&memory.content),
            format!("{:.2}", memory.importance),
            memory.expires_at.map_or("never".to_owned(), |at| at.strftime("%F").to_string()),
            memory.id.to_string(),
        ]
    };
    let header = ["session", "turn", "role", "said", "importance", "expires", "id"];
    job.output.print_answer(&view, || {
        append_next_cursor(job.output.render_table(&header, listing.memories.iter().map(row)), next.as_deref())
    })
}

fn list_sessions(job: &Job<'_>) -> Result<(), Failure> {
    let sessions = job.session.engine.sessions(&job.session.caller)?;
    let row = |session: &SessionSummary| {
        let name = session.session.clone().unwrap_or_else(|| "(none)".to_owned());
        let day = |at: jiff::Timestamp| at.strftime("%F %R").to_string();
        vec![name, session.turns.to_string(), day(session.first), day(session.last)]
    };
    job.output.print_answer(&json!({ "sessions": sessions }), || {
        job.output.render_table(&["session", "turns", "first", "last"], sessions.iter().map(row))
    })
}

impl AddTurnsArgs {
    fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let caller = &job.session.caller;
        let missing = || Failure::user_error("usage", "no session given: add `--session ID`");
        let session = caller.session.clone().ok_or_else(missing)?;
        let alone = self.turns.is_none();
        let (turns, lines) = self.read_turns()?;
        // Checked before the first save, so that a corrected file can be added again without duplicates.
        if let Some((at, error)) = job.session.engine.find_malformed_turn(&turns) {
            // A turn given as an argument has no line number.
            let place = lines.get(at).map(|line| format!("line {line}: ")).unwrap_or_default();
            return Err(engine::model::error::Error::invalid(error.code(), format!("{place}{error}")).into());
        }
        let mut answers = Vec::new();
        // In batches of the size the engine accepts.
        for part in turns.chunks(job.session.engine.settings.limits.list_max) {
            answers.extend(job.session.engine.remember_turns(caller, &session, part)?);
        }
        // A single turn is answered like `remember`; a file with counts and one entry per turn.
        match answers.as_slice() {
            [Remembered::Refused(refusal)] if alone => Err(refusal.clone().into()),
            [Remembered::Saved(saved)] if alone => {
                job.output.print_answer(&SavedView::from(&**saved), || format!("saved turn {}", saved.memory.id))
            }
            answers => {
                let saved = answers.iter().filter(|answer| matches!(answer, Remembered::Saved(_))).count();
                let refused = answers.len() - saved;
                let turns: Vec<Value> = answers.iter().map(answer_view).collect();
                let all = json!({ "session": session, "saved": saved, "refused": refused, "turns": turns });
                job.output.print_answer(&all, || {
                    let saved = format_count(saved, "turn", "turns");
                    let head = format!("saved {saved} of session {session}, refused {refused}");
                    iter::once(head).chain(refusal_lines(answers, &lines)).collect::<Vec<_>>().join("\n")
                })?;
                // Unlike in `import`, one saved turn makes it a success; so does an empty file.
                if saved == 0 && refused > 0 { Err(Failure::REFUSAL_REPORTED) } else { Ok(()) }
            }
        }
    }

    /// The turns and, if they come from a file, their line numbers.
    fn read_turns(self) -> Result<(Vec<Turn>, Vec<usize>), Failure> {
        let Some(file) = &self.turns else {
            let content = read_content(self.content.as_deref(), None)?;
            let AddTurnsArgs { role, speaker, turn, kind, ttl, .. } = self;
            return Ok((vec![Turn { content, role, speaker, turn, kind, ttl, importance: None }], Vec::new()));
        };
        let text = match file.as_os_str() == "-" {
            true => read_content(Some("-"), None)?,
            false => read_content(None, Some(file))?,
        };
        // Byte order mark, written by some editors.
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let read = |(at, line)| Ok((parse_turn_line(at + 1, line)?, at + 1));
        Ok(lines.map(read).collect::<Result<Vec<_>, Failure>>()?.into_iter().unzip())
    }
}

fn parse_turn_line(number: usize, line: &str) -> Result<Turn, Failure> {
    let mut json = serde_json::Deserializer::from_str(line);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let (path, column) = (error.path().to_string(), error.inner().column());
        // The path of the whole line is `.`, which tells nothing.
        let field =
            Some(path.as_str()).filter(|path| path.len() > 1).map(|path| format!(", field `{}`", one_line(path)));
        // The parser's message may quote the line, and the line may contain a secret. Only the name of a missing field
        // is taken from it.
        let words = error.inner().to_string();
        let what = match words.strip_prefix("missing field ").and_then(|rest| rest.split(" at line").next()) {
            Some(missing) => format!("{missing} is missing"),
            None => "not a turn".to_owned(),
        };
        let message = format!("line {number}, column {column}{}: {what}", field.unwrap_or_default());
        Failure::user_error("shape.turn", message)
            .with_hint(r#"one JSON object a line: {"role": "user", "content": "..."}"#)
    })
}

/// One line of text per refused turn, with its line number.
fn refusal_lines<'a>(answers: &'a [Remembered], lines: &'a [usize]) -> impl Iterator<Item = String> + 'a {
    answers.iter().zip(lines).filter_map(|(answer, line)| match answer {
        Remembered::Refused(refusal) => Some(format!("  refused line {line}: {} [{}]", refusal.message, refusal.code)),
        Remembered::Saved(_) => None,
    })
}

/// JSON of one answer in a batch.
fn answer_view(answer: &Remembered) -> Value {
    match answer {
        Remembered::Saved(saved) => json!(SavedView::from(&**saved)),
        Remembered::Refused(refusal) => json!({ "status": "refused", "code": refusal.code, "error": refusal.message }),
    }
}
