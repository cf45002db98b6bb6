//! Runs: a stretch of work with a scratch memory of its own, which leaves one episode behind.

use serde_json::{Map, Value};

use crate::Engine;
use crate::gate::{check_label, check_name};
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::event::{EventBody, EventName};
use crate::model::guard::Guard;
use crate::model::limits::resolve_limit;
use crate::model::memory::{Draft, Evidence, Memory};
use crate::model::refusal::Refusal;
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::model::run::{Run, RunOutcome};
use crate::model::scope::Scope;
use crate::model::vocabulary::{EvidenceKind, Kind, Layer, Operation, State, TtlClass};
use crate::ports::change::{Change, Write};
use crate::ports::row::{self, Paging, RecordPage};
use crate::ports::transition::Transition;
use crate::ports::{Filter, SortOrder};
use crate::recall::{read, visibility};
use crate::write::remember::Remembered;

/// How a run shall be closed.
#[derive(Clone, Debug)]
pub struct CloseRunRequest {
    pub run: String,
    pub outcome: RunOutcome,
    /// What came of it, in the words of whoever ran it.
    pub summary: Option<String>,
    /// Overrides the workflow named at opening.
    pub workflow: Option<String>,
}

/// What a closed run left behind.
#[derive(Clone, Debug)]
pub struct CloseRunReport {
    pub run: Run,
    /// Working memories that were tombstoned.
    pub tombstoned: u64,
    pub episode: Memory,
    /// The procedure of a success with a workflow's name.
    pub procedure: Option<Memory>,
}

#[derive(Clone, Debug)]
pub enum CloseRunOutcome {
    Done(Box<CloseRunReport>),
    Refused(Refusal),
}

/// Working memories tombstoned in one transaction.
const MEMORIES_PER_BATCH: usize = 250;

impl Engine {
    /// Opens a run under the caller's run id, a given one or a fresh one.
    pub fn open_run(
        &self,
        caller: &Caller,
        id: Option<String>,
        goal: Option<String>,
        workflow: Option<String>,
    ) -> Result<Run, Error> {
        self.ensure_memory_enabled()?;
        let id = id.or_else(|| caller.run.clone()).unwrap_or_else(|| self.clock.fresh_id().to_string());
        check_name("run", &id, self.limits())?;
        workflow.as_ref().map(|workflow| check_label("workflow", workflow, self.limits())).transpose()?;
        let now = self.clock.now();
        let opened_by = caller.principal.clone();
        let run = Run { id, goal, workflow, opened_by, opened_at: now, outcome: None, closed_at: None };
        if let Some(goal) = &run.goal {
            // Its words go into the episode later; better refused now than then.
            let findings = crate::safety::inspect(goal);
            if !findings.is_empty() {
                return Err(Error::invalid("safety.goal", "the goal holds a secret or an instruction: say it without"));
            }
        }
        let event = EventBody::new(EventName::RunOpened, caller, now)
            .with_scope(Some(Scope::Run { run: run.id.clone() }))
            .with_field("run", &run.id)
            .with_field("workflow", &run.workflow);
        let change = Change::new(caller.tenant, now)
            .with_guard(Guard::RowInState { kind: RowKind::Runs, id: run.id.clone(), state: None })
            .with_write(Write::Row(run.to_row()))
            .with_event(event);
        match self.commit(change) {
            Ok(_) => Ok(run),
            Err(StoreError::Guard(_)) => {
                Err(Error::conflict("conflict.run_exists", format!("run `{}` was opened before", run.id)))
            }
            Err(error) => Err(error.into()),
        }
    }

    pub fn runs(
        &self,
        caller: &Caller,
        open_only: bool,
        Paging { after, limit }: &Paging,
    ) -> Result<RecordPage<Run>, Error> {
        let eyes = visibility::visible_to(self, caller)?;
        let state = open_only.then(|| "open".to_owned());
        let limit = resolve_limit(*limit, self.limits().list_default, self.limits().list_max)?;
        let filter = RowFilter { state, newest_first: true, ..RowFilter::default() };
        let sees =
            |run: &Run| run.opened_by == caller.principal || eyes.sees_scope(&Scope::Run { run: run.id.clone() });
        row::select_page(&*self.backend, caller.tenant, filter, after.as_deref(), limit, sees)
    }

    /// Closes a run: its working memory is tombstoned, one episode stays, and of a success also how it was done.
    pub fn close_run(&self, caller: &Caller, closing: &CloseRunRequest) -> Result<CloseRunOutcome, Error> {
        self.ensure_memory_enabled()?;
        let missing = || Error::not_found(format!("run `{}`", closing.run));
        let run: Run = row::get_record(&*self.backend, caller.tenant, &closing.run)?.ok_or_else(missing)?;
        let inside = visibility::visible_to(self, caller)?.sees_scope(&Scope::Run { run: run.id.clone() });
        if !inside && run.opened_by != caller.principal {
            return Err(missing());
        }
        if run.closed_at.is_some() {
            return Err(Error::conflict("conflict.run_closed", format!("run `{}` is closed already", run.id)));
        }
        let now = self.clock.now();
        let workflow = closing.workflow.clone().or(run.workflow.clone());
        let run = Run { workflow, outcome: Some(closing.outcome), closed_at: Some(now), ..run };
        // The episode first: if it is refused, the run is still open and can be closed with other words.
        let episode = match self.remember(caller, draft_episode(caller, &run, closing.summary.as_deref()))? {
            Remembered::Saved(saved) => saved.memory,
            Remembered::Refused(refusal) => return Ok(CloseRunOutcome::Refused(refusal)),
        };
        let mut procedure = None;
        if let (RunOutcome::Success, Some(workflow)) = (closing.outcome, &run.workflow) {
            let draft = draft_procedure(caller, &run, workflow, &episode, closing.summary.as_deref());
            match self.remember(caller, draft)? {
                Remembered::Saved(saved) => procedure = Some(saved.memory),
                Remembered::Refused(refusal) => return Ok(CloseRunOutcome::Refused(refusal)),
            }
        }
        let tombstoned = close_and_clear_memory(self, caller, &run)?;
        Ok(CloseRunOutcome::Done(Box::new(CloseRunReport { run, tombstoned, episode, procedure })))
    }
}

fn close_and_clear_memory(engine: &Engine, caller: &Caller, run: &Run) -> Result<u64, Error> {
    let now = engine.clock.now();
    let event = EventBody::new(EventName::RunClosed, caller, now)
        .with_scope(Some(Scope::Run { run: run.id.clone() }))
        .with_field("run", &run.id)
        .with_field("workflow", &run.workflow)
        .with_field("outcome", run.outcome);
    let closed = Change::new(caller.tenant, now)
        .with_guard(Guard::RowInState { kind: RowKind::Runs, id: run.id.clone(), state: Some("open".to_owned()) })
        .with_write(Write::Row(run.to_row()))
        .with_event(event);
    // Closed before it is emptied: nothing is saved into it meanwhile.
    engine.commit(closed)?;
    let mut tombstoned = 0;
    loop {
        let working = list_working_memory(engine, caller, run)?;
        if working.is_empty() {
            return Ok(tombstoned);
        }
        for batch in working.chunks(MEMORIES_PER_BATCH) {
            let mut change = Change::new(caller.tenant, now);
            for memory in batch {
                let forget = Transition::new(memory, Operation::Forget)
                    .with_reason(format!("run {} closed", run.id))
                    .with_event(EventName::Forgotten);
                (change, _) = forget.plan(engine, caller, change, |memory| memory.state = State::Tombstoned);
            }
            match engine.commit(change) {
                Ok(_) => tombstoned += batch.len() as u64,
                Err(StoreError::Guard(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn list_working_memory(engine: &Engine, caller: &Caller, run: &Run) -> Result<Vec<Memory>, Error> {
    let mut places = Vec::new();
    for store in
        engine.stores(caller)?.into_iter().filter(|store| store.scope == crate::model::vocabulary::ScopeKind::Run)
    {
        places.push(crate::model::guard::Place { store: store.slug, scope: Scope::Run { run: run.id.clone() } });
    }
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let states = vec![State::Active, State::Constrained];
    read::list_all_memories(engine, caller.tenant, &Filter { places, states, ..Filter::default() }, SortOrder::Oldest)
}

/// An agent's episodes are its own; an operator's go to the layers everybody reads.
fn draft_episode(caller: &Caller, run: &Run, summary: Option<&str>) -> Draft {
    let (kind, ttl, ended) = match run.outcome {
        Some(RunOutcome::Failure) => (Kind::Error, TtlClass::Error, "failed"),
        Some(RunOutcome::Cancelled) => (Kind::TaskCompletion, TtlClass::TaskCompletion, "was cancelled"),
        _ => (Kind::TaskCompletion, TtlClass::TaskCompletion, "succeeded"),
    };
    let goal = run.goal.as_deref().map(|goal| format!(": {goal}")).unwrap_or_default();
    let said = summary.map(|summary| format!("\n{summary}")).unwrap_or_default();
    let by_agent = caller.agent.is_some();
    Draft {
        store: if by_agent { "episodes" } else { "layers" }.to_owned(),
        layer: Some(Layer::Episodic),
        kind: Some(kind),
        ttl: Some(ttl),
        content: format!("Run {} {ended}{goal}{said}", run.id),
        metadata: Some(string_metadata(&[
            ("run", &run.id),
            ("outcome", ended),
            ("workflow", run.workflow.as_deref().unwrap_or_default()),
        ])),
        evidence: vec![run_evidence(run)],
        ..Draft::default()
    }
}

fn draft_procedure(caller: &Caller, run: &Run, workflow: &str, episode: &Memory, summary: Option<&str>) -> Draft {
    let mut metadata = string_metadata(&[("workflow", workflow), ("run", &run.id)]);
    metadata.insert("canonical".to_owned(), Value::Bool(false));
    let how = summary.or(run.goal.as_deref()).unwrap_or("it succeeded");
    let by_agent = caller.agent.is_some();
    Draft {
        store: if by_agent { "agent_layers" } else { "layers" }.to_owned(),
        layer: Some(Layer::Procedural),
        kind: Some(Kind::Runbook),
        recall_hint: Some(format!("workflow {workflow}")),
        content: format!("Workflow {workflow}: {how}"),
        metadata: Some(metadata),
        evidence: vec![run_evidence(run)],
        derived_from: vec![episode.version],
        ..Draft::default()
    }
}

fn string_metadata(pairs: &[(&str, &str)]) -> Map<String, Value> {
    let told = pairs.iter().filter(|(_, value)| !value.is_empty());
    told.map(|(key, value)| ((*key).to_owned(), Value::String((*value).to_owned()))).collect()
}

fn run_evidence(run: &Run) -> Evidence {
    let outcome = run.outcome.map_or("ended", RunOutcome::as_str);
    Evidence {
        run: Some(run.id.clone()),
        ..Evidence::new(EvidenceKind::VerificationResult, format!("run {} closed with {outcome}", run.id))
    }
}
