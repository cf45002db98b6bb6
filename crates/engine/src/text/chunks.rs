//! Chunker: cuts documents into pieces along their headings, never over [`CHUNK_TOKENS`], with a little overlap.

use crate::text::markdown::{self, MarkdownBlock};
use crate::text::token_estimate;

/// Tokens of a chunk, at most: small enough to show a model five of them, large enough to be understood alone.
pub const CHUNK_TOKENS: usize = 512;
/// Tokens repeated where a section continues in the next chunk, so that a sentence at the cut stays whole in one of
/// them.
pub const OVERLAP_TOKENS: usize = 50;
/// A heading starts a new chunk once the current one holds this many tokens; smaller sections share a chunk.
const SECTION_TOKENS_MIN: usize = 128;
/// Tokens intended for the headings above a chunk. One heading may take half of them.
const TRAIL_TOKENS_MAX: usize = 64;

/// A piece of a document with the headings above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Headings in force where the chunk starts, outermost first.
    pub trail: Vec<String>,
    pub text: String,
}

/// Format of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentFormat {
    Markdown,
    Text,
    Html,
}

impl DocumentFormat {
    /// Format by the file name's extension; `None` if it is not a known document.
    pub fn from_path(path: &str) -> Option<DocumentFormat> {
        match path.rsplit(['/', '\\']).next()?.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "md" | "markdown" => Some(DocumentFormat::Markdown),
            "txt" | "text" => Some(DocumentFormat::Text),
            "html" | "htm" => Some(DocumentFormat::Html),
            _ => None,
        }
    }
}

/// Cuts a Markdown text into chunks. Plain text is Markdown without headings.
pub fn chunk_markdown(text: &str) -> Vec<Chunk> {
    let text = markdown::normalise_whitespace(text);
    let mut chunker = Chunker::default();
    for block in markdown::parse_blocks(&text) {
        match block {
            MarkdownBlock::Heading(level, title) => chunker.add_heading(level, title),
            MarkdownBlock::Text(text) => chunker.add_block(text),
        }
    }
    // Level 0 closes all headings.
    chunker.close_headings(0);
    chunker.finish_chunk();
    chunker.chunks
}

#[derive(Default)]
struct Chunker {
    /// Finished chunks.
    chunks: Vec<Chunk>,
    /// Headings in force.
    trail: Vec<TrailHeading>,
    /// Headings in force where the current chunk began.
    start_trail: Vec<String>,
    /// Text of the current chunk.
    current: String,
    /// Separator between the repeated text and the next new text. `Some` while the current chunk holds nothing new.
    seam: Option<&'static str>,
}

struct TrailHeading {
    level: usize,
    title: String,
    /// Whether a chunk holds it, as text or in its trail.
    is_written: bool,
}

impl Chunker {
    fn add_heading(&mut self, level: usize, title: &str) {
        if token_estimate::estimate(&self.current) >= SECTION_TOKENS_MIN {
            self.finish_chunk();
        }
        self.close_headings(level);
        let short = token_estimate::truncate_to(title, TRAIL_TOKENS_MAX / 2).trim().to_owned();
        self.trail.push(TrailHeading { level, title: short.clone(), is_written: false });
        // Inside a chunk the heading stays in the text; at its start the trail holds it.
        if !self.current.is_empty() {
            self.append_text(&heading_line(level, &short));
        }
        // A title too long for the trail is kept in full as text.
        if short.len() < title.len() {
            self.add_block(title);
        }
    }

    /// Ends the headings of this level and below. A heading without text under it has not been written yet; it becomes
    /// text here, so that it is not lost.
    fn close_headings(&mut self, level: usize) {
        let ended = self.trail.iter().take_while(|heading| heading.level < level).count();
        let unwritten: Vec<String> = self.trail[ended..]
            .iter()
            .filter(|heading| !heading.is_written)
            .map(|heading| heading_line(heading.level, &heading.title))
            .collect();
        for heading in unwritten {
            self.append_text(&heading);
        }
        self.trail.truncate(ended);
    }

    fn heading_titles(&self) -> Vec<String> {
        self.trail.iter().map(|heading| heading.title.clone()).collect()
    }

    /// Adds a block. Fenced code that does not fit into one chunk is cut with its fences, everything else as prose.
    fn add_block(&mut self, text: &str) {
        match markdown::split_fenced_code(text).filter(|_| !fits_tokens(text, OWN_TOKENS_MAX)) {
            Some((open, code, close)) if fits_tokens(open, OVERLAP_TOKENS) => self.add_code(open, code, close),
            _ => self.add_prose(text),
        }
    }

    /// Adds code that is too long for a chunk: each piece gets the fences of the block. A short introduction before the
    /// block stays in the chunk of the first piece.
    fn add_code(&mut self, open: &str, code: &str, close: &str) {
        // Both fences and up to four line breaks.
        let fence = token_estimate::estimate(open) + token_estimate::estimate(close) + 4;
        let mut rest = code;
        if token_estimate::estimate(&self.current) >= SECTION_TOKENS_MIN {
            self.finish_chunk();
        }
        loop {
            let room = OWN_TOKENS_MAX.saturating_sub(fence + token_estimate::estimate(&self.current));
            let head = whole_lines(rest, room);
            self.append_text(&format!("{open}\n{}\n{close}", head.trim_matches('\n')));
            let after = &rest[head.len()..];
            if after.trim().is_empty() {
                return;
            }
            // A short piece is not repeated: the next one would hardly advance.
            let repeated =
                if fits_tokens(head, 2 * OVERLAP_TOKENS) { 0 } else { last_lines(head, OVERLAP_TOKENS).len() };
            rest = rest[head.len() - repeated..].trim_start_matches('\n');
            self.finish_chunk();
        }
    }

    fn add_prose(&mut self, text: &str) {
        let mut rest = text;
        while !rest.trim().is_empty() {
            rest = without_blank_lines(rest);
            // Two tokens are reserved for the separator.
            let room = CHUNK_TOKENS.saturating_sub(token_estimate::estimate(&self.current) + 2);
            if fits_tokens(rest, room) {
                return self.append_text(rest);
            }
            // A block that fits into a chunk of its own is not cut.
            if !self.current.is_empty() && fits_tokens(rest, OWN_TOKENS_MAX) {
                self.continue_section(BETWEEN_BLOCKS);
                continue;
            }
            let head = whole_lines(rest, room);
            if head.trim().is_empty() {
                self.continue_section(BETWEEN_BLOCKS);
                continue;
            }
            self.append_text(head);
            rest = &rest[head.len()..];
            // The white space at the cut separates the repeated text from the rest; inside a long word there is none.
            let seam = match rest.chars().next() {
                Some('\n') => "\n",
                Some(c) if c.is_whitespace() => " ",
                _ => "",
            };
            rest = rest.strip_prefix(char::is_whitespace).unwrap_or(rest);
            self.continue_section(seam);
        }
    }

    fn append_text(&mut self, text: &str) {
        if self.current.is_empty() {
            self.start_trail = self.heading_titles();
        } else {
            self.current.push_str(self.seam.unwrap_or(BETWEEN_BLOCKS));
        }
        self.seam = None;
        self.current.push_str(text.trim_end());
        self.trail.iter_mut().for_each(|heading| heading.is_written = true);
    }

    /// Finishes the chunk and starts the next one with its last lines or words.
    fn continue_section(&mut self, seam: &'static str) {
        let lines = last_lines(&self.current, OVERLAP_TOKENS);
        // Cut at a line end: whole lines are repeated or nothing, since half a table row means nothing.
        let tail = if lines.is_empty() && seam != "\n" { last_words(&self.current, OVERLAP_TOKENS) } else { lines };
        let tail = tail.to_owned();
        self.finish_chunk();
        self.start_trail = self.heading_titles();
        self.current = tail;
        self.seam = Some(seam);
    }

    fn finish_chunk(&mut self) {
        let text = std::mem::take(&mut self.current);
        let trail = std::mem::take(&mut self.start_trail);
        // A chunk that only repeats the one before is dropped.
        let repeats = self.seam.take().is_some();
        if !text.trim().is_empty() && !repeats {
            self.chunks.push(Chunk { trail, text: text.trim_end().to_owned() });
        }
    }
}

/// Separator of two blocks in a chunk.
const BETWEEN_BLOCKS: &str = "\n\n";
/// Tokens of new text that fit into a chunk after its repeated text and a separator.
const OWN_TOKENS_MAX: usize = CHUNK_TOKENS - OVERLAP_TOKENS - 2;

fn heading_line(level: usize, title: &str) -> String {
    format!("{} {title}", "#".repeat(level))
}

/// Whether a text costs at most `tokens_max`. Reads no further than the bound: the text may be a whole file.
fn fits_tokens(text: &str, tokens_max: usize) -> bool {
    token_estimate::truncate_to(text, tokens_max).len() == text.len()
}

/// The text without leading blank lines. The indentation of its first line stays.
fn without_blank_lines(text: &str) -> &str {
    let blank = text.len() - text.trim_start().len();
    &text[text[..blank].rfind('\n').map_or(0, |at| at + 1)..]
}

/// The longest head of whole lines within `tokens_max`. If the next line is too long for any chunk, the head ends at a
/// word of that line instead.
fn whole_lines(text: &str, tokens_max: usize) -> &str {
    let head = token_estimate::truncate_to(text, tokens_max);
    if head.len() == text.len() || text[head.len()..].starts_with('\n') {
        return head;
    }
    let end = head.rfind('\n').unwrap_or(0);
    let next_fits = || {
        let next = text[end..].trim_start_matches('\n').lines().next();
        next.is_none_or(|next| fits_tokens(next, OWN_TOKENS_MAX))
    };
    match !head[..end].trim().is_empty() && next_fits() {
        true => &head[..end],
        false => whole_words(head),
    }
}

/// The head up to its last white space; all of it if it is a single word.
fn whole_words(head: &str) -> &str {
    match head.rfind(char::is_whitespace) {
        Some(at) if !head[..at].trim().is_empty() => &head[..at],
        _ => head,
    }
}

/// The last whole lines of a text within `tokens_max`.
fn last_lines(text: &str, tokens_max: usize) -> &str {
    let starts = text.char_indices().rev().filter(|(_, c)| *c == '\n').map(|(at, _)| at + 1);
    starts
        .take_while(|at| fits_tokens(&text[*at..], tokens_max))
        .last()
        .map_or("", |at| text[at..].trim_start_matches('\n'))
}

/// The last words of a text within `tokens_max`.
fn last_words(text: &str, tokens_max: usize) -> &str {
    let starts = text
        .char_indices()
        .filter(|(at, c)| !c.is_whitespace() && (*at == 0 || text[..*at].ends_with(char::is_whitespace)));
    let starts: Vec<usize> = starts.map(|(at, _)| at).collect();
    starts.iter().rev().take_while(|at| fits_tokens(&text[**at..], tokens_max)).last().map_or("", |at| &text[*at..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn headings_are_kept_and_fences_are_not_torn_open() {
        let text = "# Guide\n\nintro words\n\n## Install\n\n```\n# not a heading\nrun it\n```\n\nafter\n";
        let chunks = chunk_markdown(text);
        assert_eq!(chunks.len(), 1);
        assert_eq!(chunks[0].trail, ["Guide"]);
        assert!(chunks[0].text.contains("## Install") && chunks[0].text.contains("# not a heading\nrun it"));
        let long = format!("# Guide\n\n{}\n\n## Install\n\nrun it\n", "several plain words here. ".repeat(60));
        let chunks = chunk_markdown(&long);
        assert_eq!(chunks.last().map(|chunk| chunk.trail.join(" > ")), Some("Guide > Install".to_owned()));
    }

    #[test]
    fn a_long_section_overlaps_where_it_is_cut() {
        let words: Vec<String> = (0..1_500).map(|number| format!("word{number}")).collect();
        let chunks = chunk_markdown(&format!("# One\n\n{}", words.join(" ")));
        assert!(chunks.len() > 2);
        for pair in chunks.windows(2) {
            let opening: Vec<&str> = pair[1].text.split_whitespace().take(3).collect();
            assert!(pair[0].text.contains(&opening.join(" ")), "the end is repeated");
            assert_eq!(pair[1].trail, ["One"]);
        }
        assert!(words.iter().all(|word| chunks.iter().any(|chunk| chunk.text.contains(word.as_str()))));
    }

    #[test]
    fn headings_alone_are_kept() {
        let check = |text: &str, expected: &[(&str, &str)]| {
            let chunks = chunk_markdown(text);
            let said: Vec<(String, &str)> = chunks.iter().map(|c| (c.trail.join(" > "), c.text.as_str())).collect();
            let expected: Vec<(String, &str)> =
                expected.iter().map(|(trail, text)| (trail.to_string(), *text)).collect();
            assert_eq!(said, expected, "{text:?}");
        };
        check("# One\n\n## Two\n", &[("One > Two", "# One\n\n## Two")]);
        check("# One\n\n# Two\n\nwords\n", &[("One", "# One\n\n# Two\n\nwords")]);
        check("# One\n\nwords\n\n# Two\n", &[("One", "words\n\n# Two")]);
        check("# One\n\n## Two\n\nwords\n", &[("One > Two", "words")]);
        check("\u{feff}", &[]);
        check("one\rtwo\r", &[("", "one\ntwo")]);
        check("# One\n\n    # code\n", &[("One", "    # code")]);
    }

    #[test]
    fn tables_and_lists_are_cut_between_their_lines() {
        let row = |number: usize| format!("| part {number} | {} |", "kept in the long shed ".repeat(3));
        let table: Vec<String> = (0..200).map(row).collect();
        let chunks = chunk_markdown(&table.join("\n"));
        assert!(chunks.len() > 3);
        for chunk in &chunks {
            assert!(chunk.text.lines().all(|line| table.iter().any(|row| row == line)), "{}", chunk.text);
        }
        assert!(table.iter().all(|row| chunks.iter().any(|chunk| chunk.text.contains(row.as_str()))));
        // A list of lines that are long themselves is not repeated by halves, and a line that fits nowhere is cut.
        let items: Vec<String> = (0..40).map(|n| format!("- item {n} {}", "of many words ".repeat(30))).collect();
        for chunk in chunk_markdown(&items.join("\n")) {
            assert!(
                chunk.text.lines().all(|line| items.iter().any(|item| item.trim_end() == line.trim_end())),
                "{}",
                chunk.text
            );
        }
        assert!(chunk_markdown(&format!("key:\n{}", "word ".repeat(2_000)))[0].text.starts_with("key:\nword word"));
    }

    #[test]
    fn code_too_long_for_a_chunk_stands_in_fences() {
        let lines: Vec<String> = (0..300).map(|n| format!("    step_{n}(with=\"some words\")")).collect();
        let chunks =
            chunk_markdown(&format!("# Run\n\nSo it goes:\n\n```python\n{}\n```\n\nand then\n", lines.join("\n")));
        assert!(chunks.len() > 3);
        assert!(chunks[0].text.starts_with("So it goes:\n\n```python\n    step_0("), "{}", chunks[0].text);
        for chunk in &chunks {
            assert_eq!(chunk.text.matches("```").count(), 2, "{}", chunk.text);
            assert!(chunk.text.contains("```python\n    step_"), "{}", chunk.text);
        }
        assert!(chunks.last().is_some_and(|chunk| chunk.text.ends_with("```\n\nand then")));
        assert!(lines.iter().all(|line| chunks.iter().any(|chunk| chunk.text.contains(line.as_str()))));
    }

    #[test]
    fn white_space_fills_no_chunk() {
        let far = chunk_markdown(&format!("alphaword{}betaword", " ".repeat(300_000)));
        assert!(far.len() == 1 && far[0].text.len() < 100 && far[0].text.ends_with("betaword"), "{far:?}");
        let deep: Vec<String> = (0..600).map(|n| format!("{}word{n}", "\t".repeat(2_000))).collect();
        for text in [deep.join("\n"), format!("```\n{}\n```", deep.join("\n")), deep.join(&"\n".repeat(500))] {
            let chunks = chunk_markdown(&text);
            assert!(chunks.iter().all(|chunk| chunk.text.len() < 40_000));
            assert!((0..600).all(|n| chunks.iter().any(|chunk| chunk.text.contains(&format!("word{n}")))));
        }
        // Two lines stay two.
        assert_eq!(chunk_markdown(&format!("one{}\n\ttwo", " ".repeat(200)))[0].text.lines().count(), 2);
    }

    #[test]
    fn a_heading_too_long_for_a_trail_is_text_too() {
        let title: String = (0..80).map(|number| format!("word{number} ")).collect();
        assert!(chunk_markdown(&format!("# {title}\n\nmore\n"))[0].text.contains("word79"));
    }

    #[test]
    fn a_name_says_the_format() {
        let check = |path: &str, expected: Option<DocumentFormat>| {
            assert_eq!(DocumentFormat::from_path(path), expected, "{path}")
        };
        check("guides/page.HTML", Some(DocumentFormat::Html));
        check("a.b/notes.txt", Some(DocumentFormat::Text));
        check("plan.md", Some(DocumentFormat::Markdown));
        check("a.html/plan", None);
        check("plan", None);
    }

    proptest! {
        #[test]
        fn no_chunk_is_over_the_size(
            text in concat!(
                "(# [a-z]{1,9}\n",
                "|\n~~~sh\n(([a-z =;]{0,90}\n){0,60}|[a-z一-龥]{0,900}\n)~~~\n\n",
                "|[a-zA-Z0-9 ]{0,400}\n|\n|[一-龥]{0,300}|[🚀🙂 ]{0,200}){0,12}",
            ),
        ) {
            for chunk in chunk_markdown(&text) {
                prop_assert!(
                    token_estimate::estimate(&chunk.text) <= CHUNK_TOKENS,
                    "{}",
                    token_estimate::estimate(&chunk.text),
                );
            }
        }
    }
}
