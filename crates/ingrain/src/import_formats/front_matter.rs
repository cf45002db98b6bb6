//! YAML front matter of other tools, as far as they use it. Never an error: a line that does not fit is passed over.

use std::collections::BTreeMap;

/// Fields by name. A nested field is `outer.inner`; a list is one value per item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrontMatter(BTreeMap<String, Vec<String>>);

/// Most fields that are read.
const FIELDS_MAX: usize = 200;

impl FrontMatter {
    /// The first value of a field.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.first().map(String::as_str).filter(|text| !text.is_empty())
    }

    /// All values of a field; a single text is split at commas.
    pub fn list(&self, key: &str) -> Vec<String> {
        match self.0.get(key).map(Vec::as_slice) {
            Some([one]) => one.split(',').map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect(),
            Some(items) => items.to_vec(),
            None => Vec::new(),
        }
    }

    pub fn has_any(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.0.contains_key(*key))
    }
}

/// The front matter and the text after it. A file without one is all text.
pub fn split_front_matter(text: &str) -> (FrontMatter, &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else {
        return (FrontMatter::default(), text);
    };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return (parse_fields(&rest[..at]), &rest[at + line.len()..]);
        }
        at += line.len();
    }
    (FrontMatter::default(), text)
}

fn parse_fields(front: &str) -> FrontMatter {
    let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut outer, mut current) = (String::new(), String::new());
    // A value `|` or `>`: the indented lines below are the text.
    let mut is_block = false;
    for line in front.lines() {
        let (start, is_indented) = (line.trim(), line.starts_with([' ', '\t']));
        if start.is_empty() || (start.starts_with('#') && !is_block) {
            continue;
        }
        if is_block && is_indented {
            if let Some(text) = fields.get_mut(&current).and_then(|values| values.first_mut()) {
                *text = if text.is_empty() { start.to_owned() } else { format!("{text} {start}") };
            }
            continue;
        }
        is_block = false;
        if let Some(item) = start.strip_prefix("- ").filter(|_| !current.is_empty()) {
            fields.entry(current.clone()).or_default().push(unquote(item));
            continue;
        }
        let Some((key, value)) = start.split_once(':').filter(|_| fields.len() < FIELDS_MAX) else { continue };
        current =
            if is_indented && !outer.is_empty() { format!("{outer}.{}", key.trim()) } else { key.trim().to_owned() };
        if !is_indented {
            outer.clone_from(&current);
        }
        is_block = matches!(value.trim(), "|" | ">" | "|-" | ">-" | "|+" | ">+");
        let values = if is_block { vec![String::new()] } else { parse_value(value) };
        fields.insert(current.clone(), values);
    }
    FrontMatter(fields)
}

fn parse_value(value: &str) -> Vec<String> {
    let value = value.trim();
    match value.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
        Some(items) => items.split(',').map(unquote).filter(|item| !item.is_empty()).collect(),
        None if value.is_empty() => Vec::new(),
        None => vec![unquote(value)],
    }
}

fn unquote(text: &str) -> String {
    let text = text.trim();
    let quoted = ['"', '\''].iter().find_map(|mark| text.strip_prefix(*mark)?.strip_suffix(*mark));
    quoted.unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_the_tools_are_read() {
        let text = "---\nname: \"Use pnpm\"\ndescription: >-\n  one line\n  and another\ntags: [a, 'b c']\n\
                    globs:\n  - src/**\nmetadata:\n  type: feedback\nalwaysApply: true\nodd line\n---\nbody\n---\nmore";
        let (fields, body) = split_front_matter(text);
        assert_eq!(body, "body\n---\nmore");
        assert_eq!(fields.text("name"), Some("Use pnpm"));
        assert_eq!(fields.text("description"), Some("one line and another"));
        assert_eq!(
            (fields.list("tags"), fields.list("globs")),
            (vec!["a".into(), "b c".into()], vec!["src/**".into()])
        );
        assert_eq!((fields.text("metadata.type"), fields.text("alwaysApply")), (Some("feedback"), Some("true")));
        assert_eq!(split_front_matter("---\nopen: 1\n").1, "---\nopen: 1\n", "no end, no front matter");
    }
}
