//! What of a text may be kept or searched for: no private parts, no recalled memories, no secrets, not too long.

use engine::safety;

/// Tags whose parts are dropped with what they hold: what the person marked as private, and what clients and hooks
/// put around a prompt.
const DROPPED_TAGS: &[&str] = &[
    "private",
    "system-reminder",
    "hook_context",
    "environment_context",
    "user_instructions",
    "session_context",
    "local-command-stdout",
    "local-command-caveat",
    "command-name",
    "command-message",
    "command-args",
];
/// Tags that are dropped while what they hold stays.
const UNWRAPPED_TAGS: &[&str] = &["user_query"];
/// Names of our own blocks, after the prefix of the tags.
const OWN_BLOCKS: &[&str] = &["memory_context", "untrusted_memory_candidates", "untrusted_conversation_summary"];

/// Before the scan a text is cut to this many times its final size: a secret at the cut is beyond the final one.
const SCANNED_SHARE: usize = 4;
const CUT_MARK: &str = " […]";

/// A text as it may be kept.
pub fn keepable_text(text: &str, tag_prefix: &str, bytes_max: usize) -> String {
    let text = visible_text(cut_to(text, bytes_max.saturating_mul(SCANNED_SHARE)), tag_prefix);
    let text = safety::redact_secrets(&text, &safety::inspect(&text));
    match text.len() > bytes_max {
        true => format!("{}{CUT_MARK}", cut_to(&text, bytes_max).trim_end()),
        false => text,
    }
}

/// A text without its private parts, recalled memories and what the client added.
pub fn visible_text(text: &str, tag_prefix: &str) -> String {
    // Most texts have no tags at all.
    if !text.contains('<') {
        return text.trim().to_owned();
    }
    let mut text = text.to_owned();
    for tag in DROPPED_TAGS {
        text = drop_tag(&text, tag);
    }
    for block in OWN_BLOCKS {
        text = drop_tag(&text, &format!("{tag_prefix}_{block}"));
    }
    for tag in UNWRAPPED_TAGS {
        text = text.replace(&format!("<{tag}>"), "").replace(&format!("</{tag}>"), "");
    }
    text.trim().to_owned()
}

/// Drops the parts between a tag and its end, which may hold such parts themselves. One without an end goes to the end
/// of the text: rather too little is kept than something private.
fn drop_tag(text: &str, tag: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let (open, close) = (format!("<{tag}"), format!("</{tag}"));
    let (mut kept, mut at, mut depth) = (String::with_capacity(text.len()), 0, 0_usize);
    while let Some(next) = lower[at..].find('<').map(|found| at + found) {
        let rest = &lower[next..];
        let is = |name: &str| {
            rest.strip_prefix(name).is_some_and(|rest| rest.starts_with(['>', '/', ' ', '\t', '\r', '\n']))
        };
        let (opens, closes) = (is(&open), is(&close));
        if depth == 0 {
            kept.push_str(&text[at..next]);
        }
        let after = match opens || closes {
            true => rest.find('>').map_or(text.len(), |end| next + end + 1),
            false => next + 1,
        };
        if depth == 0 && !opens && !closes {
            kept.push('<');
        }
        depth = if opens { depth + 1 } else { depth.saturating_sub(usize::from(closes)) };
        at = after;
    }
    if depth == 0 {
        kept.push_str(&text[at..]);
    }
    kept
}

fn cut_to(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_parts_and_recalled_blocks_are_dropped() {
        let check = |text: &str, expected: &str| assert_eq!(visible_text(text, "ingrain"), expected, "{text}");
        check("plain", "plain");
        check("a < b and x<y>z", "a < b and x<y>z");
        check("one <private>two</private> three", "one  three");
        check("one <PRIVATE reason=\"x\">two</Private> three", "one  three");
        check("one <private>a<private>b</private>c</private> three", "one  three");
        check("one <private>two", "one");
        check("one</private> two", "one two");
        check("<privateer>stays</privateer>", "<privateer>stays</privateer>");
        check("<hook_context>x</hook_context>\n\nask", "ask");
        check("<user_query>\nask\n</user_query>", "ask");
        check("a <ingrain_memory_context>\nm\n</ingrain_memory_context> b", "a  b");
        check("ü<private>ß</private>ö", "üö");
    }

    #[test]
    fn kept_texts_have_no_secrets_and_are_cut() {
        let key = format!("{}{}", "AKIA", "Q3ZT7WGLB5XKPN2M");
        let kept = keepable_text(&format!("the key is {key}, keep it"), "ingrain", 1_000);
        assert!(!kept.contains(&key) && kept.contains("REDACTED"), "{kept}");
        // A secret at the cut is not kept in half.
        let kept = keepable_text(&format!("{} {key} {}", "word ".repeat(18), "word ".repeat(500)), "ingrain", 100);
        assert!(!kept.contains("AKIA") && kept.ends_with(CUT_MARK), "{kept}");
        assert!(kept.len() <= 100 + CUT_MARK.len());
        assert_eq!(keepable_text("üüü", "ingrain", 5), "üü […]");
    }
}
