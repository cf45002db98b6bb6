//! What there is to copy, as data: the tables in the order of their foreign keys, the key of each first.

/// What a column holds, so that each backend can write it in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Text,
    Int,
    Real,
    Bool,
    Id,
    Json,
    /// A memory's tags: a list beside it in SQLite, a table of their own in Postgres.
    Tags,
    /// The engine's counted terms: one column in SQLite, four in Postgres.
    Words,
    /// The engine's vector: one column in SQLite, two in Postgres.
    Vector,
}

pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: ColumnKind,
}

/// A table of rows that carry a tenant. The tenant is no column of it: rows are read and written for one.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// How many of the first columns tell a row from the others of its tenant.
    pub(crate) key: usize,
    pub(crate) columns: &'static [Column],
}

impl Table {
    pub(crate) fn key_columns(&self) -> &'static [Column] {
        &self.columns[..self.key]
    }

    /// Rows of a tenant in the order of their keys, after a key where there is one, `from` the table or a view of it.
    /// `mark` writes the n-th parameter.
    pub(crate) fn select_sql(&self, columns: &str, from: &str, after: bool, mark: &dyn Fn(usize) -> String) -> String {
        let key: Vec<&str> = self.key_columns().iter().map(|column| column.name).collect();
        let mut sql = format!("select {columns} from {from} where tenant = {}", mark(1));
        if key.is_empty() {
            // One row a tenant: nothing comes after it.
            return if after { sql + " and false" } else { sql };
        }
        if after {
            let marks: Vec<String> = (2..2 + key.len()).map(mark).collect();
            sql += &format!(" and ({}) > ({})", key.join(", "), marks.join(", "));
        }
        sql + &format!(" order by {}", key.join(", "))
    }

    /// The row with the last key.
    pub(crate) fn select_last_sql(&self, columns: &str, mark: &dyn Fn(usize) -> String) -> String {
        let key: Vec<String> = self.key_columns().iter().map(|column| format!("{} desc", column.name)).collect();
        let order = if key.is_empty() { String::new() } else { format!(" order by {}", key.join(", ")) };
        format!("select {columns} from {} where tenant = {}{order} limit 1", self.name, mark(1))
    }
}

macro_rules! table {
    ($name:literal, $key:literal, $($column:literal $kind:ident),+ $(,)?) => {
        Table { name: $name, key: $key, columns: &[$(Column { name: $column, kind: ColumnKind::$kind }),+] }
    };
}

macro_rules! records {
    ($($name:literal),+ $(,)?) => {
        [$(table![$name, 1, "id" Text, "state" Text, "subject" Text, "parent" Text, "at" Int, "body" Json]),+]
    };
}

/// The side records, one shape.
static RECORD_TABLES: [Table; 16] = records![
    "stores",
    "pipelines",
    "seeds",
    "reviews",
    "receipts",
    "usage",
    "runs",
    "keys",
    "bans",
    "certificates",
    "documents",
    "owners",
    "allowed",
    "summaries",
    "idempotency",
    "leases",
];

static MEMORY_TABLES: [Table; 7] = [
    table!["run_saves", 1, "run" Text, "saves" Int],
    table![
        "scopes", 1, "id" Int, "store" Text, "kind" Text, "first" Text, "second" Text, "generation" Int, "live" Int,
    ],
    table![
        "memories", 1, "id" Id, "scope" Int, "state" Text, "kind" Text, "layer" Text, "trust" Text, "path" Text,
        "sha256" Text, "always_inject" Bool, "importance" Real, "session" Text, "turn" Int, "expires_at" Int,
        "created_at" Int, "updated_at" Int, "number" Int, "version" Id, "summary" Text, "author" Text, "fade" Real, "tags" Tags,
    ],
    table![
        "versions", 2, "memory" Id, "number" Int, "id" Id, "operation" Text, "snapshot" Text, "content" Text,
        "sha256" Text, "previous" Id, "actor" Text, "run" Text, "conversation" Text, "reason" Text, "evidence" Text,
        "at" Int, "redacted_at" Int,
    ],
    table!["recalls", 1, "memory" Id, "count" Int, "last" Int],
    table![
        "recall", 1, "memory" Id, "scope" Int, "seq" Int, "number" Int, "state" Text, "kind" Text, "layer" Text,
        "trust" Text, "author" Text, "updated_at" Int, "expires_at" Int, "words" Words, "model" Text, "vector" Vector,
    ],
    table!["events", 1, "seq" Int, "name" Text, "at" Int, "happening" Text, "hash" Text],
];

/// Where a tenant's numbering stands: one row, written last, so that nobody writes to a tenant that is half here.
pub(crate) static HEAD_TABLE: Table = table![
    "heads", 0, "event_seq" Int, "event_hash" Text, "recall_seq" Int, "scope_seq" Int,
];

/// Every table but the head, in the order they have to be written.
pub(crate) fn copied_tables() -> impl Iterator<Item = &'static Table> {
    RECORD_TABLES.iter().chain(&MEMORY_TABLES)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use engine::model::row::RowKind;

    use super::*;

    /// Columns a backend works out from the others when the copy is complete, and what is never copied.
    const DERIVED: [&str; 7] = [
        "memories.recall_seq",
        "scopes.recall_seq",
        "scopes.live_len",
        "erasing.at",
        "migrations.number",
        "migrations.name",
        "migrations.sha256",
    ];

    #[test]
    fn every_record_kind_is_copied() {
        let names: Vec<&str> = RECORD_TABLES.iter().map(|table| table.name).collect();
        assert_eq!(names, RowKind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>());
    }

    #[test]
    fn every_column_of_the_schema_is_copied_or_derived() {
        let mut known: BTreeSet<String> = copied_tables()
            .chain([&HEAD_TABLE])
            .flat_map(|table| table.columns.iter().map(move |column| format!("{}.{}", table.name, column.name)))
            .collect();
        known.extend(["id", "slug", "created_at"].map(|column| format!("tenants.{column}")));
        known.extend(DERIVED.map(str::to_owned));
        for column in crate::sqlite::columns() {
            assert!(column.ends_with(".tenant") || known.contains(&column), "{column} is not copied");
        }
    }
}
