//! Lists of words that are written with commas between them and looked up by their first byte.

/// The words of one list, split once and grouped by first byte.
pub(super) struct WordList {
    words: Vec<&'static str>,
    /// Where the words that start with a byte begin; the next entry is where they end.
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

    /// The words that could stand at the start of this text, by their first byte in either case.
    fn candidates(&self, text: &[u8]) -> &[&'static str] {
        match text.first() {
            None => &[],
            Some(_) => {
                let byte = usize::from(first_byte_folded(text));
                &self.words[usize::from(self.starts[byte])..usize::from(self.starts[byte + 1])]
            }
        }
    }

    /// True when the text starts with one of the words.
    pub(super) fn has_prefix_of(&self, text: &str) -> bool {
        self.candidates(text.as_bytes()).iter().any(|word| text.starts_with(word))
    }

    /// True when the text, in any case, is one of the words.
    pub(super) fn contains(&self, text: &str) -> bool {
        self.candidates(text.as_bytes()).iter().any(|word| text.eq_ignore_ascii_case(word))
    }

    /// The words that the text starts with, in any case.
    pub(super) fn prefixes_of(&self, text: &str) -> impl Iterator<Item = &'static str> {
        self.candidates(text.as_bytes()).iter().copied().filter(move |word| {
            text.as_bytes().get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
        })
    }

    /// True when one of the words stands anywhere in the text.
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
