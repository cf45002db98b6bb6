//! Edits of a configuration in either format; a byte order mark stays where it is.

use serde_json::Value;

use super::clients::Format;
use super::entry::Addition;
use super::{edit_json, edit_toml};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// The text with the additions, which replace what stands in their place.
pub fn add(format: Format, text: &str, additions: &[Addition]) -> Result<String, String> {
    keep_mark(text, |body| match format {
        Format::Json => edit_json::add(body, additions),
        Format::Toml => edit_toml::add(body, additions),
    })
}

/// The text without the additions, and without the innermost `made` objects around them if they are empty.
pub fn remove(format: Format, text: &str, additions: &[Addition], made: usize) -> Result<String, String> {
    keep_mark(text, |body| match format {
        Format::Json => edit_json::remove(body, additions, made),
        Format::Toml => edit_toml::remove(body, additions, made),
    })
}

/// The value that stands in the place of an addition.
pub fn find(format: Format, text: &str, addition: &Addition) -> Result<Option<Value>, String> {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    match format {
        Format::Json => edit_json::find(body, addition),
        Format::Toml => edit_toml::find(body, addition),
    }
}

/// Number of objects around an addition that do not exist yet.
pub fn count_missing_parents(format: Format, text: &str, addition: &Addition) -> Result<usize, String> {
    let parents = addition.path.len().saturating_sub(1);
    for depth in (1..=parents).rev() {
        let parent = Addition { path: addition.path[..depth].to_vec(), ..addition.clone() };
        if find(format, text, &parent)?.is_some() {
            return Ok(parents - depth);
        }
    }
    Ok(parents)
}

fn keep_mark(text: &str, edit: impl FnOnce(&str) -> Result<String, String>) -> Result<String, String> {
    match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(body) => edit(body).map(|edited| format!("{BYTE_ORDER_MARK}{edited}")),
        None => edit(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::connect::clients::Client;
    use crate::commands::connect::entry::{ServerAddress, build_additions};

    fn additions(client: &str) -> Vec<Addition> {
        let address = ServerAddress::Command { program: "ingrain".to_owned(), arguments: vec!["mcp".to_owned()] };
        build_additions(Client::find(client).expect("a client"), "ingrain", &address).expect("additions")
    }

    /// Adds, finds, adds again and removes; every line that was there is still there with its bytes.
    fn check(client: &str, before: &str) -> String {
        let (format, additions) = (Client::find(client).expect("a client").format, additions(client));
        let added = add(format, before, &additions).unwrap_or_else(|error| panic!("{error}: {before}"));
        assert_eq!(find(format, &added, &additions[0]).expect("readable"), Some(additions[0].value()), "{added}");
        assert_eq!(add(format, &added, &additions).expect("again"), added, "adding twice changes nothing");
        let made = count_missing_parents(format, before, &additions[0]).expect("readable");
        let removed = remove(format, &added, &additions, made).expect("removed");
        assert_eq!(find(format, &removed, &additions[0]).expect("readable"), None, "{removed}");
        if !before.trim().is_empty() {
            let lines = |text: &str| text.replace([',', '\r', '\n', ' ', '\t'], "");
            assert_eq!(lines(&removed), lines(before), "removal leaves what was there: {added}");
        }
        added
    }

    #[test]
    fn json_keeps_comments_order_and_style() {
        let cases = [
            "{}",
            "{ }",
            "{\n}\n",
            "{\n  \"mcpServers\": {}\n}\n",
            "{\n\t\"a\": 1,\n\t\"mcpServers\": {\n\t\t\"other\": { \"command\": \"x\" }\n\t}\n}",
            "{\"mcpServers\":{\"z\":{\"command\":\"x\"}},\"a\":1}",
            "// top\n{\n  // in\n  \"mcpServers\": {\n    /* o */ \"o\": {\"url\": \"u\"}, // after\n  },\n}\n// end\n",
            "{\r\n  \"theme\": \"dark\",\r\n  \"mcpServers\": {\r\n    \"o\": {}\r\n  }\r\n}\r\n",
            "\u{feff}{\n  \"mcpServers\": {}\n}\n",
            "{\"emoji\": \"\u{1f600}\", \"escape\": \"\\u00e9\\/\", \"number\": 1.0e10}",
        ];
        for before in cases {
            check("claude-code", before);
        }
        let added = check("claude-code", "{\r\n    \"a\": 1\r\n}\r\n");
        assert!(!added.replace("\r\n", "").contains('\n') && added.contains("\r\n    \"mcpServers\": {\r\n        "));
        let kept = check("claude-code", "{\n  \"a\": 1, // why\n  \"b\": [1, 2,],\n}\n");
        assert!(kept.starts_with("{\n  \"a\": 1, // why\n  \"b\": [1, 2,],\n  \"mcpServers\": {\n"), "{kept}");
    }

    #[test]
    fn toml_keeps_comments_order_and_style() {
        let cases = [
            "",
            "model = \"o3\" # fast\n",
            "model = \"o3\"",
            "[mcp_servers.other]\ncommand = \"x\"\n\n# about profiles\n[profiles.a]\nmodel = 'm'\n",
            "mcp_servers = { other = { command = \"x\" } }\n",
            "mcp_servers.other.command = \"x\"\n",
            "[mcp_servers]\n[mcp_servers.other]\ncommand = \"x\"\n",
            "a = 1\r\n\r\n[b]\r\nc = 2 # d\r\n",
            "a = 1\r\n[b]\nc = 2\r\n",
            "\u{feff}a = 1\n",
            "a = \"\"\"\none\n  two\"\"\"\nb   =   [ 1,\n  2 ]\n",
        ];
        for before in cases {
            let added = check("codex", before);
            let kept: Vec<&str> = before.split_inclusive('\n').collect();
            if !before.contains("mcp_servers = {") && before.ends_with('\n') {
                assert!(kept.iter().all(|line| added.contains(line)), "{added:?}");
            }
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let refuse = |client: &str, before: &str| {
            let format = Client::find(client).expect("a client").format;
            assert!(add(format, before, &additions(client)).is_err(), "{before}");
        };
        for broken in [
            "{",
            "{\"a\": }",
            "[]",
            "null",
            "\"text\"",
            "{} {}",
            "{a: 1}",
            "{'a': 1}",
            "{\"mcpServers\": []}",
            "{\"a\" 1}",
        ] {
            refuse("claude-code", broken);
        }
        refuse("claude-code", "{\"mcpServers\": {}, \"mcpServers\": {}}");
        for broken in ["a = ", "[a\n", "mcp_servers = 1\n", "a = 1\na = 2\n", "[[mcp_servers]]\na = 1\n"] {
            refuse("codex", broken);
        }
    }
}
