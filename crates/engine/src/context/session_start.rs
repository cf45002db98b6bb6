//! Session start: what a new session is told before its first turn: pinned memories, what its project knows, what is
//! new since the last session, and how the last sessions ended.

use jiff::Timestamp;

use crate::Engine;
use crate::context::turn::{
    self, Context, ContextRequest, MEMORY_OFF, choose_within_budget, commit_receipt, context_settings,
    list_always_injected,
};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::guard::Place;
use crate::model::limits::check_range;
use crate::model::memory::Memory;
use crate::model::scope::Scope;
use crate::model::store::{PROJECT_EPISODES, PROJECT_MEMORY};
use crate::model::vocabulary::TurnRole;
use crate::policy;
use crate::ports::{Filter, PageRequest, SortOrder};
use crate::recall::ranking::Hit;
use crate::recall::visibility;
use crate::tenant::stores;
use crate::text::token_estimate;

/// Stands for the message in the receipt: nothing was asked yet.
const QUERY: &str = "(session start)";

/// A request for the context of a new session.
#[derive(Clone, Debug, Default)]
pub struct SessionStartRequest {
    /// The session that starts; one that is resumed is not told about itself.
    pub session: Option<String>,
    /// Default: `limits.session_start_budget_tokens`.
    pub budget_tokens: Option<usize>,
}

/// The context of a new session.
#[derive(Clone, Debug, Default)]
pub struct SessionStart {
    pub context: Context,
    /// Memories of the project.
    pub known: u64,
    /// Of the newest ones, those saved or changed since the last session; all of them if there was none.
    pub changed: usize,
    /// End of the last session.
    pub last_session: Option<Timestamp>,
}

impl Engine {
    /// What a new session is told: always-inject memories, then the project's memories that changed since the last
    /// session, then the last answers of the last sessions, then its other memories, the most trusted first. With a
    /// receipt, unless there is nothing to tell.
    pub fn session_start(&self, caller: &Caller, request: &SessionStartRequest) -> Result<SessionStart, Error> {
        check_range("budget_tokens", request.budget_tokens, self.limits().context_budget_max)?;
        if self.settings.memory_off {
            let context = Context { skipped: vec![MEMORY_OFF.to_owned()], ..Context::default() };
            return Ok(SessionStart { context, ..SessionStart::default() });
        }
        let (always, skipped) = list_always_injected(self, caller, &Filter::default())?;
        let (mut known, mut sessions) = (Vec::new(), Vec::new());
        let mut count = 0;
        if let Some(places) = own_places(self, caller, PROJECT_EPISODES)? {
            sessions = last_answers(self, caller, places, request.session.as_deref())?;
        }
        if let Some(places) = own_places(self, caller, PROJECT_MEMORY)? {
            for place in &places {
                count += self.backend.place_state(caller.tenant, place)?.live;
            }
            known = list_newest(self, caller, places, self.limits().list_default)?;
        }
        let last_session = sessions.first().map(|answer| answer.created_at);
        let is_new = |memory: &Memory| last_session.is_none_or(|last| memory.updated_at > last);
        let (changed, mut older): (Vec<Memory>, Vec<Memory>) = known.into_iter().partition(is_new);
        // Stable: of equal trust the newest stays first.
        older.sort_by_key(|memory| std::cmp::Reverse(memory.trust));
        let told = SessionStart { known: count, changed: changed.len(), last_session, ..SessionStart::default() };
        sessions.truncate(self.limits().session_start_sessions_max);
        let hits = changed.into_iter().chain(sessions).chain(older).map(Hit::without_score).collect();
        Ok(SessionStart { context: build_context(self, caller, request, always, hits, skipped), ..told })
    }
}

fn build_context(
    engine: &Engine,
    caller: &Caller,
    request: &SessionStartRequest,
    always: Vec<Memory>,
    hits: Vec<Hit>,
    mut skipped: Vec<String>,
) -> Context {
    if always.is_empty() && hits.is_empty() {
        return Context { skipped, ..Context::default() };
    }
    let limits = engine.limits();
    let settings = context_settings(
        engine,
        &ContextRequest {
            budget_tokens: request.budget_tokens.or(Some(limits.session_start_budget_tokens)),
            memories_max: Some(limits.session_start_memories_max),
            ..ContextRequest::default()
        },
    );
    let choices = choose_within_budget(engine, &settings, None, always, hits, &mut skipped);
    let text = turn::render_candidates(&settings, &choices.iter().collect::<Vec<_>>());
    let tokens = token_estimate::estimate(&text);
    let candidates = choices.into_iter().map(|choice| choice.considered).collect();
    turn::to_context(commit_receipt(engine, caller, QUERY, settings, candidates, &text, tokens, skipped), text, tokens)
}

/// The places of the caller's project in a store, also those of projects that were merged into it. `None` outside of
/// projects.
fn own_places(engine: &Engine, caller: &Caller, slug: &str) -> Result<Option<Vec<Place>>, Error> {
    let Some(project) = &caller.project else { return Ok(None) };
    let store = match stores::open_store(engine, caller, slug) {
        Ok(store) => store,
        // Archived: nothing is told from it.
        Err(Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let names = std::iter::once(project).chain(&caller.merged_projects);
    let place = |name: &String| Place { store: store.slug.clone(), scope: Scope::Project { project: name.clone() } };
    Ok(Some(names.map(place).collect()))
}

fn list_newest(engine: &Engine, caller: &Caller, places: Vec<Place>, limit: usize) -> Result<Vec<Memory>, Error> {
    let filter = Filter { places, unexpired_at: Some(engine.clock.now()), ..Filter::default() };
    let readable = visibility::visible_for_filter(engine, caller, &filter)?;
    let page = PageRequest { order: SortOrder::Newest, after: None, limit };
    let mut memories = engine.backend.list_memories(&readable, &filter, &page)?;
    memories.retain(|memory| readable.shows_memory(memory) && policy::may_recall_in_run(caller, memory));
    Ok(memories)
}

/// The last answer of each of the latest sessions but this one, latest first.
fn last_answers(engine: &Engine, caller: &Caller, places: Vec<Place>, but: Option<&str>) -> Result<Vec<Memory>, Error> {
    let mut answers: Vec<Memory> = Vec::new();
    let turns = list_newest(engine, caller, places, engine.limits().list_default)?;
    for turn in turns {
        let is_other = turn.session.is_some() && turn.session.as_deref() != but;
        let is_told = answers.iter().any(|answer| answer.session == turn.session);
        if is_other && !is_told && turn.role == Some(TurnRole::Assistant) {
            answers.push(turn);
        }
    }
    Ok(answers)
}
