//! The review queue: lists reviews, shows one with everything a decision needs.

use jiff::Timestamp;

use crate::Engine;
use crate::model::caller::{Caller, person_of_principal};
use crate::model::error::Error;
use crate::model::guard::Place;
use crate::model::id::MemoryId;
use crate::model::key::Key;
use crate::model::limits::resolve_limit;
use crate::model::memory::{Evidence, Memory};
use crate::model::refusal::Refusal;
use crate::model::review::{Action, Review, ReviewState};
use crate::model::row::{RowFilter, SideRecord};
use crate::model::scope::Scope;
use crate::model::vocabulary::{Operation, State, Trust};
use crate::policy::{self, Readable};
use crate::ports::cursor::{decode_time_cursor, encode_time_cursor};
use crate::ports::{Address, row};
use crate::recall::{already_there, read, visibility};
use crate::review::{owners, plan};

/// Position in the queue: creation time and id of a review.
pub type QueueCursor = (Timestamp, String);

/// Prefix of cursors of the review queue.
const CURSOR_PREFIX: &str = "q";

/// Filter and page of the queue; empty fields do not filter.
#[derive(Clone, Debug, Default)]
pub struct QueueFilter {
    pub state: Option<ReviewState>,
    pub action: Option<Action>,
    pub store: Option<String>,
    pub after: Option<QueueCursor>,
    pub limit: Option<usize>,
}

/// A page of the queue, oldest first, and the cursor of the next page.
#[derive(Clone, Debug)]
pub struct QueuePage {
    pub reviews: Vec<Review>,
    pub next: Option<QueueCursor>,
}

/// One review with everything a decision needs.
#[derive(Clone, Debug)]
pub struct ReviewView {
    pub review: Review,
    /// The proposed memory: the candidate, or the source of a promotion at its exact version.
    pub proposed: Option<Memory>,
    /// The memory at the target now, or those the candidate would replace.
    pub current_memories: Vec<Memory>,
    /// Evidence of the proposed version.
    pub evidence: Vec<Evidence>,
    /// Refusal an approval would get now, from policy, the strict scanner or a ban.
    pub refusal: Option<Refusal>,
    /// Why an approval would find the proposal outdated.
    pub outdated: Option<String>,
}

impl Engine {
    /// A page of the reviews the caller may see: reviewers see those they could decide, others their own.
    pub fn reviews(&self, caller: &Caller, filter: &QueueFilter) -> Result<QueuePage, Error> {
        visibility::visible_to(self, caller)?;
        let limit = resolve_limit(filter.limit, self.limits().list_default, self.limits().list_max)?;
        let mut queue = QueuePage { reviews: Vec::new(), next: None };
        let mut after = filter.after.clone();
        loop {
            let rows = RowFilter {
                state: filter.state.map(|state| state.to_string()),
                parent: filter.store.clone(),
                after: after.clone(),
                limit: self.limits().list_max,
                ..RowFilter::default()
            };
            let found: Vec<Review> = row::select_records(&*self.backend, caller.tenant, &rows)?;
            let last = found.len() < rows.limit;
            for review in found {
                after = Some((review.row_time(), review.row_id()));
                // The index knows state and store only. Action and visibility are filtered here, so a page may take
                // several queries.
                if filter.action.is_some_and(|action| action != review.action)
                    || !already_there::shows_review(caller, &review)
                {
                    continue;
                }
                // One review beyond the page shows that there is a next page.
                if queue.reviews.len() == limit {
                    queue.next = queue.reviews.last().map(|review| (review.row_time(), review.row_id()));
                    return Ok(queue);
                }
                queue.reviews.push(with_version(self, caller, review)?);
            }
            if last {
                return Ok(queue);
            }
        }
    }

    /// One review, by its id or the id of the memory it is about.
    pub fn review(&self, caller: &Caller, id: &str) -> Result<ReviewView, Error> {
        let review = find_review(self, caller, id)?;
        let everything = Readable::whole_tenant(caller.tenant);
        let mut is_redacted = false;
        let proposed = match (review.candidate, review.sources.first()) {
            (Some(candidate), _) => self.backend.get_memory(&everything, &Address::Id(candidate))?,
            (None, Some(source)) => {
                let version = self.backend.get_version(&everything, source.version)?;
                is_redacted = version.as_ref().is_some_and(|version| version.redacted_at.is_some());
                version.map(|version| version.memory)
            }
            (None, None) => None,
        };
        // A reviewer must not decide about a text that was changed beside the program.
        if let Some(memory) = proposed.as_ref().filter(|_| !is_redacted) {
            memory.ensure_intact()?;
        }
        let evidence = match &proposed {
            Some(memory) => self.backend.get_version(&everything, memory.version)?.map(|version| version.evidence),
            None => None,
        };
        let mut current_memories = Vec::new();
        // With a candidate, the sources are what it replaces; without one, the source is the proposal itself.
        for source in review.sources.iter().filter(|_| review.candidate.is_some()) {
            current_memories.extend(self.backend.get_memory(&everything, &Address::Id(source.memory))?);
        }
        if let (Some(path), None) = (&review.target_path, review.candidate) {
            let place = Place { store: review.target_store.clone(), scope: review.scope.clone() };
            let address = Address::Path { place, path: path.clone() };
            current_memories.extend(self.backend.get_memory(&everything, &address)?);
        }
        current_memories.iter().try_for_each(Memory::ensure_intact)?;
        let (refusal, outdated) = match review.state.is_open() {
            true => plan::preview_approval(self, caller, &review)?,
            false => (None, None),
        };
        Ok(ReviewView { review, proposed, current_memories, evidence: evidence.unwrap_or_default(), refusal, outdated })
    }
}

/// A review by its id, or by the id of its memory: then the open one, else the newest.
pub(crate) fn find_review(engine: &Engine, caller: &Caller, id: &str) -> Result<Review, Error> {
    visibility::visible_to(engine, caller)?;
    let missing = || Error::not_found(format!("review `{id}`"));
    // A review that the caller may not see is not found, like one that does not exist.
    if let Some(review) = row::get_record::<Review>(&*engine.backend, caller.tenant, id)? {
        let review = Some(review).filter(|review| already_there::shows_review(caller, review)).ok_or_else(missing)?;
        return with_version(engine, caller, review);
    }
    let memory: MemoryId = id.parse().map_err(|_| missing())?;
    let about = RowFilter {
        subject: Some(memory.to_string()),
        newest_first: true,
        limit: engine.limits().list_max,
        ..RowFilter::default()
    };
    let mut reviews: Vec<Review> = row::select_records(&*engine.backend, caller.tenant, &about)?;
    reviews.retain(|review| already_there::shows_review(caller, review));
    let waiting = reviews.iter().position(|review| review.state.is_open()).unwrap_or(0);
    if waiting < reviews.len() {
        return with_version(engine, caller, reviews.swap_remove(waiting));
    }
    // A memory that exists but has no review is a conflict; only an unknown id is not found.
    let memory = read::read_by_id(engine, caller, memory).map_err(|_| missing())?;
    Err(Error::conflict("conflict.not_constrained", not_waiting_message(memory.state)))
}

/// Fills in the version of a review stored before reviews had one: that of the text shown now. A decision names it and
/// its guard compares it, so what was read is what is decided.
fn with_version(engine: &Engine, caller: &Caller, mut review: Review) -> Result<Review, Error> {
    if review.version.is_none() && review.state.is_open() {
        review.version = match review.candidate {
            Some(candidate) => {
                let everything = Readable::whole_tenant(caller.tenant);
                engine.backend.get_memory(&everything, &Address::Id(candidate))?.map(|memory| memory.version)
            }
            None => review.sources.first().map(|source| source.version),
        };
    }
    Ok(review)
}

/// [`policy::may_decide`], with path owners and other deciders looked up.
pub(crate) fn check_may_decide(
    engine: &Engine,
    caller: &Caller,
    review: &Review,
) -> Result<Result<(), Refusal>, Error> {
    let owners = owners::load_path_owners(engine, caller, &review.target_store)?;
    let needs_other_person = review.action == Action::Promote
        && (review.is_own_proposal(caller) || is_own_text(engine, caller, review)?)
        && has_other_decider(engine, caller)?;
    let path_owners = review.target_path.as_deref().and_then(|path| owners.as_ref()?.reviewers_of(path));
    Ok(policy::may_decide(caller, review, path_owners, needs_other_person))
}

/// Whether a source is this person's own text, whoever proposed it: their agent's key is no second pair of eyes. A
/// draft of their agent is not theirs.
fn is_own_text(engine: &Engine, caller: &Caller, review: &Review) -> Result<bool, Error> {
    let everything = Readable::whole_tenant(caller.tenant);
    for source in &review.sources {
        let Some(version) = engine.backend.get_version(&everything, source.version)? else { continue };
        let is_theirs = matches!(&version.memory.scope, Scope::User { user } if caller.person() == Some(user))
            && version.memory.trust > Trust::AgentDraft;
        let acted = version.actor == caller.principal || person_of_author(&version.actor) == caller.person();
        // Other operations leave the text as it was.
        let wrote = acted && matches!(version.operation, Operation::Create | Operation::Update | Operation::Patch);
        if caller.person().is_some() && (is_theirs || wrote) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The person who wrote a version; `None` for programs and for the product itself.
fn person_of_author(author: &str) -> Option<&str> {
    author.split_once(':').and_then(|_| person_of_principal(author))
}

/// Whether the tenant has another person who could decide: a person with a valid key, or an owner of paths.
fn has_other_decider(engine: &Engine, caller: &Caller) -> Result<bool, Error> {
    let filter = RowFilter { limit: engine.limits().list_max, ..RowFilter::default() };
    let keys: Vec<Key> = row::select_records(&*engine.backend, caller.tenant, &filter)?;
    let now = engine.clock.now();
    // Persons, not keys: a second key of the same person is no second pair of eyes.
    let other = |person: Option<&str>| person.is_some() && person != caller.person();
    let by_key = keys.iter().any(|key| key.is_valid(now) && other(key.to_caller(caller.tenant).person()));
    let owners = engine.owners(caller)?;
    let mut path_owners = owners.iter().flat_map(|owners| &owners.rules).flat_map(|rule| &rule.reviewers);
    Ok(by_key || path_owners.any(|name| other(person_of_principal(name))))
}

pub(super) fn not_waiting_message(state: State) -> String {
    format!("the memory is {state}, not constrained: nothing about it waits for a decision")
}

impl QueuePage {
    /// Token of the next page; `None` on the last.
    pub fn next_token(&self) -> Option<String> {
        let (at, id) = self.next.as_ref()?;
        Some(encode_time_cursor(CURSOR_PREFIX, *at, id))
    }

    /// Reads a token of [`QueuePage::next_token`].
    pub fn mark_from_token(token: &str) -> Result<QueueCursor, Error> {
        decode_time_cursor(CURSOR_PREFIX, token)
    }
}
