//! Receipts: what was injected, why, and how to prove it.

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
use crate::model::vocabulary::{Kind, Layer, Purpose, Ranker, ScopeKind, State, Trust};
use crate::policy::{Readable, admins_only};
use crate::ports::row::{self, Paging, RecordPage};
use crate::ports::{Filter, StoreCallback};
use crate::recall::usage;
use crate::receipts::codec;
use crate::receipts::render::{self, ContextBlock, ShownMemory};
use crate::safety;
use crate::text::digest::content_sha256;

/// The record of one injection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    pub id: String,
    pub at: Timestamp,
    pub caller: Caller,
    /// As asked, with secrets taken out.
    pub query: String,
    pub settings: ReceiptSettings,
    pub candidates: Vec<ConsideredMemory>,
    pub tokens: usize,
    pub block_sha256: String,
    /// What could not be done.
    #[serde(default)]
    pub skipped: Vec<String>,
}

/// What decided the block besides the memories: enough to rebuild it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReceiptSettings {
    pub tag_prefix: String,
    pub budget_tokens: usize,
    pub memories_max: usize,
    pub trusted_from: f64,
    pub ranker: Ranker,
    #[serde(default)]
    pub purpose: Option<Purpose>,
    /// The time the memories were asked of, where it was a past one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<Timestamp>,
    /// What narrowed the search. Absent: nothing, or nobody wrote it down yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<ReceiptFilter>,
}

/// What a receipt says of the filter.
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
    /// `None` where nothing was narrowed. A secret asked for by mistake is not kept.
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

/// One candidate and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConsideredMemory {
    pub memory: MemoryId,
    pub version: VersionId,
    pub store: String,
    pub path: Option<String>,
    pub trust: Trust,
    pub kind: Kind,
    /// Shown with the entry, where that helps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    pub stale: bool,
    pub score: f64,
    pub parts: BTreeMap<String, f64>,
    /// The block it was shown in; `None`: it was not.
    pub block: Option<ContextBlock>,
    pub reason: String,
    pub tokens: usize,
    pub content_tokens_max: usize,
}

impl Receipt {
    /// Everything but the candidates.
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

    /// Its own caller's, or any for admins. A program is only its own self while it speaks for the same person in the
    /// same conversation: the block holds what was read there.
    pub(crate) fn is_visible_to(&self, caller: &Caller) -> bool {
        let same_conversation =
            caller.is_in_same_conversation(self.caller.user.as_deref(), self.caller.conversation.as_deref());
        let own = self.caller.principal == caller.principal && (same_conversation || !caller.role.is_program());
        admins_only(caller).is_ok() || own
    }
}

impl ConsideredMemory {
    /// It ranked high enough and did not fit.
    pub fn is_over_budget(&self) -> bool {
        self.block.is_none() && self.reason == OVER_BUDGET_REASON
    }
}

/// The reason of a candidate that did not fit.
pub(crate) const NOTICE_REASON: &str = "a notice of a promotion or rollback: found by searches, not given to turns";
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

    /// Most of a receipt is candidates that were not shown: they are kept as lines.
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

/// A receipt's block, rebuilt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replay {
    pub text: String,
    /// Whether it is byte for byte what was injected.
    pub exact: bool,
    /// Versions whose content was redacted since.
    pub redacted: Vec<VersionId>,
    /// Versions that are shown to nobody any more: erased, or of a store that was archived.
    pub missing: Vec<VersionId>,
}

/// Longest a turn waits for its receipt, and a reader for what others did: longer than a healthy disk ever takes,
/// shorter than a person's patience.
const RECEIPT_WAIT_MAX: Duration = Duration::from_secs(2);

/// What the backend answers, where it does so in time.
pub(crate) fn wait_for_answer<T: Send + 'static>(
    submit: impl FnOnce(StoreCallback<T>),
) -> Option<Result<T, StoreError>> {
    let (sender, receiver) = sync_channel(1);
    // Nobody may listen any more.
    submit(Box::new(move |done| drop(sender.send(done))));
    receiver.recv_timeout(RECEIPT_WAIT_MAX).ok()
}

impl Engine {
    /// One receipt: its own caller's, or any for admins.
    pub fn receipt(&self, caller: &Caller, id: &str) -> Result<Receipt, Error> {
        let mut found: Option<Receipt> = row::get_record(&*self.backend, caller.tenant, id)?;
        if found.is_none() {
            // It may be on its way, while another process holds the database.
            try_wait_for_writes(self)?;
            found = row::get_record(&*self.backend, caller.tenant, id)?;
        }
        found.filter(|receipt| receipt.is_visible_to(caller)).ok_or_else(|| Error::not_found(format!("receipt `{id}`")))
    }

    /// The same once it is on the disk, for a command that ends with its answer: else why it will not be there.
    pub fn receipt_after_flush(&self, caller: &Caller, id: &str) -> Result<Receipt, Error> {
        self.backend.flush()?;
        self.receipt(caller, id)
    }

    /// Receipts, newest first.
    pub fn receipts(
        &self,
        caller: &Caller,
        run: Option<&str>,
        Paging { after, limit }: &Paging,
    ) -> Result<RecordPage<Receipt>, Error> {
        wait_for_writes(self);
        // Without a run by state, which all of them share: that is how the table is sorted by time.
        let (state, parent) = if run.is_none() { (Some(String::new()), None) } else { (None, run.map(str::to_owned)) };
        let filter = RowFilter { state, parent, newest_first: true, ..RowFilter::default() };
        let limit = resolve_limit(*limit, self.limits().list_default, self.limits().list_max)?;
        let sees = |receipt: &Receipt| receipt.is_visible_to(caller);
        row::select_page(&*self.backend, caller.tenant, filter, after.as_deref(), limit, sees)
    }

    /// Rebuilds an injected block from the exact versions it was made of.
    pub fn replay(&self, caller: &Caller, id: &str) -> Result<Replay, Error> {
        let receipt = self.receipt(caller, id)?;
        let readable = Readable::whole_tenant(caller.tenant);
        let (mut redacted, mut missing) = (Vec::new(), Vec::new());
        let mut versions = Vec::new();
        for considered in receipt.candidates.iter().filter(|considered| considered.block.is_some()) {
            let Some(version) = self.backend.get_version(&readable, considered.version)? else {
                missing.push(considered.version);
                continue;
            };
            if version.redacted_at.is_some() {
                redacted.push(version.id);
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
        // The run it was made in was shown it already.
        if caller.run != receipt.caller.run {
            usage::record_reads(self, caller, versions.iter().map(|(_, version)| &version.memory));
        }
        Ok(Replay { text, exact, redacted, missing })
    }

    /// Since when touches and receipts are kept; `None`: since ever.
    pub fn receipts_kept_since(&self, caller: &Caller) -> Result<Option<Timestamp>, Error> {
        let Some(since) = receipt_retention_start(self) else { return Ok(None) };
        // Nothing was kept before there was a tenant.
        let tenant = self.backend.list_tenants()?.into_iter().find(|tenant| tenant.id == caller.tenant);
        Ok(Some(tenant.map_or(since, |tenant| since.max(tenant.created_at))))
    }
}

/// Waits for what is on its way, so that a list holds it: no turn and no reader waited for the disk.
pub(crate) fn wait_for_writes(engine: &Engine) {
    // What could not be written is in no list; what stands is told all the same.
    let _ = try_wait_for_writes(engine);
}

/// As [`Engine::land`], and says where it took longer than a reader waits.
fn try_wait_for_writes(engine: &Engine) -> Result<(), Error> {
    let timed_out = || Err(StoreError::Busy("the database, and what was done is not written yet".to_owned()));
    Ok(wait_for_answer(|answer| engine.backend.flush_with_callback(answer)).unwrap_or_else(timed_out)?)
}

pub(crate) fn receipt_retention_start(engine: &Engine) -> Option<Timestamp> {
    let days = i64::from(engine.limits().receipt_days);
    let since = engine.clock.now().checked_sub((days * 24).hours());
    (days > 0).then(|| since.unwrap_or(Timestamp::UNIX_EPOCH))
}

/// How a candidate is shown: what the receipt says of it, with the text of the version.
pub(crate) fn to_shown_entry<'a>(
    considered: &'a ConsideredMemory,
    memory: &'a crate::model::memory::Memory,
) -> ShownMemory<'a> {
    ShownMemory {
        store: &considered.store,
        path: considered.path.as_deref(),
        title: memory.title.as_deref(),
        trust: considered.trust,
        kind: considered.kind,
        author: considered.author.as_deref(),
        updated_at: memory.updated_at,
        stale: considered.stale,
        content: &memory.content,
        content_tokens_max: considered.content_tokens_max,
    }
}
