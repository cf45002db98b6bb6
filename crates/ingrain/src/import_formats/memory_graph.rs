//! The official MCP memory server's file: one JSON object per line, entities with observations and relations between
//! them. One memory per entity, with its relations.

use std::collections::BTreeMap;

use engine::model::vocabulary::Kind;
use serde::Deserialize;
use serde_json::Map;

use super::kind_guess::guess_kind;
use super::{FormatError, FoundMemories, FoundMemory, InputFile, Writer, memory_path};

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    #[serde(rename_all = "camelCase")]
    Entity {
        name: String,
        #[serde(default)]
        entity_type: String,
        #[serde(default)]
        observations: Vec<String>,
    },
    #[serde(rename_all = "camelCase")]
    Relation {
        from: String,
        to: String,
        #[serde(default)]
        relation_type: String,
    },
    /// Lines that other versions of the server add.
    #[serde(other)]
    Other,
}

#[derive(Default)]
struct Entity {
    kind: String,
    lines: Vec<String>,
}

pub fn parse(file: &InputFile, found: &mut FoundMemories) -> Result<(), FormatError> {
    let mut entities: BTreeMap<String, Entity> = BTreeMap::new();
    for (number, line) in file.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        // The position only: the message of the parser could quote the text.
        let wrong = |_| FormatError(format!("line {} is neither an entity nor a relation", number + 1));
        match serde_json::from_str(line.trim_start_matches('\u{feff}')).map_err(wrong)? {
            Line::Entity { name, entity_type, observations } => {
                let entity = entities.entry(name).or_default();
                entity.kind = entity_type;
                entity.lines.splice(0..0, observations.iter().map(|line| format!("- {}", line.trim())));
            }
            Line::Relation { from, to, relation_type } => {
                entities.entry(from).or_default().lines.push(format!("- {relation_type} {to}"));
            }
            Line::Other => {}
        }
    }
    for (name, entity) in entities {
        let kind = guess_kind(&entity.kind, guess_kind(&name, Kind::Note));
        found.add(FoundMemory {
            source: format!("{}: {name}", file.name),
            path: memory_path::join("graph", [name.as_str()]),
            content: entity.lines.join("\n"),
            title: Some(name),
            hint: None,
            kind,
            tags: vec![entity.kind],
            metadata: Map::new(),
            writer: Writer::Model,
        })?;
    }
    Ok(())
}
