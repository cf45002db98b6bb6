//! Runs the rules over one view and gathers what they hit.
use super::automaton::{AUTOMATON, Automaton, Form, Target};
use super::entropy::{self, Decoded, Known};
use super::fit::TOKEN_BYTES_MAX;
use super::injection::{self, Orders};
use super::pace::Pace;
use super::pattern::Check;
use super::structure::{self, Armour, Mark, Marks};
use super::value::Look;
use super::view::View;
use super::{Concern, Finding, Severity, address, base85, context, cost, decode, documented, split, stand_in};

/// How telling a rule is: of overlapping hits the heaviest names the finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Weight {
    Entropy,
    Nearby,
    Context,
    /// A format with a short prefix, which a longer one may explain better.
    Shape,
    Format,
    Document,
}

/// A finding in a view's own offsets.
#[derive(Debug)]
pub(super) struct Hit {
    pub(super) finding: Finding,
    pub(super) weight: Weight,
}

impl Hit {
    pub(super) fn secret(rule: &'static str, severity: Severity, weight: Weight, start: usize, end: usize) -> Self {
        Hit { finding: Finding { rule, concern: Concern::Secret, severity, start, end, intent: None }, weight }
    }

    pub(super) fn raw_log(start: usize, end: usize) -> Self {
        Hit {
            finding: Finding {
                rule: "raw_log",
                concern: Concern::RawLog,
                severity: Severity::Medium,
                start,
                end,
                intent: None,
            },
            weight: Weight::Document,
        }
    }

    pub(super) fn order(
        rule: &'static str,
        severity: Severity,
        intent: &'static str,
        start: usize,
        end: usize,
    ) -> Self {
        Hit {
            finding: Finding { rule, concern: Concern::Injection, severity, start, end, intent: Some(intent) },
            weight: Weight::Format,
        }
    }
}

/// What one pass found: hits, texts hidden inside, and disguises that ask for another reading.
#[derive(Default)]
pub(super) struct Report {
    pub(super) hits: Vec<Hit>,
    pub(super) decoded: Vec<Decoded>,
    pub(super) disguises: Vec<injection::Disguise>,
}

/// Scans a view with every rule.
pub(super) fn scan(view: &View) -> Report {
    let text: &str = &view.text;
    let mut pass = Pass { text, bytes: text.as_bytes(), ..Pass::empty() };
    pass.run();
    let Pass { mut hits, exempt, labels, marks, orders, disguises, .. } = pass;
    marks.judge(text.as_bytes(), &mut hits);
    let mut decoded = Vec::new();
    entropy::walk(text, &Known { exempt: &exempt, labels: &labels }, &mut hits, &mut decoded);
    base85::walk(text, &mut decoded);
    split::walk(text, &mut decoded);
    orders.judge(text, &mut hits);
    Report { hits, decoded, disguises }
}

struct Pass<'v> {
    text: &'v str,
    bytes: &'v [u8],
    automaton: &'static Automaton,
    hits: Vec<Hit>,
    exempt: Vec<(usize, usize)>,
    labels: Vec<usize>,
    label_end: usize,
    marks: Marks,
    orders: Orders,
    disguises: Vec<injection::Disguise>,
    /// Where the last match of the token rows that matched ended, so that one token is reported once.
    done: Vec<(u16, usize)>,
    pace: Pace,
}

impl<'v> Pass<'v> {
    fn empty() -> Self {
        Pass {
            text: "",
            bytes: b"",
            automaton: &AUTOMATON,
            hits: Vec::new(),
            exempt: Vec::new(),
            labels: Vec::new(),
            label_end: 0,
            marks: Marks::default(),
            orders: Orders::default(),
            disguises: Vec::new(),
            done: Vec::new(),
            pace: Pace::default(),
        }
    }

    fn run(&mut self) {
        let automaton = self.automaton;
        automaton.words.find(self.bytes, |target, start, end| self.visit(target, start, end));
    }

    fn visit(&mut self, target: Target, start: usize, end: usize) {
        match target {
            Target::Shape(index) => self.shape(&self.automaton.forms[usize::from(index)], start),
            Target::Backwards(index) => self.backwards(&self.automaton.forms[usize::from(index)], end),
            Target::Pattern(index) => self.pattern(index, start, end),
            Target::Label(claim) if start >= self.label_end => {
                let label = context::judge(self.text, claim, start, end, &mut self.hits);
                self.label_end = label.end;
                if label.telling {
                    self.labels.push(label.end);
                }
            }
            Target::Label(_) => {}
            Target::Address if start >= self.pace.address => {
                self.pace.address = address::judge(self.text, start, &mut self.hits)
            }
            Target::Address => {}
            Target::Pem => self.armour(start),
            Target::Mark(Mark::Ciphertext) => {
                let close = structure::ciphertext_end(self.bytes, start, &mut self.pace.ciphertext);
                self.exempt.extend(close.map(|close| (start, close)));
            }
            Target::Mark(mark) => self.marks.add(mark, start, end),
            Target::Order(index) => self.orders.note(self.text, index, start),
            Target::Sentence => self.orders.note_sentence(self.text, start),
            Target::Disguise(disguise) => {
                if !self.disguises.contains(&disguise) {
                    self.disguises.push(disguise);
                }
            }
        }
    }

    fn shape(&mut self, form: &Form, anchor: usize) {
        if self.done.iter().any(|&(row, end)| row == form.row && anchor < end) {
            return;
        }
        if form.lead.1 == 0 && self.is_glued(form, anchor) {
            return;
        }
        let end = self.bytes.len().min(anchor + TOKEN_BYTES_MAX);
        // A whole token that is no secret does not become one by the next line.
        let found = match form.fit_around(&self.bytes[..end], anchor) {
            Some((from, to)) => self.is_token(form, &self.bytes[from..to], to).then_some((from, to)),
            None => self.stitched(form, anchor, end),
        };
        if let Some((from, to)) = found {
            self.done.retain(|done| done.0 != form.row);
            self.done.push((form.row, to));
            let weight = if form.token.random { Weight::Shape } else { Weight::Format };
            self.hits.push(Hit::secret(form.token.name, form.token.severity, weight, from, to));
        }
    }

    /// True when the anchor stands inside another word.
    fn is_glued(&self, form: &Form, anchor: usize) -> bool {
        let before = anchor.checked_sub(1).map(|at| self.bytes[at]);
        before.is_some_and(|byte| byte.is_ascii_alphanumeric() || form.anchor_len <= 4 && matches!(byte, b'_' | b'-'))
    }

    fn is_token(&self, form: &Form, token: &[u8], end: usize) -> bool {
        let longer = form.token.exact && self.bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
        !longer && is_drawn(form, token)
    }

    /// The token broken over lines or by a seam: the breaks are taken out and the pattern tried again.
    fn stitched(&self, form: &Form, start: usize, end: usize) -> Option<(usize, usize)> {
        const STITCH_BYTES_MAX: usize = 400;
        const PIECE_BYTES_MIN: usize = 4;
        if form.lead.1 > 0 {
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
            let broken = window[at..at + gap].contains(&b'\n') || gap >= 3 && window[at..at + gap].contains(&b'"');
            if piece < PIECE_BYTES_MIN || !broken || at + gap >= window.len() {
                break;
            }
            at += gap;
        }
        // In one piece it was tried already.
        if at == size {
            return None;
        }
        let length = form.fit(&text[..size])?;
        let longer = size > length && form.token.exact;
        let last: usize = *sources.get(length.checked_sub(1)?)?;
        (!longer && is_drawn(form, &text[..length])).then_some((start, start + last + 1))
    }

    /// The token written from right to left.
    fn backwards(&mut self, form: &Form, end: usize) {
        const BACKWARDS_BYTES_MAX: usize = 300;
        if self.bytes.get(end).is_some_and(u8::is_ascii_alphanumeric) {
            return;
        }
        let from = end.saturating_sub(BACKWARDS_BYTES_MAX);
        cost::read(end - from);
        let mut mirrored = [0; BACKWARDS_BYTES_MAX];
        let mirrored = &mut mirrored[..end - from];
        mirrored.copy_from_slice(&self.bytes[from..end]);
        mirrored.reverse();
        if let Some(length) = form.fit(mirrored).filter(|&length| is_drawn(form, &mirrored[..length])) {
            self.hits.push(Hit::secret(form.token.name, form.token.severity, Weight::Format, end - length, end));
        }
    }

    fn pattern(&mut self, index: u16, start: usize, end: usize) {
        let (pattern, regex) = self.automaton.pattern(index);
        let glued =
            start > 0 && self.bytes[start - 1].is_ascii_alphanumeric() && self.bytes[start].is_ascii_alphanumeric();
        if pattern.window.0 == 0 && glued {
            return;
        }
        if !self.pace.tries(index, start, pattern.window.1) {
            return;
        }
        let from = start.saturating_sub(pattern.window.0);
        let to = self.bytes.len().min(end + pattern.window.1);
        cost::read(to - from);
        let Some(captures) = regex.captures(&self.bytes[from..to]) else { return };
        let Some(found) = captures.iter().skip(1).flatten().next().or_else(|| captures.get(0)) else { return };
        if documented::is_documented(found.as_bytes()) {
            self.exempt.push((from + found.start(), from + found.end()));
        } else if passes(pattern.check, found.as_bytes()) {
            self.hits.push(Hit::secret(
                pattern.name,
                pattern.severity,
                Weight::Format,
                from + found.start(),
                from + found.end(),
            ));
        }
    }

    fn armour(&mut self, start: usize) {
        match structure::armour(self.bytes, start) {
            Armour::Private(from, to) => {
                self.hits.push(Hit::secret("private_key", Severity::Critical, Weight::Document, from, to))
            }
            Armour::Public(from, to) => self.exempt.push((from, to)),
            Armour::Mention => {}
        }
    }
}

/// A piece of this many characters can be told to be a mask.
const MASK_CHARS_MIN: usize = 8;

/// Not a mask, not words, not a literal from public documentation.
fn is_drawn(form: &Form, token: &[u8]) -> bool {
    let body = &token[form.anchor_len.min(token.len())..];
    let look = Look::at(body);
    let hollow = body
        .split(|byte| !byte.is_ascii_alphanumeric())
        .any(|piece| piece.len() >= MASK_CHARS_MIN && Look::at(piece).masked());
    // `secret-3f9a…`: a word and a commit, as images are tagged.
    let tagged =
        form.token.random && look.hex() && matches!(look.chars, 40 | 64) && token[..form.anchor_len].ends_with(b"-");
    let long_words = look.wordy() && look.lower > 0 && look.chars >= 12 && look.digits * 8 < look.chars;
    !hollow
        && !tagged
        && (form.lead.1 > 0 || !look.masked())
        && !Look::at(token).masked()
        && !long_words
        && (!form.token.random || look.random() || Look::at(token).random() && form.lead.1 > 0)
        && !documented::is_documented(token)
}

fn passes(check: Check, value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value);
    match check {
        Check::None => true,
        Check::Real => !stand_in::is_stand_in(&text),
        Check::Drawn => {
            let look = Look::at(value);
            !look.wordy() && !look.masked() && !stand_in::is_stand_in(&text)
        }
        Check::Random => Look::at(value).random() && !stand_in::is_stand_in(&text),
        Check::Password => {
            let look = Look::at(value);
            let mixed = look.digits > 0 && look.letters() > 0 || look.upper > 0 && look.lower > 0 && look.symbols > 0;
            (mixed || look.random()) && !stand_in::is_stand_in(&text) && !text.contains("://")
        }
        Check::BasicPair => decode::base64(value).and_then(decode::text).is_some_and(|pair| {
            pair.split_once(':').is_some_and(|(name, password)| {
                !password.is_empty() && name.len() + password.len() > 3 && !stand_in::is_stand_in(password)
            })
        }),
    }
}
