//! Findings: what is not as the log says, by name.

use serde::Serialize;

use crate::model::id::MemoryId;
use crate::model::memory::Memory;
use crate::model::row::RowKind;
use crate::vocabulary;

vocabulary! {
    /// What is wrong; stable, for programs.
    FindingCode ("finding") {
        Changed = "changed",
        ContentChanged = "content_changed",
        Missing = "missing",
        NotInLog = "not_in_log",
        LiveRowDiffers = "live_row_differs",
        IndexDiffers = "index_differs",
        CountersDiffer = "counters_differ",
        Unreadable = "unreadable",
        LogLost = "log_lost",
    }
}

/// Where the damage is: what a repair goes by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DamagedPart {
    /// Stored once: a version, the log, or a table that memories are rebuilt from or in.
    Version,
    /// Derived from the newest version of the memory.
    LiveRow(MemoryId),
    /// Counters of a place, derived from its memories.
    Place,
    /// Stored once, but no memory depends on it.
    Record,
}

/// One thing that is not as the log says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    pub code: FindingCode,
    /// `memory`, or the table of a record.
    pub kind: String,
    /// Id of the memory or record; `None` where the log has only a digest of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Store and path of a memory, name of a key: what people know it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Number of the version of a memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// The log entry that wrote it last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<u64>,
    pub reason: String,
    #[serde(skip)]
    pub(super) part: DamagedPart,
}

impl Finding {
    pub(super) fn of_memory(code: FindingCode, id: MemoryId, version: u32, reason: impl Into<String>) -> Finding {
        Finding {
            code,
            kind: "memory".to_owned(),
            id: Some(id.to_string()),
            name: None,
            version: Some(version),
            entry: None,
            reason: reason.into(),
            part: DamagedPart::Version,
        }
    }

    /// The row of a memory, its tags or its row in the search index.
    pub(super) fn of_live_row(code: FindingCode, id: MemoryId, version: u32, reason: impl Into<String>) -> Finding {
        Finding { part: DamagedPart::LiveRow(id), ..Finding::of_memory(code, id, version, reason) }
    }

    pub(super) fn of_place(name: String, reason: String) -> Finding {
        Finding {
            code: FindingCode::CountersDiffer,
            kind: "place".to_owned(),
            id: None,
            name: Some(name),
            version: None,
            entry: None,
            reason,
            part: DamagedPart::Place,
        }
    }

    pub(super) fn of_row(code: FindingCode, kind: RowKind, id: Option<String>, reason: impl Into<String>) -> Finding {
        let kind = kind.to_string();
        Finding {
            code,
            kind,
            id,
            name: None,
            version: None,
            entry: None,
            reason: reason.into(),
            part: DamagedPart::Record,
        }
    }

    /// The log does not continue from what is known of it outside the database.
    pub(super) fn of_log(entry: u64, reason: String) -> Finding {
        Finding {
            code: FindingCode::LogLost,
            kind: "log".to_owned(),
            id: None,
            name: None,
            version: None,
            entry: Some(entry),
            reason,
            part: DamagedPart::Version,
        }
    }

    /// A table that cannot be read to its end.
    pub(super) fn of_table(table: &str, reason: &str) -> Finding {
        Finding {
            code: FindingCode::Unreadable,
            kind: table.to_owned(),
            id: None,
            name: None,
            version: None,
            entry: None,
            reason: format!("it cannot be read further: {reason}"),
            part: if RowKind::ALL.iter().any(|kind| kind.as_str() == table) {
                DamagedPart::Record
            } else {
                DamagedPart::Version
            },
        }
    }

    /// Names a memory by its store and path, from the JSON of its snapshot.
    pub(super) fn with_snapshot_name(mut self, snapshot: &str) -> Finding {
        let place = |memory: Memory| format!("{}/{}", memory.store, memory.path.unwrap_or_default());
        self.name = serde_json::from_str(snapshot).ok().map(place);
        self
    }

    /// Names a record by its field `name` or `slug`, as keys and stores have.
    pub(super) fn with_body_name(mut self, body: &str) -> Finding {
        let body: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
        let name = ["name", "slug"].iter().find_map(|field| body.get(field)?.as_str());
        self.name = name.map(str::to_owned);
        self
    }

    pub(super) fn with_entry(mut self, seq: u64) -> Finding {
        self.entry = Some(seq);
        self
    }
}

/// For people: `memory lessons/a/b (01…) version 2: its text was changed`.
impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.kind)?;
        match (&self.name, &self.id) {
            (Some(name), Some(id)) => write!(f, " {name} ({id})")?,
            (Some(name), None) => write!(f, " {name}")?,
            (None, Some(id)) => write!(f, " {id}")?,
            (None, None) => {}
        }
        if let Some(version) = self.version {
            write!(f, " version {version}")?;
        }
        if let Some(entry) = self.entry {
            write!(f, ", log entry {entry}")?;
        }
        write!(f, ": {}", self.reason)
    }
}
