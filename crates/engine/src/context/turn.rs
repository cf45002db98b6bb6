//! Turn context: the memories for one turn, selected within a token budget, rendered and recorded in a receipt.
//! The budget order is in [`choose_within_budget`].

use crate::Engine;
use crate::context::decision_points;
use crate::context::window::Message;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventBody, EventName};
use crate::model::id::MemoryId;
use crate::model::limits::{check_range, trust_score};
use crate::model::memory::Memory;
use crate::model::row::SideRecord;
use crate::model::trust_flow::Field;
use crate::model::vocabulary::{Purpose, Ranker, Trust, TurnRole};
use crate::policy;
use crate::ports::change::{Change, Write};
use crate::ports::{Filter, PageRequest, SortOrder};
use crate::recall::ranking::Hit;
use crate::recall::search::SearchQuery;
use crate::recall::usage::Touch;
use crate::recall::{promoted, search, usage, visibility};
use crate::receipts::receipt::{
    ConsideredMemory, NOTICE_REASON, OVER_BUDGET_REASON, Receipt, ReceiptFilter, ReceiptSettings, to_shown_entry,
    wait_for_answer,
};
use crate::receipts::render::{self, ContextBlock, Excerpt, ShownMemory};
use crate::safety;
use crate::tenant::stores;
use crate::text::digest::content_sha256;
use crate::text::passage;
use crate::text::plural::format_count;
use crate::text::token_estimate;
use crate::text::words::{self, QueryWords};

// Request and answer.

/// A request for the context of one turn.
#[derive(Clone, Debug, Default)]
pub struct ContextRequest {
    /// The user's latest message, searched for. Without it the context is empty.
    pub message: String,
    /// Default: `limits.context_budget_tokens`.
    pub budget_tokens: Option<usize>,
    /// Ranked memories to show at most. Default: `limits.context_memories_max`.
    pub memories_max: Option<usize>,
    /// Search with the preset of a decision point; `None`: a plain search for the message.
    pub purpose: Option<Purpose>,
    pub filter: Filter,
}

/// The context of one turn.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The trusted and the untrusted block, as text for a system message; empty if no memory is shown.
    pub text: String,
    pub tokens: usize,
    pub candidates: Vec<ConsideredMemory>,
    /// Id of the receipt; `None` if nothing was searched or the receipt could not be stored.
    pub receipt: Option<String>,
    /// Parts of the retrieval that failed or were left out, in words.
    pub skipped: Vec<String>,
}

impl Context {
    /// Chat messages: the blocks as a system message, unless empty, then the user's message.
    pub fn to_messages(&self, message: &str) -> Vec<Message> {
        let blocks = Some(self.text.clone()).filter(|text| !text.is_empty());
        let blocks = blocks.map(|content| Message { role: TurnRole::System, content });
        let user = Message { role: TurnRole::User, content: message.to_owned() };
        blocks.into_iter().chain([user]).collect()
    }
}

/// Note of a context or window while memory is turned off.
pub(crate) const MEMORY_OFF: &str = "memory is turned off";

// Selection within the budget.

/// A candidate with its memory, whose text is needed for rendering.
pub(crate) struct ContextCandidate {
    pub(crate) considered: ConsideredMemory,
    pub(crate) memory: Memory,
}

/// Running token count of the two blocks. An upper bound from estimates of frames and entries, so that the blocks are
/// not rendered again for every candidate.
struct TokenBill {
    tokens: usize,
    /// Tokens of each block without entries, indexed by [`ContextBlock`].
    frames: [usize; 2],
    /// Blocks with at least one entry, whose frame is already counted.
    open: [bool; 2],
}

impl TokenBill {
    fn new(settings: &ReceiptSettings) -> TokenBill {
        let frame = |block| render::frame_tokens(&settings.tag_prefix, block);
        TokenBill {
            tokens: 0,
            frames: [frame(ContextBlock::Trusted), frame(ContextBlock::Untrusted)],
            open: [false; 2],
        }
    }

    /// Tokens including the frame of this block.
    fn tokens_with_block(&self, block: ContextBlock) -> usize {
        self.tokens + if self.open[block as usize] { 0 } else { self.frames[block as usize] }
    }

    fn add_entry(&mut self, block: ContextBlock, entry_tokens: usize) {
        // The frame is counted with the first entry: a block without entries is not rendered.
        self.tokens = self.tokens_with_block(block) + entry_tokens;
        self.open[block as usize] = true;
    }
}

/// The block of a candidate, by its trust.
pub(crate) fn block_for_trust(settings: &ReceiptSettings, considered: &ConsideredMemory) -> ContextBlock {
    match is_trusted(settings, considered.trust) {
        true => ContextBlock::Trusted,
        false => ContextBlock::Untrusted,
    }
}

fn is_trusted(settings: &ReceiptSettings, trust: Trust) -> bool {
    trust_score(trust) >= settings.trusted_from
}

/// The author as an entry shows it. Programs choose their names, so among trusted memories only the role is shown.
fn shown_author(settings: &ReceiptSettings, trust: Trust, author: &str) -> String {
    match author.split_once(':') {
        Some((role, _)) if policy::is_program_name(author) && is_trusted(settings, trust) => role.to_owned(),
        _ => author.to_owned(),
    }
}

/// Warning for a receipt id that is returned before the receipt is on disk.
pub const RECEIPT_PENDING: &str =
    "the receipt is not on disk yet: the database is busy, and the receipt is written as soon as it is free";

/// A receipt after its commit.
pub(crate) struct ReceiptOutcome {
    receipt: Receipt,
    /// Set if the receipt is or will be on disk.
    pub(crate) id: Option<String>,
    /// Set if the receipt is not on disk yet, or was not stored.
    pub(crate) warning: Option<String>,
}

/// The candidates of a turn with the decision for each. Nothing is recorded yet.
struct ContextSelection {
    settings: ReceiptSettings,
    choices: Vec<ContextCandidate>,
    skipped: Vec<String>,
}

impl Engine {
    /// The memories for one turn, within the budget. A failed retrieval does not fail the turn: `skipped` says what is
    /// missing.
    pub fn context(&self, caller: &Caller, request: &ContextRequest) -> Result<Context, Error> {
        check_range("budget_tokens", request.budget_tokens, self.limits().context_budget_max)?;
        check_range("memories_max", request.memories_max, self.limits().results_max)?;
        // After the range checks: a wrong request is an error also while memory is turned off.
        if self.settings.memory_off {
            return Ok(Context { skipped: vec![MEMORY_OFF.to_owned()], ..Context::default() });
        }
        // An unknown store in the filter is the caller's mistake, not a failed retrieval.
        if !request.filter.stores.is_empty() {
            stores::ensure_stores_readable(
                self,
                caller,
                &visibility::visible_to(self, caller)?,
                &request.filter.stores,
            )?;
        }
        // No receipt either, since nothing was searched.
        if request.message.trim().is_empty() {
            return Ok(Context::default());
        }
        let ContextSelection { settings, choices, skipped } = select_candidates(self, caller, request);
        let text = render_candidates(&settings, &choices.iter().collect::<Vec<_>>());
        let tokens = token_estimate::estimate(&text);
        // INVARIANT: the running count of `TokenBill` is an upper bound, so the rendered text is within the budget.
        debug_assert!(tokens <= settings.budget_tokens, "a context never passes its budget");
        let candidates = choices.into_iter().map(|choice| choice.considered).collect();
        let outcome = commit_receipt(self, caller, &request.message, settings, candidates, &text, tokens, skipped);
        Ok(to_context(outcome, text, tokens))
    }
}

/// The answer for a rendered text whose receipt was committed.
pub(crate) fn to_context(outcome: ReceiptOutcome, text: String, tokens: usize) -> Context {
    let ReceiptOutcome { receipt: Receipt { candidates, mut skipped, .. }, id, warning } = outcome;
    skipped.extend(warning);
    Context { text, tokens, candidates, receipt: id, skipped }
}

/// Retrieves the candidates and decides which are shown. Without side effects, so that `diagnose` can use it.
fn select_candidates(engine: &Engine, caller: &Caller, request: &ContextRequest) -> ContextSelection {
    let mut skipped = Vec::new();
    let always = match list_always_injected(engine, caller, &request.filter) {
        Ok((always, warnings)) => {
            skipped.extend(warnings);
            always
        }
        Err(error) => {
            skipped.push(format!("always-inject memories: {}", error.code()));
            Vec::new()
        }
    };
    let settings = context_settings(engine, request);
    let hits = find_ranked(engine, caller, request, settings.memories_max, &mut skipped);
    let words = words::parse_query(&request.message);
    let choices = choose_within_budget(engine, &settings, Some(&words), always, hits, &mut skipped);
    // An empty context because of a small budget would look like "no memories found".
    let left_out = choices.iter().filter(|choice| choice.considered.is_over_budget()).count();
    if left_out > 0 && choices.iter().all(|choice| choice.considered.block.is_none()) {
        let budget = settings.budget_tokens;
        let left_out = format_count(left_out, "memory", "memories");
        skipped.push(format!("{left_out}: none fits into a budget of {}", format_count(budget, "token", "tokens")));
    }
    ContextSelection { settings, choices, skipped }
}

/// The decision a turn would make for one memory; nothing is recorded. `None` if it would not be a candidate.
pub(crate) fn preview_candidate(
    engine: &Engine,
    caller: &Caller,
    request: &ContextRequest,
    id: MemoryId,
) -> Option<ConsideredMemory> {
    let choices = select_candidates(engine, caller, request).choices;
    choices.into_iter().map(|choice| choice.considered).find(|considered| considered.memory == id)
}

/// The request with defaults and limits applied, as the receipt records it.
pub(crate) fn context_settings(engine: &Engine, request: &ContextRequest) -> ReceiptSettings {
    let limits = engine.limits();
    ReceiptSettings {
        tag_prefix: limits.context_tag_prefix.clone(),
        budget_tokens: request.budget_tokens.unwrap_or(limits.context_budget_tokens).min(limits.context_budget_max),
        memories_max: request.memories_max.unwrap_or(limits.context_memories_max).min(limits.results_max),
        trusted_from: limits.context_trusted_from,
        ranker: Ranker::Operational,
        purpose: request.purpose,
        as_of: request.filter.as_of,
        filter: ReceiptFilter::from_filter(&request.filter),
    }
}

/// Always-inject memories the caller may see, at most `limits.always_inject_max`: those that a person pinned or
/// confirmed, then drafts, each last updated first. However much an agent pins, a person's pins keep their place. Also
/// returns a warning for each whose text was changed behind the program's back: these are left out.
pub(crate) fn list_always_injected(
    engine: &Engine,
    caller: &Caller,
    filter: &Filter,
) -> Result<(Vec<Memory>, Vec<String>), Error> {
    let pinned =
        Filter { always_inject: Some(true), unexpired_at: Some(search::query_time(engine, filter)), ..filter.clone() };
    let readable = visibility::visible_for_filter(engine, caller, filter)?;
    let list_newest = |filter: &Filter, limit| {
        engine.backend.list_memories(&readable, filter, &PageRequest { order: SortOrder::Newest, after: None, limit })
    };
    let may_show = |memory: &Memory| readable.shows_memory(memory) && policy::may_recall_in_run(caller, memory);
    let is_draft = |memory: &Memory| memory.least_trust(&[Field::AlwaysInject]) == Trust::AgentDraft;
    let pins_max = engine.limits().always_inject_max;
    let newest = list_newest(&pinned, pins_max)?;
    let is_full = newest.len() == pins_max;
    let (drafts, mut pins): (Vec<Memory>, Vec<Memory>) = newest.into_iter().filter(may_show).partition(is_draft);
    // Drafts may have pushed older pins of people out of the page.
    if is_full && !drafts.is_empty() {
        let trust_min = filter.trust_min.max(Some(Trust::UserAuthored));
        pins = list_newest(&Filter { trust_min, ..pinned }, engine.limits().list_max)?;
        pins.retain(|memory| may_show(memory) && !is_draft(memory));
    }
    pins.extend(drafts);
    let mut warnings = Vec::new();
    // Before the limit: a changed text takes no other's place.
    pins.retain(|memory| search::note_altered(memory, &mut warnings));
    pins.truncate(pins_max);
    Ok((pins, warnings))
}

/// Ranked memories for the message. A failure is noted in `skipped` and gives no hits.
fn find_ranked(
    engine: &Engine,
    caller: &Caller,
    request: &ContextRequest,
    memories_max: usize,
    skipped: &mut Vec<String>,
) -> Vec<Hit> {
    let query = SearchQuery { text: request.message.clone(), filter: request.filter.clone(), ..SearchQuery::default() };
    // At least one is searched for, so that a limit of 0 in the configuration still yields candidates for the receipt.
    let limit = memories_max.max(1);
    let found = match request.purpose {
        // Applies the read predicate itself, for each of its searches.
        Some(purpose) => decision_points::search_for_purpose(engine, caller, &query, purpose, limit),
        None => visibility::visible_for_filter(engine, caller, &request.filter).and_then(|readable| {
            let (mut hits, answer) =
                search::find_hits_or_by_time(engine, &readable, &query, Ranker::Operational, limit)?;
            hits.retain(|hit| readable.shows_memory(&hit.memory) && policy::may_recall_in_run(caller, &hit.memory));
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

/// Budget order of a turn. To change what is shown first, change this function.
///
/// 1. Always-inject memories, within their share of the budget (`1 / limits.always_inject_share`).
/// 2. Ranked memories, best first, within the rest of the budget and up to `memories_max`. Where they do not all fit,
///    the long ones are shown in excerpts of equal length, around what matches the query ([`content_share`]).
///
/// A memory that does not fit is skipped, and a smaller one below it may still be shown. All candidates are returned,
/// each with its reason, for the receipt.
pub(crate) fn choose_within_budget(
    engine: &Engine,
    settings: &ReceiptSettings,
    query: Option<&QueryWords>,
    always: Vec<Memory>,
    hits: Vec<Hit>,
    skipped: &mut Vec<String>,
) -> Vec<ContextCandidate> {
    let mut pinned: Vec<MemoryId> = Vec::new();
    let share = settings.budget_tokens / engine.limits().always_inject_share;
    let mut choices: Vec<ContextCandidate> = Vec::new();
    let mut bill = TokenBill::new(settings);
    // These do not count towards `memories_max`.
    for memory in always {
        let is_ranked = hits.iter().any(|hit| hit.memory.id == memory.id);
        // Its rank puts it into a better block than its pin.
        if is_ranked && pin_lowers_trust(&memory) {
            continue;
        }
        let choice = pinned_candidate(engine, settings, memory, OVER_BUDGET_REASON.to_owned());
        let room = Room { budget_tokens: share, content_tokens_max: usize::MAX, query: None };
        let choice = fit_candidate(engine, settings, &mut bill, choice, &room, "always injected");
        // One that does not fit into the share is tried again by its rank, if it has one.
        let (id, is_shown) = (choice.memory.id, choice.considered.block.is_some());
        if is_shown || !is_ranked {
            pinned.push(id);
            choices.push(choice);
        }
    }
    let copied = promoted::copied_sources(&hits);
    let is_notice = |hit: &Hit| settings.purpose.is_none() && promoted::is_notice(&hit.memory);
    let is_left_out = |hit: &&Hit| pinned.contains(&hit.memory.id) || copied.contains(&hit.memory.id) || is_notice(hit);
    let wanted: Vec<&Hit> = hits.iter().filter(|hit| !is_left_out(hit)).take(settings.memories_max).collect();
    // Without a question there is nothing to cut around: the first ones are shown as long as they are.
    let content_tokens_max = query.map_or(usize::MAX, |_| content_share(engine, settings, &bill, &wanted));
    let room = Room { budget_tokens: settings.budget_tokens, content_tokens_max, query };
    let mut shown = 0;
    for hit in hits {
        if pinned.contains(&hit.memory.id) {
            continue;
        }
        // A notice reports a promotion or rollback. Only decision points, which ask for past decisions, show it.
        if is_notice(&hit) {
            choices.push(unshown_candidate(engine, settings, hit, NOTICE_REASON.to_owned()));
            continue;
        }
        if copied.contains(&hit.memory.id) {
            choices.push(unshown_candidate(engine, settings, hit, promoted::COPY_REASON.to_owned()));
            continue;
        }
        // Recorded although it is not shown: a receipt lists everything that was considered.
        if shown == settings.memories_max {
            choices.push(unshown_candidate(
                engine,
                settings,
                hit,
                format!("below the {} shown", settings.memories_max),
            ));
            continue;
        }
        // Checked here only: hits that are not shown need no proof of their text.
        if !search::note_altered(&hit.memory, skipped) {
            continue;
        }
        let choice = unshown_candidate(engine, settings, hit, OVER_BUDGET_REASON.to_owned());
        let choice = fit_candidate(engine, settings, &mut bill, choice, &room, "ranked");
        shown += usize::from(choice.considered.block.is_some());
        choices.push(choice);
    }
    choices
}

/// Most tokens of content per ranked memory, so that all of them fit into the rest of the budget: the shorter ones
/// whole, the others cut to the same length. `usize::MAX` if all fit whole.
///
/// The last ones are given up while the share is below `context_cut_tokens_min`: a few words of a text would mislead.
fn content_share(engine: &Engine, settings: &ReceiptSettings, bill: &TokenBill, hits: &[&Hit]) -> usize {
    let limits = engine.limits();
    let mut fixed = bill.tokens;
    let mut open = bill.open;
    let mut lengths: Vec<usize> = Vec::with_capacity(hits.len());
    let mut share = usize::MAX;
    for hit in hits {
        let candidate = unshown_candidate(engine, settings, (*hit).clone(), String::new());
        let block = block_for_trust(settings, &candidate.considered) as usize;
        if !std::mem::replace(&mut open[block], true) {
            fixed += bill.frames[block];
        }
        fixed += render::entry_head_tokens(&to_shown_entry(&candidate.considered, &candidate.memory));
        lengths.push(render::content_tokens(&hit.memory.content, settings.budget_tokens));
        let next = level_of(&lengths, settings.budget_tokens.saturating_sub(fixed));
        if next < limits.context_cut_tokens_min && lengths.len() > 1 {
            break;
        }
        share = next;
    }
    share
}

/// The largest level to which lengths can be cut so that their sum is within `room`; `usize::MAX` if none needs a cut.
fn level_of(lengths: &[usize], room: usize) -> usize {
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let mut left = room;
    for (at, length) in sorted.iter().enumerate() {
        let level = left / (sorted.len() - at);
        if level < *length {
            return level;
        }
        left -= length;
    }
    usize::MAX
}

/// The room for a candidate's entry.
struct Room<'a> {
    /// Tokens of both blocks with the entry.
    budget_tokens: usize,
    /// Tokens of its content.
    content_tokens_max: usize,
    /// What a cut content is cut around; `None`: only its beginning is shown.
    query: Option<&'a QueryWords>,
}

/// Shows a candidate, whole or cut, if there is room; otherwise returns it unchanged.
fn fit_candidate(
    engine: &Engine,
    settings: &ReceiptSettings,
    bill: &mut TokenBill,
    mut choice: ContextCandidate,
    room: &Room<'_>,
    reason: &str,
) -> ContextCandidate {
    let block = block_for_trust(settings, &choice.considered);
    let fixed_tokens =
        bill.tokens_with_block(block) + render::entry_head_tokens(&to_shown_entry(&choice.considered, &choice.memory));
    let Some(content_tokens) = room.budget_tokens.checked_sub(fixed_tokens) else { return choice };
    // Also if the content is shorter: a replay cuts at the same place.
    let content_tokens = content_tokens.min(room.content_tokens_max);
    if render::is_cut(&choice.memory.content, content_tokens) {
        // The first few words of a long text are no use.
        if content_tokens < engine.limits().context_cut_tokens_min {
            return choice;
        }
        let excerpt = |query| find_excerpt(&choice.memory.content, query, content_tokens);
        choice.considered.excerpt = room.query.map(excerpt);
    }
    choice.considered.content_tokens_max = content_tokens;
    let entry_tokens = render::entry_tokens(&to_shown_entry(&choice.considered, &choice.memory));
    bill.add_entry(block, entry_tokens);
    choice.considered =
        ConsideredMemory { block: Some(block), reason: reason.to_owned(), tokens: entry_tokens, ..choice.considered };
    choice
}

/// The part of a long content to show: around what matches the query.
pub(crate) fn find_excerpt(content: &str, query: &QueryWords, tokens_max: usize) -> Excerpt {
    let range = passage::find_passage(content, query, tokens_max, render::piece_tokens);
    Excerpt { start: range.start, end: range.end }
}

/// A candidate that is not shown, for this reason. Both trust and staleness are those of now, not of the last save.
pub(crate) fn unshown_candidate(
    engine: &Engine,
    settings: &ReceiptSettings,
    hit: Hit,
    reason: String,
) -> ContextCandidate {
    let shows_author = settings.purpose.is_some_and(|purpose| purpose.preset().shows_authors);
    let now = engine.clock.now();
    let trust = hit.memory.trust_at(now);
    let considered = ConsideredMemory {
        memory: hit.memory.id,
        version: hit.memory.version,
        store: hit.memory.store.clone(),
        path: hit.memory.path.clone(),
        is_erasable: hit.memory.scope.is_erasable(),
        trust,
        kind: hit.memory.kind,
        author: shows_author.then(|| shown_author(settings, trust, &hit.memory.author)),
        stale: hit.memory.is_stale(now),
        score: hit.score,
        parts: hit.parts.iter().map(|(name, part)| ((*name).to_owned(), *part)).collect(),
        block: None,
        reason,
        tokens: 0,
        content_tokens_max: 0,
        excerpt: None,
    };
    ContextCandidate { considered, memory: hit.memory }
}

/// A candidate that is there because of its pin: as trusted as the least of its content and the author of the pin. An
/// agent's pin shows a person's text, and the untrusted block says that the choice was the agent's.
pub(crate) fn pinned_candidate(
    engine: &Engine,
    settings: &ReceiptSettings,
    memory: Memory,
    reason: String,
) -> ContextCandidate {
    let pin_trust = memory.trust_of(Field::AlwaysInject);
    let mut candidate = unshown_candidate(engine, settings, Hit::without_score(memory), reason);
    candidate.considered.trust = candidate.considered.trust.min(pin_trust);
    candidate
}

/// Whether the author of the pin is less trusted than the content.
pub(crate) fn pin_lowers_trust(memory: &Memory) -> bool {
    !memory.reaches(Field::AlwaysInject, memory.trust)
}

// Receipt.

/// Commits the receipt with its event, usage records and recall counters in one change. Waits up to two seconds until
/// it is on disk (decision 0014); see [`commit_in_time`].
#[expect(clippy::too_many_arguments, reason = "the parts of one record, joined here and nowhere else")]
pub(crate) fn commit_receipt(
    engine: &Engine,
    caller: &Caller,
    message: &str,
    settings: ReceiptSettings,
    candidates: Vec<ConsideredMemory>,
    text: &str,
    tokens: usize,
    skipped: Vec<String>,
) -> ReceiptOutcome {
    let now = engine.clock.now();
    let receipt = Receipt {
        id: engine.clock.fresh_id().to_string(),
        at: now,
        caller: caller.clone(),
        query: safety::without_secrets(message.to_owned()),
        settings,
        candidates,
        tokens,
        block_sha256: content_sha256(text),
        skipped,
    };
    // Events, usage and counters are for shown memories only; other candidates were not seen by the model.
    let shown: Vec<&ConsideredMemory> =
        receipt.candidates.iter().filter(|considered| considered.block.is_some()).collect();
    let to_loaded_json = |considered: &&ConsideredMemory| {
        serde_json::json!({
            "id": considered.memory, "version": considered.version, "store": considered.store,
            "path": considered.path.as_ref().filter(|_| !considered.is_erasable), "trust": considered.trust,
        })
    };
    let event = EventBody::new(EventName::ContextLoaded, caller, now)
        .with_field("memories", shown.iter().map(to_loaded_json).collect::<Vec<_>>())
        .with_field("tokens", tokens)
        .with_field("receipt", &receipt.id)
        .with_scope(caller.activity_scope());
    let mut change = Change::new(caller.tenant, now).with_event(event).with_write(Write::Row(receipt.to_row()));
    for considered in &shown {
        let usage =
            usage::new_usage(engine, caller, Touch::Injected, considered.memory, considered.version, Some(&receipt.id));
        change = change.with_write(Write::Row(usage.to_row()));
    }
    // The layer is not known here; the backend ignores ids in `fading` that are no episodes.
    let memories: Vec<MemoryId> = shown.iter().map(|considered| considered.memory).collect();
    let (id, warning) = commit_in_time(
        engine,
        change.with_write(Write::CountRecalls { fading: memories.clone(), memories }),
        &receipt.id,
    );
    ReceiptOutcome { receipt, id, warning }
}

/// Commits and waits for the disk for a limited time. Returns the receipt's id, unless the commit failed, and a
/// warning, unless it is on disk. After the time limit the commit stays queued and is not given up.
fn commit_in_time(engine: &Engine, change: Change, id: &str) -> (Option<String>, Option<String>) {
    match wait_for_answer(|answer| engine.backend.commit_later_with_callback(engine.scan_change(change), answer)) {
        Some(Ok(())) => (Some(id.to_owned()), None),
        Some(Err(error)) => (None, Some(format!("the receipt was not kept: {error}"))),
        // Still queued: the receipt will be written, so its id is valid.
        None => (Some(id.to_owned()), Some(RECEIPT_PENDING.to_owned())),
    }
}

/// Renders the shown candidates in their two blocks.
pub(crate) fn render_candidates(settings: &ReceiptSettings, choices: &[&ContextCandidate]) -> String {
    let entries_of = |block: ContextBlock| -> Vec<ShownMemory<'_>> {
        let chosen = choices.iter().filter(|choice| choice.considered.block == Some(block));
        chosen.map(|choice| to_shown_entry(&choice.considered, &choice.memory)).collect()
    };
    render::render_blocks(
        &settings.tag_prefix,
        &entries_of(ContextBlock::Trusted),
        &entries_of(ContextBlock::Untrusted),
    )
}
