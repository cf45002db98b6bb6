//! What a page holds and nobody who looks at it sees.

use super::tag_attribute;

/// Elements whose content nobody reads.
const UNRENDERED_ELEMENTS: &[&str] = &["script", "style", "head", "nav", "template", "noscript", "svg"];
/// Elements that have no content to hide.
const VOID_ELEMENTS: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];
/// Elements that end where the next of their sort begins.
const AUTO_CLOSED_ELEMENTS: &[&str] = &["p", "li", "dt", "dd", "td", "th", "tr", "option"];

/// An element whose content is left out, and how many of its name are open within.
pub(super) struct HiddenElement {
    name: String,
    depth: usize,
}

impl HiddenElement {
    pub(super) fn from_opening_tag(name: &str, tag: &str) -> Option<HiddenElement> {
        let is_hidden = UNRENDERED_ELEMENTS.contains(&name) || !VOID_ELEMENTS.contains(&name) && is_hidden_tag(tag);
        is_hidden.then(|| HiddenElement { name: name.to_owned(), depth: 1 })
    }

    /// Whether what follows a tag is hidden still.
    pub(super) fn is_open_after(&mut self, name: &str, closing: bool) -> bool {
        if name != self.name {
            return true;
        }
        match closing {
            true => self.depth -= 1,
            false if AUTO_CLOSED_ELEMENTS.contains(&name) => self.depth = 0,
            // A script may write of scripts.
            false if UNRENDERED_ELEMENTS.contains(&name) => {}
            false => self.depth += 1,
        }
        self.depth > 0
    }
}

pub(super) fn is_hidden_tag(tag: &str) -> bool {
    let style = tag_attribute(tag, "style").unwrap_or_default();
    let hides = |rule: &str| {
        let (name, value) = rule.split_once(':').unwrap_or_default();
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim().to_ascii_lowercase());
        name == "display" && value.starts_with("none") || name == "visibility" && value.starts_with("hidden")
    };
    tag_attribute(tag, "hidden").is_some() || style.split(';').any(hides)
}
