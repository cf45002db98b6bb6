//! The queue: what waits, with what a reviewer needs to see.

use jiff::Timestamp;

use super::may_decide;
use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::guard::Place;
use crate::model::id::MemoryId;
use crate::model::key::Key;
use crate::model::limits::resolve_limit;
use crate::model::memory::{Evidence, Memory};
use crate::model::refusal::Refusal;
use crate::model::review::{Action, Review, ReviewState};
use crate::model::row::{RowFilter, SideRecord};
use crate::model::vocabulary::State;
use crate::policy::{ProposalOrigin, Readable, may_see_proposal};
use crate::ports::cursor::{decode_time_cursor, encode_time_cursor};
use crate::ports::{Address, row};
use crate::recall::{read, visibility};
use crate::review::{owners, plan};

/// A place in the queue: when a review was made, and its id.
pub type QueueCursor = (Timestamp, String);

/// Prefix of cursors of the review queue.
const CURSOR_PREFIX: &str = "q";

/// Which reviews; empty fields do not filter.
#[derive(Clone, Debug, Default)]
pub struct QueueFilter {
    pub state: Option<ReviewState>,
    pub action: Option<Action>,
    pub store: Option<String>,
    pub after: Option<QueueCursor>,
    pub limit: Option<usize>,
}

/// A stretch of the queue, oldest first, and where the next begins.
#[derive(Clone, Debug)]
pub struct QueuePage {
    pub reviews: Vec<Review>,
    pub next: Option<QueueCursor>,
}

/// One review with what a decision needs.
#[derive(Clone, Debug)]
pub struct ReviewView {
    pub review: Review,
    /// The text that would stand: the candidate, or the source of a promotion at its exact version.
    pub proposed: Option<Memory>,
    /// What stands at the target now, or what the candidate would replace.
    pub current_memories: Vec<Memory>,
    /// Evidence of the proposed version.
    pub evidence: Vec<Evidence>,
    /// What the strict scanner, policy and bans say of approving it now.
    pub refusal: Option<Refusal>,
    /// Why approval would find the proposal out of date.
    pub outdated: Option<String>,
}

impl Engine {
    /// A stretch of the reviews the caller may see: deciders all they could decide, others their own.
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
                if filter.action.is_some_and(|action| action != review.action) || !can_see_review(caller, &review) {
                    continue;
                }
                if queue.reviews.len() == limit {
                    queue.next = queue.reviews.last().map(|review| (review.row_time(), review.row_id()));
                    return Ok(queue);
                }
                queue.reviews.push(review);
            }
            if last {
                return Ok(queue);
            }
        }
    }

    /// A review by its id or by the id of the record it is about, with what a decision needs.
    pub fn review(&self, caller: &Caller, id: &str) -> Result<ReviewView, Error> {
        let review = find_review(self, caller, id)?;
        let everything = Readable::whole_tenant(caller.tenant);
        let proposed = match (review.candidate, review.sources.first()) {
            (Some(candidate), _) => self.backend.get_memory(&everything, &Address::Id(candidate))?,
            (None, Some(source)) => {
                self.backend.get_version(&everything, source.version)?.map(|version| version.memory)
            }
            (None, None) => None,
        };
        let evidence = match &proposed {
            Some(memory) => self.backend.get_version(&everything, memory.version)?.map(|version| version.evidence),
            None => None,
        };
        let mut standing = Vec::new();
        for source in review.sources.iter().filter(|_| review.candidate.is_some()) {
            standing.extend(self.backend.get_memory(&everything, &Address::Id(source.memory))?);
        }
        if let (Some(path), None) = (&review.target_path, review.candidate) {
            let place = Place { store: review.target_store.clone(), scope: review.scope.clone() };
            standing.extend(self.backend.get_memory(&everything, &Address::Path { place, path: path.clone() })?);
        }
        let (verdict, outdated) = match review.state.is_open() {
            true => plan::preview_approval(self, caller, &review)?,
            false => (None, None),
        };
        Ok(ReviewView {
            review,
            proposed,
            current_memories: standing,
            evidence: evidence.unwrap_or_default(),
            refusal: verdict,
            outdated,
        })
    }
}

/// By the review's id, or by the record's: then the one that waits, else the newest.
pub(crate) fn find_review(engine: &Engine, caller: &Caller, id: &str) -> Result<Review, Error> {
    visibility::visible_to(engine, caller)?;
    let missing = || Error::not_found(format!("review `{id}`"));
    if let Some(review) = row::get_record::<Review>(&*engine.backend, caller.tenant, id)? {
        return Some(review).filter(|review| can_see_review(caller, review)).ok_or_else(missing);
    }
    let memory: MemoryId = id.parse().map_err(|_| missing())?;
    let about = RowFilter {
        subject: Some(memory.to_string()),
        newest_first: true,
        limit: engine.limits().list_max,
        ..RowFilter::default()
    };
    let mut reviews: Vec<Review> = row::select_records(&*engine.backend, caller.tenant, &about)?;
    reviews.retain(|review| can_see_review(caller, review));
    let waiting = reviews.iter().position(|review| review.state.is_open()).unwrap_or(0);
    if waiting < reviews.len() {
        return Ok(reviews.swap_remove(waiting));
    }
    // A record that is there but waits for nothing is a conflict, not a stranger.
    let memory = read::read_by_id(engine, caller, memory).map_err(|_| missing())?;
    Err(Error::conflict("conflict.not_constrained", not_waiting_message(memory.state)))
}

/// Whether this caller may decide, with owners and company looked up.
pub(crate) fn check_may_decide(
    engine: &Engine,
    caller: &Caller,
    review: &Review,
) -> Result<Result<(), Refusal>, Error> {
    let owners = owners::load_path_owners(engine, caller, &review.target_store)?;
    let company =
        review.action == Action::Promote && review.proposer == caller.principal && has_other_decider(engine, caller)?;
    Ok(may_decide(caller, review, owners.as_ref(), company))
}

/// Whether the tenant has somebody besides the caller who could decide: a holder of a key, or an owner of paths.
fn has_other_decider(engine: &Engine, caller: &Caller) -> Result<bool, Error> {
    let filter = RowFilter { limit: engine.limits().list_max, ..RowFilter::default() };
    let keys: Vec<Key> = row::select_records(&*engine.backend, caller.tenant, &filter)?;
    let now = engine.clock.now();
    let other = |name: &String| *name != caller.principal;
    let by_key = keys.iter().any(|key| {
        let person = key.is_valid(now) && !key.rights.role.is_program();
        person && other(&key.to_caller(caller.tenant).principal)
    });
    let owners = engine.owners(caller)?;
    let mut owning = owners.iter().flat_map(|owners| &owners.rules).flat_map(|rule| &rule.reviewers);
    Ok(by_key || owning.any(other))
}

pub(super) fn not_waiting_message(state: State) -> String {
    format!("the memory is {state}, not constrained: nothing about it waits for a decision")
}

fn can_see_review(caller: &Caller, review: &Review) -> bool {
    let (user, conversation) = (review.user.as_deref(), review.conversation.as_deref());
    may_see_proposal(caller, &ProposalOrigin { scope: &review.scope, proposer: &review.proposer, user, conversation })
}

impl QueuePage {
    /// Token for where the next page begins.
    pub fn next_token(&self) -> Option<String> {
        let (at, id) = self.next.as_ref()?;
        Some(encode_time_cursor(CURSOR_PREFIX, *at, id))
    }

    /// Reads a token of [`QueuePage::next_token`].
    pub fn mark_from_token(token: &str) -> Result<QueueCursor, Error> {
        decode_time_cursor(CURSOR_PREFIX, token)
    }
}
