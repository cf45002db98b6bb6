//! Title and path of a text that comes without them.

use unicode_normalization::UnicodeNormalization as _;

/// Longest title, in characters.
const TITLE_CHARS_MAX: usize = 80;
/// Longest path, in characters.
const PATH_CHARS_MAX: usize = 60;

/// The first line that says something, without Markdown marks, cut at a word. Empty where no line does.
pub fn title_of(text: &str) -> String {
    let line = text.lines().map(strip_marks).find(|line| line.chars().any(char::is_alphanumeric)).unwrap_or_default();
    cut_at_word(line, TITLE_CHARS_MAX, ' ')
}

/// A path of one segment: the words of the title in lower case, joined by hyphens. `None` where it has no words.
pub fn path_of(title: &str) -> Option<String> {
    let lower: String = title.nfkc().collect::<String>().to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let path = cut_at_word(&words.collect::<Vec<_>>().join("-"), PATH_CHARS_MAX, '-');
    (!path.is_empty()).then_some(path)
}

/// A line without the marks of headings, quotes and list items.
fn strip_marks(line: &str) -> &str {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '#' | '>' | '*' | '-' | '+' | '`'));
    line.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '#' | '*' | '`' | ':'))
}

/// At most so many characters, ending with a whole word where there is one.
fn cut_at_word(text: &str, chars_max: usize, separator: char) -> String {
    let Some((end, _)) = text.char_indices().nth(chars_max) else { return text.to_owned() };
    // The text goes on behind `end`: its last word may be cut.
    let cut = &text[..end];
    let whole = cut.rsplit_once(separator).map_or(cut, |(whole, _)| whole);
    whole.trim_end_matches(|c: char| !c.is_alphanumeric()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_that_says_something() {
        for (text, title, path) in [
            ("\n---\n## Deploys: need `FOO=1`\nbody", "Deploys: need `FOO=1", Some("deploys-need-foo-1")),
            ("- run **make ship** first", "run **make ship** first", Some("run-make-ship-first")),
            ("構成は dev.toml を読む", "構成は dev.toml を読む", Some("構成は-dev-toml-を読む")),
            ("Straße nach Köln", "Straße nach Köln", Some("straße-nach-köln")),
            ("***\n!!!", "", None),
            ("", "", None),
        ] {
            let found = title_of(text);
            assert_eq!((found.as_str(), path_of(&found).as_deref()), (title, path), "{text}");
        }
        let long = title_of(&"word ".repeat(50));
        assert!(long.chars().count() <= TITLE_CHARS_MAX && long.ends_with("word"), "{long}");
        let path = path_of(&long).expect("a path");
        assert!(path.chars().count() <= PATH_CHARS_MAX && path.ends_with("word"), "{path}");
        assert_eq!(title_of(&"x".repeat(200)).chars().count(), TITLE_CHARS_MAX);
    }
}
