//! Runs: pieces of work with a working memory of their own. Closing a run deletes it and saves one episode.

use std::cell::Cell;

use jiff::Timestamp;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::Engine;
use crate::gate::check_label;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::event::{EventBody, EventName};
use crate::model::guard::{Guard, Place};
use crate::model::limits::{COMMIT_BATCH_MAX, Limits, resolve_limit};
use crate::model::memory::{Draft, Evidence, Memory};
use crate::model::refusal::Refusal;
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::model::run::{Run, RunOutcome};
use crate::model::scope::Scope;
use crate::model::vocabulary::{EvidenceKind, Kind, Layer, Operation, ScopeKind, State, TtlClass};
use crate::policy;
use crate::ports::change::{Change, Write};
use crate::ports::row::{self, Paging, RecordPage};
use crate::ports::transition::Transition;
use crate::ports::{Filter, SortOrder, candidate_reviews, refusals};
use crate::recall::{read, visibility};
use crate::tenant::stores;
use crate::write::{Remembered, clear, remember};

/// Input of [`Engine::close_run`].
#[derive(Clone, Debug)]
pub struct CloseRunRequest {
    pub run: String,
    pub outcome: RunOutcome,
    /// Summary by the caller, which goes into the episode.
    pub summary: Option<String>,
    /// Replaces the workflow named when the run was opened.
    pub workflow: Option<String>,
}

/// Result of closing a run.
#[derive(Clone, Debug)]
pub struct CloseRunReport {
    pub run: Run,
    /// Number of working memories that were tombstoned.
    pub tombstoned: u64,
    pub episode: Memory,
    /// The procedure that was saved; only for a successful run with a workflow.
    pub procedure: Option<Memory>,
}

#[derive(Clone, Debug)]
pub enum CloseRunOutcome {
    Done(Box<CloseRunReport>),
    Refused(Refusal),
}

impl Engine {
    /// Opens a run under the given id, else the caller's run id, else a fresh one.
    pub fn open_run(
        &self,
        caller: &Caller,
        id: Option<String>,
        goal: Option<String>,
        workflow: Option<String>,
    ) -> Result<Run, Error> {
        self.ensure_memory_enabled()?;
        let id = id.or_else(|| caller.run.clone());
        let is_named = id.is_some();
        let id = id.unwrap_or_else(|| self.clock.fresh_id().to_string());
        check_run_id(&id, self.limits())?;
        // Only an id that the caller may see anyway is told to be taken.
        if is_named && !visibility::visible_to(self, caller)?.sees_scope(&Scope::Run { run: id.clone() }) {
            let message =
                "only an agent in this run, or an admin, opens it by its id; leave the id out to get a new one";
            return Err(Error::invalid("scope.run_not_yours", message));
        }
        workflow.as_ref().map(|workflow| check_label("workflow", workflow, self.limits())).transpose()?;
        let now = self.clock.now();
        let opened_by = caller.principal.clone();
        let run = Run { id, goal, workflow, opened_by, opened_at: now, outcome: None, closed_at: None };
        if let Some(goal) = &run.goal {
            // The goal becomes part of the episode. A refusal then would leave the run hard to close.
            let findings = crate::safety::inspect(goal);
            if !findings.is_empty() {
                return Err(Error::invalid("safety.goal", "the goal holds a secret or an instruction; leave that out"));
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
                Err(Error::conflict("conflict.run_exists", format!("run `{}` exists already; use another id", run.id)))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Runs the caller may see, newest first.
    pub fn runs(
        &self,
        caller: &Caller,
        open_only: bool,
        Paging { after, limit }: &Paging,
    ) -> Result<RecordPage<Run>, Error> {
        let readable = visibility::visible_to(self, caller)?;
        let state = open_only.then(|| "open".to_owned());
        let limit = resolve_limit(*limit, self.limits().list_default, self.limits().list_max)?;
        let filter = RowFilter { state, newest_first: true, ..RowFilter::default() };
        let sees =
            |run: &Run| run.opened_by == caller.principal || readable.sees_scope(&Scope::Run { run: run.id.clone() });
        row::select_page(&*self.backend, caller.tenant, filter, after.as_deref(), limit, sees)
    }

    /// Closes a run: saves an episode, for a successful workflow also a procedure, and tombstones the working memory.
    pub fn close_run(&self, caller: &Caller, request: &CloseRunRequest) -> Result<CloseRunOutcome, Error> {
        self.ensure_memory_enabled()?;
        let missing = || Error::not_found(format!("run `{}`", request.run));
        let run: Run = row::get_record(&*self.backend, caller.tenant, &request.run)?.ok_or_else(missing)?;
        let is_visible = visibility::visible_to(self, caller)?.sees_scope(&Scope::Run { run: run.id.clone() });
        // A run of another caller is not found, so that its id is not confirmed.
        if !is_visible && run.opened_by != caller.principal {
            return Err(missing());
        }
        if run.closed_at.is_some() {
            return Err(run_closed_error(&run.id));
        }
        let now = self.clock.now();
        // INVARIANT: a person who closes another caller's run takes over none of its words, the id included: the
        // episode gets the closer's trust.
        let is_own = run.opened_by == caller.principal || caller.role.is_program();
        let kept = |text: &Option<String>| text.clone().filter(|_| is_own);
        // Both may be absent: then only the episode is saved.
        let workflow = request.workflow.clone().or_else(|| run.workflow.clone());
        let run = Run { workflow, outcome: Some(request.outcome), closed_at: Some(now), ..run };
        let told = ToldRun {
            id: Some(run.id.as_str()).filter(|id| is_tellable_id(id, is_own)),
            goal: kept(&run.goal),
            workflow: request.workflow.clone().or_else(|| kept(&run.workflow)),
            opened_at: run.opened_at,
            outcome: request.outcome,
        };
        let workflow = told.workflow.as_deref().filter(|_| request.outcome == RunOutcome::Success);
        let summary = request.summary.as_deref();
        let procedure = workflow.map(|workflow| draft_procedure(caller, &told, workflow, summary));
        // Judged before anything is saved: if it is refused, the run is still open and can be closed with other words.
        if let Some(refusal) = procedure.as_ref().map(|draft| find_refusal(self, caller, draft)).transpose()?.flatten()
        {
            return Ok(CloseRunOutcome::Refused(refusals::log_refusal(self, caller, LAYERS_STORE, refusal)?));
        }
        let episode = match close_with_episode(self, caller, &run, draft_episode(caller, &told, summary))? {
            Remembered::Saved(saved) => saved.memory,
            Remembered::Refused(refusal) => return Ok(CloseRunOutcome::Refused(refusal)),
        };
        // The procedure inherits the trust of the episode, not more.
        let procedure = procedure.map(|draft| Draft { derived_from: vec![episode.version], ..draft });
        let procedure = match procedure.map(|draft| self.remember(caller, draft)).transpose()? {
            Some(Remembered::Saved(saved)) => Some(saved.memory),
            Some(Remembered::Refused(_)) | None => None,
        };
        let tombstoned = clear_working_memory(self, caller, &run)?;
        Ok(CloseRunOutcome::Done(Box::new(CloseRunReport { run, tombstoned, episode, procedure })))
    }
}

/// Saves the episode and marks the run as closed in one transaction: of several callers that close a run at once, one
/// does, and the others leave nothing.
fn close_with_episode(engine: &Engine, caller: &Caller, run: &Run, episode: Draft) -> Result<Remembered, Error> {
    let closing = || {
        let event = EventBody::new(EventName::RunClosed, caller, run.closed_at.unwrap_or_else(|| engine.clock.now()))
            .with_scope(Some(Scope::Run { run: run.id.clone() }))
            .with_field("run", &run.id)
            .with_field("workflow", &run.workflow)
            .with_field("outcome", run.outcome);
        Change::new(caller.tenant, engine.clock.now())
            .with_guard(Guard::RowInState { kind: RowKind::Runs, id: run.id.clone(), state: Some("open".to_owned()) })
            .with_write(Write::Row(run.to_row()))
            .with_event(event)
    };
    let is_closed = Cell::new(false);
    let commit = |change: Change| {
        // A refusal only logs itself, and leaves the run open.
        let saves = change.writes.iter().any(|write| matches!(write, Write::Entry(_)));
        let change = if saves { change.with_change(closing()) } else { change };
        let committed = engine.commit(change);
        is_closed.set(saves && committed.is_ok());
        committed
    };
    let saved = remember::run_save_steps(engine, caller, engine.begin_remember(caller, episode)?, commit);
    let closed = match saved {
        // The same episode was there already.
        Ok(Remembered::Saved(_)) if !is_closed.get() => engine.commit(closing()).map_err(Error::from).and(saved),
        saved => saved,
    };
    closed.map_err(|error| match error {
        Error::Store(StoreError::Guard(Guard::RowInState { kind: RowKind::Runs, .. })) => run_closed_error(&run.id),
        error => error,
    })
}

fn run_closed_error(run: &str) -> Error {
    Error::conflict("conflict.run_closed", format!("run `{run}` is closed already"))
}

/// Why a save of this draft would be refused now.
fn find_refusal(engine: &Engine, caller: &Caller, draft: &Draft) -> Result<Option<Refusal>, Error> {
    let store = stores::open_store(engine, caller, &draft.store)?;
    let scope = policy::scope_for(caller, store.scope, draft.system.as_deref())?;
    Ok(clear::clear_for_write(engine, caller, &store, &scope, draft.clone())?.err())
}

/// Tombstones the working memory of a closed run, which takes no more saves; returns how many.
fn clear_working_memory(engine: &Engine, caller: &Caller, run: &Run) -> Result<u64, Error> {
    let now = engine.clock.now();
    let mut tombstoned = 0;
    loop {
        let working = list_working_memory(engine, caller, run)?;
        if working.is_empty() {
            return Ok(tombstoned);
        }
        for batch in working.chunks(COMMIT_BATCH_MAX) {
            let mut change = Change::new(caller.tenant, now);
            for memory in batch {
                let forget = Transition::new(memory, Operation::Forget)
                    .with_reason("its run was closed".to_owned())
                    .with_event(EventName::Forgotten);
                let (with_forget, forgotten) =
                    forget.plan(engine, caller, change, |memory| memory.state = State::Tombstoned);
                change = candidate_reviews::plan_candidate_change(engine, caller, with_forget, memory, &forgotten)?;
            }
            match engine.commit(change) {
                Ok(_) => tombstoned += batch.len() as u64,
                // A memory of the batch changed: the loop lists what is left and tries again.
                Err(StoreError::Guard(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Live memories of the run in all stores of run scope.
fn list_working_memory(engine: &Engine, caller: &Caller, run: &Run) -> Result<Vec<Memory>, Error> {
    let mut places = Vec::new();
    for store in engine.stores(caller)?.into_iter().filter(|store| store.scope == ScopeKind::Run) {
        places.push(Place { store: store.slug, scope: Scope::Run { run: run.id.clone() } });
    }
    // An empty list of places would mean all places.
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let states = vec![State::Active, State::Constrained];
    read::list_all_memories(engine, caller.tenant, &Filter { places, states, ..Filter::default() }, SortOrder::Oldest)
}

/// What the episode tells about a run.
struct ToldRun<'a> {
    id: Option<&'a str>,
    goal: Option<String>,
    workflow: Option<String>,
    opened_at: Timestamp,
    outcome: RunOutcome,
}

impl ToldRun<'_> {
    fn name(&self) -> String {
        // The time tells runs apart: equal texts would be one episode.
        self.id.map_or_else(|| format!("A run opened at {}", self.opened_at), |id| format!("Run {id}"))
    }

    fn to_evidence(&self) -> Evidence {
        let summary = format!("{} closed with {}", self.name(), self.outcome);
        Evidence { run: self.id.map(str::to_owned), ..Evidence::new(EvidenceKind::VerificationResult, summary) }
    }
}

/// Whether an episode may name the run. The id is a text of its opener, unless it is a UUID; and a run whose id the
/// scanner refuses must be closable.
fn is_tellable_id(id: &str, is_own: bool) -> bool {
    Uuid::try_parse(id).is_ok() || (is_own && crate::safety::inspect(id).is_empty())
}

/// A run id is an identifier, no sentence.
fn check_run_id(id: &str, limits: &Limits) -> Result<(), Error> {
    check_label("run", id, limits)?;
    match id.chars().all(|char| char.is_alphanumeric() || RUN_ID_MARKS.contains(char)) {
        true => Ok(()),
        false => Err(Error::invalid("shape.name", format!("a run id has letters, digits and `{RUN_ID_MARKS}` only"))),
    }
}

const LAYERS_STORE: &str = "layers";
const RUN_ID_MARKS: &str = "-_.:/@#+";

/// The episode of a closed run. An agent's goes to its own store, that of other callers to the shared layers.
fn draft_episode(caller: &Caller, run: &ToldRun<'_>, summary: Option<&str>) -> Draft {
    let (kind, ttl, ended) = match run.outcome {
        RunOutcome::Failure => (Kind::Error, TtlClass::Error, "failed"),
        RunOutcome::Cancelled => (Kind::TaskCompletion, TtlClass::TaskCompletion, "was cancelled"),
        RunOutcome::Success => (Kind::TaskCompletion, TtlClass::TaskCompletion, "succeeded"),
    };
    let goal = run.goal.as_deref().map(|goal| format!(": {goal}")).unwrap_or_default();
    let summary = summary.map(|summary| format!("\n{summary}")).unwrap_or_default();
    let by_agent = caller.agent.is_some();
    Draft {
        store: if by_agent { "episodes" } else { "layers" }.to_owned(),
        layer: Some(Layer::Episodic),
        kind: Some(kind),
        ttl: Some(ttl),
        content: format!("{} {ended}{goal}{summary}", run.name()),
        metadata: Some(string_metadata(&[
            ("run", run.id.unwrap_or_default()),
            ("outcome", ended),
            ("workflow", run.workflow.as_deref().unwrap_or_default()),
        ])),
        evidence: vec![run.to_evidence()],
        ..Draft::default()
    }
}

/// The procedure of a successful run. `canonical` is false until a review has chosen among those of the workflow.
fn draft_procedure(caller: &Caller, run: &ToldRun<'_>, workflow: &str, summary: Option<&str>) -> Draft {
    let mut metadata = string_metadata(&[("workflow", workflow), ("run", run.id.unwrap_or_default())]);
    metadata.insert("canonical".to_owned(), Value::Bool(false));
    let how = summary.or(run.goal.as_deref()).unwrap_or("it succeeded");
    let by_agent = caller.agent.is_some();
    Draft {
        store: if by_agent { "agent_layers" } else { LAYERS_STORE }.to_owned(),
        layer: Some(Layer::Procedural),
        kind: Some(Kind::Runbook),
        recall_hint: Some(format!("workflow {workflow}")),
        content: format!("Workflow {workflow}: {how}"),
        metadata: Some(metadata),
        evidence: vec![run.to_evidence()],
        ..Draft::default()
    }
}

/// A JSON object of the pairs with a value.
fn string_metadata(pairs: &[(&str, &str)]) -> Map<String, Value> {
    let present = pairs.iter().filter(|(_, value)| !value.is_empty());
    present.map(|(key, value)| ((*key).to_owned(), Value::String((*value).to_owned()))).collect()
}
