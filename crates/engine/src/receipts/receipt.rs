//! Receipts: the record of one injection, its visibility, look-up and replay (rebuilding the injected block).

use std::collections::BTreeMap;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use jiff::{Timestamp, ToSpan as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::id::{MemoryId, VersionId};
use crate::model::limits::resolve_limit;
use crate::model::row::{Row, RowFilter, RowKind, SideRecord};
use crate::model::trust_flow::Field;
use crate::model::vocabulary::{Kind, Layer, Purpose, Ranker, ScopeKind, State, Trust};
use crate::policy::{Readable, admins_only};
use crate::ports::row::{self, Paging, RecordPage};
use crate::ports::{Filter, StoreCallback};
use crate::recall::usage;
use crate::receipts::codec;
use crate::receipts::render::{self, ContextBlock, Excerpt, ShownMemory};
use crate::safety;
use crate::text::digest::content_sha256;

/// The record of one injection: which memories were considered and shown for a query, and the hash of the block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    pub id: String,
    pub at: Timestamp,
    pub caller: Caller,
    /// The message the memories were searched for, without secrets.
    pub query: String,
    pub settings: ReceiptSettings,
    pub candidates: Vec<ConsideredMemory>,
    pub tokens: usize,
    /// Of the rendered block; a replay is exact if it gives the same hash.
    pub block_sha256: String,
    /// Parts of the retrieval that failed or were left out, in words.
    #[serde(default)]
    pub skipped: Vec<String>,
}

/// The settings the block was made with. Together with the shown versions they are enough to rebuild it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReceiptSettings {
    pub tag_prefix: String,
    pub budget_tokens: usize,
    pub memories_max: usize,
    pub trusted_from: f64,
    pub ranker: Ranker,
    #[serde(default)]
    pub purpose: Option<Purpose>,
    /// The past time the memories were searched at, if not the present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<Timestamp>,
    /// The filter of the search. Absent without a filter, and in receipts of versions that did not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<ReceiptFilter>,
}

/// The recorded part of a search filter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReceiptFilter {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stores: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<ScopeKind>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Layer>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Kind>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<State>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust_min: Option<Trust>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_after: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_before: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_prefix: Option<String>,
}

impl ReceiptFilter {
    /// `None` if the filter is empty. Secrets in tags and paths are removed.
    pub(crate) fn from_filter(filter: &Filter) -> Option<ReceiptFilter> {
        let narrowed = ReceiptFilter {
            stores: filter.stores.clone(),
            scopes: filter.scopes.clone(),
            layers: filter.layers.clone(),
            kinds: filter.kinds.clone(),
            tags: filter.tags.iter().cloned().map(safety::without_secrets).collect(),
            states: filter.states.clone(),
            trust_min: filter.trust_min,
            updated_after: filter.updated_after,
            updated_before: filter.updated_before,
            path_prefix: filter.path_prefix.clone().map(safety::without_secrets),
        };
        (narrowed != ReceiptFilter::default()).then_some(narrowed)
    }
}

/// One candidate and whether, where and why it was shown or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConsideredMemory {
    pub memory: MemoryId,
    pub version: VersionId,
    pub store: String,
    pub path: Option<String>,
    /// Whether its scope can be erased: then the log, which outlives the erasure, does not name its path. Not stored.
    #[serde(skip)]
    pub is_erasable: bool,
    pub trust: Trust,
    pub kind: Kind,
    /// Set if the entry shows its author (some decision points).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    pub stale: bool,
    pub score: f64,
    pub parts: BTreeMap<String, f64>,
    /// The block it was shown in; `None` if it was not shown.
    pub block: Option<ContextBlock>,
    pub reason: String,
    /// Cost of the whole entry; 0 if it was not shown.
    pub tokens: usize,
    /// Tokens of content that were shown at most. Needed to cut the text at the same place in a replay.
    pub content_tokens_max: usize,
    /// The part of a long content that was shown: around what matched the query. `None`: from its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<Excerpt>,
}

impl Receipt {
    /// A copy without candidates, which are stored in their own format.
    fn clone_without_candidates(&self) -> Receipt {
        Receipt {
            id: self.id.clone(),
            at: self.at,
            caller: self.caller.clone(),
            query: self.query.clone(),
            settings: self.settings.clone(),
            candidates: Vec::new(),
            tokens: self.tokens,
            block_sha256: self.block_sha256.clone(),
            skipped: self.skipped.clone(),
        }
    }

    /// Admins see all receipts, people their own. A program sees its own only for the same user and conversation: one
    /// program serves many users, and the block contains what one of them may read.
    pub(crate) fn is_visible_to(&self, caller: &Caller) -> bool {
        let Caller { user, project, conversation, .. } = &self.caller;
        let same_conversation =
            caller.is_in_same_conversation(user.as_deref(), project.as_deref(), conversation.as_deref());
        let own = self.caller.principal == caller.principal && (same_conversation || !caller.role.is_program());
        admins_only(caller).is_ok() || own
    }
}

impl ConsideredMemory {
    /// Whether it ranked high enough but did not fit.
    pub fn is_over_budget(&self) -> bool {
        self.block.is_none() && self.reason == OVER_BUDGET_REASON
    }
}

/// Reason of a notice about a promotion or rollback, which only searches return.
pub(crate) const NOTICE_REASON: &str = "a notice of a promotion or rollback: found by searches, not given to turns";
/// Reason of a candidate that did not fit. Stored in receipts and compared by [`ConsideredMemory::is_over_budget`], so
/// a new wording would change the meaning of old receipts.
pub(crate) const OVER_BUDGET_REASON: &str = "over the budget";

impl SideRecord for Receipt {
    const KIND: RowKind = RowKind::Receipts;
    fn row_id(&self) -> String {
        self.id.clone()
    }
    fn row_time(&self) -> Timestamp {
        self.at
    }
    fn row_subject(&self) -> String {
        self.caller.conversation.clone().unwrap_or_default()
    }
    fn row_parent(&self) -> String {
        self.caller.run.clone().unwrap_or_default()
    }

    /// Candidates are most of a receipt, so they are stored as lines (`codec.rs`) in one JSON string.
    fn to_row(&self) -> Row {
        let mut body = serde_json::to_value(self.clone_without_candidates()).unwrap_or(Value::Null);
        body["candidates"] = Value::String(codec::encode_candidates(&self.candidates));
        Row {
            kind: Self::KIND,
            id: self.row_id(),
            state: self.row_state(),
            subject: self.row_subject(),
            parent: self.row_parent(),
            at: self.at,
            body,
        }
    }

    fn from_row(mut row: Row) -> Result<Receipt, Error> {
        let corrupt = || Error::Store(StoreError::Corrupt(format!("receipt `{}`", row.id)));
        // Receipts written before the line format have an array here, which serde reads.
        let lines = row.body["candidates"]
            .as_str()
            .map(|lines| codec::decode_candidates(lines).ok_or_else(corrupt))
            .transpose()?;
        if lines.is_some() {
            row.body["candidates"] = Value::Array(Vec::new());
        }
        let receipt: Receipt = serde_json::from_value(row.body.take()).map_err(|_| corrupt())?;
        Ok(match lines {
            Some(candidates) => Receipt { candidates, ..receipt },
            None => receipt,
        })
    }
}

/// The block of a receipt, rebuilt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replay {
    pub text: String,
    /// Whether it is byte-identical to the injected block.
    pub exact: bool,
    /// Versions whose content has been redacted since.
    pub redacted: Vec<VersionId>,
    /// Versions that can no longer be read: erased, or in an archived store.
    pub missing: Vec<VersionId>,
}

/// Longest wait of a turn for its receipt on disk, and of a reader for pending writes (decision 0014). Far longer than
/// a healthy disk takes, and short enough for an interactive call.
const RECEIPT_WAIT_MAX: Duration = Duration::from_secs(2);

/// Submits a call with a callback and waits for its result; `None` after [`RECEIPT_WAIT_MAX`]. The call goes on.
pub(crate) fn wait_for_answer<T: Send + 'static>(
    submit: impl FnOnce(StoreCallback<T>),
) -> Option<Result<T, StoreError>> {
    let (sender, receiver) = sync_channel(1);
    // After a timeout the receiver is gone, and sending fails: that is fine.
    submit(Box::new(move |done| drop(sender.send(done))));
    receiver.recv_timeout(RECEIPT_WAIT_MAX).ok()
}

impl Engine {
    /// One receipt, if the caller may see it.
    pub fn receipt(&self, caller: &Caller, id: &str) -> Result<Receipt, Error> {
        let mut found: Option<Receipt> = row::get_record(&*self.backend, caller.tenant, id)?;
        if found.is_none() {
            // It may still be in the write queue, while another process holds the database.
            try_wait_for_writes(self)?;
            found = row::get_record(&*self.backend, caller.tenant, id)?;
        }
        // An invisible receipt gets the same answer as an unknown one.
        found.filter(|receipt| receipt.is_visible_to(caller)).ok_or_else(|| Error::not_found(format!("receipt `{id}`")))
    }

    /// Receipts the caller may see, newest first, of one run if given.
    pub fn receipts(
        &self,
        caller: &Caller,
        run: Option<&str>,
        Paging { after, limit }: &Paging,
    ) -> Result<RecordPage<Receipt>, Error> {
        wait_for_writes(self);
        // All receipts have the same, empty state. Filtering by it selects the index that is sorted by time.
        let (state, parent) = if run.is_none() { (Some(String::new()), None) } else { (None, run.map(str::to_owned)) };
        let filter = RowFilter { state, parent, newest_first: true, ..RowFilter::default() };
        let limit = resolve_limit(*limit, self.limits().list_default, self.limits().list_max)?;
        let sees = |receipt: &Receipt| receipt.is_visible_to(caller);
        row::select_page(&*self.backend, caller.tenant, filter, after.as_deref(), limit, sees)
    }

    /// Rebuilds an injected block from the versions it was made of, and compares it with the recorded hash.
    pub fn replay(&self, caller: &Caller, id: &str) -> Result<Replay, Error> {
        let receipt = self.receipt(caller, id)?;
        // Access was checked on the receipt. Its versions are read without the caller's scopes, which may have changed.
        let readable = Readable::whole_tenant(caller.tenant);
        let (mut redacted, mut missing) = (Vec::new(), Vec::new());
        let mut versions = Vec::new();
        for considered in receipt.candidates.iter().filter(|considered| considered.block.is_some()) {
            let Some(version) = self.backend.get_version(&readable, considered.version)? else {
                missing.push(considered.version);
                continue;
            };
            match version.redacted_at {
                Some(_) => redacted.push(version.id),
                None => version.memory.ensure_intact()?,
            }
            versions.push((considered, version));
        }
        let shown = |block: ContextBlock| -> Vec<ShownMemory<'_>> {
            let in_block = versions.iter().filter(|(considered, _)| considered.block == Some(block));
            in_block.map(|(considered, version)| to_shown_entry(considered, &version.memory)).collect()
        };
        let text = render::render_blocks(
            &receipt.settings.tag_prefix,
            &shown(ContextBlock::Trusted),
            &shown(ContextBlock::Untrusted),
        );
        let exact = content_sha256(&text) == receipt.block_sha256;
        // The run of the receipt was shown these memories already; another run sees them now.
        if caller.run != receipt.caller.run {
            usage::record_reads(self, caller, versions.iter().map(|(_, version)| &version.memory));
        }
        Ok(Replay { text, exact, redacted, missing })
    }

    /// The time since which receipts and usage records are kept; `None` if they are never deleted.
    pub fn receipts_kept_since(&self, caller: &Caller) -> Result<Option<Timestamp>, Error> {
        let Some(since) = receipt_retention_start(self) else { return Ok(None) };
        // Not before the tenant was created.
        let tenant = self.backend.list_tenants()?.into_iter().find(|tenant| tenant.id == caller.tenant);
        Ok(Some(tenant.map_or(since, |tenant| since.max(tenant.created_at))))
    }
}

/// Waits for pending writes, so that a listing includes them: reads and some turns return before theirs are on disk.
pub(crate) fn wait_for_writes(engine: &Engine) {
    // On a timeout or failure the listing shows what is written so far.
    let _ = try_wait_for_writes(engine);
}

/// As [`wait_for_writes`], with an error if the writes fail or take longer than [`RECEIPT_WAIT_MAX`].
fn try_wait_for_writes(engine: &Engine) -> Result<(), Error> {
    let timed_out = || Err(StoreError::Busy("the database; earlier writes are still pending".to_owned()));
    Ok(wait_for_answer(|answer| engine.backend.flush_with_callback(answer)).unwrap_or_else(timed_out)?)
}

/// Receipts before this time are deleted by upkeep; `None` if `limits.receipt_days` is 0.
pub(crate) fn receipt_retention_start(engine: &Engine) -> Option<Timestamp> {
    let days = i64::from(engine.limits().receipt_days);
    let since = engine.clock.now().checked_sub((days * 24).hours());
    (days > 0).then(|| since.unwrap_or(Timestamp::UNIX_EPOCH))
}

/// The entry of a candidate as rendered: fields of the receipt, with title, date and content of the version. Contexts
/// and replays both use it, so that they render the same bytes.
///
/// INVARIANT: path and title are shown only if they reach the trust in the entry's head, and with it that of its block.
pub(crate) fn to_shown_entry<'a>(
    considered: &'a ConsideredMemory,
    memory: &'a crate::model::memory::Memory,
) -> ShownMemory<'a> {
    ShownMemory {
        store: &considered.store,
        path: considered.path.as_deref().filter(|_| memory.reaches(Field::Path, considered.trust)),
        title: memory.title.as_deref().filter(|_| memory.reaches(Field::Title, considered.trust)),
        trust: considered.trust,
        kind: considered.kind,
        author: considered.author.as_deref(),
        updated_at: memory.updated_at,
        stale: considered.stale,
        content: &memory.content,
        content_tokens_max: considered.content_tokens_max,
        excerpt: considered.excerpt,
    }
}
