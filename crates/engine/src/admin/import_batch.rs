//! Import of memories from other tools as one batch: planned first, saved through the gate, undone together.
//!
//! The batch is named in the metadata of each memory ([`BATCH_FIELD`]) and in the reason of the version that the import
//! wrote. The metadata finds the memories; the reason tells the import's version from later ones.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::Value;

use crate::Engine;
use crate::gate::WriteIntent;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::guard::Place;
use crate::model::id::MemoryId;
use crate::model::memory::{Draft, Memory, Version};
use crate::model::refusal::Refusal;
use crate::model::vocabulary::{Operation, State, Trust};
use crate::policy::{self, Readable};
use crate::ports::{Filter, PageRequest, SortOrder};
use crate::recall::{read, visibility};
use crate::removal::forget::{self, ForgetOptions, Removal};
use crate::removal::redact;
use crate::tenant::stores;
use crate::text::digest::content_sha256;
use crate::write::{Remembered, clear, remember};

/// Metadata field with the id of the batch.
pub const BATCH_FIELD: &str = "import_batch";
/// Metadata field with the file and heading that a memory comes from.
pub const SOURCE_FIELD: &str = "imported_from";

/// Form of the time in the id of a batch, in UTC.
const BATCH_TIME: &str = "%Y%m%d-%H%M%S";

/// Memories read in one query.
const PAGE_SIZE: usize = 500;

/// A memory of another tool, ready to be saved.
#[derive(Clone, Debug)]
pub struct ImportedDraft {
    pub draft: Draft,
    /// Trust it gets at most: a model's words stay a draft, whoever imports them.
    pub recorded: Trust,
}

/// What an import does with a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportAction {
    /// Saved as a new memory.
    Save,
    /// Saved as a new version: the memory at the path is as an earlier import left it.
    Update,
    /// The memory at the path has this text.
    Unchanged,
    /// The same text is at another path, or earlier in this batch.
    Duplicate,
    /// The memory at the path was written or changed here, so it stays as it is.
    Keep,
    Refuse,
}

/// The plan for one draft.
#[derive(Clone, Debug)]
pub struct PlannedDraft {
    pub action: ImportAction,
    /// Path of the memory with the same text, for [`ImportAction::Duplicate`].
    pub same_as: Option<String>,
    /// Content that [`ImportAction::Update`] replaces.
    pub replaces_sha256: Option<String>,
    pub refusal: Option<Refusal>,
}

/// One import, as far as its memories are visible to the caller.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ImportBatch {
    pub batch: String,
    pub imported_at: Timestamp,
    pub stores: Vec<String>,
    pub memories: u64,
    /// Memories that are still in use.
    pub in_use: u64,
}

/// Result of undoing an import.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UndoReport {
    /// Taken out of use; the same text may be imported again.
    pub removed: u64,
    /// Set back to the text before the import.
    pub restored: u64,
    pub kept: Vec<KeptMemory>,
}

/// A memory that undoing the import left alone, and why.
#[derive(Clone, Debug, Serialize)]
pub struct KeptMemory {
    pub id: MemoryId,
    pub store: String,
    pub path: Option<String>,
    pub code: String,
    pub message: String,
}

impl Engine {
    /// What importing these drafts would do. Writes nothing. `replace`: also over memories that were changed here.
    pub fn plan_import(
        &self,
        caller: &Caller,
        drafts: &[ImportedDraft],
        replace: bool,
    ) -> Result<Vec<PlannedDraft>, Error> {
        let mut places: HashMap<(String, Option<String>), PlaceTexts> = HashMap::new();
        drafts.iter().map(|imported| plan_draft(self, caller, imported, replace, &mut places)).collect()
    }

    /// Id of a new batch: its time and some random digits, so that people can tell imports apart.
    pub fn new_import_batch(&self) -> String {
        let id = self.clock.fresh_id().simple().to_string();
        format!("{}-{}", self.clock.now().strftime(BATCH_TIME), &id[id.len() - 4..])
    }

    /// Saves one planned draft as part of a batch. A memory that changed since the plan is a conflict.
    pub fn import_planned(
        &self,
        caller: &Caller,
        imported: ImportedDraft,
        plan: &PlannedDraft,
        batch: &str,
    ) -> Result<Remembered, Error> {
        let ImportedDraft { mut draft, recorded } = imported;
        draft.metadata.get_or_insert_default().insert(BATCH_FIELD.to_owned(), Value::String(batch.to_owned()));
        draft.reason = Some(batch_reason(batch));
        draft.create_only = plan.action == ImportAction::Save;
        draft.expected_sha256.clone_from(&plan.replaces_sha256);
        remember::remember_as(self, caller, draft, WriteIntent::Import { recorded }, Operation::Import)
    }

    /// Imports of other tools' memories, newest first.
    pub fn import_batches(&self, caller: &Caller) -> Result<Vec<ImportBatch>, Error> {
        let mut batches: BTreeMap<String, ImportBatch> = BTreeMap::new();
        for_each_imported(self, caller, |memory, batch| {
            let known = batches.entry(batch.to_owned()).or_insert_with(|| ImportBatch {
                batch: batch.to_owned(),
                imported_at: batch_time(batch).unwrap_or(memory.created_at),
                stores: Vec::new(),
                memories: 0,
                in_use: 0,
            });
            known.memories += 1;
            known.in_use += u64::from(is_in_use(&memory));
            if !known.stores.contains(&memory.store) {
                known.stores.push(memory.store);
            }
            Ok(())
        })?;
        let mut batches: Vec<ImportBatch> = batches.into_values().collect();
        batches.sort_by(|one, other| (other.imported_at, &other.batch).cmp(&(one.imported_at, &one.batch)));
        Ok(batches)
    }

    /// Undoes an import: takes out what it added and sets back what it replaced. What was changed since stays.
    pub fn undo_import(&self, caller: &Caller, batch: &str) -> Result<UndoReport, Error> {
        self.ensure_memory_enabled()?;
        let mut found = Vec::new();
        for_each_imported(self, caller, |memory, named| {
            // A later import or a person's change may have replaced the name; the history still has it.
            if named == batch || memory.version_number > 1 {
                found.push(memory);
            }
            Ok(())
        })?;
        let (mut report, mut is_known) = (UndoReport::default(), false);
        for memory in found {
            let versions = redact::list_all_versions(self, caller, memory.id)?;
            if !versions.iter().any(|version| is_of_batch(version, batch)) {
                continue;
            }
            is_known = true;
            if is_in_use(&memory) && !is_undone(&versions, batch) {
                undo_memory(self, caller, &memory, &versions, batch, &mut report)?;
            }
        }
        match is_known {
            true => Ok(report),
            false => Err(Error::NotFound { what: format!("import `{batch}`") }),
        }
    }
}

/// Time in the id of a batch. Memories of the batch may be older, where it replaced their text.
fn batch_time(batch: &str) -> Option<Timestamp> {
    let (time, _) = batch.rsplit_once('-')?;
    Some(DateTime::strptime(BATCH_TIME, time).ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// Texts of one place, by path and by digest.
struct PlaceTexts {
    by_path: HashMap<String, Memory>,
    /// Digest of the text without its trailing whitespace, and the path.
    by_text: HashMap<String, Option<String>>,
}

fn plan_draft(
    engine: &Engine,
    caller: &Caller,
    imported: &ImportedDraft,
    replace: bool,
    places: &mut HashMap<(String, Option<String>), PlaceTexts>,
) -> Result<PlannedDraft, Error> {
    let refused = |refusal: Refusal| PlannedDraft { refusal: Some(refusal), ..planned(ImportAction::Refuse) };
    // Before the gate: text that is here already needs no second check.
    let key = (imported.draft.store.clone(), imported.draft.system.clone());
    if !places.contains_key(&key) {
        match read_place(engine, caller, &imported.draft) {
            Ok(texts) => {
                places.insert(key.clone(), texts);
            }
            Err(error @ Error::Store(_)) => return Err(error),
            Err(error) => return Ok(refused(Refusal::new(error.code(), error.to_string()))),
        }
    }
    let Some(texts) = places.get_mut(&key) else { return Ok(planned(ImportAction::Refuse)) };
    let (digest, path) = (text_digest(&imported.draft.content), imported.draft.path.clone());
    let at_path = path.as_ref().and_then(|path| texts.by_path.get(path));
    if at_path.is_some_and(|memory| text_digest(&memory.content) == digest) {
        return Ok(planned(ImportAction::Unchanged));
    }
    if let Some(other) = texts.by_text.get(&digest) {
        return Ok(PlannedDraft { same_as: other.clone(), ..planned(ImportAction::Duplicate) });
    }
    match check_at_gate(engine, caller, imported) {
        Ok(None) => {}
        Ok(Some(refusal)) => return Ok(refused(refusal)),
        Err(error @ Error::Store(_)) => return Err(error),
        Err(error) => return Ok(refused(Refusal::new(error.code(), error.to_string()))),
    }
    let plan = match at_path {
        None => planned(ImportAction::Save),
        Some(memory) if replace || is_as_imported(engine, caller, memory)? => {
            PlannedDraft { replaces_sha256: Some(memory.sha256.clone()), ..planned(ImportAction::Update) }
        }
        Some(_) => planned(ImportAction::Keep),
    };
    if plan.action != ImportAction::Keep {
        texts.by_text.insert(digest, path);
    }
    Ok(plan)
}

fn planned(action: ImportAction) -> PlannedDraft {
    PlannedDraft { action, same_as: None, replaces_sha256: None, refusal: None }
}

/// The answer of the gate, without writing: no event, and no store that is made on first use.
fn check_at_gate(engine: &Engine, caller: &Caller, imported: &ImportedDraft) -> Result<Option<Refusal>, Error> {
    let store = stores::open_store(engine, caller, &imported.draft.store)?;
    let scope = policy::scope_for(caller, store.scope, imported.draft.system.as_deref())?;
    let intent = WriteIntent::Import { recorded: imported.recorded };
    let cleared = clear::clear_draft_as(engine, caller, intent, &store, &scope, imported.draft.clone())?;
    Ok(cleared.err())
}

fn read_place(engine: &Engine, caller: &Caller, draft: &Draft) -> Result<PlaceTexts, Error> {
    let store = stores::open_store(engine, caller, &draft.store)?;
    let scope = policy::scope_for(caller, store.scope, draft.system.as_deref())?;
    let filter = Filter { places: vec![Place { store: store.slug, scope }], ..Filter::default() };
    let mut texts = PlaceTexts { by_path: HashMap::new(), by_text: HashMap::new() };
    // A caller without `memory.read` sees nothing; that it may not read is not the answer to a write.
    let readable = match visibility::visible_to(engine, caller) {
        Err(Error::Invalid { .. }) => return Ok(texts),
        readable => readable?,
    };
    for_each_memory(engine, &readable, &filter, |memory| {
        texts.by_text.insert(text_digest(&memory.content), memory.path.clone());
        if let Some(path) = memory.path.clone() {
            texts.by_path.insert(path, memory);
        }
        Ok(())
    })?;
    Ok(texts)
}

/// Files end with a newline and memories often without one, so trailing whitespace does not count.
fn text_digest(content: &str) -> String {
    content_sha256(content.trim_end())
}

fn for_each_memory(
    engine: &Engine,
    readable: &Readable,
    filter: &Filter,
    mut take: impl FnMut(Memory) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut after = None;
    loop {
        let page = PageRequest { order: SortOrder::Oldest, after, limit: PAGE_SIZE };
        let found = engine.backend.list_memories(readable, filter, &page)?;
        let is_last = found.len() < PAGE_SIZE;
        after = found.last().and_then(|memory| read::cursor_after(SortOrder::Oldest, memory));
        found.into_iter().filter(|memory| readable.shows_memory(memory)).try_for_each(&mut take)?;
        if is_last {
            return Ok(());
        }
    }
}

fn for_each_imported(
    engine: &Engine,
    caller: &Caller,
    mut take: impl FnMut(Memory, &str) -> Result<(), Error>,
) -> Result<(), Error> {
    let readable = visibility::visible_to(engine, caller)?;
    let filter = Filter { states: State::ALL.to_vec(), ..Filter::default() };
    for_each_memory(engine, &readable, &filter, |memory| {
        let batch = memory.metadata.get(BATCH_FIELD).and_then(Value::as_str).map(str::to_owned);
        batch.map_or(Ok(()), |batch| take(memory, &batch))
    })
}

fn is_in_use(memory: &Memory) -> bool {
    matches!(memory.state, State::Active | State::Constrained)
}

const REASON_PREFIX: &str = "import ";

fn batch_reason(batch: &str) -> String {
    format!("{REASON_PREFIX}{batch}")
}

fn undo_reason(batch: &str) -> String {
    format!("undo of {}", batch_reason(batch))
}

fn is_of_batch(version: &Version, batch: &str) -> bool {
    version.reason.as_deref() == Some(batch_reason(batch).as_str())
}

/// Whether the current version was written by an import, or by undoing a later one.
fn is_as_imported(engine: &Engine, caller: &Caller, memory: &Memory) -> Result<bool, Error> {
    let Some(batch) = memory.metadata.get(BATCH_FIELD).and_then(Value::as_str) else { return Ok(false) };
    let version = engine.backend.get_version(&Readable::whole_tenant(caller.tenant), memory.version)?;
    Ok(version.is_some_and(|version| is_of_batch(&version, batch) || is_undo(&version)))
}

fn is_undo(version: &Version) -> bool {
    version.reason.as_deref().is_some_and(|reason| reason.starts_with(&undo_reason("")))
}

/// Whether the import was undone on this memory already. Versions come newest first.
fn is_undone(versions: &[Version], batch: &str) -> bool {
    let undone = undo_reason(batch);
    let newest = |matches: &dyn Fn(&Version) -> bool| versions.iter().position(matches);
    let undo_at = newest(&|version| version.reason.as_deref() == Some(undone.as_str()));
    let import_at = newest(&|version| is_of_batch(version, batch));
    matches!((undo_at, import_at), (Some(undo_at), Some(import_at)) if undo_at < import_at)
}

fn undo_memory(
    engine: &Engine,
    caller: &Caller,
    memory: &Memory,
    versions: &[Version],
    batch: &str,
    report: &mut UndoReport,
) -> Result<(), Error> {
    let mut keep = |code: &str, message: String| {
        let (id, store, path) = (memory.id, memory.store.clone(), memory.path.clone());
        report.kept.push(KeptMemory { id, store, path, code: code.to_owned(), message });
    };
    // Undoing a later import wrote a version that names this batch again: it does not count as a change.
    let is_import = |newest: &Version| is_of_batch(newest, batch) || (is_undo(newest) && names_batch(memory, batch));
    if let Some(newest) = versions.first().filter(|newest| !is_import(newest)) {
        keep("import.changed_since", format!("changed since by {} at {}", newest.actor, newest.at.strftime("%F %R")));
        return Ok(());
    }
    let first_at = versions.iter().rposition(|version| is_of_batch(version, batch));
    let before = first_at.and_then(|at| versions.get(at + 1));
    let undone = match before {
        None => remove_memory(engine, caller, memory, batch).map(|refusal| (refusal, false)),
        Some(before) => restore_version(engine, caller, memory, before, batch).map(|refusal| (refusal, true)),
    };
    match undone {
        Ok((None, true)) => report.restored += 1,
        Ok((None, false)) => report.removed += 1,
        Ok((Some(refusal), _)) => keep(refusal.code, refusal.message),
        Err(error @ Error::Store(_)) => return Err(error),
        Err(error) => keep(error.code(), error.to_string()),
    }
    Ok(())
}

fn names_batch(memory: &Memory, batch: &str) -> bool {
    memory.metadata.get(BATCH_FIELD).and_then(Value::as_str) == Some(batch)
}

fn remove_memory(engine: &Engine, caller: &Caller, memory: &Memory, batch: &str) -> Result<Option<Refusal>, Error> {
    let options = ForgetOptions {
        reason: Some(undo_reason(batch)),
        // A person may import the file again.
        may_return: true,
        expected_version: Some(memory.version),
        ..ForgetOptions::default()
    };
    Ok(match forget::forget_memory(engine, caller, memory.id, &options)? {
        Removal::Done(_) => None,
        Removal::Refused(refusal) => Some(refusal),
        Removal::NeedsPerson => Some(policy::people_remove_refusal()),
    })
}

fn restore_version(
    engine: &Engine,
    caller: &Caller,
    memory: &Memory,
    before: &Version,
    batch: &str,
) -> Result<Option<Refusal>, Error> {
    let draft = Draft {
        evidence: before.evidence.clone(),
        derived_from: Vec::new(),
        expected_sha256: Some(memory.sha256.clone()),
        reason: Some(undo_reason(batch)),
        ..Draft::from_intact(&before.memory)?
    };
    let intent = WriteIntent::Import { recorded: before.memory.least_text_trust() };
    Ok(match remember::remember_as(engine, caller, draft, intent, Operation::Import)? {
        Remembered::Saved(_) => None,
        Remembered::Refused(refusal) => Some(refusal),
    })
}
