//! Turn context: what a model is shown before its turn, within a budget, with a receipt.

use crate::Engine;
use crate::context::decision_points::Purpose;
use crate::context::window::Message;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventName, Happening};
use crate::model::id::MemoryId;
use crate::model::limits::{trust_score, within};
use crate::model::memory::{Memory, content_sha256};
use crate::model::scope::Scope;
use crate::model::vocabulary::{Ranker, TurnRole};
use crate::policy;
use crate::ports::change::{Change, Write};
use crate::ports::row::Kept;
use crate::ports::{Filter, Order, Page};
use crate::recall::ranking::Hit;
use crate::recall::search::Query;
use crate::recall::usage::Touch;
use crate::receipts::receipt::{
    Considered, NOTICE, OVER_BUDGET, Receipt, ReceiptFilter, ReceiptSettings, in_time, show,
};
use crate::receipts::render::{self, Block, Shown};
use crate::review::promotion_notice;
use crate::safety;
use crate::text::count::counted;
use crate::text::tokens;

/// What a turn asks for.
#[derive(Clone, Debug, Default)]
pub struct ContextRequest {
    /// The latest message of the user. Empty means nothing is looked for.
    pub message: String,
    pub budget_tokens: Option<usize>,
    pub memories_max: Option<usize>,
    /// A decision point whose answers are looked for; `None`: whatever fits the message.
    pub purpose: Option<Purpose>,
    pub filter: Filter,
}

/// What to put before the turn.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The two blocks, ready to be a system message; empty where there is nothing.
    pub text: String,
    pub tokens: usize,
    pub candidates: Vec<Considered>,
    /// `None` where nothing was looked for.
    pub receipt: Option<String>,
    /// What could not be done, in words.
    pub skipped: Vec<String>,
}

impl Context {
    /// Ready chat messages: the blocks as a system message, where there are any, then the user's.
    pub fn messages(&self, message: &str) -> Vec<Message> {
        let blocks = Some(self.text.clone()).filter(|text| !text.is_empty());
        let blocks = blocks.map(|content| Message { role: TurnRole::System, content });
        let user = Message { role: TurnRole::User, content: message.to_owned() };
        blocks.into_iter().chain([user]).collect()
    }
}

/// Said where nothing is looked for.
pub(crate) const MEMORY_OFF: &str = "memory is turned off";

/// A candidate with its text, before it is known what fits.
pub(crate) struct Choice {
    pub(crate) considered: Considered,
    pub(crate) memory: Memory,
}

/// What the blocks cost so far, counted upwards: no block is rendered to know whether one more memory fits.
struct Bill {
    tokens: usize,
    frames: [usize; 2],
    open: [bool; 2],
}

impl Bill {
    fn new(settings: &ReceiptSettings) -> Bill {
        let frame = |block| render::frame_tokens(&settings.tag_prefix, block);
        Bill { tokens: 0, frames: [frame(Block::Trusted), frame(Block::Untrusted)], open: [false; 2] }
    }

    /// The bill once this block is open.
    fn with(&self, block: Block) -> usize {
        self.tokens + if self.open[block as usize] { 0 } else { self.frames[block as usize] }
    }

    fn add(&mut self, block: Block, entry_tokens: usize) {
        self.tokens = self.with(block) + entry_tokens;
        self.open[block as usize] = true;
    }
}

/// The block a candidate belongs into, by its trust.
pub(crate) fn block_of(settings: &ReceiptSettings, considered: &Considered) -> Block {
    match trust_score(considered.trust) >= settings.trusted_from {
        true => Block::Trusted,
        false => Block::Untrusted,
    }
}

/// Said where a receipt is named before it is on disk.
pub const RECEIPT_NOT_YET: &str =
    "the receipt is not on disk yet: the database is busy, and it is written once that is over";

/// A receipt, and what the answer says of it: its name, where it is or will be there, and what is in doubt about it.
pub(crate) struct Proof {
    receipt: Receipt,
    pub(crate) id: Option<String>,
    pub(crate) doubt: Option<String>,
}

/// What a turn would be shown, before anybody is told.
struct Prepared {
    settings: ReceiptSettings,
    choices: Vec<Choice>,
    skipped: Vec<String>,
}

impl Engine {
    /// The memories for one turn. A failing retrieval does not fail the turn: the answer says what was skipped.
    pub fn context(&self, caller: &Caller, request: &ContextRequest) -> Result<Context, Error> {
        within("budget_tokens", request.budget_tokens, self.limits().context_budget_max)?;
        within("memories_max", request.memories_max, self.limits().results_max)?;
        if self.settings.memory_off {
            return Ok(Context { skipped: vec![MEMORY_OFF.to_owned()], ..Context::default() });
        }
        // Asked for by name, a store that is not there is a mistake, not a failing retrieval.
        if !request.filter.stores.is_empty() {
            self.stores_stand(caller, &self.eyes(caller)?, &request.filter.stores)?;
        }
        if request.message.trim().is_empty() {
            return Ok(Context::default());
        }
        let Prepared { settings, choices, skipped } = self.prepared(caller, request);
        let text = rendered(&settings, &choices.iter().collect::<Vec<_>>());
        let tokens = tokens::estimate(&text);
        debug_assert!(tokens <= settings.budget_tokens, "a context never passes its budget");
        let candidates = choices.into_iter().map(|choice| choice.considered).collect();
        let proof = self.keep_receipt(caller, &request.message, settings, candidates, &text, tokens, skipped);
        let Proof { receipt: Receipt { candidates, mut skipped, .. }, id, doubt } = proof;
        skipped.extend(doubt);
        Ok(Context { text, tokens, candidates, receipt: id, skipped })
    }

    fn prepared(&self, caller: &Caller, request: &ContextRequest) -> Prepared {
        let mut skipped = Vec::new();
        let always = self.always_injected(caller, &request.filter).unwrap_or_else(|error| {
            skipped.push(format!("always-inject memories: {}", error.code()));
            Vec::new()
        });
        let hits = self.ranked(caller, request, &mut skipped);
        let settings = self.context_settings(request);
        let choices = self.choose(&settings, always, hits);
        let left_out = choices.iter().filter(|choice| choice.considered.is_over_budget()).count();
        if left_out > 0 && choices.iter().all(|choice| choice.considered.block.is_none()) {
            let budget = settings.budget_tokens;
            let left_out = counted(left_out, "memory", "memories");
            skipped.push(format!("{left_out}: none fits into a budget of {}", counted(budget, "token", "tokens")));
        }
        Prepared { settings, choices, skipped }
    }

    /// What would become of one memory in this turn; leaves no trace. `None`: it is not even a candidate.
    pub(crate) fn would_show(&self, caller: &Caller, request: &ContextRequest, id: MemoryId) -> Option<Considered> {
        let choices = self.prepared(caller, request).choices;
        choices.into_iter().map(|choice| choice.considered).find(|considered| considered.memory == id)
    }

    pub(crate) fn context_settings(&self, request: &ContextRequest) -> ReceiptSettings {
        let limits = self.limits();
        ReceiptSettings {
            tag_prefix: limits.context_tag_prefix.clone(),
            budget_tokens: request.budget_tokens.unwrap_or(limits.context_budget_tokens).min(limits.context_budget_max),
            memories_max: request.memories_max.unwrap_or(limits.context_memories_max).min(limits.results_max),
            trusted_from: limits.context_trusted_from,
            ranker: Ranker::Operational,
            purpose: request.purpose,
            as_of: request.filter.as_of,
            filter: ReceiptFilter::of(&request.filter),
        }
    }

    pub(crate) fn always_injected(&self, caller: &Caller, filter: &Filter) -> Result<Vec<Memory>, Error> {
        let pinned = Filter { always_inject: Some(true), unexpired_at: Some(self.asked_at(filter)), ..filter.clone() };
        let page = Page { order: Order::Newest, after: None, limit: self.limits().always_inject_max };
        let eyes = self.eyes_on(caller, filter)?;
        let mut memories = self.backend.list(&eyes, &pinned, &page)?;
        memories.retain(|memory| eyes.shows(memory) && policy::in_its_run(caller, memory));
        Ok(memories)
    }

    fn ranked(&self, caller: &Caller, request: &ContextRequest, skipped: &mut Vec<String>) -> Vec<Hit> {
        let query = Query { text: request.message.clone(), filter: request.filter.clone(), ..Query::default() };
        let limit =
            request.memories_max.unwrap_or(self.limits().context_memories_max).clamp(1, self.limits().results_max);
        let found = match request.purpose {
            Some(purpose) => self.for_purpose(caller, &query, purpose, limit),
            None => self.eyes_on(caller, &request.filter).and_then(|eyes| {
                let (mut hits, answer) = self.found_or_of_its_time(&eyes, &query, Ranker::Operational, limit)?;
                hits.retain(|hit| eyes.shows(&hit.memory) && policy::in_its_run(caller, &hit.memory));
                Ok((hits, answer.warnings))
            }),
        };
        match found {
            Ok((hits, warnings)) => {
                skipped.extend(warnings);
                hits
            }
            Err(error) => {
                skipped.push(format!("ranked memories: {}", error.code()));
                Vec::new()
            }
        }
    }

    /// Decides who is shown: always-inject first within their share, then by rank while the budget lasts.
    fn choose(&self, settings: &ReceiptSettings, always: Vec<Memory>, hits: Vec<Hit>) -> Vec<Choice> {
        let mut pinned: Vec<MemoryId> = Vec::new();
        let share = settings.budget_tokens / self.limits().always_inject_share;
        let mut choices: Vec<Choice> = Vec::new();
        let mut bill = Bill::new(settings);
        for memory in always {
            let choice = self.passed_over(settings, Hit::bare(memory), OVER_BUDGET.to_owned());
            let choice = self.weighed(settings, &mut bill, choice, share, "always injected");
            // What does not fit into the share may still come by its rank.
            let (id, is_shown) = (choice.memory.id, choice.considered.block.is_some());
            if is_shown || !hits.iter().any(|hit| hit.memory.id == id) {
                pinned.push(id);
                choices.push(choice);
            }
        }
        let mut shown = 0;
        for hit in hits {
            if pinned.contains(&hit.memory.id) {
                continue;
            }
            if settings.purpose.is_none() && promotion_notice::is_notice(&hit.memory) {
                choices.push(self.passed_over(settings, hit, NOTICE.to_owned()));
                continue;
            }
            if shown == settings.memories_max {
                choices.push(self.passed_over(settings, hit, format!("below the {} shown", settings.memories_max)));
                continue;
            }
            let choice = self.passed_over(settings, hit, OVER_BUDGET.to_owned());
            let choice = self.weighed(settings, &mut bill, choice, settings.budget_tokens, "ranked");
            shown += usize::from(choice.considered.block.is_some());
            choices.push(choice);
        }
        choices
    }

    /// Shows a candidate, whole or cut, if the blocks with it stay within `budget_tokens`; else leaves it as it is.
    fn weighed(
        &self,
        settings: &ReceiptSettings,
        bill: &mut Bill,
        mut choice: Choice,
        budget_tokens: usize,
        reason: &str,
    ) -> Choice {
        let block = block_of(settings, &choice.considered);
        let besides = bill.with(block) + render::entry_head_tokens(&show(&choice.considered, &choice.memory));
        let Some(room) = budget_tokens.checked_sub(besides) else { return choice };
        // A few words of a long text help nobody.
        if room < self.limits().context_cut_tokens_min && render::is_cut(&choice.memory.content, room) {
            return choice;
        }
        choice.considered.content_tokens_max = room;
        let cost = render::entry_tokens(&show(&choice.considered, &choice.memory));
        bill.add(block, cost);
        choice.considered =
            Considered { block: Some(block), reason: reason.to_owned(), tokens: cost, ..choice.considered };
        choice
    }

    pub(crate) fn passed_over(&self, settings: &ReceiptSettings, hit: Hit, reason: String) -> Choice {
        let signed = settings.purpose.is_some_and(|purpose| purpose.preset().shows_authors);
        let stale = hit.memory.verify_by.is_some_and(|by| by <= self.clock.now());
        let considered = Considered {
            memory: hit.memory.id,
            version: hit.memory.version,
            store: hit.memory.store.clone(),
            path: hit.memory.path.clone(),
            trust: hit.memory.trust_at(self.clock.now()),
            kind: hit.memory.kind,
            author: signed.then(|| hit.memory.author.clone()),
            stale,
            score: hit.score,
            parts: hit.parts.iter().map(|(name, part)| ((*name).to_owned(), *part)).collect(),
            block: None,
            reason,
            tokens: 0,
            content_tokens_max: 0,
        };
        Choice { considered, memory: hit.memory }
    }

    /// Writes receipt, counters and event with the next group: the turn waits for no disk.
    #[expect(clippy::too_many_arguments, reason = "the parts of one record, joined here and nowhere else")]
    pub(crate) fn keep_receipt(
        &self,
        caller: &Caller,
        message: &str,
        settings: ReceiptSettings,
        candidates: Vec<Considered>,
        text: &str,
        tokens: usize,
        skipped: Vec<String>,
    ) -> Proof {
        let now = self.clock.now();
        let receipt = Receipt {
            id: self.clock.fresh_id().to_string(),
            at: now,
            caller: caller.clone(),
            query: safety::without_secrets(message.to_owned()),
            settings,
            candidates,
            tokens,
            block_sha256: content_sha256(text),
            skipped,
        };
        let shown: Vec<&Considered> =
            receipt.candidates.iter().filter(|considered| considered.block.is_some()).collect();
        let loaded = |considered: &&Considered| {
            serde_json::json!({
                "id": considered.memory, "version": considered.version, "store": considered.store,
                "path": considered.path, "trust": considered.trust,
            })
        };
        let event = Happening::new(EventName::ContextLoaded, caller, now)
            .with("memories", shown.iter().map(loaded).collect::<Vec<_>>())
            .with("tokens", tokens)
            .with("receipt", &receipt.id)
            .in_scope(caller.conversation.clone().map(|conversation| Scope::Conversation { conversation }));
        let mut change = Change::new(caller.tenant, now).event(event).write(Write::Row(receipt.to_row()));
        for considered in &shown {
            let usage = self.usage(caller, Touch::Injected, considered.memory, considered.version, Some(&receipt.id));
            change = change.write(Write::Row(usage.to_row()));
        }
        let memories: Vec<MemoryId> = shown.iter().map(|considered| considered.memory).collect();
        let (id, doubt) =
            self.proven(change.write(Write::Recalled { fading: memories.clone(), memories }), &receipt.id);
        Proof { receipt, id, doubt }
    }

    /// Waits for the disk as long as a turn can wait: the receipt's name where there is one, and what is to be said of it.
    fn proven(&self, change: Change, id: &str) -> (Option<String>, Option<String>) {
        match in_time(|answer| self.backend.commit_soon(change, answer)) {
            Some(Ok(())) => (Some(id.to_owned()), None),
            Some(Err(error)) => (None, Some(format!("the receipt was not kept: {error}"))),
            None => (Some(id.to_owned()), Some(RECEIPT_NOT_YET.to_owned())),
        }
    }
}

pub(crate) fn rendered(settings: &ReceiptSettings, choices: &[&Choice]) -> String {
    let of = |block: Block| -> Vec<Shown<'_>> {
        let chosen = choices.iter().filter(|choice| choice.considered.block == Some(block));
        chosen.map(|choice| show(&choice.considered, &choice.memory)).collect()
    };
    render::render(&settings.tag_prefix, &of(Block::Trusted), &of(Block::Untrusted))
}
