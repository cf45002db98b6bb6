//! Import: every piece of an export passes the gate. Importing it again changes nothing.

use crate::Engine;
use crate::admin::export::markdown::{self, ParsedMemory};
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
use crate::model::vocabulary::{Operation, Role, State, Trust};
use crate::policy::{self, Readable, WritePermit, admins_only};
use crate::ports::change::{Change, Write};
use crate::ports::transition::Transition;
use crate::ports::{Address, embedding, refusals};
use crate::recall::already_there;
use crate::safety::{self, Concern};
use crate::tenant::bans::{BanKey, KEYS_MAX};
use crate::tenant::{bans, stores};
use crate::text::digest::content_sha256;
use crate::write::{Remembered, SaveOutcome, clear, remember};

/// Result of an import.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct ImportReport {
    pub imported: u64,
    /// Pieces that were here already.
    pub unchanged: u64,
    /// Memories that are not active in the export; only an import by an admin saves these.
    pub left_behind: u64,
    pub refused: Vec<RefusedPiece>,
}

/// A piece that was not imported, and why. Never its text.
#[derive(Clone, Debug, serde::Serialize)]
pub struct RefusedPiece {
    pub what: String,
    pub code: String,
    pub message: String,
}

/// Outcome for one piece.
enum PieceOutcome {
    Imported,
    Unchanged,
    NotInUse,
    Refused(Refusal),
}

impl Engine {
    /// Imports one piece of an export. An admin's import restores memories with their history; that of other callers
    /// saves active memories as new ones.
    pub fn import(&self, caller: &Caller, piece: ExportPiece, report: &mut ImportReport) -> Result<(), Error> {
        self.ensure_memory_enabled()?;
        let name = describe_piece(&piece);
        let outcome = match piece {
            ExportPiece::Memory(exported) if caller.role == Role::Admin => import_history(self, caller, &exported),
            ExportPiece::Memory(exported) => {
                let recorded = exported.memory.least_text_trust();
                import_draft(self, caller, exported.memory.state, recorded, draft_from_export(&exported))
            }
            ExportPiece::Store(store) => import_store(self, caller, store),
            ExportPiece::Review(review) => import_row(self, caller, &*review),
            ExportPiece::Ban(ban) => import_row(self, caller, &ban),
            ExportPiece::BanKey(key) => import_ban_key(self, caller, &key),
            ExportPiece::Owners(owners) => import_row(self, caller, &owners),
            ExportPiece::Run(run) => import_row(self, caller, &run),
        };
        record_outcome(report, &name, outcome)
    }

    /// Imports one memory from a Markdown file, which a person may have written. Only an active memory is saved.
    pub fn import_markdown(
        &self,
        caller: &Caller,
        store: &str,
        text: &str,
        report: &mut ImportReport,
    ) -> Result<(), Error> {
        self.ensure_memory_enabled()?;
        let ParsedMemory { draft, state, trust } = match markdown::parse_draft(text, store) {
            Ok(parsed) => parsed,
            Err(error) => return record_outcome(report, store, Err(error)),
        };
        let name = format!("{}/{}", draft.store, draft.path.as_deref().unwrap_or("(no path)"));
        // A file that names no trust is the caller's own text.
        let recorded = trust.unwrap_or(Trust::AdminApproved);
        let outcome = import_draft(self, caller, state.unwrap_or(State::Active), recorded, draft);
        record_outcome(report, &name, outcome)
    }
}

fn import_draft(
    engine: &Engine,
    caller: &Caller,
    state: State,
    recorded: Trust,
    draft: Draft,
) -> Result<PieceOutcome, Error> {
    if state != State::Active {
        // Only an import by an admin restores history.
        return Ok(PieceOutcome::NotInUse);
    }
    if is_already_saved(engine, caller, &draft)? {
        return Ok(PieceOutcome::Unchanged);
    }
    Ok(match remember::remember_as(engine, caller, draft, WriteIntent::Import { recorded }, Operation::Import)? {
        Remembered::Saved(saved) if saved.outcome == SaveOutcome::Unchanged => PieceOutcome::Unchanged,
        Remembered::Saved(_) => PieceOutcome::Imported,
        Remembered::Refused(refusal) => PieceOutcome::Refused(refusal),
    })
}

/// Whether the same content is stored at the draft's address, as far as the caller may see it.
fn is_already_saved(engine: &Engine, caller: &Caller, draft: &Draft) -> Result<bool, Error> {
    let store = stores::open_store(engine, caller, &draft.store)?;
    let scope = policy::scope_for(caller, store.scope, draft.system.as_deref())?;
    let place = Place { store: store.slug, scope };
    let sha256 = content_sha256(&draft.content);
    // Addresses by hash only find memories without a path.
    let address = match draft.path.clone() {
        Some(path) => Address::Path { place, path },
        None => Address::Hash { place, sha256: sha256.clone() },
    };
    let found = already_there::find_memory(engine, caller, &address)?;
    Ok(found.is_some_and(|memory| memory.sha256 == sha256))
}

/// Imports a store with a fresh id, if there is none of its name.
fn import_store(engine: &Engine, caller: &Caller, store: Store) -> Result<PieceOutcome, Error> {
    if engine.backend.get_row(caller.tenant, RowKind::Stores, &store.slug)?.is_some() {
        return Ok(PieceOutcome::Unchanged);
    }
    // After the check above: any caller may import into a store that exists.
    admins_only(caller)?;
    if engine.settings.rulesets.get(&store.ruleset).is_none() {
        let message = format!("ruleset `{}` is unknown here; add it to the configuration", store.ruleset);
        return Ok(PieceOutcome::Refused(Refusal::new("import.ruleset", message)));
    }
    import_row(engine, caller, &Store { id: StoreId(engine.clock.fresh_id()), ..store })
}

/// Imports a key of bans, up to [`KEYS_MAX`]: every save is compared under every key.
fn import_ban_key(engine: &Engine, caller: &Caller, key: &BanKey) -> Result<PieceOutcome, Error> {
    admins_only(caller)?;
    let keys = bans::load_ban_keys(engine, caller.tenant)?;
    if keys.len() >= KEYS_MAX && !keys.contains(key) {
        let message = format!("there are {KEYS_MAX} keys of bans already, which is the limit");
        return Ok(PieceOutcome::Refused(Refusal::new("import.keys", message)));
    }
    import_row(engine, caller, key)
}

/// Imports a side record, if there is none with its id.
fn import_row<T: SideRecord>(engine: &Engine, caller: &Caller, record: &T) -> Result<PieceOutcome, Error> {
    admins_only(caller)?;
    if engine.backend.get_row(caller.tenant, T::KIND, &record.row_id())?.is_some() {
        return Ok(PieceOutcome::Unchanged);
    }
    let row = record.to_row();
    // Rationales and comments are text, so they are scanned.
    let findings = safety::inspect(&row.body.to_string());
    if findings.iter().any(|finding| finding.concern == Concern::Secret) {
        return Ok(PieceOutcome::Refused(Refusal::new("safety.secret_found", "it seems to hold a secret")));
    }
    let guard = Guard::RowInState { kind: T::KIND, id: record.row_id(), state: None };
    let now = engine.clock.now();
    match engine.commit(Change::new(caller.tenant, now).with_guard(guard).with_write(Write::Row(row))) {
        Ok(_) => Ok(PieceOutcome::Imported),
        // Another import wrote the same record first.
        Err(StoreError::Guard(_)) => Ok(PieceOutcome::Unchanged),
        Err(error) => Err(error.into()),
    }
}

/// Imports a memory with all versions in one transaction, each version through the gate.
fn import_history(engine: &Engine, caller: &Caller, exported: &ExportedMemory) -> Result<PieceOutcome, Error> {
    let everything = Readable::whole_tenant(caller.tenant);
    if let Some(existing) = engine.backend.get_memory(&everything, &Address::Id(exported.memory.id))? {
        // A newer version here, with the exported one in its history: nothing to do.
        let has_version = engine.backend.get_version(&everything, exported.memory.version)?.is_some();
        return Ok(match has_version || existing.version == exported.memory.version {
            true => PieceOutcome::Unchanged,
            false => PieceOutcome::Refused(Refusal::new("import.diverged", "this memory has another history here")),
        });
    }
    let now = engine.clock.now();
    let mut change = Change::new(caller.tenant, now);
    if let Some(existing) = find_at_same_path(engine, caller, exported)? {
        let is_seed = exported.versions.first().is_some_and(|version| version.operation == Operation::Seed);
        match (exported.memory.state, existing.sha256 == exported.memory.sha256) {
            (State::Active, true) => return Ok(PieceOutcome::Unchanged),
            // An untouched seed of this database is replaced by the same seed with its history in the other.
            _ if is_seed && is_untouched_seed(&existing) => {
                change = plan_seed_replacement(engine, caller, change, &existing, exported)
            }
            _ => {}
        }
    }
    // Guards are checked before writes: the seed still holds the path then, so `PathFree` would fail.
    let replaces_seed = !change.writes.is_empty();
    let mut previous: Option<Memory> = None;
    let mut redacted = Vec::new();
    for version in &exported.versions {
        let last = version.memory.version == exported.memory.version;
        let entry = match clear_imported_version(engine, caller, exported, version, previous.as_ref())? {
            Ok(entry) => entry,
            Err(refusal) => {
                return Ok(PieceOutcome::Refused(refusals::log_refusal(
                    engine,
                    caller,
                    &exported.memory.store,
                    refusal,
                )?));
            }
        };
        // The text of these versions is empty already; this marks them as redacted here too.
        redacted.extend(version.redacted_at.map(|_| version.memory.version));
        previous = Some(entry.memory().clone());
        if last && entry.memory().state == State::Active && !replaces_seed {
            let place = Place { store: exported.memory.store.clone(), scope: exported.memory.scope.clone() };
            change.guards.extend(entry.memory().path.clone().map(|path| Guard::PathFree { place, path }));
        }
        // Guards of the gate (bans, store) apply to the version that comes into use, not to history.
        let entry = if last { entry } else { entry.without_guards() };
        let embedding = if last { embedding::embed_if_instant(engine, entry.memory()) } else { None };
        change = change.with_entry(entry.with_embedding(embedding));
    }
    let Some(imported) = previous else {
        return Ok(PieceOutcome::Refused(Refusal::new("import.no_history", "it has no versions")));
    };
    if !redacted.is_empty() {
        change = change.with_write(Write::Redact { memory: imported.id, versions: redacted });
    }
    stores::store_for_write(engine, caller, &imported.store)?;
    let event = EventBody::new(EventName::WriteCreated, caller, now)
        .about_memory(&imported)
        .with_field("operation", Operation::Import);
    match engine.commit(change.with_event(event)) {
        Ok(_) => Ok(PieceOutcome::Imported),
        Err(StoreError::Guard(guard)) => {
            let message = match guard {
                Guard::PathFree { path, .. } => format!("another memory is at `{path}`"),
                _ => "another write came first; import it again".to_owned(),
            };
            Ok(PieceOutcome::Refused(Refusal::new("import.taken", message)))
        }
        Err(error) => Err(error.into()),
    }
}

/// The memory at the path of an exported one.
fn find_at_same_path(engine: &Engine, caller: &Caller, exported: &ExportedMemory) -> Result<Option<Memory>, Error> {
    let Some(path) = exported.memory.path.clone() else { return Ok(None) };
    let place = Place { store: exported.memory.store.clone(), scope: exported.memory.scope.clone() };
    Ok(engine.backend.get_memory(&Readable::whole_tenant(caller.tenant), &Address::Path { place, path })?)
}

/// Adds that the seed of this database is superseded by the imported memory.
fn plan_seed_replacement(
    engine: &Engine,
    caller: &Caller,
    change: Change,
    seed: &Memory,
    exported: &ExportedMemory,
) -> Change {
    let supersede = Transition::new(seed, Operation::Supersede).with_reason("replaced by an import".to_owned());
    let (change, _) = supersede.plan(engine, caller, change, |memory| {
        memory.state = State::Superseded;
        memory.superseded_by = Some(exported.memory.id);
    });
    change
}

/// Clears one version at the gate, with the author, time and trust it had.
fn clear_imported_version(
    engine: &Engine,
    caller: &Caller,
    exported: &ExportedMemory,
    version: &ExportedVersion,
    previous: Option<&Memory>,
) -> Result<Result<VersionedEntry, Refusal>, Error> {
    let snapshot = Memory { tenant: caller.tenant, content: version.content.clone(), ..version.memory.clone() };
    let store = stores::open_store(engine, caller, &snapshot.store)?;
    if store.scope != snapshot.scope.kind() || snapshot.id != exported.memory.id {
        return Err(Error::invalid(
            "import.shape",
            "a version has another id than its memory, or its scope does not fit the store",
        ));
    }
    let redacted = version.redacted_at.is_some();
    let mut draft =
        Draft { evidence: version.evidence.clone(), reason: version.reason.clone(), ..Draft::from_memory(&snapshot) };
    if redacted {
        // The text is gone and the gate refuses empty content. Path and evidence are still checked.
        "redacted".clone_into(&mut draft.content);
    }
    // Bans keep texts out of use. The history of a tombstoned memory does not come into use.
    let is_history = exported.memory.state == State::Tombstoned;
    let intent =
        WriteIntent::ImportVersion { permit: WritePermit { state: snapshot.state, trust: snapshot.trust }, is_history };
    let cleared = match clear::clear_draft_as(engine, caller, intent, &store, &snapshot.scope, draft)? {
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

/// Whether a memory is a seed that nobody has changed.
fn is_untouched_seed(memory: &Memory) -> bool {
    memory.version_number == 1 && memory.author == "ingrain"
}

/// The exported memory as a draft, without its sources: their versions may not exist here.
fn draft_from_export(exported: &ExportedMemory) -> Draft {
    let evidence = exported.versions.last().map(|version| version.evidence.clone()).unwrap_or_default();
    let memory = Memory { content: exported.content.clone(), ..exported.memory.clone() };
    Draft { evidence, derived_from: Vec::new(), ..Draft::from_memory(&memory) }
}

/// Name of a piece in the report.
fn describe_piece(piece: &ExportPiece) -> String {
    match piece {
        ExportPiece::Store(store) => format!("store {}", store.slug),
        ExportPiece::Memory(exported) => format!("memory {}", exported.memory.id),
        ExportPiece::Review(review) => format!("review {}", review.id),
        ExportPiece::Ban(ban) => format!("ban in {}", ban.scope),
        ExportPiece::BanKey(_) => "key of bans".to_owned(),
        ExportPiece::Owners(owners) => format!("owners of {}", owners.store),
        ExportPiece::Run(run) => format!("run {}", run.id),
    }
}

/// Counts an outcome. A refused piece does not end the import; an error of the database does.
fn record_outcome(report: &mut ImportReport, name: &str, outcome: Result<PieceOutcome, Error>) -> Result<(), Error> {
    let refused = |code: &str, message: String| RefusedPiece { what: name.to_owned(), code: code.to_owned(), message };
    match outcome {
        Ok(PieceOutcome::Imported) => report.imported += 1,
        Ok(PieceOutcome::Unchanged) => report.unchanged += 1,
        Ok(PieceOutcome::NotInUse) => report.left_behind += 1,
        Ok(PieceOutcome::Refused(refusal)) => report.refused.push(refused(refusal.code, refusal.message)),
        Err(error @ Error::Store(_)) => return Err(error),
        Err(error) => report.refused.push(refused(error.code(), error.to_string())),
    }
    Ok(())
}
