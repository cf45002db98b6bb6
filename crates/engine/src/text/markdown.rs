//! Blocks of a Markdown text: headings and the text between them. As much of CommonMark as chunking needs.

/// A heading, or a block of text such as a paragraph, a list or fenced code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkdownBlock<'a> {
    /// Level and title.
    Heading(usize, &'a str),
    Text(&'a str),
}

/// Columns that a line may be indented by; with more it is code or continues a list item.
const INDENT_MAX: usize = 3;
const TAB_COLUMNS: usize = 4;
/// Characters of a fence, at least.
const FENCE_MIN: usize = 3;
/// Characters of a heading's underline, at least. CommonMark allows one; two dashes are the signature mark of mails.
const UNDERLINE_MIN: usize = 3;

/// White space characters in a row that are kept: deeper than code is indented, wider than most columns.
const BLANKS_MAX: usize = 64;

/// The text with `\n` line ends, without a byte order mark, and with runs of white space cut to [`BLANKS_MAX`], so that
/// no chunk is filled with white space.
pub(crate) fn normalise_whitespace(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    let (mut plain, mut blanks, mut broken) = (String::with_capacity(text.len()), 0, true);
    for c in text.chars() {
        blanks = if c.is_whitespace() { blanks + 1 } else { 0 };
        // The first line end of a run is kept in any case: two lines must not become one.
        if blanks <= BLANKS_MAX || (c == '\n' && !broken) {
            plain.push(c);
        }
        broken = c == '\n' || broken && c.is_whitespace();
    }
    plain
}

/// Blocks of a text that went through [`normalise_whitespace`]. The fields of a front matter, except the title, become
/// text below the first heading.
pub(crate) fn parse_blocks(text: &str) -> Vec<MarkdownBlock<'_>> {
    let (front, body) = split_front_matter(text);
    let mut reader = BlockReader { text: body, ..BlockReader::default() };
    for line in body.split_inclusive('\n') {
        reader.read_line(line);
    }
    reader.close_block(body.len());
    let mut blocks = reader.blocks;
    let below = usize::from(matches!(blocks.first(), Some(MarkdownBlock::Heading(..))));
    let (before, after) = title_line(front).map_or((front, ""), |(from, to, _)| (&front[..from], &front[to..]));
    blocks.splice(
        below..below,
        [before, after].into_iter().filter(|text| !text.trim().is_empty()).map(MarkdownBlock::Text),
    );
    blocks
}

/// Title in the front matter of a text that went through [`normalise_whitespace`].
pub(crate) fn front_matter_title(text: &str) -> Option<&str> {
    title_line(split_front_matter(text).0).map(|(.., title)| title)
}

/// Front matter (between two lines of `---` at the very top) and the rest of the text.
fn split_front_matter(text: &str) -> (&str, &str) {
    let none = ("", text);
    let Some(rest) = text.strip_prefix("---").and_then(|rest| rest.trim_start_matches(' ').strip_prefix('\n')) else {
        return none;
    };
    // Two horizontal rules may enclose text too: front matter begins with a `key:`.
    let is_field = |line: &str| {
        let key = line.split_once(':').map_or("", |(key, _)| key);
        !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-".contains(c))
    };
    if !rest.lines().next().is_some_and(is_field) {
        return none;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            return (&rest[..at], &rest[at + line.len()..]);
        }
        at += line.len();
    }
    none
}

/// Start, end and value of the title line of a front matter.
fn title_line(front: &str) -> Option<(usize, usize, &str)> {
    let mut at = 0;
    for line in front.split_inclusive('\n') {
        if let Some(value) = line.strip_prefix("title:") {
            let title = value.trim().trim_matches(['"', '\'']).trim();
            // `|` and `>` open a YAML block scalar: a title over several lines is not read.
            return (!title.is_empty() && !title.starts_with(['|', '>'])).then_some((at, at + line.len(), title));
        }
        at += line.len();
    }
    None
}

#[derive(Default)]
struct BlockReader<'a> {
    text: &'a str,
    blocks: Vec<MarkdownBlock<'a>>,
    /// Start of the current block.
    start: usize,
    /// Start of the next line.
    at: usize,
    /// The fence that is open.
    fence: Option<Fence>,
    in_list: bool,
}

impl<'a> BlockReader<'a> {
    fn read_line(&mut self, line: &'a str) {
        let from = self.at;
        self.at += line.len();
        let (indent, bare) = (indent_columns(line), line.trim());
        if let Some(fence) = &self.fence {
            // A fence inside a list item also ends where a line without indentation ends the list.
            let (closed, left) = (fence.is_closed_by(bare), fence.in_list && indent == 0 && !bare.is_empty());
            if closed || left {
                self.fence = None;
            }
            if closed || !left {
                return;
            }
        }
        if bare.is_empty() {
            return self.close_block(self.at);
        }
        // Indented code may look like a heading or an underline. In a list the same indentation continues the item.
        let is_code = indent > INDENT_MAX;
        self.fence = Fence::opened_by(bare, self.in_list && indent > 0).filter(|_| !is_code || self.in_list);
        if self.fence.is_some() || is_code {
            return;
        }
        if let Some((level, title)) = parse_heading(bare) {
            self.close_block(from);
            return self.push_heading(level, title);
        }
        if let (Some(level), Some(title)) = (underline_level(bare), self.underlinable_line(from)) {
            return self.push_heading(level, title);
        }
        self.in_list = is_list_item(bare) || self.in_list && indent > 0;
    }

    fn push_heading(&mut self, level: usize, title: &'a str) {
        self.blocks.push(MarkdownBlock::Heading(level, title));
        self.start = self.at;
        self.in_list = false;
    }

    fn close_block(&mut self, to: usize) {
        let text = &self.text[self.start..to];
        if !text.trim().is_empty() {
            self.blocks.push(MarkdownBlock::Text(text));
        }
        self.start = to;
    }

    /// The block read so far, if it is a single line of words that an underline makes a heading.
    fn underlinable_line(&self, to: usize) -> Option<&'a str> {
        let line = self.text[self.start..to].strip_suffix('\n')?;
        let is_words =
            !line.contains('\n') && indent_columns(line) <= INDENT_MAX && line.contains(char::is_alphanumeric);
        let bare = line.trim();
        let is_other = self.in_list || is_list_item(bare) || bare.starts_with(['>', '|', '<']);
        (is_words && !is_other).then_some(bare)
    }
}

/// Opening line, code and closing line of a text that is one fenced block and nothing else.
pub(crate) fn split_fenced_code(text: &str) -> Option<(&str, &str, &str)> {
    let (open, rest) = text.trim_end().split_once('\n')?;
    let (code, close) = rest.rsplit_once('\n')?;
    let fence = Fence::opened_by(open.trim(), false)?;
    let inside = code.lines().any(|line| fence.is_closed_by(line.trim()));
    (fence.is_closed_by(close.trim()) && !inside).then_some((open, code, close))
}

/// Opening of a fenced block.
struct Fence {
    mark: char,
    length: usize,
    in_list: bool,
}

impl Fence {
    fn opened_by(bare: &str, in_list: bool) -> Option<Fence> {
        let mark = bare.chars().next().filter(|mark| "`~".contains(*mark))?;
        let length = bare.chars().take_while(|c| *c == mark).count();
        // Inline code (```` ```x``` ````) has backticks on both sides.
        let is_inline = mark == '`' && bare[length..].contains('`');
        (length >= FENCE_MIN && !is_inline).then_some(Fence { mark, length, in_list })
    }

    fn is_closed_by(&self, bare: &str) -> bool {
        bare.len() >= self.length && bare.chars().all(|c| c == self.mark)
    }
}

/// Columns of white space at the start of a line; a tab advances to the next multiple of four.
fn indent_columns(line: &str) -> usize {
    let space = line.chars().take_while(|c| matches!(c, ' ' | '\t'));
    space.fold(0, |at, c| if c == '\t' { at / TAB_COLUMNS * TAB_COLUMNS + TAB_COLUMNS } else { at + 1 })
}

/// Level and title of `## Title`.
fn parse_heading(bare: &str) -> Option<(usize, &str)> {
    let level = bare.bytes().take_while(|byte| *byte == b'#').count();
    let title = bare.get(level..)?.strip_prefix([' ', '\t'])?.trim();
    let opened = title.trim_end_matches('#');
    // A closing `##` is dropped only after white space: in `# About C#` it belongs to the title.
    let title = if opened.is_empty() || opened.ends_with([' ', '\t']) { opened.trim_end() } else { title };
    ((1..=6).contains(&level) && !title.is_empty()).then_some((level, title))
}

/// Level of the heading that `====` or `----` underlines.
fn underline_level(bare: &str) -> Option<usize> {
    let all = |mark| bare.len() >= UNDERLINE_MIN && bare.chars().all(|c| c == mark);
    if all('=') { Some(1) } else { all('-').then_some(2) }
}

/// Whether the line is a list item: `- one`, `* one`, `1. one`.
fn is_list_item(bare: &str) -> bool {
    let after = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let mark = after.starts_with(if after.len() < bare.len() { &['.', ')'][..] } else { &['-', '*', '+'][..] });
    mark && after[1..].chars().next().is_none_or(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Headings as `1:Title`, other blocks by their first line.
    fn read(text: &str) -> Vec<String> {
        let said = |block: &MarkdownBlock<'_>| match block {
            MarkdownBlock::Heading(level, title) => format!("{level}:{title}"),
            MarkdownBlock::Text(text) => text.lines().next().unwrap_or_default().to_owned(),
        };
        parse_blocks(&normalise_whitespace(text)).iter().map(said).collect()
    }

    #[test]
    fn headings_are_what_a_page_shows_as_headings() {
        let check = |text: &str, expected: &[&str]| assert_eq!(read(text), expected, "{text:?}");
        check("\u{feff}# One\n\nwords\n", &["1:One", "words"]);
        check("# One\r\rwords\r## Two\r", &["1:One", "words", "2:Two"]);
        check("   # One ##\n\n#\tTwo\n", &["1:One", "1:Two"]);
        check("# About C#\n", &["1:About C#"]);
        check("#hashtag\n\n####### seven\n\n#\n", &["#hashtag", "####### seven", "#"]);
        check("One\n===\n\nTwo\n---\nwords\n", &["1:One", "2:Two", "words"]);
        check("words\n\n---\n\nmore\n", &["words", "---", "more"]);
        check("- item\n---\n\n> said\n---\n", &["- item", "> said"]);
        check("two lines\nof words\n---\n", &["two lines"]);
        check("words\n-- \nAnn\n", &["words"]);
        check("words\n\n    # code\n\n\t# code\n", &["words", "    # code", "\t# code"]);
        check("````\n```\n# not\n```\n\n# not\n````\n\n# One\n", &["````", "1:One"]);
        check("~~~\n```\n# not\n~~~\n# One\n", &["~~~", "1:One"]);
        check("```sh\n# not\n```sh\n# not\n```\n# One\n", &["```sh", "1:One"]);
        check("```code``` in words\n# One\n", &["```code``` in words", "1:One"]);
        check("- item\n\n    ```\n    # not\n    ```\n# One\n", &["- item", "    ```", "1:One"]);
        check("- item\n  ```\n  # not\n\n# One\n", &["- item", "1:One"]);
    }

    #[test]
    fn a_front_matter_gives_the_title_and_is_text_below_it() {
        let text = "---\nlayout: page\ntitle: \"Cranes\"\ntags: [a]\n---\n# Lifting\n\nwords\n";
        assert_eq!(front_matter_title(text), Some("Cranes"));
        assert_eq!(read(text), ["1:Lifting", "layout: page", "tags: [a]", "words"]);
        for other in ["---\nwords\n---\n", "---\ntitle: Cranes\n", "words\n---\ntitle: Cranes\n---\n", "---\n"] {
            assert_eq!(front_matter_title(other), None, "{other:?}");
        }
    }

    proptest! {
        #[test]
        fn no_words_are_lost(text in "(---\n|===\n|```\n|#+ |title: |- |    |[a-z]{1,4}[ \n]|\n|\r){0,30}") {
            let text = normalise_whitespace(&text);
            let said: String = parse_blocks(&text).iter().map(|block| match block {
                MarkdownBlock::Heading(_, text) | MarkdownBlock::Text(text) => *text,
            }).chain(front_matter_title(&text)).collect();
            let letters = |text: &str| {
                let mut letters: Vec<char> = text.chars().filter(char::is_ascii_lowercase).collect();
                letters.sort_unstable();
                letters
            };
            let without = text.replacen("title:", "", usize::from(front_matter_title(&text).is_some()));
            prop_assert_eq!(letters(&said), letters(&without));
        }
    }
}
