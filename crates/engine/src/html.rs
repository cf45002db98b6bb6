//! HTML to Markdown: enough of its structure to cut it along its headings. What a page hides is left out.

/// Elements whose content nobody reads.
const UNREAD: &[&str] = &["script", "style", "head", "nav", "template", "noscript", "svg"];
/// Elements that end a line.
const LINES: &[&str] =
    &["p", "div", "br", "tr", "section", "article", "ul", "ol", "table", "blockquote", "pre", "main"];

/// The text of a page, headings as `#`, list items as `-`.
pub fn to_markdown(html: &str) -> String {
    let (mut text, mut rest, mut unread) = (String::with_capacity(html.len() / 2), html, None::<String>);
    while let Some(at) = rest.find('<') {
        if unread.is_none() {
            push_words(&mut text, &rest[..at]);
        }
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("<!--") {
            rest = after.find("-->").map_or("", |end| &after[end + 3..]);
            continue;
        }
        let end = rest.find('>').map_or(rest.len(), |end| end + 1);
        let (name, closing) = tag(&rest[..end]);
        rest = &rest[end..];
        match &unread {
            Some(until) if closing && *until == name => unread = None,
            Some(_) => {}
            None if !closing && UNREAD.contains(&name.as_str()) => unread = Some(name),
            None => mark(&mut text, &name, closing),
        }
    }
    if unread.is_none() {
        push_words(&mut text, rest);
    }
    text
}

/// The title of a page, where it has one.
pub fn title(html: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let start = lower.find("<title")?;
    let start = start + lower[start..].find('>')? + 1;
    let end = start + lower[start..].find("</title")?;
    let mut title = String::new();
    push_words(&mut title, html.get(start..end)?);
    Some(title.trim().to_owned()).filter(|title| !title.is_empty())
}

fn tag(text: &str) -> (String, bool) {
    let inner = text.trim_start_matches('<');
    let closing = inner.starts_with('/');
    let name = inner.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect::<String>();
    (name.to_ascii_lowercase(), closing)
}

fn mark(text: &mut String, name: &str, closing: bool) {
    let level = name.strip_prefix('h').and_then(|level| level.parse::<usize>().ok()).filter(|l| (1..=6).contains(l));
    match (level, name) {
        (Some(level), _) if !closing => text.push_str(&format!("\n\n{} ", "#".repeat(level))),
        (Some(_), _) => text.push_str("\n\n"),
        (None, "li") if !closing => text.push_str("\n- "),
        (None, "td" | "th") if closing => text.push_str(" | "),
        (None, name) if LINES.contains(&name) => text.push_str("\n\n"),
        _ => {}
    }
}

/// Words with their entities read and white space run together, as a browser shows them.
fn push_words(text: &mut String, raw: &str) {
    let decoded = entities(raw);
    if decoded.starts_with(char::is_whitespace) && !text.is_empty() && !text.ends_with(char::is_whitespace) {
        text.push(' ');
    }
    text.push_str(&decoded.split_whitespace().collect::<Vec<_>>().join(" "));
    if decoded.ends_with(char::is_whitespace) && !decoded.trim().is_empty() {
        text.push(' ');
    }
}

/// Longest name of an entity that is read; what is longer is text.
const ENTITY_BYTES_MAX: usize = 10;

fn entities(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find(';').filter(|end| *end <= ENTITY_BYTES_MAX);
        match end.and_then(|end| Some((end, entity(&rest[1..end])?))) {
            Some((end, c)) => {
                text.push(c);
                rest = &rest[end + 1..];
            }
            None => {
                text.push('&');
                rest = &rest[1..];
            }
        }
    }
    text + rest
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        "ndash" => Some('–'),
        "mdash" => Some('—'),
        "hellip" => Some('…'),
        name => {
            let number = name.strip_prefix('#')?;
            let hex = number.strip_prefix(['x', 'X']).map(|digits| u32::from_str_radix(digits, 16));
            char::from_u32(hex.unwrap_or_else(|| number.parse()).ok()?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn structure_stays_and_hidden_text_goes() {
        let page = "<html><head><title>A &amp; B</title></head><body><h1>Guide</h1><p>Use <b>two</b>\n words &lt;here&gt;</p>\
                    <script>var h = '<p>no</p>'</script><!-- <p>no</p> --><ul><li>one<li>two</ul></body></html>";
        assert_eq!(title(page).as_deref(), Some("A & B"));
        let text = to_markdown(page);
        assert!(text.contains("# Guide") && text.contains("Use two words <here>"), "{text}");
        assert!(text.contains("- one") && text.contains("- two") && !text.contains("no"), "{text}");
    }

    proptest! {
        #[test]
        fn no_page_breaks_it(page in "(<[a-z/!-]{0,5}|>|&[#a-z0-9]{0,6};?|[^<>]{0,9}){0,40}") {
            to_markdown(&page);
            title(&page);
        }
    }
}
