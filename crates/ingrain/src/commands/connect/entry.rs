//! What `connect` adds to a configuration: one server, in the words of a client.

use serde_json::{Map, Value, json};

use super::clients::{Client, CommandShape, Format, SecretStyle};
use super::hooks::hook_id;

/// The server to connect to.
#[derive(Clone, Debug)]
pub enum ServerAddress {
    /// A process of this machine, over stdin and stdout.
    Command { program: String, arguments: Vec<String> },
    /// A server over HTTP; the variable holds its key, if it wants one.
    Url { url: String, key_variable: Option<String> },
}

/// One addition to a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Addition {
    /// Keys that lead to it.
    pub path: Vec<String>,
    pub slot: Slot,
    /// Fields in the order in which they are written.
    pub fields: Vec<(String, Value)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The value at the path.
    Value,
    /// An item of the list at the path, known by its `id` or, for a hook, by its command.
    ListItem,
    /// A plain value at the path that is only written where there is none. Its one field has no name.
    IfMissing,
}

impl Addition {
    pub fn value(&self) -> Value {
        match (self.slot, self.fields.first()) {
            (Slot::IfMissing, Some((_, value))) => value.clone(),
            _ => Value::Object(self.fields.iter().cloned().collect::<Map<_, _>>()),
        }
    }

    /// What tells a list item from the others.
    pub fn id(&self) -> Option<String> {
        item_id(&self.value())
    }
}

/// What tells an item of a list from the others: its `id`, or the event of a hook.
pub fn item_id(item: &Value) -> Option<String> {
    let id = item.get("id").and_then(Value::as_str).map(str::to_owned);
    id.or_else(|| hook_id(item))
}

/// Additions that connect a client to the server under a name. The error says why the client cannot.
pub fn build_additions(client: &Client, name: &str, address: &ServerAddress) -> Result<Vec<Addition>, String> {
    let mut fields: Vec<(String, Value)> = Vec::new();
    let mut add = |key: &str, value: Value| fields.push((key.to_owned(), value));
    let mut inputs = Vec::new();
    match address {
        ServerAddress::Command { program, arguments } => {
            client.command_type.into_iter().for_each(|(key, value)| add(key, json!(value)));
            match client.command {
                CommandShape::ProgramAndArgs => {
                    add("command", json!(program));
                    add("args", json!(arguments));
                }
                CommandShape::OneList => add("command", std::iter::once(program).chain(arguments).cloned().collect()),
            }
        }
        ServerAddress::Url { url, key_variable } => {
            client.url_type.into_iter().for_each(|(key, value)| add(key, json!(value)));
            add(client.url_key, json!(url));
            let bearer = |reference: String| json!({ "Authorization": format!("Bearer {reference}") });
            match (key_variable, client.secret) {
                (None, _) => {}
                (Some(variable), SecretStyle::Header { before, after }) => {
                    add("headers", bearer(format!("{before}{variable}{after}")));
                }
                (Some(variable), SecretStyle::VariableName(key)) => add(key, json!(variable)),
                (Some(_), SecretStyle::Prompt) => {
                    let id = format!("{name}-key");
                    add("headers", bearer(format!("${{input:{id}}}")));
                    inputs.push(prompt_input(&id));
                }
                (Some(_), SecretStyle::None) => {
                    return Err(format!(
                        "{} reads keys only in clear from its settings, and `connect` writes no key into a file; \
                         `--no-key` connects to a server that needs none",
                        client.title
                    ));
                }
            }
        }
    }
    let path = client.servers.iter().map(|key| (*key).to_owned()).chain([name.to_owned()]).collect();
    inputs.push(Addition { path, slot: Slot::Value, fields });
    Ok(inputs)
}

/// VS Code asks for the key once and keeps it in its secret storage.
fn prompt_input(id: &str) -> Addition {
    let fields = [
        ("type", json!("promptString")),
        ("id", json!(id)),
        ("description", json!("Key of the Ingrain server")),
        ("password", json!(true)),
    ];
    let fields = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Addition { path: vec!["inputs".to_owned()], slot: Slot::ListItem, fields }
}

/// Reads an entry back: the server that a client would connect to. `None` if it cannot be understood.
pub fn read_address(client: &Client, entry: &Value) -> Option<ServerAddress> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let texts = |value: &Value| value.as_array().map(|items| items.iter().filter_map(text).collect::<Vec<_>>());
    if let Some(url) = entry.get(client.url_key).and_then(text) {
        let key_variable = match client.secret {
            SecretStyle::Header { before, after } => {
                let header = entry.pointer("/headers/Authorization").and_then(text).unwrap_or_default();
                header.split_once(before).and_then(|(_, rest)| Some(rest.split_once(after)?.0.to_owned()))
            }
            SecretStyle::VariableName(key) => entry.get(key).and_then(text),
            SecretStyle::Prompt | SecretStyle::None => None,
        };
        return Some(ServerAddress::Url { url, key_variable });
    }
    let command = entry.get("command")?;
    match client.command {
        CommandShape::ProgramAndArgs => {
            let arguments = entry.get("args").and_then(texts).unwrap_or_default();
            Some(ServerAddress::Command { program: text(command)?, arguments })
        }
        CommandShape::OneList => {
            let mut words = texts(command)?.into_iter();
            Some(ServerAddress::Command { program: words.next()?, arguments: words.collect() })
        }
    }
}

/// The additions as a configuration of their own, for `--print`.
pub fn render_alone(client: &Client, additions: &[Addition]) -> Result<String, String> {
    match client.format {
        Format::Json => super::edit_json::add("", additions),
        Format::Toml => super::edit_toml::add("", additions),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::connect::clients::CLIENTS;

    #[test]
    fn every_client_reads_back_what_is_written_and_no_key_is_in_the_file() {
        let command = ServerAddress::Command { program: "/bin/ingrain".to_owned(), arguments: vec!["mcp".to_owned()] };
        let url = |key: Option<&str>| ServerAddress::Url {
            url: "https://memory.example/mcp".to_owned(),
            key_variable: key.map(str::to_owned),
        };
        for client in CLIENTS {
            for address in [&command, &url(None), &url(Some("TEAM_KEY"))] {
                let Ok(additions) = build_additions(client, "ingrain", address) else {
                    assert_eq!(client.id, "zed", "only Zed cannot refer to a key");
                    continue;
                };
                let entry = additions.last().expect("an entry").value();
                let read = read_address(client, &entry).expect("an address");
                match (&read, address) {
                    (ServerAddress::Url { key_variable: None, .. }, ServerAddress::Url { key_variable, .. }) => {
                        assert!(key_variable.is_none() || client.id == "vscode", "{}", client.id);
                    }
                    _ => assert_eq!(format!("{read:?}"), format!("{address:?}"), "{}", client.id),
                }
            }
        }
    }
}
