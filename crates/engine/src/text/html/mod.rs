//! HTML to Markdown: headings, lists, code and text, enough to cut a page along its headings. Hidden text is left out.
//!
//! A single pass over the tags, without a tree: broken pages give some text, and the work is linear.

mod char_entities;
mod hidden_elements;

use hidden_elements::HiddenElement;

/// Elements that end a paragraph.
const LINE_ELEMENTS: &[&str] = &[
    "p",
    "div",
    "br",
    "tr",
    "section",
    "article",
    "ul",
    "ol",
    "table",
    "blockquote",
    "pre",
    "main",
    "summary",
    "details",
];

/// A page as Markdown: headings as `#`, list items as `-` with indentation, `pre` as fenced code, images as their `alt`
/// text.
pub fn to_markdown(html: &str) -> String {
    let (mut page, mut rest, mut hidden) = (MarkdownWriter::with_capacity(html.len() / 2), html, None::<HiddenElement>);
    while let Some(at) = rest.find('<') {
        if hidden.is_none() {
            page.write_text(&rest[..at]);
        }
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("<!--") {
            rest = after.find("-->").map_or("", |end| &after[end + 3..]);
            continue;
        }
        if !is_tag_start(rest) {
            // A comparison such as `a < b`.
            if hidden.is_none() {
                page.write_text("<");
            }
            rest = &rest[1..];
            continue;
        }
        let end = tag_end(rest);
        let (tag, closing) = (&rest[..end], rest.starts_with("</"));
        let name = tag_name(tag);
        rest = &rest[end..];
        let within = hidden.as_mut().is_some_and(|hidden| hidden.is_open_after(&name, closing));
        if within {
            continue;
        }
        // The tag that ended the hidden element: a closing one belongs to it and is dropped too; an opening one (`<p>`
        // after a hidden `<p>`) starts the next element.
        let ended = hidden.take().is_some() && closing;
        hidden = HiddenElement::from_opening_tag(&name, tag).filter(|_| !closing);
        if hidden.is_none() && !ended {
            page.write_tag(&name, tag, closing);
        }
    }
    if hidden.is_none() {
        page.write_text(rest);
    }
    page.close_code_block();
    page.text
}

/// Content of the page's `<title>`, if it is not empty.
pub fn page_title(html: &str) -> Option<String> {
    // ASCII lower case keeps the length, so offsets in `lower` are offsets in `html`.
    let lower = html.to_ascii_lowercase();
    let start = lower.find("<title")?;
    let start = start + lower[start..].find('>')? + 1;
    let end = start + lower[start..].find("</title")?;
    let mut title = MarkdownWriter::with_capacity(end - start);
    title.write_text(html.get(start..end)?);
    Some(title.text.trim().to_owned()).filter(|title| !title.is_empty())
}

/// Whether the `<` opens a tag. As in browsers, only a letter, `/`, `!` or `?` after it makes one.
fn is_tag_start(text: &str) -> bool {
    text[1..].starts_with(|next: char| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?'))
}

/// End of the tag at the start of the text. A quoted value may hold a `>`; if no end is found within [`TAG_BYTES_MAX`],
/// the quote was a mistake and the first `>` ends the tag.
fn tag_end(text: &str) -> usize {
    let (mut quote, mut before) = (None, b' ');
    for (at, byte) in text.bytes().enumerate().take(TAG_BYTES_MAX) {
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') if before == b'=' => quote = Some(byte),
            (None, b'>') => return at + 1,
            (None, _) => {}
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
    }
    text.find('>').map_or(text.len(), |end| end + 1)
}

fn tag_name(tag: &str) -> String {
    let inner = tag.trim_start_matches('<').trim_start_matches('/');
    inner.chars().take_while(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// Value of a tag's attribute: `None` without the attribute, empty for one without a value (`<p hidden>`).
fn tag_attribute<'a>(tag: &'a str, wanted: &str) -> Option<&'a str> {
    let mut rest = tag.trim_end_matches('>').trim_end_matches('/').split_once(char::is_whitespace)?.1.trim_start();
    while !rest.is_empty() {
        let ends = |letter: char| letter == '=' || letter.is_whitespace();
        let (name, after) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
        let (value, after) = match after.trim_start().strip_prefix('=').map(str::trim_start) {
            None => ("", after),
            Some(text) => match text.chars().next().filter(|quote| matches!(quote, '"' | '\'')) {
                Some(quote) => text[1..].split_once(quote).unwrap_or((&text[1..], "")),
                None => text.split_once(char::is_whitespace).unwrap_or((text, "")),
            },
        };
        if name.eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
        rest = after.trim_start();
    }
    None
}

/// Markdown written so far.
struct MarkdownWriter {
    text: String,
    /// Depth of nested lists.
    lists: usize,
    /// Content of the open `pre`, whose white space is kept.
    code: Option<String>,
}

impl MarkdownWriter {
    fn with_capacity(bytes: usize) -> MarkdownWriter {
        MarkdownWriter { text: String::with_capacity(bytes), lists: 0, code: None }
    }

    fn write_tag(&mut self, name: &str, tag: &str, closing: bool) {
        match (name, &mut self.code) {
            ("img", _) if hidden_elements::is_hidden_tag(tag) => {}
            ("img", _) => self.write_text(&format!(" {} ", tag_attribute(tag, "alt").unwrap_or_default())),
            ("pre", None) if !closing => self.code = Some(String::new()),
            ("pre", Some(_)) if closing => self.close_code_block(),
            ("br", Some(code)) => code.push('\n'),
            (_, Some(_)) => {}
            (name, None) => self.write_prose_tag(name, closing),
        }
    }

    fn write_prose_tag(&mut self, name: &str, closing: bool) {
        let level = name.strip_prefix('h').and_then(|level| level.parse().ok()).filter(|level| (1..=6).contains(level));
        match (level, name) {
            (Some(level), _) if !closing => self.text.push_str(&format!("\n\n{} ", "#".repeat(level))),
            (Some(_), _) => self.text.push_str("\n\n"),
            (None, "li") if !closing => {
                let inner = self.lists.saturating_sub(1).min(LISTS_SHOWN_MAX);
                self.text.push_str(&format!("\n{}- ", "  ".repeat(inner)));
            }
            (None, "ul" | "ol") => {
                let outer = if closing { self.lists.saturating_sub(1) } else { self.lists };
                self.lists = if closing { outer } else { outer + 1 };
                // An inner list stays in the block of its item.
                self.text.push_str(if outer == 0 { "\n\n" } else { "" });
            }
            // `<li><p>`: the text stays on the line of the list mark.
            (None, "p" | "div") if self.text.ends_with("- ") => {}
            (None, "td" | "th") if closing => self.text.push_str(" | "),
            (None, name) if LINE_ELEMENTS.contains(&name) => self.text.push_str("\n\n"),
            _ => {}
        }
    }

    /// Writes text with its entities decoded and white space collapsed, as a browser shows it.
    fn write_text(&mut self, raw: &str) {
        let (decoded, text) = (char_entities::decode_entities(raw), &mut self.text);
        if let Some(code) = &mut self.code {
            return code.push_str(&decoded);
        }
        if decoded.starts_with(char::is_whitespace) && !text.is_empty() && !text.ends_with(char::is_whitespace) {
            text.push(' ');
        }
        text.push_str(&decoded.split_whitespace().collect::<Vec<_>>().join(" "));
        if decoded.ends_with(char::is_whitespace) && !decoded.trim().is_empty() {
            text.push(' ');
        }
    }

    fn close_code_block(&mut self) {
        let Some(code) = self.code.take().filter(|code| !code.trim().is_empty()) else { return };
        // The fence must be longer than any run of backticks in the code.
        let mut fence = "```".to_owned();
        while code.contains(&fence) {
            fence.push('`');
        }
        let code = code.trim_end();
        self.text.push_str(&format!("\n\n{fence}\n{}\n{fence}\n\n", code.strip_prefix('\n').unwrap_or(code)));
    }
}

/// Bytes of a tag that are searched for the end of a quoted value. Without the bound, a page of unclosed quotes would
/// be read once per tag.
const TAG_BYTES_MAX: usize = 1_024;
/// Levels of nested lists that are indented.
const LISTS_SHOWN_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn structure_stays_and_hidden_text_goes() {
        let page = "<html><head><title>A &amp; B</title></head><body><h1>Guide</h1>\
                    <p>Use <b>two</b>\n words &lt;here&gt;</p>\
                    <script>var h = '<p>no</p>'</script><!-- <p>no</p> --><ul><li>one<li>two</ul></body></html>";
        assert_eq!(page_title(page).as_deref(), Some("A & B"));
        let text = to_markdown(page);
        assert!(text.contains("# Guide") && text.contains("Use two words <here>"), "{text}");
        assert!(text.contains("- one") && text.contains("- two") && !text.contains("no"), "{text}");
    }

    #[test]
    fn code_and_lists_keep_their_shape() {
        let check = |page: &str, expected: &str| assert_eq!(to_markdown(page).trim(), expected, "{page}");
        check("<pre><code>if x:\n    <b>run</b>(&lt;it&gt;)\n</code></pre>", "```\nif x:\n    run(<it>)\n```");
        check("<pre>\na\n```\n# b</pre>after", "````\na\n```\n# b\n````\n\nafter");
        check("<pre>never closed\n  # x", "```\nnever closed\n  # x\n```");
        let nested = "<ul>\n<li>one\n <ul><li><p>inner</p></li></ul></li>\n<li>two</ul><p>after</p>";
        let lines: Vec<String> = to_markdown(nested).lines().map(|line| line.trim_end().to_owned()).collect();
        let said: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
        assert_eq!(said, ["- one", "  - inner", "- two", "after"]);
    }

    #[test]
    fn a_sign_is_no_tag_and_a_quoted_one_ends_none() {
        let check = |page: &str, expected: &str| assert_eq!(to_markdown(page).trim(), expected, "{page}");
        check("<p>if a < b then c > d done", "if a < b then c > d done");
        check("<p>x<5 and y>3, 1 <2 words> three", "x<5 and y>3, 1 <2 words> three");
        check("<p title=\"a > b\">attr</p>", "attr");
        check("<a href='x?a>b' id = \"c>\">link</a> end < unfinished", "link end < unfinished");
        check("<p title=\"never closed>text</p>", "text");
        check("<details><summary>more</summary>told", "more\n\ntold");
    }

    #[test]
    fn pictures_are_their_words_and_hidden_text_is_not_there() {
        let check = |page: &str, expected: &str| assert_eq!(to_markdown(page).trim(), expected, "{page}");
        check("<p>see<img src='a.png' alt=\"the &amp; plan\">here</p>", "see the & plan here");
        check("<p>see <img src=a.png> <img alt> here", "see here");
        check("<p>one <span hidden>two</span> three", "one three");
        check("<div style=\"color: red; Display : none !important\">one<div>two</div>three</div>four", "four");
        check("<p style='visibility:hidden'>one<p>two", "two");
        check("<div aria-hidden='true'>shown", "shown");
        check("<input hidden><img hidden alt=x>shown", "shown");
        check("<p title='hidden'>shown <b data-x='display:none'>too", "shown too");
        check("<script>if (a) { '<script>' }</script>after", "after");
    }

    proptest! {
        #[test]
        fn no_page_breaks_it(
            page in "(<[a-z/!-]{0,5}|<img( (alt|hidden)=?['\"]?)?|>|&[#a-z0-9]{0,6};?|[^<>]{0,9}){0,40}",
        ) {
            to_markdown(&page);
            page_title(&page);
        }
    }
}
