//! How many tokens a text costs a model: a deterministic estimate that errs on the side of too many.

/// Letters of one script that make a token, by how tokenizers of today split them.
const ASCII_LETTERS_PER_TOKEN: usize = 5;
const OTHER_LETTERS_PER_TOKEN: usize = 3;
const DIGITS_PER_TOKEN: usize = 3;
/// Emoji and other symbols outside the basic plane are spelt in bytes.
const TOKENS_PER_SYMBOL: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Ascii,
    Other,
    Digit,
    Space,
    Newline,
    Mark,
    Ideograph,
    Symbol,
}

/// Tokens of a text. Never far below what a byte-pair tokenizer counts; a budget kept by this is kept.
pub fn estimate(text: &str) -> usize {
    let mut tokens = 0;
    let mut run: Option<(Class, usize)> = None;
    for c in text.chars() {
        let class = classify(c);
        run = match run {
            Some((last, length)) if last == class => Some((class, length + 1)),
            other => {
                tokens += other.map_or(0, |(last, length)| cost(last, length));
                Some((class, 1))
            }
        };
    }
    tokens + run.map_or(0, |(last, length)| cost(last, length))
}

fn classify(c: char) -> Class {
    match c {
        'a'..='z' | 'A'..='Z' => Class::Ascii,
        '0'..='9' => Class::Digit,
        '\n' | '\r' => Class::Newline,
        c if c.is_whitespace() => Class::Space,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' => {
            Class::Ideograph
        }
        c if c.is_alphabetic() => Class::Other,
        c if c.is_ascii_punctuation() => Class::Mark,
        _ => Class::Symbol,
    }
}

fn cost(class: Class, length: usize) -> usize {
    match class {
        Class::Ascii => length.div_ceil(ASCII_LETTERS_PER_TOKEN),
        Class::Other => length.div_ceil(OTHER_LETTERS_PER_TOKEN),
        Class::Digit => length.div_ceil(DIGITS_PER_TOKEN),
        // One space belongs to the word after it.
        Class::Space => usize::from(length > 1),
        Class::Newline => 1,
        Class::Mark => length.div_ceil(2),
        Class::Ideograph => length,
        Class::Symbol => length * TOKENS_PER_SYMBOL,
    }
}

/// The longest head of a text that costs at most `tokens_max`, cut between characters.
pub fn head(text: &str, tokens_max: usize) -> &str {
    if estimate(text) <= tokens_max {
        return text;
    }
    // The cost of a head grows with its length, so the cut can be found by halving.
    let (mut fits, mut over) = (0, text.len());
    while over - fits > 1 {
        let middle = text.floor_char_boundary(fits + (over - fits) / 2);
        if middle <= fits {
            break;
        }
        match estimate(&text[..middle]) <= tokens_max {
            true => fits = middle,
            false => over = middle,
        }
    }
    &text[..fits]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_words_cost_about_what_they_should() {
        assert_eq!(estimate(""), 0);
        assert_eq!(estimate("hello world"), 2);
        assert!(estimate("日本語のテキスト") >= 6);
        assert!(estimate("🙂🙂") >= 4);
    }

    proptest! {
        #[test]
        fn a_head_keeps_its_bound(text in ".{0,200}", tokens_max in 0_usize..60) {
            let head = head(&text, tokens_max);
            prop_assert!(estimate(head) <= tokens_max);
            prop_assert!(text.starts_with(head));
        }

        #[test]
        fn a_joined_text_never_costs_more_than_its_parts_and_one(a in ".{0,80}", b in ".{0,80}") {
            let joined = format!("{a}{b}");
            prop_assert!(estimate(&joined) <= estimate(&a) + estimate(&b) + 1);
        }
    }
}
