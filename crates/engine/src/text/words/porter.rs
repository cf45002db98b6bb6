//! The English stemmer of the Snowball project ("Porter 2"), on bytes and without allocating: every word of every saved
//! text is stemmed. The steps and names are those of the published algorithm; a test in `stem` compares it with another
//! implementation.

/// Bytes of the longest word that is stemmed; no English word is longer.
pub(super) const WORD_BYTES_MAX: usize = 40;

/// A word being stemmed, in lower-case ASCII letters. A `y` that is a consonant is written `Y` until the end.
struct StemWord {
    bytes: [u8; WORD_BYTES_MAX],
    len: usize,
    /// Starts of the regions R1 and R2 of the algorithm; most endings are removed only inside one of them.
    r1: usize,
    r2: usize,
}

/// Buffer with the stem, and the stem's length; `None` for words that are too short or too long. Expects lower-case
/// ASCII letters.
pub(super) fn stem_english(word: &str) -> Option<([u8; WORD_BYTES_MAX], usize)> {
    let raw = word.as_bytes();
    if raw.len() > WORD_BYTES_MAX || raw.len() < 3 {
        return None;
    }
    let mut word = StemWord { bytes: [0; WORD_BYTES_MAX], len: raw.len(), r1: 0, r2: 0 };
    word.bytes[..raw.len()].copy_from_slice(raw);
    if let Some(stem) = irregular_stem(raw) {
        word.bytes[..stem.len()].copy_from_slice(stem);
        return Some((word.bytes, stem.len()));
    }
    word.mark_consonant_ys();
    word.find_regions();
    word.step_1a();
    if !((word.ends_with(b"ing") || word.ends_with(b"eed")) && NOT_STEMMED_FURTHER.contains(&word.as_bytes())) {
        word.step_1b();
        word.step_1c();
        word.step_2();
        word.step_3();
        word.step_4();
        word.step_5();
    }
    word.bytes[..word.len].make_ascii_lowercase();
    Some((word.bytes, word.len))
}

impl StemWord {
    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The length is a compile-time constant, so the comparison is a few instructions.
    fn ends_with<const N: usize>(&self, ending: &[u8; N]) -> bool {
        self.as_bytes().last_chunk() == Some(ending)
    }

    /// Replaces the last `old` bytes.
    fn replace_ending(&mut self, old: usize, new: &[u8]) {
        let start = self.len - old;
        self.bytes[start..start + new.len()].copy_from_slice(new);
        self.len = start + new.len();
    }

    fn mark_consonant_ys(&mut self) {
        if self.bytes[0] == b'y' {
            self.bytes[0] = b'Y';
        }
        for at in 1..self.len {
            if self.bytes[at] == b'y' && is_vowel(self.bytes[at - 1]) {
                self.bytes[at] = b'Y';
            }
        }
    }

    /// Sets R1 and R2. The listed prefixes are exceptions of the algorithm: `general` is not cut to `gener`.
    fn find_regions(&mut self) {
        let prefix =
            [&b"gener"[..], b"commun", b"arsen"].into_iter().find(|prefix| self.as_bytes().starts_with(prefix));
        self.r1 = prefix.map_or_else(|| self.region_after(0), <[u8]>::len);
        self.r2 = self.region_after(self.r1);
    }

    /// Offset after the first consonant that follows a vowel.
    fn region_after(&self, start: usize) -> usize {
        let text = self.as_bytes();
        (start + 1..self.len).find(|at| !is_vowel(text[*at]) && is_vowel(text[at - 1])).map_or(self.len, |at| at + 1)
    }

    fn in_r1(&self, ending: usize) -> bool {
        self.len - ending >= self.r1
    }

    fn in_r2(&self, ending: usize) -> bool {
        self.len - ending >= self.r2
    }

    fn has_vowel_before(&self, end: usize) -> bool {
        self.bytes[..end].iter().any(|letter| is_vowel(*letter))
    }

    fn ends_in_short_syllable(&self, end: usize) -> bool {
        let text = &self.bytes[..end];
        match text {
            [first, last] => is_vowel(*first) && !is_vowel(*last),
            [.., before, vowel, last] => {
                !is_vowel(*before) && is_vowel(*vowel) && !is_vowel(*last) && !matches!(last, b'w' | b'x' | b'Y')
            }
            _ => false,
        }
    }

    fn is_short(&self) -> bool {
        self.r1 >= self.len && self.ends_in_short_syllable(self.len)
    }

    /// Plurals: `crashes`, `ties`, `pods`.
    fn step_1a(&mut self) {
        if self.ends_with(b"sses") {
            self.replace_ending(2, b"");
        } else if self.ends_with(b"ied") || self.ends_with(b"ies") {
            self.replace_ending(3, if self.len > 4 { b"i" } else { b"ie" });
        } else if self.ends_with(b"s")
            && !self.ends_with(b"us")
            && !self.ends_with(b"ss")
            && self.has_vowel_before(self.len - 2)
        {
            self.len -= 1;
        }
    }

    /// Past and progressive: `crashed`, `hopping`.
    fn step_1b(&mut self) {
        for (found, length) in [(self.ends_with(b"eedly"), 5), (self.ends_with(b"eed"), 3)] {
            if found {
                if self.in_r1(length) {
                    self.replace_ending(length, b"ee");
                }
                return;
            }
        }
        let length = match () {
            () if self.ends_with(b"ingly") => 5,
            () if self.ends_with(b"edly") => 4,
            () if self.ends_with(b"ing") => 3,
            () if self.ends_with(b"ed") => 2,
            () => return,
        };
        if !self.has_vowel_before(self.len - length) {
            return;
        }
        self.len -= length;
        // Restores an `e` (`creat`, `hop` of `hoping`) or undoes a doubled consonant (`hopp`).
        if self.ends_with(b"at") || self.ends_with(b"bl") || self.ends_with(b"iz") {
            self.replace_ending(0, b"e");
        } else if let [.., one, other] = self.as_bytes()
            && one == other
            && matches!(one, b'b' | b'd' | b'f' | b'g' | b'm' | b'n' | b'p' | b'r' | b't')
        {
            self.len -= 1;
        } else if self.is_short() {
            self.replace_ending(0, b"e");
        }
    }

    fn step_1c(&mut self) {
        if self.len > 2 && matches!(self.bytes[self.len - 1], b'y' | b'Y') && !is_vowel(self.bytes[self.len - 2]) {
            self.bytes[self.len - 1] = b'i';
        }
    }

    fn step_2(&mut self) {
        if let Some((ending, new)) = longest_ending(self, STEP_2) {
            if self.in_r1(ending.len()) {
                self.replace_ending(ending.len(), new);
            }
        } else if self.ends_with(b"ogi") {
            if self.in_r1(3) && self.ends_with(b"logi") {
                self.len -= 1;
            }
        } else if self.ends_with(b"li")
            && self.in_r1(2)
            && self.len > 2
            && matches!(self.bytes[self.len - 3], b'c' | b'd' | b'e' | b'g' | b'h' | b'k' | b'm' | b'n' | b'r' | b't')
        {
            self.len -= 2;
        }
    }

    fn step_3(&mut self) {
        let Some((ending, new)) = longest_ending(self, STEP_3) else { return };
        if self.in_r1(ending.len()) && (ending != b"ative" || self.in_r2(ending.len())) {
            self.replace_ending(ending.len(), new);
        }
    }

    fn step_4(&mut self) {
        let Some((ending, _)) = longest_ending(self, STEP_4) else { return };
        if self.in_r2(ending.len()) && (ending != b"ion" || self.ends_with(b"sion") || self.ends_with(b"tion")) {
            self.len -= ending.len();
        }
    }

    fn step_5(&mut self) {
        let before = self.len.saturating_sub(1);
        if self.ends_with(b"e") {
            if self.in_r2(1) || (self.in_r1(1) && !self.ends_in_short_syllable(before)) {
                self.len -= 1;
            }
        } else if self.ends_with(b"ll") && self.in_r2(1) {
            self.len -= 1;
        }
    }
}

fn longest_ending(
    word: &StemWord,
    endings: &[(&'static [u8], &'static [u8])],
) -> Option<(&'static [u8], &'static [u8])> {
    let text = word.as_bytes();
    // Comparing the last letter first rejects most endings.
    endings.iter().find(|(ending, _)| ending.last() == text.last() && text.ends_with(ending)).copied()
}

fn is_vowel(letter: u8) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

// Endings with their replacements, longest first: the first that fits is taken.
const STEP_2: &[(&[u8], &[u8])] = &[
    (b"ational", b"ate"),
    (b"fulness", b"ful"),
    (b"iveness", b"ive"),
    (b"ization", b"ize"),
    (b"ousness", b"ous"),
    (b"biliti", b"ble"),
    (b"lessli", b"less"),
    (b"tional", b"tion"),
    (b"alism", b"al"),
    (b"aliti", b"al"),
    (b"ation", b"ate"),
    (b"entli", b"ent"),
    (b"fulli", b"ful"),
    (b"iviti", b"ive"),
    (b"ousli", b"ous"),
    (b"abli", b"able"),
    (b"alli", b"al"),
    (b"anci", b"ance"),
    (b"ator", b"ate"),
    (b"enci", b"ence"),
    (b"izer", b"ize"),
    (b"bli", b"ble"),
];

const STEP_3: &[(&[u8], &[u8])] = &[
    (b"ational", b"ate"),
    (b"tional", b"tion"),
    (b"alize", b"al"),
    (b"ative", b""),
    (b"icate", b"ic"),
    (b"iciti", b"ic"),
    (b"ical", b"ic"),
    (b"ness", b""),
    (b"ful", b""),
];

const STEP_4: &[(&[u8], &[u8])] = &[
    (b"ement", b""),
    (b"able", b""),
    (b"ance", b""),
    (b"ence", b""),
    (b"ible", b""),
    (b"ment", b""),
    (b"ant", b""),
    (b"ate", b""),
    (b"ent", b""),
    (b"ion", b""),
    (b"ism", b""),
    (b"iti", b""),
    (b"ive", b""),
    (b"ize", b""),
    (b"ous", b""),
    (b"al", b""),
    (b"er", b""),
    (b"ic", b""),
];

/// Words that stay as they are after step 1a.
const NOT_STEMMED_FURTHER: &[&[u8]] =
    &[b"inning", b"outing", b"canning", b"herring", b"earring", b"proceed", b"exceed", b"succeed"];

/// Stems of words for which the rules give a wrong one.
fn irregular_stem(word: &[u8]) -> Option<&'static [u8]> {
    let stem: &[u8] = match word {
        b"skis" => b"ski",
        b"skies" => b"sky",
        b"dying" => b"die",
        b"lying" => b"lie",
        b"tying" => b"tie",
        b"idly" => b"idl",
        b"gently" => b"gentl",
        b"ugly" => b"ugli",
        b"early" => b"earli",
        b"only" => b"onli",
        b"singly" => b"singl",
        b"sky" => b"sky",
        b"news" => b"news",
        b"howe" => b"howe",
        b"atlas" => b"atlas",
        b"cosmos" => b"cosmos",
        b"bias" => b"bias",
        b"andes" => b"andes",
        _ => return None,
    };
    Some(stem)
}
