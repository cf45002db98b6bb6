//! One hash map over all tables: every word of every saved text is looked up once instead of once per table.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::EntityKind;
use super::tables::{
    ENVIRONMENT_WORDS, ENVIRONMENTS, FLAGS, NAMESPACE_WORDS, NOT_NAMES, RESOURCE_WORDS, SERVICE_WORDS, SERVICES,
};

/// Everything the tables say about a word.
#[derive(Clone, Copy, Default)]
pub(super) struct WordSense {
    /// Kind of the value after this flag.
    pub(super) flag: Option<EntityKind>,
    pub(super) is_namespace: bool,
    pub(super) is_service: bool,
    pub(super) is_resource: bool,
    /// The word beside it is an environment.
    pub(super) is_environment: bool,
    /// Never a name.
    pub(super) is_no_name: bool,
    /// Canonical name of an environment, and whether the word alone is enough.
    pub(super) environment: Option<(&'static str, bool)>,
    /// Canonical name of well-known software.
    pub(super) software: Option<&'static str>,
}

impl WordSense {
    /// Whether the word names the kind of the word beside it.
    pub(super) fn is_kind_word(self) -> bool {
        self.is_namespace || self.is_service || self.is_resource
    }
}

static LEXICON: LazyLock<HashMap<&'static str, WordSense>> = LazyLock::new(|| {
    let mut lexicon: HashMap<&'static str, WordSense> = HashMap::new();
    let mut put = |word: &'static str, sense: fn(&mut WordSense)| sense(lexicon.entry(word).or_default());
    NAMESPACE_WORDS.iter().for_each(|word| put(word, |sense| sense.is_namespace = true));
    SERVICE_WORDS.iter().for_each(|word| put(word, |sense| sense.is_service = true));
    RESOURCE_WORDS.iter().for_each(|word| put(word, |sense| sense.is_resource = true));
    ENVIRONMENT_WORDS.iter().for_each(|word| put(word, |sense| sense.is_environment = true));
    NOT_NAMES.iter().for_each(|word| put(word, |sense| sense.is_no_name = true));
    for (word, kind) in FLAGS {
        lexicon.entry(word).or_default().flag = Some(*kind);
    }
    for (word, name, plain) in ENVIRONMENTS {
        lexicon.entry(word).or_default().environment = Some((name, *plain));
    }
    for (word, name) in SERVICES {
        lexicon.entry(word).or_default().software = Some(name);
    }
    lexicon
});

/// Bytes of the longest word of the tables; longer words are not hashed. A test compares it with the tables.
const WORD_BYTES_MAX: usize = 21;

pub(super) fn lookup_sense(word: &str) -> WordSense {
    if word.len() > WORD_BYTES_MAX {
        return WordSense::default();
    }
    LEXICON.get(word).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_is_longer_than_what_is_looked_up() {
        assert_eq!(LEXICON.keys().map(|word| word.len()).max(), Some(WORD_BYTES_MAX));
    }
}
