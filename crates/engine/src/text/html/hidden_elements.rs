//! Elements of a page that a browser does not show: scripts, navigation, and what `hidden` or inline styles hide.
//! Style sheets are not read.

use super::tag_attribute;

/// Elements whose content is left out: not rendered, or (`nav`) no part of the document.
const UNRENDERED_ELEMENTS: &[&str] = &["script", "style", "head", "nav", "template", "noscript", "svg"];
/// Void elements: they have no closing tag, so hiding one must not hide what follows.
const VOID_ELEMENTS: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];
/// Elements that end where the next one of the same name begins, since their closing tag is optional.
const AUTO_CLOSED_ELEMENTS: &[&str] = &["p", "li", "dt", "dd", "td", "th", "tr", "option"];

/// The hidden element that the reader is in.
pub(super) struct HiddenElement {
    name: String,
    /// Open elements of this name, itself included.
    depth: usize,
}

impl HiddenElement {
    /// The hidden element that this tag opens, if it does.
    pub(super) fn from_opening_tag(name: &str, tag: &str) -> Option<HiddenElement> {
        let is_hidden = UNRENDERED_ELEMENTS.contains(&name) || !VOID_ELEMENTS.contains(&name) && is_hidden_tag(tag);
        is_hidden.then(|| HiddenElement { name: name.to_owned(), depth: 1 })
    }

    /// Counts a tag inside the element. Returns whether the text after it is still hidden.
    pub(super) fn is_open_after(&mut self, name: &str, closing: bool) -> bool {
        if name != self.name {
            return true;
        }
        match closing {
            true => self.depth -= 1,
            false if AUTO_CLOSED_ELEMENTS.contains(&name) => self.depth = 0,
            // The content of a script is not HTML: `'<script>'` in a string opens nothing.
            false if UNRENDERED_ELEMENTS.contains(&name) => {}
            false => self.depth += 1,
        }
        self.depth > 0
    }
}

/// Whether the tag is hidden by its `hidden` attribute or its inline style.
pub(super) fn is_hidden_tag(tag: &str) -> bool {
    let style = tag_attribute(tag, "style").unwrap_or_default();
    let hides = |rule: &str| {
        let (name, value) = rule.split_once(':').unwrap_or_default();
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim().to_ascii_lowercase());
        name == "display" && value.starts_with("none") || name == "visibility" && value.starts_with("hidden")
    };
    tag_attribute(tag, "hidden").is_some() || style.split(';').any(hides)
}
