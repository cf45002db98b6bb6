//! Word lists: written as one string with commas, looked up by first byte. Faster than a hash set for a few hundred
//! short words, and also answers prefix questions.

/// The words of one list, grouped by their first byte in lower case.
pub(super) struct WordList {
    words: Vec<&'static str>,
    /// `starts[b]..starts[b + 1]` are the words that begin with byte `b`.
    starts: [u16; 257],
}

impl WordList {
    pub(super) fn new(text: &'static str) -> Self {
        let mut words: Vec<&'static str> = text.split(',').collect();
        words.sort_by_key(|word| first_byte_folded(word.as_bytes()));
        let mut starts = [0; 257];
        for word in &words {
            starts[usize::from(first_byte_folded(word.as_bytes())) + 1] += 1;
        }
        for byte in 0..256 {
            starts[byte + 1] += starts[byte];
        }
        WordList { words, starts }
    }

    /// The words with the first byte of this text, in either case.
    fn candidates(&self, text: &[u8]) -> &[&'static str] {
        match text.first() {
            None => &[],
            Some(_) => {
                let byte = usize::from(first_byte_folded(text));
                &self.words[usize::from(self.starts[byte])..usize::from(self.starts[byte + 1])]
            }
        }
    }

    /// Whether the text starts with one of the words. Case counts.
    pub(super) fn has_prefix_of(&self, text: &str) -> bool {
        self.candidates(text.as_bytes()).iter().any(|word| text.starts_with(word))
    }

    /// Whether the text is one of the words. ASCII case is ignored.
    pub(super) fn contains(&self, text: &str) -> bool {
        self.candidates(text.as_bytes()).iter().any(|word| text.eq_ignore_ascii_case(word))
    }

    /// The words that the text starts with. ASCII case is ignored.
    pub(super) fn prefixes_of(&self, text: &str) -> impl Iterator<Item = &'static str> {
        self.candidates(text.as_bytes()).iter().copied().filter(move |word| {
            text.as_bytes().get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
        })
    }

    /// Whether one of the words occurs anywhere in the text, also inside other words. Case counts.
    pub(super) fn occurs_in(&self, text: &str) -> bool {
        (0..text.len()).any(|at| {
            text.is_char_boundary(at)
                && self.candidates(&text.as_bytes()[at..]).iter().any(|word| text[at..].starts_with(word))
        })
    }
}

fn first_byte_folded(text: &[u8]) -> u8 {
    text.first().map_or(0, u8::to_ascii_lowercase)
}
