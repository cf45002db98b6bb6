//! Documents cut into pieces a model can be shown: along their headings, never over the size, with a little overlap.

use crate::tokens;

/// Tokens of a chunk (seed 001): small enough to show five, large enough to stand alone.
pub const CHUNK_TOKENS: usize = 512;
/// Tokens repeated where one section goes on in the next chunk, so that no sentence is lost at the seam.
pub const OVERLAP_TOKENS: usize = 50;
/// A heading starts a new chunk once the current one holds this much; smaller sections share one.
const SECTION_TOKENS_MIN: usize = 128;
/// Tokens of a chunk that its headings may take.
const TRAIL_TOKENS_MAX: usize = 64;

/// A piece of a document under its headings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The headings it stands under, outermost first.
    pub trail: Vec<String>,
    pub text: String,
}

/// What a document is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Markdown,
    Text,
    Html,
}

/// A stretch that belongs together: a heading, a paragraph, a list, a fenced block.
enum Block<'a> {
    Heading(usize, &'a str),
    Text(&'a str),
}

/// Cuts a Markdown text; plain text is Markdown without headings.
pub fn cut(text: &str) -> Vec<Chunk> {
    let mut cutter = Cutter::default();
    for block in blocks(text) {
        match block {
            Block::Heading(level, title) => cutter.heading(level, title),
            Block::Text(text) => cutter.text(text),
        }
    }
    cutter.finish();
    cutter.chunks
}

#[derive(Default)]
struct Cutter {
    chunks: Vec<Chunk>,
    /// Level and words of the headings in force.
    trail: Vec<(usize, String)>,
    /// The headings in force where the current chunk began.
    began: Vec<String>,
    current: String,
}

impl Cutter {
    fn heading(&mut self, level: usize, title: &str) {
        if tokens::estimate(&self.current) >= SECTION_TOKENS_MIN {
            self.finish();
        }
        self.trail.retain(|(above, _)| *above < level);
        let title = tokens::head(title.trim(), TRAIL_TOKENS_MAX / 2).trim().to_owned();
        self.trail.push((level, title.clone()));
        // Inside a chunk the heading stays where it stood; at its start the trail says it.
        if self.current.trim().is_empty() {
            self.began = self.names();
        } else {
            self.push(&format!("{} {title}", "#".repeat(level)));
        }
    }

    fn names(&self) -> Vec<String> {
        self.trail.iter().map(|(_, title)| title.clone()).collect()
    }

    fn text(&mut self, text: &str) {
        let mut rest = text;
        while !rest.trim().is_empty() {
            rest = without_blank_lines(rest);
            let room = CHUNK_TOKENS.saturating_sub(tokens::estimate(&self.current) + 2);
            if tokens::estimate(rest) <= room {
                return self.push(rest);
            }
            // A block that fits into a chunk of its own is not torn.
            if !self.current.is_empty() && tokens::estimate(rest) <= CHUNK_TOKENS - OVERLAP_TOKENS - 2 {
                self.go_on();
                continue;
            }
            let head = whole_words(rest, room);
            if head.trim().is_empty() {
                self.go_on();
                continue;
            }
            self.push(head);
            rest = &rest[head.len()..];
            self.go_on();
        }
    }

    fn push(&mut self, text: &str) {
        if self.current.is_empty() && self.began.is_empty() {
            self.began = self.names();
        }
        if !self.current.is_empty() {
            self.current.push_str("\n\n");
        }
        self.current.push_str(text.trim_end());
    }

    /// The section goes on in the next chunk, which repeats the end of this one.
    fn go_on(&mut self) {
        let tail = tail(&self.current, OVERLAP_TOKENS).trim().to_owned();
        self.finish();
        self.began = self.names();
        self.current = tail;
    }

    fn finish(&mut self) {
        let text = std::mem::take(&mut self.current);
        let trail = std::mem::take(&mut self.began);
        // What only repeats the chunk before says nothing new.
        let repeats = self.chunks.last().is_some_and(|last| last.text.ends_with(text.trim()));
        if !text.trim().is_empty() && !repeats {
            self.chunks.push(Chunk { trail, text: text.trim_end().to_owned() });
        }
    }
}

/// The text from its first line that says something; the indentation of that line stays.
fn without_blank_lines(text: &str) -> &str {
    let said = text.len() - text.trim_start().len();
    &text[text[..said].rfind('\n').map_or(0, |at| at + 1)..]
}

/// The longest head within the tokens that ends at white space, or inside a word that is too long itself.
fn whole_words(text: &str, tokens_max: usize) -> &str {
    let head = tokens::head(text, tokens_max);
    if head.len() == text.len() {
        return head;
    }
    match head.rfind(char::is_whitespace) {
        Some(at) if !head[..at].trim().is_empty() => &head[..at],
        _ => head,
    }
}

/// The last words of a text within the tokens.
fn tail(text: &str, tokens_max: usize) -> &str {
    let starts = text
        .char_indices()
        .filter(|(at, c)| !c.is_whitespace() && (*at == 0 || text[..*at].ends_with(char::is_whitespace)));
    let starts: Vec<usize> = starts.map(|(at, _)| at).collect();
    let fits = |at: &&usize| tokens::estimate(&text[**at..]) <= tokens_max;
    starts.iter().rev().take_while(fits).last().map_or("", |at| &text[*at..])
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let (mut blocks, mut start, mut fenced, mut at) = (Vec::new(), 0, false, 0);
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            fenced = !fenced;
        } else if let Some((level, title)) = heading(bare).filter(|_| !fenced) {
            blocks.push(Block::Text(&text[start..at]));
            blocks.push(Block::Heading(level, title));
            start = end;
        } else if bare.is_empty() && !fenced {
            blocks.push(Block::Text(&text[start..end]));
            start = end;
        }
        at = end;
    }
    blocks.push(Block::Text(&text[start..]));
    blocks.retain(|block| !matches!(block, Block::Text(text) if text.trim().is_empty()));
    blocks
}

/// `## Title`: its level and words.
fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line.get(level..)?.strip_prefix(' ')?.trim().trim_end_matches('#').trim();
    ((1..=6).contains(&level) && !title.is_empty()).then_some((level, title))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn headings_are_kept_and_fences_are_not_torn_open() {
        let text = "# Guide\n\nintro words\n\n## Install\n\n```\n# not a heading\nrun it\n```\n\nafter\n";
        let chunks = cut(text);
        assert_eq!(chunks.len(), 1);
        assert_eq!(chunks[0].trail, ["Guide"]);
        assert!(chunks[0].text.contains("## Install") && chunks[0].text.contains("# not a heading\nrun it"));
        let long = format!("# Guide\n\n{}\n\n## Install\n\nrun it\n", "several plain words here. ".repeat(60));
        let chunks = cut(&long);
        assert_eq!(chunks.last().map(|chunk| chunk.trail.join(" > ")), Some("Guide > Install".to_owned()));
    }

    #[test]
    fn a_long_section_overlaps_where_it_is_cut() {
        let words: Vec<String> = (0..1_500).map(|number| format!("word{number}")).collect();
        let chunks = cut(&format!("# One\n\n{}", words.join(" ")));
        assert!(chunks.len() > 2);
        for pair in chunks.windows(2) {
            let opening: Vec<&str> = pair[1].text.split_whitespace().take(3).collect();
            assert!(pair[0].text.contains(&opening.join(" ")), "the end is repeated");
            assert_eq!(pair[1].trail, ["One"]);
        }
        assert!(words.iter().all(|word| chunks.iter().any(|chunk| chunk.text.contains(word.as_str()))));
    }

    proptest! {
        #[test]
        fn no_chunk_is_over_the_size(text in "(# [a-z]{1,9}\n|[a-zA-Z0-9 ]{0,400}\n|\n|[一-龥]{0,300}|[🚀🙂 ]{0,200}){0,12}") {
            for chunk in cut(&text) {
                prop_assert!(tokens::estimate(&chunk.text) <= CHUNK_TOKENS, "{}", tokens::estimate(&chunk.text));
            }
        }
    }
}
