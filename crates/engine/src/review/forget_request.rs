//! The verb forget: what the caller may remove is forgotten, what only a person may remove becomes a proposal.

use crate::Engine;
use crate::consent::Answer;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::id::MemoryId;
use crate::model::memory::Memory;
use crate::model::refusal::Refusal;
use crate::model::review::Review;
use crate::recall::read::MemoryReference;
use crate::removal::forget::{self, ForgetOptions, Removal};
use crate::review::propose::ProposalOutcome;

/// Rationale of a proposal whose caller gave none.
const NO_REASON: &str = "no reason was given";

/// The answer to a forget.
#[derive(Debug, Clone)]
pub enum ForgetOutcome {
    /// The memory, forgotten.
    Done(Box<Memory>),
    /// A person has to decide; the memory stays until then. `new`: not proposed before.
    Proposed {
        review: Box<Review>,
        new: bool,
    },
    Refused(Refusal),
}

impl Engine {
    /// Takes a memory out of use. Its path is free again, its history stays, its text is banned from its scope. An
    /// agent only proposes to forget what a person wrote or trusted.
    pub fn forget(&self, caller: &Caller, memory: MemoryId, reason: Option<String>) -> Result<ForgetOutcome, Error> {
        self.forget_with_options(caller, memory, &ForgetOptions { reason, ..ForgetOptions::default() })
    }

    /// As [`Engine::forget`], with options.
    pub fn forget_with_options(
        &self,
        caller: &Caller,
        memory: MemoryId,
        options: &ForgetOptions,
    ) -> Result<ForgetOutcome, Error> {
        self.ensure_memory_enabled()?;
        // Without an answer, the rights of the caller do not matter: whoever sees a memory may propose to forget it.
        if options.answer != Answer::Missing {
            match forget::forget_memory(self, caller, memory, options)? {
                Removal::Done(memory) => return Ok(ForgetOutcome::Done(memory)),
                Removal::Refused(refusal) => return Ok(ForgetOutcome::Refused(refusal)),
                Removal::NeedsPerson => {}
            }
        }
        let rationale = options.reason.clone().unwrap_or_else(|| NO_REASON.to_owned());
        Ok(match self.propose_forget(caller, &MemoryReference::Id(memory), rationale)? {
            ProposalOutcome::Waiting { review, new } => ForgetOutcome::Proposed { review, new },
            ProposalOutcome::Refused(refusal) => ForgetOutcome::Refused(refusal),
        })
    }
}
