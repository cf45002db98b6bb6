//! "Already there": every verb that answers that something exists (a duplicate, an import, a waiting review) asks here.
//!
//! What the caller may not see is not there: an answer must not confirm a guessed text, nor hand out another caller's
//! proposal.

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::memory::Memory;
use crate::model::review::Review;
use crate::policy::{ProposalOrigin, may_see_proposal};
use crate::ports::Address;
use crate::recall::visibility;

/// The memory at an address, if the caller may see it.
pub(crate) fn find_memory(engine: &Engine, caller: &Caller, address: &Address) -> Result<Option<Memory>, Error> {
    // A caller without `memory.read` sees nothing; that it may not read is not the answer to a write.
    let readable = match visibility::visible_to(engine, caller) {
        Err(Error::Invalid { .. }) => return Ok(None),
        readable => readable?,
    };
    let found = engine.backend.get_memory(&readable, address)?;
    Ok(found.filter(|memory| readable.shows_memory(memory)))
}

/// Whether the caller may see a review.
pub(crate) fn shows_review(caller: &Caller, review: &Review) -> bool {
    let origin = ProposalOrigin {
        scope: &review.scope,
        proposer: &review.proposer,
        user: review.user.as_deref(),
        project: review.project.as_deref(),
        conversation: review.conversation.as_deref(),
    };
    may_see_proposal(caller, &origin)
}
