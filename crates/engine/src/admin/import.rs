//! Import: through the gate like everything else. Doing it again changes nothing.

use crate::Engine;
use crate::admin::export::{ExportPiece, ExportedMemory, ExportedVersion};
use crate::gate::{VersionStamp, VersionedEntry, WriteIntent};
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::event::{EventBody, EventName};
use crate::model::guard::{Guard, Place};
use crate::model::id::StoreId;
use crate::model::memory::{Draft, Memory};
use crate::model::refusal::Refusal;
use crate::model::row::{RowKind, SideRecord};
use crate::model::store::Store;
use crate::model::vocabulary::{Operation, Role, State};
use crate::policy::{Readable, WritePermit, admins_only};
use crate::ports::change::{Change, Write};
use crate::ports::transition::Transition;
use crate::ports::{Address, embedding, refusals};
use crate::tenant::bans::{BanKey, KEYS_MAX};
use crate::tenant::{bans, stores};
use crate::write::remember::{Remembered, SaveOutcome};
use crate::write::{clear, remember};

/// What an import did.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct ImportReport {
    pub imported: u64,
    /// Already here.
    pub unchanged: u64,
    /// What is no longer in use where it comes from, and so is not saved as new here.
    pub left_behind: u64,
    pub refused: Vec<RefusedPiece>,
}

/// One piece that was not taken, and why. Never the text.
#[derive(Clone, Debug, serde::Serialize)]
pub struct RefusedPiece {
    pub what: String,
    pub code: String,
    pub message: String,
}

/// What happened to one piece.
enum PieceOutcome {
    Imported,
    Unchanged,
    NotInUse,
    Refused(Refusal),
}

impl Engine {
    /// Takes one piece of an export. Admins get the whole story back; what others bring is saved as new.
    pub fn import(&self, caller: &Caller, piece: ExportPiece, done: &mut ImportReport) -> Result<(), Error> {
        self.ensure_memory_enabled()?;
        let name = describe_piece(&piece);
        let taken = match piece {
            ExportPiece::Memory(story) if caller.role == Role::Admin => import_history(self, caller, &story),
            ExportPiece::Memory(story) => import_draft(self, caller, story.memory.state, draft_from_export(&story)),
            ExportPiece::Store(store) => import_store(self, caller, store),
            ExportPiece::Review(review) => import_row(self, caller, &*review),
            ExportPiece::Ban(ban) => import_row(self, caller, &ban),
            ExportPiece::BanKey(key) => import_ban_key(self, caller, &key),
            ExportPiece::Owners(owners) => import_row(self, caller, &owners),
            ExportPiece::Run(run) => import_row(self, caller, &run),
        };
        record_outcome(done, &name, taken)
    }

    /// Takes one memory as somebody wrote it down, such as a Markdown file. Only what is active is saved.
    pub fn import_markdown(
        &self,
        caller: &Caller,
        store: &str,
        text: &str,
        done: &mut ImportReport,
    ) -> Result<(), Error> {
        self.ensure_memory_enabled()?;
        let (draft, state) = match crate::admin::export::markdown::parse_draft(text, store) {
            Ok(parsed) => parsed,
            Err(error) => return record_outcome(done, store, Err(error)),
        };
        let name = format!("{}/{}", draft.store, draft.path.as_deref().unwrap_or("(no path)"));
        let state = state.map_or(Ok(State::Active), |state| state.parse());
        let taken = state.and_then(|state| import_draft(self, caller, state, draft));
        record_outcome(done, &name, taken)
    }
}

fn import_draft(engine: &Engine, caller: &Caller, state: State, draft: Draft) -> Result<PieceOutcome, Error> {
    if state != State::Active {
        // Only an admin's import brings back what is history.
        return Ok(PieceOutcome::NotInUse);
    }
    if is_already_saved(engine, caller, &draft)? {
        return Ok(PieceOutcome::Unchanged);
    }
    Ok(match remember::remember_as(engine, caller, draft, WriteIntent::Write, Operation::Import)? {
        Remembered::Saved(saved) if saved.outcome == SaveOutcome::Unchanged => PieceOutcome::Unchanged,
        Remembered::Saved(_) => PieceOutcome::Imported,
        Remembered::Refused(refusal) => PieceOutcome::Refused(refusal),
    })
}

/// The same content stands where the draft would go.
fn is_already_saved(engine: &Engine, caller: &Caller, draft: &Draft) -> Result<bool, Error> {
    let store = stores::open_store(engine, caller, &draft.store)?;
    let scope = crate::policy::scope_for(caller, store.scope, draft.system.as_deref())?;
    let place = Place { store: store.slug, scope };
    let sha256 = crate::text::digest::content_sha256(&draft.content);
    // By its hash only what has no path is found.
    let address = match draft.path.clone() {
        Some(path) => Address::Path { place, path },
        None => Address::Hash { place, sha256: sha256.clone() },
    };
    let found = engine.backend.get_memory(&Readable::whole_tenant(caller.tenant), &address)?;
    Ok(found.is_some_and(|memory| memory.sha256 == sha256))
}

fn import_store(engine: &Engine, caller: &Caller, store: Store) -> Result<PieceOutcome, Error> {
    if engine.backend.get_row(caller.tenant, RowKind::Stores, &store.slug)?.is_some() {
        return Ok(PieceOutcome::Unchanged);
    }
    admins_only(caller)?;
    if engine.settings.rulesets.get(&store.ruleset).is_none() {
        let message = format!("ruleset `{}` is not known here: add it to the configuration", store.ruleset);
        return Ok(PieceOutcome::Refused(Refusal::new("import.ruleset", message)));
    }
    import_row(engine, caller, &Store { id: StoreId(engine.clock.fresh_id()), ..store })
}

/// Every save is held against every key: no more are taken than it looks at.
fn import_ban_key(engine: &Engine, caller: &Caller, key: &BanKey) -> Result<PieceOutcome, Error> {
    admins_only(caller)?;
    let keys = bans::load_ban_keys(engine, caller.tenant)?;
    if keys.len() >= KEYS_MAX && !keys.contains(key) {
        let message = format!("{KEYS_MAX} keys of bans are here already");
        return Ok(PieceOutcome::Refused(Refusal::new("import.keys", message)));
    }
    import_row(engine, caller, key)
}

/// Side records are taken where there is none of that id.
fn import_row<T: SideRecord>(engine: &Engine, caller: &Caller, noun: &T) -> Result<PieceOutcome, Error> {
    admins_only(caller)?;
    if engine.backend.get_row(caller.tenant, T::KIND, &noun.row_id())?.is_some() {
        return Ok(PieceOutcome::Unchanged);
    }
    let row = noun.to_row();
    // Rationales and comments are text like any other.
    let findings = crate::safety::inspect(&row.body.to_string());
    if findings.iter().any(|finding| finding.concern == crate::safety::Concern::Secret) {
        return Ok(PieceOutcome::Refused(Refusal::new("safety.secret_found", "it holds a secret")));
    }
    let guard = Guard::RowInState { kind: T::KIND, id: noun.row_id(), state: None };
    let now = engine.clock.now();
    match engine.commit(Change::new(caller.tenant, now).with_guard(guard).with_write(Write::Row(row))) {
        Ok(_) => Ok(PieceOutcome::Imported),
        Err(StoreError::Guard(_)) => Ok(PieceOutcome::Unchanged),
        Err(error) => Err(error.into()),
    }
}

/// A memory with its history, every version through the gate, in one transaction.
fn import_history(engine: &Engine, caller: &Caller, story: &ExportedMemory) -> Result<PieceOutcome, Error> {
    let everything = Readable::whole_tenant(caller.tenant);
    if let Some(standing) = engine.backend.get_memory(&everything, &Address::Id(story.memory.id))? {
        let known = engine.backend.get_version(&everything, story.memory.version)?.is_some();
        return Ok(match known || standing.version == story.memory.version {
            true => PieceOutcome::Unchanged,
            false => PieceOutcome::Refused(Refusal::new("import.diverged", "this memory has another history here")),
        });
    }
    let now = engine.clock.now();
    let mut change = Change::new(caller.tenant, now);
    if let Some(standing) = find_at_same_path(engine, caller, story)? {
        let seeded = story.versions.first().is_some_and(|version| version.operation == Operation::Seed);
        match (story.memory.state, standing.sha256 == story.memory.sha256) {
            (State::Active, true) => return Ok(PieceOutcome::Unchanged),
            // The seed of this database makes room for what became of it in the other.
            _ if seeded && is_untouched_seed(&standing) => {
                change = plan_seed_replacement(engine, caller, change, &standing, story)
            }
            _ => {}
        }
    }
    // A seed that makes room is still there when the guards are looked at.
    let makes_room = !change.writes.is_empty();
    let mut previous: Option<Memory> = None;
    let mut redacted = Vec::new();
    for version in &story.versions {
        let last = version.memory.version == story.memory.version;
        let entry = match clear_imported_version(engine, caller, story, version, previous.as_ref())? {
            Ok(entry) => entry,
            Err(refusal) => {
                return Ok(PieceOutcome::Refused(refusals::log_refusal(engine, caller, &story.memory.store, refusal)?));
            }
        };
        redacted.extend(version.redacted_at.map(|_| version.memory.version));
        previous = Some(entry.memory().clone());
        if last && entry.memory().state == State::Active && !makes_room {
            let place = Place { store: story.memory.store.clone(), scope: story.memory.scope.clone() };
            change.guards.extend(entry.memory().path.clone().map(|path| Guard::PathFree { place, path }));
        }
        // Only the version that stands in the end is held to what the gate relied on.
        let entry = if last { entry } else { entry.without_guards() };
        let embedding = if last { embedding::embed_if_instant(engine, entry.memory()) } else { None };
        change = change.with_entry(entry.with_embedding(embedding));
    }
    let Some(stands) = previous else {
        return Ok(PieceOutcome::Refused(Refusal::new("import.no_history", "it has no versions")));
    };
    if !redacted.is_empty() {
        change = change.with_write(Write::Redact { memory: stands.id, versions: redacted });
    }
    stores::store_for_write(engine, caller, &stands.store)?;
    let event = EventBody::new(EventName::WriteCreated, caller, now)
        .about_memory(&stands)
        .with_field("operation", Operation::Import);
    match engine.commit(change.with_event(event)) {
        Ok(_) => Ok(PieceOutcome::Imported),
        Err(StoreError::Guard(guard)) => {
            let message = match guard {
                Guard::PathFree { path, .. } => format!("another memory stands at `{path}`"),
                _ => "another write came first".to_owned(),
            };
            Ok(PieceOutcome::Refused(Refusal::new("import.taken", message)))
        }
        Err(error) => Err(error.into()),
    }
}

/// What stands at the path a story had.
fn find_at_same_path(engine: &Engine, caller: &Caller, story: &ExportedMemory) -> Result<Option<Memory>, Error> {
    let Some(path) = story.memory.path.clone() else { return Ok(None) };
    let place = Place { store: story.memory.store.clone(), scope: story.memory.scope.clone() };
    Ok(engine.backend.get_memory(&Readable::whole_tenant(caller.tenant), &Address::Path { place, path })?)
}

fn plan_seed_replacement(
    engine: &Engine,
    caller: &Caller,
    change: Change,
    standing: &Memory,
    story: &ExportedMemory,
) -> Change {
    let supersede = Transition::new(standing, Operation::Supersede).with_reason("replaced by an import".to_owned());
    let (change, _) = supersede.plan(engine, caller, change, |memory| {
        memory.state = State::Superseded;
        memory.superseded_by = Some(story.memory.id);
    });
    change
}

fn clear_imported_version(
    engine: &Engine,
    caller: &Caller,
    story: &ExportedMemory,
    version: &ExportedVersion,
    previous: Option<&Memory>,
) -> Result<Result<VersionedEntry, Refusal>, Error> {
    let snapshot = Memory { tenant: caller.tenant, content: version.content.clone(), ..version.memory.clone() };
    let store = stores::open_store(engine, caller, &snapshot.store)?;
    if store.scope != snapshot.scope.kind() || snapshot.id != story.memory.id {
        return Err(Error::invalid("import.shape", "a version does not fit its memory or its store"));
    }
    let redacted = version.redacted_at.is_some();
    let mut draft =
        Draft { evidence: version.evidence.clone(), reason: version.reason.clone(), ..Draft::from_memory(&snapshot) };
    if redacted {
        // Nothing to read any more; the gate still looks at the path and the evidence.
        "redacted".clone_into(&mut draft.content);
    }
    // A ban keeps out what would be in use again, not the history of what is not.
    let over = story.memory.state == State::Tombstoned;
    let deed = WriteIntent::ImportVersion {
        permit: WritePermit { state: snapshot.state, trust: snapshot.trust },
        is_history: over,
    };
    let cleared = match clear::clear_draft_as(engine, caller, deed, &store, &snapshot.scope, draft)? {
        Ok(cleared) => cleared,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let stamp = VersionStamp {
        version: snapshot.version,
        at: version.at,
        actor: version.actor.clone(),
        run: version.run.clone(),
        conversation: version.conversation.clone(),
        reason: cleared.draft().reason.clone(),
    };
    let entry = cleared.into_imported_version(&snapshot, previous, version.operation, stamp, redacted);
    Ok(Ok(entry))
}

fn is_untouched_seed(memory: &Memory) -> bool {
    memory.version_number == 1 && memory.author == "ingrain"
}

fn draft_from_export(story: &ExportedMemory) -> Draft {
    let evidence = story.versions.last().map(|version| version.evidence.clone()).unwrap_or_default();
    let memory = Memory { content: story.content.clone(), ..story.memory.clone() };
    Draft { evidence, derived_from: Vec::new(), ..Draft::from_memory(&memory) }
}

fn describe_piece(piece: &ExportPiece) -> String {
    match piece {
        ExportPiece::Store(store) => format!("store {}", store.slug),
        ExportPiece::Memory(story) => format!("memory {}", story.memory.id),
        ExportPiece::Review(review) => format!("review {}", review.id),
        ExportPiece::Ban(ban) => format!("ban in {}", ban.scope),
        ExportPiece::BanKey(_) => "key of bans".to_owned(),
        ExportPiece::Owners(owners) => format!("owners of {}", owners.store),
        ExportPiece::Run(run) => format!("run {}", run.id),
    }
}

/// A piece that cannot be taken does not end the import; a store that broke does.
fn record_outcome(done: &mut ImportReport, what: &str, taken: Result<PieceOutcome, Error>) -> Result<(), Error> {
    let refused = |code: &str, message: String| RefusedPiece { what: what.to_owned(), code: code.to_owned(), message };
    match taken {
        Ok(PieceOutcome::Imported) => done.imported += 1,
        Ok(PieceOutcome::Unchanged) => done.unchanged += 1,
        Ok(PieceOutcome::NotInUse) => done.left_behind += 1,
        Ok(PieceOutcome::Refused(refusal)) => done.refused.push(refused(refusal.code, refusal.message)),
        Err(error @ Error::Store(_)) => return Err(error),
        Err(error) => done.refused.push(refused(error.code(), error.to_string())),
    }
    Ok(())
}
