//! Questions to a person about a save or a removal: which memory they are about is found before they are asked.

use crate::Engine;
use crate::consent::{self, AskedQuestion, ConsentRequest};
use crate::gate::WriteIntent;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::guard::Place;
use crate::model::id::MemoryId;
use crate::model::memory::{Draft, Memory};
use crate::model::vocabulary::State;
use crate::policy;
use crate::recall::read;
use crate::tenant::stores;
use crate::write::{clear, target};

impl Engine {
    /// Issues a question to the person this caller acts for. `None`: no answer of theirs could count, so they are not
    /// asked: the caller may not confirm, the save would be refused, the memory is not there, or the text is too long
    /// to be shown whole.
    pub fn ask_person(&self, caller: &Caller, request: &ConsentRequest<'_>) -> Result<Option<AskedQuestion>, Error> {
        if caller.unattended {
            return Ok(None);
        }
        match request {
            ConsentRequest::Keep(draft) if policy::may_confirm(caller) => match find_replaced(self, caller, draft)? {
                SaveForecast::Replaces(replaced) => consent::ask_to_keep(self, caller, draft, replaced.as_deref()),
                SaveForecast::Refused => Ok(None),
            },
            ConsentRequest::Keep(_) => Ok(None),
            ConsentRequest::Forget(memory) => match find_forgettable(self, caller, *memory)? {
                Some(memory) => consent::ask_to_forget(self, caller, &memory),
                None => Ok(None),
            },
        }
    }

    /// Whether a yes to this question would count for this request now. Checked again by the change itself.
    pub fn accepts_answer(&self, caller: &Caller, question: &str, request: &ConsentRequest<'_>) -> Result<bool, Error> {
        let found = match request {
            ConsentRequest::Keep(draft) => match find_replaced(self, caller, draft)? {
                SaveForecast::Replaces(replaced) => {
                    consent::find_consent_to_keep(self, caller, question, draft, replaced.as_deref())?
                }
                SaveForecast::Refused => None,
            },
            ConsentRequest::Forget(memory) => match find_forgettable(self, caller, *memory)? {
                Some(memory) => consent::find_consent_to_forget(self, caller, question, &memory)?,
                None => None,
            },
        };
        Ok(found.is_some())
    }
}

/// What a confirmed save of a draft would do now.
enum SaveForecast {
    /// Make a new version of this memory, or a new memory.
    Replaces(Option<Box<Memory>>),
    Refused,
}

/// Finds the memory that the draft would replace if its person agreed.
fn find_replaced(engine: &Engine, caller: &Caller, draft: &Draft) -> Result<SaveForecast, Error> {
    // Opened only: a question must not create a store that is made on first use.
    let store = stores::open_store(engine, caller, &draft.store)?;
    let scope = policy::scope_for(caller, store.scope, draft.system.as_deref())?;
    let intent = WriteIntent::ConfirmedWrite;
    let Ok(cleared) = clear::clear_draft_as(engine, caller, intent, &store, &scope, draft.clone())? else {
        return Ok(SaveForecast::Refused);
    };
    let ruleset = stores::ruleset_of(engine, &store)?;
    let place = Place { store: store.slug.clone(), scope };
    let replaced = target::find_save_target(engine, caller, &cleared, ruleset, &place, false)?.into_existing();
    // A text that was changed beside the program is not shown to be confirmed.
    replaced.iter().try_for_each(|memory| memory.ensure_intact())?;
    Ok(SaveForecast::Replaces(replaced))
}

/// The memory, if the caller sees it and it is in use.
fn find_forgettable(engine: &Engine, caller: &Caller, memory: MemoryId) -> Result<Option<Memory>, Error> {
    match read::read_by_id(engine, caller, memory) {
        Ok(memory) => Ok(Some(memory).filter(|memory| memory.state != State::Tombstoned)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
