//! Tenant of one case, and the helper functions of the cases.

use engine::model::caller::Caller;
use engine::model::error::Error;
use engine::model::id::{MemoryId, TenantId};
use engine::model::memory::{Draft, Evidence, Memory};
use engine::model::review::{Review, Risk};
use engine::model::vocabulary::{EvidenceKind, Kind, State};
use engine::review::{Decision, DecisionOutcome};
use engine::{
    Engine, ExportPiece, ImportReport, MemoryReference, Promotion, ProposalOutcome, Remembered, SearchQuery,
    UpkeepOptions,
};

use crate::assemble::{Session, open_engine};
use crate::config::Config;
use crate::error::Failure;

pub(super) struct CaseTenant {
    pub(super) engine: Engine,
    pub(super) config: Config,
    pub(super) tenant: TenantId,
    pub(super) admin: Caller,
}

/// Result of a case; the error describes what happened instead.
pub(super) type CaseResult<T = ()> = Result<T, String>;

pub(super) fn ensure(holds: bool, instead: &str) -> CaseResult {
    if holds { Ok(()) } else { Err(instead.to_owned()) }
}

/// Code and message of an error.
pub(super) fn describe_error(error: &Error) -> String {
    format!("{}: {error}", error.code())
}

/// Expects a refusal with the given code.
pub(super) fn expect_refusal(done: Result<Memory, String>, wanted: &str) -> CaseResult {
    match done {
        Ok(memory) => Err(format!("it was saved as {}", memory.id)),
        Err(code) if code == wanted => Ok(()),
        Err(code) => Err(format!("refused with {code}, not {wanted}")),
    }
}

impl CaseTenant {
    pub(super) fn new(session: &Session, config: &Config, name: &str) -> Result<CaseTenant, Failure> {
        let tenant = session.engine.start_tenant(name)?.id;
        Ok(CaseTenant { engine: session.engine.clone(), config: config.clone(), tenant, admin: Caller::admin(tenant) })
    }

    /// The same tenant through a second engine that opens the database again and runs upkeep once.
    pub(super) fn reopen_with_upkeep(&self) -> CaseResult<CaseTenant> {
        let engine = open_engine(&self.config).map_err(|failure| failure.message())?;
        engine.upkeep(self.tenant, UpkeepOptions::default()).map_err(|error| describe_error(&error))?;
        Ok(CaseTenant { engine, config: self.config.clone(), tenant: self.tenant, admin: self.admin.clone() })
    }

    pub(super) fn agent_caller(&self, name: &str, conversation: &str) -> Caller {
        Caller::agent(self.tenant, name).in_conversation(conversation)
    }

    pub(super) fn note_draft(content: &str) -> Draft {
        Draft {
            store: "conversation_memory".to_owned(),
            kind: Some(Kind::IncidentLesson),
            content: content.to_owned(),
            evidence: vec![Evidence::new(EvidenceKind::ToolResult, "tool call 1")],
            ..Draft::default()
        }
    }

    /// Saves a draft; the error is the code of the refusal.
    pub(super) fn save_draft(&self, caller: &Caller, draft: Draft) -> CaseResult<Memory> {
        match self.engine.remember(caller, draft) {
            Ok(Remembered::Saved(saved)) => Ok(saved.memory),
            Ok(Remembered::Refused(refusal)) => Err(refusal.code.to_owned()),
            Err(error) => Err(error.code().to_owned()),
        }
    }

    pub(super) fn save_note(&self, caller: &Caller, content: &str) -> CaseResult<Memory> {
        self.save_draft(caller, CaseTenant::note_draft(content))
    }

    /// Draft of a runbook for the workspace.
    pub(super) fn runbook_draft(content: &str, path: &str) -> Draft {
        Draft {
            store: "workspace_runbooks".to_owned(),
            kind: Some(Kind::Runbook),
            path: Some(path.to_owned()),
            ..CaseTenant::note_draft(content)
        }
    }

    pub(super) fn search_memories(&self, caller: &Caller, text: &str) -> CaseResult<Vec<Memory>> {
        let query = SearchQuery { text: text.to_owned(), limit: Some(50), ..SearchQuery::default() };
        let answer = self.engine.search(caller, &query).map_err(|error| describe_error(&error))?;
        Ok(answer.hits.into_iter().map(|hit| hit.memory).collect())
    }

    pub(super) fn can_find(&self, caller: &Caller, text: &str, memory: MemoryId) -> CaseResult<bool> {
        Ok(self.search_memories(caller, text)?.iter().any(|found| found.id == memory))
    }

    pub(super) fn read_memory(&self, caller: &Caller, id: MemoryId) -> CaseResult<Memory> {
        self.engine.read(caller, &MemoryReference::Id(id)).map_err(|error| describe_error(&error))
    }

    pub(super) fn memory_state(&self, id: MemoryId) -> CaseResult<State> {
        Ok(self.read_memory(&self.admin, id)?.state)
    }

    pub(super) fn forget_memory(&self, memory: MemoryId) -> CaseResult {
        let done = self.engine.forget(&self.admin, memory, Some("asked to".to_owned()));
        done.map(|_| ()).map_err(|error| describe_error(&error))
    }

    pub(super) fn propose_promotion(&self, caller: &Caller, source: MemoryId, path: &str) -> CaseResult<Review> {
        let promotion = Promotion {
            source: MemoryReference::Id(source),
            target_store: "workspace_runbooks".to_owned(),
            target_path: Some(path.to_owned()),
            rationale: "it helped".to_owned(),
            evidence: Vec::new(),
            risk: Risk::Low,
        };
        match self.engine.propose(caller, promotion) {
            Ok(ProposalOutcome::Waiting { review, .. }) => Ok(*review),
            Ok(ProposalOutcome::Refused(refusal)) => Err(refusal.code.to_owned()),
            Err(error) => Err(error.code().to_owned()),
        }
    }

    pub(super) fn approve_review(&self, caller: &Caller, review: &Review) -> CaseResult<Memory> {
        match self.engine.approve(caller, &review.id.to_string(), &Decision::on(review)) {
            Ok(DecisionOutcome::Approved(approval)) => Ok(approval.memory),
            Ok(DecisionOutcome::Refused(refusal)) => Err(refusal.code.to_owned()),
            Ok(DecisionOutcome::Closed(_)) => Err("it was closed".to_owned()),
            Err(error) => Err(error.code().to_owned()),
        }
    }

    pub(super) fn export_all(&self) -> CaseResult<Vec<ExportPiece>> {
        let mut pieces = Vec::new();
        let done: Result<(), Error> = self.engine.export(&self.admin, &[], |piece| {
            pieces.push(piece);
            Ok(())
        });
        done.map_err(|error| describe_error(&error))?;
        Ok(pieces)
    }

    pub(super) fn import_pieces(&self, caller: &Caller, pieces: Vec<ExportPiece>) -> CaseResult<ImportReport> {
        let mut done = ImportReport::default();
        for piece in pieces {
            self.engine.import(caller, piece, &mut done).map_err(|error| describe_error(&error))?;
        }
        Ok(done)
    }
}
