//! The copied tables and their columns, as data. Tables stand in the order of their foreign keys; the key columns of
//! each come first.

/// Type of a column across backends; each backend stores it in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Text,
    Int,
    Real,
    Bool,
    Id,
    Json,
    Bytes,
    /// Tags of a memory: a JSON column in SQLite, the table `tags` in Postgres.
    Tags,
    /// Indexed words: one column in SQLite, four in Postgres.
    Words,
    /// Embedding vector: one column in SQLite, two in Postgres.
    Vector,
}

pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: ColumnKind,
}

/// A table with one set of rows per tenant. The column `tenant` is not listed: every query names the tenant.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// How many of the first columns are the key of a row within its tenant.
    pub(crate) key: usize,
    pub(crate) columns: &'static [Column],
}

impl Table {
    pub(crate) fn key_columns(&self) -> &'static [Column] {
        &self.columns[..self.key]
    }

    /// Query for the rows of a tenant in key order, `from` the table or a subquery over it; `after`: only those after a
    /// key. `placeholder` spells the n-th parameter.
    pub(crate) fn select_sql(
        &self,
        columns: &str,
        from: &str,
        after: bool,
        placeholder: &dyn Fn(usize) -> String,
    ) -> String {
        let key: Vec<&str> = self.key_columns().iter().map(|column| column.name).collect();
        let mut sql = format!("select {columns} from {from} where tenant = {}", placeholder(1));
        if key.is_empty() {
            // One row per tenant: nothing comes after it.
            return if after { sql + " and false" } else { sql };
        }
        if after {
            let values: Vec<String> = (2..2 + key.len()).map(placeholder).collect();
            // A comparison of rows, which the index of the key answers in both databases.
            sql += &format!(" and ({}) > ({})", key.join(", "), values.join(", "));
        }
        sql + &format!(" order by {}", key.join(", "))
    }

    /// Query for the row with the last key.
    pub(crate) fn select_last_sql(&self, columns: &str, placeholder: &dyn Fn(usize) -> String) -> String {
        let key: Vec<String> = self.key_columns().iter().map(|column| format!("{} desc", column.name)).collect();
        let order = if key.is_empty() { String::new() } else { format!(" order by {}", key.join(", ")) };
        format!("select {columns} from {} where tenant = {}{order} limit 1", self.name, placeholder(1))
    }
}

macro_rules! table {
    ($name:literal, $key:literal, $($column:literal $kind:ident),+ $(,)?) => {
        Table { name: $name, key: $key, columns: &[$(Column { name: $column, kind: ColumnKind::$kind }),+] }
    };
}

/// Tables of side records, which all have the same columns.
macro_rules! record_tables {
    ($($name:literal),+ $(,)?) => {
        [$(table![$name, 1, "id" Text, "state" Text, "subject" Text, "parent" Text, "at" Int, "body" Json]),+]
    };
}

/// The record tables, all of one shape.
static RECORD_TABLES: [Table; 18] = record_tables![
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
    "questions",
    "projects",
];

static MEMORY_TABLES: [Table; 7] = [
    table!["run_saves", 1, "run" Text, "saves" Int],
    table![
        "scopes", 1, "id" Int, "store" Text, "kind" Text, "first" Text, "second" Text, "generation" Int, "live" Int,
    ],
    table![
        "memories", 1, "id" Id, "scope" Int, "state" Text, "kind" Text, "layer" Text, "trust" Text, "path" Text,
        "sha256" Text, "always_inject" Bool, "importance" Real, "session" Text, "turn" Int, "expires_at" Int,
        "created_at" Int, "updated_at" Int, "number" Int, "version" Id, "summary" Text, "author" Text, "fade" Real,
        "tags" Tags,
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
    table!["events", 1, "seq" Int, "name" Text, "at" Int, "happening" Text, "hash" Text, "digests" Bytes],
];

/// The last number of each of a tenant's sequences: one row per tenant. Written last, because a tenant without it
/// cannot be written to, so nothing writes to a half-copied tenant.
pub(crate) static HEAD_TABLE: Table = table![
    "heads", 0, "event_seq" Int, "event_hash" Text, "recall_seq" Int, "scope_seq" Int, "covered_from" Int,
];

/// Every table except `heads`, in the order they have to be written.
pub(crate) fn copied_tables() -> impl Iterator<Item = &'static Table> {
    RECORD_TABLES.iter().chain(&MEMORY_TABLES)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use engine::model::row::RowKind;

    use super::*;

    /// Columns that are computed after the copy, and columns that are never copied.
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
