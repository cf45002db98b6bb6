//! The JSON form of a memory in the database: every field but the content; empty fields are left out.
//!
//! A snapshot is written with every version and parsed for every search candidate, and most fields of most memories are
//! empty. Leaving them out saves space and parsing time.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::model::memory::Memory;

/// Serialises a memory as its snapshot. Deserialising the JSON as [`Memory`] gives the memory back, without content.
pub struct Snapshot<'a>(pub &'a Memory);

impl Serialize for Snapshot<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Destructured without `..`: a new field that is not serialised below is a compile error or an unused variable.
        let Memory {
            id,
            tenant,
            store,
            scope,
            layer,
            kind,
            path,
            title,
            recall_hint,
            sha256,
            size_bytes,
            tags,
            entities,
            metadata,
            state,
            trust,
            field_trust,
            confidence,
            importance,
            always_inject,
            expires_at,
            archived_at,
            verify_by,
            last_recalled_at,
            recall_count,
            supersedes,
            superseded_by,
            derived_from,
            role,
            session,
            turn,
            speaker,
            flags,
            author,
            was_persons,
            version,
            version_number,
            created_at,
            updated_at,
            content: _,
        } = self.0;
        let mut map = serializer.serialize_map(None)?;
        macro_rules! always {
            ($($field:ident)*) => { $( map.serialize_entry(stringify!($field), $field)?; )* };
        }
        macro_rules! unless_empty {
            ($($field:ident)*) => { $(
                if !$field.is_empty() { map.serialize_entry(stringify!($field), $field)?; }
            )* };
        }
        macro_rules! if_some {
            ($($field:ident)*) => { $(
                if let Some($field) = $field { map.serialize_entry(stringify!($field), $field)?; }
            )* };
        }
        always!(id tenant store scope layer kind sha256 size_bytes state trust confidence importance always_inject);
        always!(recall_count author version version_number created_at updated_at);
        unless_empty!(tags entities metadata field_trust supersedes derived_from flags);
        if_some!(path title recall_hint expires_at archived_at verify_by last_recalled_at superseded_by role session);
        if_some!(turn speaker);
        if *was_persons {
            map.serialize_entry("was_persons", was_persons)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::trust_flow::FieldTrust;

    #[test]
    fn snapshot_round_trips_and_omits_empty_fields() {
        let full = r#"{"id":"01a1e25a-ec51-7c4c-b9fb-cc0d9d73eee0","tenant":"01a1e25a-d8d9-7154-ac3e-996678ac7e57",
            "store":"s","scope":{"kind":"workspace"},"layer":"episodic","kind":"incident_lesson","path":"a/b",
            "title":"t","recall_hint":"h","sha256":"00","size_bytes":2,"tags":["x"],"entities":["service:web"],
            "metadata":{"k":[1]},"state":"active","trust":"admin_approved",
            "field_trust":{"title":"agent_draft"},"confidence":0.8,"importance":0.5,
            "always_inject":true,"expires_at":"2026-01-02T00:00:00Z","archived_at":"2026-01-03T00:00:00Z",
            "verify_by":"2026-01-04T00:00:00Z","last_recalled_at":"2026-01-05T00:00:00Z","recall_count":3,
            "supersedes":["01a1e25a-ec51-7c4c-b9fb-cc0d9d73eee1"],
            "superseded_by":"01a1e25a-ec51-7c4c-b9fb-cc0d9d73eee2",
            "derived_from":["01a1e25a-ec51-7c4c-b9fb-cc0d9d73eee3"],"role":"user","session":"c","turn":4,
            "speaker":"Ann","flags":["f"],"author":"admin","was_persons":true,
            "version":"01a1e25a-ec51-7c44-83b4-faad09fa2ad0",
            "version_number":1,"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}"#;
        let full: Memory = serde_json::from_str(full).expect("a memory");
        let bare = Memory {
            path: None,
            title: None,
            recall_hint: None,
            tags: Vec::new(),
            entities: Vec::new(),
            metadata: serde_json::Map::new(),
            field_trust: FieldTrust::default(),
            session: None,
            ..full.clone()
        };
        for memory in [full, bare] {
            let text = serde_json::to_string(&Snapshot(&memory)).expect("plain values");
            assert_eq!(serde_json::from_str::<Memory>(&text).expect("a memory"), memory);
            assert!(!text.contains("null") && !text.contains("[]") && !text.contains("{}"), "{text}");
        }
    }
}
