//! A tenant of its own for one case, and the few verbs cases are told in.

use engine::model::caller::Caller;
use engine::model::error::Error;
use engine::model::id::{MemoryId, TenantId};
use engine::model::memory::{Draft, Evidence, Memory};
use engine::model::vocabulary::{EvidenceKind, Kind, State};
use engine::review::{Decided, Review, Risk};
use engine::{Engine, Exported, ImportDone, Promotion, Proposed, Query, Reference, Remembered};

use crate::assemble::Session;
use crate::config::Config;
use crate::error::Failure;

pub(super) struct World {
    pub(super) engine: Engine,
    pub(super) config: Config,
    pub(super) tenant: TenantId,
    pub(super) admin: Caller,
}

/// What a case answers with when the product did something else.
pub(super) type Checked<T = ()> = Result<T, String>;

pub(super) fn ensure(holds: bool, instead: &str) -> Checked {
    if holds { Ok(()) } else { Err(instead.to_owned()) }
}

/// An engine's error as its code.
pub(super) fn code(error: &Error) -> String {
    format!("{}: {error}", error.code())
}

/// The code of a refusal, where one was expected.
pub(super) fn refused_with(done: Result<Memory, String>, wanted: &str) -> Checked {
    match done {
        Ok(memory) => Err(format!("it was saved as {}", memory.id)),
        Err(code) if code == wanted => Ok(()),
        Err(code) => Err(format!("refused with {code}, not {wanted}")),
    }
}

impl World {
    pub(super) fn new(session: &Session, config: &Config, name: &str) -> Result<World, Failure> {
        let tenant = session.engine.start_tenant(name)?.id;
        Ok(World { engine: session.engine.clone(), config: config.clone(), tenant, admin: Caller::admin(tenant) })
    }

    pub(super) fn agent(&self, name: &str, conversation: &str) -> Caller {
        Caller::agent(self.tenant, name).in_conversation(conversation)
    }

    pub(super) fn note(content: &str) -> Draft {
        Draft {
            store: "conversation_memory".to_owned(),
            kind: Some(Kind::IncidentLesson),
            content: content.to_owned(),
            evidence: vec![Evidence::new(EvidenceKind::ToolResult, "tool call 1")],
            ..Draft::default()
        }
    }

    /// Saves, or answers the code of the refusal.
    pub(super) fn save(&self, caller: &Caller, draft: Draft) -> Checked<Memory> {
        match self.engine.remember(caller, draft) {
            Ok(Remembered::Saved(saved)) => Ok(saved.memory),
            Ok(Remembered::Refused(refusal)) => Err(refusal.code.to_owned()),
            Err(error) => Err(error.code().to_owned()),
        }
    }

    pub(super) fn say(&self, caller: &Caller, content: &str) -> Checked<Memory> {
        self.save(caller, World::note(content))
    }

    /// A draft for everybody, written by an admin.
    pub(super) fn shared(content: &str, path: &str) -> Draft {
        Draft {
            store: "workspace_runbooks".to_owned(),
            kind: Some(Kind::Runbook),
            path: Some(path.to_owned()),
            ..World::note(content)
        }
    }

    pub(super) fn found(&self, caller: &Caller, text: &str) -> Checked<Vec<Memory>> {
        let query = Query { text: text.to_owned(), limit: Some(50), ..Query::default() };
        let answer = self.engine.search(caller, &query).map_err(|error| code(&error))?;
        Ok(answer.hits.into_iter().map(|hit| hit.memory).collect())
    }

    pub(super) fn finds(&self, caller: &Caller, text: &str, memory: MemoryId) -> Checked<bool> {
        Ok(self.found(caller, text)?.iter().any(|found| found.id == memory))
    }

    pub(super) fn read(&self, caller: &Caller, id: MemoryId) -> Checked<Memory> {
        self.engine.read(caller, &Reference::Id(id)).map_err(|error| code(&error))
    }

    pub(super) fn state(&self, id: MemoryId) -> Checked<State> {
        Ok(self.read(&self.admin, id)?.state)
    }

    pub(super) fn forget(&self, memory: MemoryId) -> Checked {
        let done = self.engine.forget(&self.admin, memory, Some("asked to".to_owned()));
        done.map(|_| ()).map_err(|error| code(&error))
    }

    pub(super) fn propose(&self, caller: &Caller, source: MemoryId, path: &str) -> Checked<Review> {
        let promotion = Promotion {
            source: Reference::Id(source),
            target_store: "workspace_runbooks".to_owned(),
            target_path: Some(path.to_owned()),
            rationale: "it helped".to_owned(),
            evidence: Vec::new(),
            risk: Risk::Low,
        };
        match self.engine.propose(caller, promotion) {
            Ok(Proposed::Waiting { review, .. }) => Ok(*review),
            Ok(Proposed::Refused(refusal)) => Err(refusal.code.to_owned()),
            Err(error) => Err(error.code().to_owned()),
        }
    }

    pub(super) fn approve(&self, caller: &Caller, review: &Review) -> Checked<Memory> {
        match self.engine.approve(caller, &review.id.to_string(), None) {
            Ok(Decided::Approved(approval)) => Ok(approval.memory),
            Ok(Decided::Refused(refusal)) => Err(refusal.code.to_owned()),
            Ok(Decided::Closed(_)) => Err("it was closed".to_owned()),
            Err(error) => Err(error.code().to_owned()),
        }
    }

    pub(super) fn exported(&self) -> Checked<Vec<Exported>> {
        let mut pieces = Vec::new();
        let done: Result<(), Error> = self.engine.export(&self.admin, &[], |piece| {
            pieces.push(piece);
            Ok(())
        });
        done.map_err(|error| code(&error))?;
        Ok(pieces)
    }

    pub(super) fn import(&self, caller: &Caller, pieces: Vec<Exported>) -> Checked<ImportDone> {
        let mut done = ImportDone::default();
        for piece in pieces {
            self.engine.import(caller, piece, &mut done).map_err(|error| code(&error))?;
        }
        Ok(done)
    }
}
