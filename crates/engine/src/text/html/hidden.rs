//! What a page holds and nobody who looks at it sees.

use super::attribute;

/// Elements whose content nobody reads.
const UNREAD: &[&str] = &["script", "style", "head", "nav", "template", "noscript", "svg"];
/// Elements that have no content to hide.
const EMPTY: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];
/// Elements that end where the next of their sort begins.
const OPEN: &[&str] = &["p", "li", "dt", "dd", "td", "th", "tr", "option"];

/// An element whose content is left out, and how many of its name are open within.
pub(super) struct Hidden {
    name: String,
    depth: usize,
}

impl Hidden {
    pub(super) fn begun_by(name: &str, tag: &str) -> Option<Hidden> {
        let hides = UNREAD.contains(&name) || !EMPTY.contains(&name) && is_hidden(tag);
        hides.then(|| Hidden { name: name.to_owned(), depth: 1 })
    }

    /// Whether what follows a tag is hidden still.
    pub(super) fn goes_on(&mut self, name: &str, closing: bool) -> bool {
        if name != self.name {
            return true;
        }
        match closing {
            true => self.depth -= 1,
            false if OPEN.contains(&name) => self.depth = 0,
            // A script may write of scripts.
            false if UNREAD.contains(&name) => {}
            false => self.depth += 1,
        }
        self.depth > 0
    }
}

pub(super) fn is_hidden(tag: &str) -> bool {
    let style = attribute(tag, "style").unwrap_or_default();
    let says = |rule: &str| {
        let (name, value) = rule.split_once(':').unwrap_or_default();
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim().to_ascii_lowercase());
        name == "display" && value.starts_with("none") || name == "visibility" && value.starts_with("hidden")
    };
    attribute(tag, "hidden").is_some() || style.split(';').any(says)
}
