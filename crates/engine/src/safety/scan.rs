//! One pass over one view: finds the anchor words, runs the rule of each, collects hits and decoded texts.
use super::anchor_index::{ANCHOR_INDEX, AnchorIndex, AnchorTarget, TokenShape};
use super::injection::{self, OrderAnchors};
use super::pattern::ValueCheck;
use super::random_runs::{self, DecodedSpan, KnownRanges};
use super::scan_progress::ScanProgress;
use super::secret_documents::{self, DocumentMark, DocumentMarks, PemBlock};
use super::shape_match::TOKEN_BYTES_MAX;
use super::value_stats::ValueStats;
use super::view::View;
use super::{
    Concern, Finding, Severity, base85, documented_keys, encodings, labelled_value, placeholder, read_counter,
    split_keys, url_password,
};

/// Specificity of a rule, weakest first. Of overlapping hits the one with the greatest weight names the finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum RuleWeight {
    /// Entropy alone.
    Entropy,
    /// A random run near a label, or behind a short prefix.
    Nearby,
    /// A value that its label announces.
    Context,
    /// A token format with a short prefix; a longer prefix explains the same token better.
    Shape,
    /// A published format, a regex or the wording of an order.
    Format,
    /// A whole document or block.
    Document,
}

/// A finding with its weight. Offsets are those of the view until [`super::scan_and_queue`] maps them to the original.
#[derive(Debug)]
pub(super) struct RuleHit {
    pub(super) finding: Finding,
    pub(super) weight: RuleWeight,
}

impl RuleHit {
    pub(super) fn secret(rule: &'static str, severity: Severity, weight: RuleWeight, start: usize, end: usize) -> Self {
        RuleHit { finding: Finding { rule, concern: Concern::Secret, severity, start, end, intent: None }, weight }
    }

    pub(super) fn raw_log(start: usize, end: usize) -> Self {
        RuleHit {
            finding: Finding {
                rule: "raw_log",
                concern: Concern::RawLog,
                severity: Severity::Medium,
                start,
                end,
                intent: None,
            },
            weight: RuleWeight::Document,
        }
    }

    pub(super) fn order(
        rule: &'static str,
        severity: Severity,
        intent: &'static str,
        start: usize,
        end: usize,
    ) -> Self {
        RuleHit {
            finding: Finding { rule, concern: Concern::Injection, severity, start, end, intent: Some(intent) },
            weight: RuleWeight::Format,
        }
    }
}

/// Result of one pass: hits, texts decoded from runs, and disguises that the caller has to undo and scan.
#[derive(Default)]
pub(super) struct ScanReport {
    pub(super) hits: Vec<RuleHit>,
    pub(super) decoded: Vec<DecodedSpan>,
    pub(super) disguises: Vec<injection::Disguise>,
}

/// Scans a view with every rule.
pub(super) fn scan_view(view: &View) -> ScanReport {
    let text: &str = &view.text;
    let mut pass = ScanPass { text, bytes: text.as_bytes(), ..ScanPass::empty() };
    pass.visit_anchors();
    // Runs come after the anchors: they skip the exempt blocks and use the labels that the anchors found.
    let ScanPass { mut hits, exempt, labels, marks, orders, disguises, .. } = pass;
    marks.find_documents(text.as_bytes(), &mut hits);
    let mut decoded = Vec::new();
    random_runs::scan_runs(text, &KnownRanges { exempt: &exempt, labels: &labels }, &mut hits, &mut decoded);
    base85::decode_runs(text, &mut decoded);
    split_keys::join_split_keys(text, &mut decoded);
    orders.find_orders(text, &mut hits);
    ScanReport { hits, decoded, disguises }
}

struct ScanPass<'v> {
    text: &'v str,
    bytes: &'v [u8],
    anchors: &'static AnchorIndex,
    hits: Vec<RuleHit>,
    /// Spans of public blocks, ciphertext and documented keys, which are not judged as random runs.
    exempt: Vec<(usize, usize)>,
    /// Ends of the labels that name a secret.
    labels: Vec<usize>,
    /// End of the last label; further label words inside the same name are skipped.
    label_end: usize,
    marks: DocumentMarks,
    orders: OrderAnchors,
    disguises: Vec<injection::Disguise>,
    /// Token family and end of its last match: several shapes of one family report a token once.
    matched_until: Vec<(u16, usize)>,
    progress: ScanProgress,
}

impl<'v> ScanPass<'v> {
    fn empty() -> Self {
        ScanPass {
            text: "",
            bytes: b"",
            anchors: &ANCHOR_INDEX,
            hits: Vec::new(),
            exempt: Vec::new(),
            labels: Vec::new(),
            label_end: 0,
            marks: DocumentMarks::default(),
            orders: OrderAnchors::default(),
            disguises: Vec::new(),
            matched_until: Vec::new(),
            progress: ScanProgress::default(),
        }
    }

    fn visit_anchors(&mut self) {
        let anchors = self.anchors;
        anchors.words.find_all(self.bytes, |target, start, end| self.visit_anchor(target, start, end));
    }

    fn visit_anchor(&mut self, target: AnchorTarget, start: usize, end: usize) {
        match target {
            AnchorTarget::Shape(index) => self.match_shape(&self.anchors.token_shapes[usize::from(index)], start),
            AnchorTarget::Reversed(index) => self.match_reversed(&self.anchors.token_shapes[usize::from(index)], end),
            AnchorTarget::Pattern(index) => self.match_pattern(index, start, end),
            AnchorTarget::Label(claim) if start >= self.label_end => {
                let label = labelled_value::judge_label(self.text, claim, start, end, &mut self.hits);
                self.label_end = label.end;
                if label.telling {
                    self.labels.push(label.end);
                }
            }
            AnchorTarget::Label(_) => {}
            AnchorTarget::Address if start >= self.progress.address_until => {
                self.progress.address_until = url_password::scan_url(self.text, start, &mut self.hits)
            }
            AnchorTarget::Address => {}
            AnchorTarget::Pem => self.match_pem_block(start),
            AnchorTarget::Mark(DocumentMark::Ciphertext) => {
                let close = secret_documents::ciphertext_end(self.bytes, start, &mut self.progress.ciphertext_until);
                self.exempt.extend(close.map(|close| (start, close)));
            }
            AnchorTarget::Mark(mark) => self.marks.add_mark(mark, start, end),
            AnchorTarget::Order(index) => self.orders.add_anchor(self.text, index, start),
            AnchorTarget::Trigger => self.orders.add_trigger(self.text, start),
            AnchorTarget::Disguise(disguise) => {
                if !self.disguises.contains(&disguise) {
                    self.disguises.push(disguise);
                }
            }
        }
    }

    fn match_shape(&mut self, shape: &TokenShape, anchor: usize) {
        if self.matched_until.iter().any(|&(row, end)| row == shape.row && anchor < end) {
            return;
        }
        if shape.lead.1 == 0 && self.is_inside_word(shape, anchor) {
            return;
        }
        let end = self.bytes.len().min(anchor + TOKEN_BYTES_MAX);
        // Stitching is tried only where the shape does not match in place: a mask that matches stays a mask, whatever
        // the next line adds to it.
        let found = match shape.match_around(&self.bytes[..end], anchor) {
            Some((from, to)) => self.is_whole_token(shape, &self.bytes[from..to], to).then_some((from, to)),
            None => self.match_stitched(shape, anchor, end),
        };
        if let Some((from, to)) = found {
            self.matched_until.retain(|last| last.0 != shape.row);
            self.matched_until.push((shape.row, to));
            let weight = if shape.token.random { RuleWeight::Shape } else { RuleWeight::Format };
            self.hits.push(RuleHit::secret(shape.token.name, shape.token.severity, weight, from, to));
        }
    }

    /// Whether the anchor stands inside another word. For short anchors `_` and `-` continue a word too: `sk_` in
    /// `task_sk_`.
    fn is_inside_word(&self, shape: &TokenShape, anchor: usize) -> bool {
        let before = anchor.checked_sub(1).map(|at| self.bytes[at]);
        before.is_some_and(|byte| byte.is_ascii_alphanumeric() || shape.anchor_len <= 4 && matches!(byte, b'_' | b'-'))
    }

    fn is_whole_token(&self, shape: &TokenShape, token: &[u8], end: usize) -> bool {
        let longer = shape.token.exact && self.bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
        !longer && is_random_token(shape, token)
    }

    /// Span of a token that line breaks or string seams cut into pieces. The pieces are joined on the stack, with the
    /// offset of each byte, and matched again.
    fn match_stitched(&self, shape: &TokenShape, start: usize, end: usize) -> Option<(usize, usize)> {
        const STITCH_BYTES_MAX: usize = 400;
        // A shorter piece is the last one: wrapped lines are longer, and prose words are short.
        const PIECE_BYTES_MIN: usize = 4;
        // Joining goes forward only; a shape with its anchor in the middle would need it in both directions.
        if shape.lead.1 > 0 {
            return None;
        }
        let window = &self.bytes[start..end.min(start + STITCH_BYTES_MAX)];
        let solid =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'/' | b'=' | b'~');
        let mut text = [0; STITCH_BYTES_MAX];
        let mut sources = [0; STITCH_BYTES_MAX];
        let (mut at, mut size) = (0, 0);
        loop {
            let piece = window[at..].iter().take_while(|byte| solid(byte)).count();
            text[size..size + piece].copy_from_slice(&window[at..at + piece]);
            sources[size..size + piece].iter_mut().zip(at..).for_each(|(source, from)| *source = from);
            at += piece;
            size += piece;
            let gap = window[at..]
                .iter()
                .take(24)
                .take_while(|byte| {
                    matches!(
                        byte,
                        b'\n' | b'\r' | b' ' | b'\t' | b'\\' | b'>' | b'"' | b'\'' | b'+' | b'#' | b'/' | b'*'
                    )
                })
                .count();
            // A gap joins pieces where it breaks the line or looks like `" + "`; a plain space ends the token.
            let broken = window[at..at + gap].contains(&b'\n') || gap >= 3 && window[at..at + gap].contains(&b'"');
            if piece < PIECE_BYTES_MIN || !broken || at + gap >= window.len() {
                break;
            }
            at += gap;
        }
        // One piece without gaps: the caller tried that already.
        if at == size {
            return None;
        }
        let length = shape.match_prefix(&text[..size])?;
        let longer = size > length && shape.token.exact;
        let last: usize = *sources.get(length.checked_sub(1)?)?;
        (!longer && is_random_token(shape, &text[..length])).then_some((start, start + last + 1))
    }

    /// Matches a token written from right to left; its reversed anchor ends at `end`.
    fn match_reversed(&mut self, shape: &TokenShape, end: usize) {
        const BACKWARDS_BYTES_MAX: usize = 300;
        if self.bytes.get(end).is_some_and(u8::is_ascii_alphanumeric) {
            return;
        }
        let from = end.saturating_sub(BACKWARDS_BYTES_MAX);
        read_counter::record_read(end - from);
        let mut mirrored = [0; BACKWARDS_BYTES_MAX];
        let mirrored = &mut mirrored[..end - from];
        mirrored.copy_from_slice(&self.bytes[from..end]);
        mirrored.reverse();
        if let Some(length) = shape.match_prefix(mirrored).filter(|&length| is_random_token(shape, &mirrored[..length]))
        {
            self.hits.push(RuleHit::secret(
                shape.token.name,
                shape.token.severity,
                RuleWeight::Format,
                end - length,
                end,
            ));
        }
    }

    fn match_pattern(&mut self, index: u16, start: usize, end: usize) {
        let (pattern, regex) = self.anchors.compiled_pattern(index);
        // Patterns without a window before the anchor start with it, so a letter before the anchor makes it another
        // word.
        let glued =
            start > 0 && self.bytes[start - 1].is_ascii_alphanumeric() && self.bytes[start].is_ascii_alphanumeric();
        if pattern.window.0 == 0 && glued {
            return;
        }
        if !self.progress.may_try_pattern(index, start, pattern.window.1) {
            return;
        }
        let from = start.saturating_sub(pattern.window.0);
        let to = self.bytes.len().min(end + pattern.window.1);
        read_counter::record_read(to - from);
        let Some(captures) = regex.captures(&self.bytes[from..to]) else { return };
        // The first group that took part is the secret; a pattern without groups is a secret as a whole.
        let Some(found) = captures.iter().skip(1).flatten().next().or_else(|| captures.get(0)) else { return };
        if documented_keys::is_documented(found.as_bytes()) {
            self.exempt.push((from + found.start(), from + found.end()));
        } else if passes_check(pattern.check, found.as_bytes()) {
            self.hits.push(RuleHit::secret(
                pattern.name,
                pattern.severity,
                RuleWeight::Format,
                from + found.start(),
                from + found.end(),
            ));
        }
    }

    fn match_pem_block(&mut self, start: usize) {
        match secret_documents::read_pem_block(self.bytes, start) {
            PemBlock::Private(from, to) => {
                self.hits.push(RuleHit::secret("private_key", Severity::Critical, RuleWeight::Document, from, to))
            }
            PemBlock::Public(from, to) => self.exempt.push((from, to)),
            PemBlock::Mention => {}
        }
    }
}

/// Characters of a piece between symbols below which repetition proves no mask.
const MASK_CHARS_MIN: usize = 8;

/// Whether a token that has the right shape also has random content: no mask, no words, no key from documentation.
fn is_random_token(shape: &TokenShape, token: &[u8]) -> bool {
    let body = &token[shape.anchor_len.min(token.len())..];
    let stats = ValueStats::from_bytes(body);
    let has_masked_piece = body
        .split(|byte| !byte.is_ascii_alphanumeric())
        .any(|piece| piece.len() >= MASK_CHARS_MIN && ValueStats::from_bytes(piece).is_masked());
    // `secret-3f9a…`: a word and a commit or digest, the way container images are tagged.
    let is_commit_tag = shape.token.random
        && stats.is_hex()
        && matches!(stats.chars, 40 | 64)
        && token[..shape.anchor_len].ends_with(b"-");
    // Words with few digits: `hf_the_name_of_a_model`. Short bodies are too short to be judged by their words.
    let long_words = stats.is_wordy() && stats.lower > 0 && stats.chars >= 12 && stats.digits * 8 < stats.chars;
    !has_masked_piece
        && !is_commit_tag
        && (shape.lead.1 > 0 || !stats.is_masked())
        && !ValueStats::from_bytes(token).is_masked()
        && !long_words
        && (!shape.token.random || stats.is_random() || ValueStats::from_bytes(token).is_random() && shape.lead.1 > 0)
        && !documented_keys::is_documented(token)
}

fn passes_check(check: ValueCheck, value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value);
    match check {
        ValueCheck::None => true,
        ValueCheck::NotPlaceholder => !placeholder::is_placeholder(&text),
        ValueCheck::NotReadable => {
            let stats = ValueStats::from_bytes(value);
            !stats.is_wordy() && !stats.is_masked() && !placeholder::is_placeholder(&text)
        }
        ValueCheck::Random => ValueStats::from_bytes(value).is_random() && !placeholder::is_placeholder(&text),
        ValueCheck::Password => {
            let stats = ValueStats::from_bytes(value);
            let mixed =
                stats.digits > 0 && stats.letter_count() > 0 || stats.upper > 0 && stats.lower > 0 && stats.symbols > 0;
            (mixed || stats.is_random()) && !placeholder::is_placeholder(&text) && !text.contains("://")
        }
        ValueCheck::BasicPair => {
            encodings::decode_base64(value).and_then(encodings::bytes_to_text).is_some_and(|pair| {
                pair.split_once(':').is_some_and(|(name, password)| {
                    !password.is_empty() && name.len() + password.len() > 3 && !placeholder::is_placeholder(password)
                })
            })
        }
    }
}
