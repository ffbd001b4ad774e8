//! Delta tables as others see them: by hand, and by DuckDB's extension. Neither shares code with the engine.
//!
//! By hand: the entries of the log in order, files that were added minus those that were removed, and DuckDB for the
//! Parquet. The extension runs in Python, from the environment that `scripts/test` makes.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::duckdb::{ask, duckdb};

/// What the log of a table says.
#[derive(Debug, Clone, Default)]
pub struct DeltaTable {
    folder: PathBuf,
    /// By their path as the log has it: the actions that add the files that are in the table.
    pub files: BTreeMap<String, Value>,
    /// The last version of each application.
    pub transactions: BTreeMap<String, i64>,
    /// The fields of the schema.
    pub fields: Vec<Value>,
    /// The partition columns.
    pub partitioned_by: Vec<String>,
    /// The name of the operation of each version.
    pub operations: Vec<String>,
    /// The paths of all files that were ever added.
    pub ever_added: Vec<String>,
}

impl DeltaTable {
    /// The table in the folder; `None` if there is none.
    ///
    /// # Panics
    /// If its log is broken: a version is missing, an action is no JSON, or a file comes or goes twice.
    #[must_use]
    pub fn at(folder: &Path) -> Option<Self> {
        let mut table = Self { folder: folder.to_owned(), ..Self::default() };
        for version in 0.. {
            let Ok(entry) = fs::read_to_string(folder.join(format!("_delta_log/{version:020}.json"))) else { break };
            for line in entry.lines() {
                table.apply(&serde_json::from_str(line).expect("an action is JSON"));
            }
        }
        (!table.operations.is_empty()).then_some(table)
    }

    fn apply(&mut self, action: &Value) {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let (kind, of) = action.as_object().and_then(|object| object.iter().next()).expect("an action has a kind");
        match kind.as_str() {
            "add" => {
                self.ever_added.push(text(&of["path"]));
                assert!(self.files.insert(text(&of["path"]), of.clone()).is_none(), "added twice: {of}");
            }
            "remove" => assert!(self.files.remove(&text(&of["path"])).is_some(), "removed, and not there: {of}"),
            "txn" => drop(self.transactions.insert(text(&of["appId"]), of["version"].as_i64().expect("a number"))),
            "metaData" => {
                let schema: Value = serde_json::from_str(&text(&of["schemaString"])).expect("a schema is JSON");
                self.fields = schema["fields"].as_array().expect("a schema has fields").clone();
                self.partitioned_by = of["partitionColumns"].as_array().expect("a list").iter().map(text).collect();
            }
            "commitInfo" => self.operations.push(text(&of["operation"])),
            "protocol" => {}
            other => panic!("an unexpected action: {other}"),
        }
    }

    /// Where a file of the table is.
    ///
    /// # Panics
    /// If the log escapes it otherwise than a URL.
    #[must_use]
    pub fn file(&self, path: &str) -> PathBuf {
        self.folder.join(unescaped(path))
    }

    /// The type of a column, where it is a simple one.
    #[must_use]
    pub fn type_of(&self, column: &str) -> Option<&str> {
        self.fields.iter().find(|field| field["name"] == column)?["type"].as_str()
    }

    /// A query for the rows of the table, read by hand: what the log says of partitions beside what the files have.
    ///
    /// # Panics
    /// If a partition has no value for a column.
    #[must_use]
    pub fn by_hand(&self) -> String {
        let mut query = String::new();
        for (path, add) in &self.files {
            let mut columns = String::new();
            for column in &self.partitioned_by {
                let value = match &add["partitionValues"][column] {
                    Value::Null => "NULL".to_owned(),
                    value => quoted(value.as_str().expect("a partition's value is a text")),
                };
                let sql_type = sql_type(self.type_of(column).expect("a partition column has a simple type"));
                let _ = write!(columns, ", CAST({value} AS {sql_type}) AS \"{column}\"");
            }
            let union = if query.is_empty() { "" } else { " UNION ALL BY NAME " };
            let file = self.file(path);
            let file = quoted(&file.display().to_string().replace('[', "[[]"));
            let _ = write!(query, "{union}SELECT *{columns} FROM read_parquet({file}, hive_partitioning = false)");
        }
        assert!(!query.is_empty(), "the table has no files");
        query
    }

    /// The rows of `query`, in which `t` is the table: read by hand, and what DuckDB's extension reads must be the same.
    ///
    /// # Panics
    /// If the two differ, or if DuckDB is not installed, or refuses the SQL.
    #[must_use]
    pub fn rows(&self, query: &str) -> Vec<Value> {
        let extension = ask("delta.py", &query.replace(" t ", &format!(" {} AS t ", self.scan())));
        if self.files.is_empty() {
            assert_eq!(extension, Vec::<Value>::new(), "a table without files");
            return extension;
        }
        let by_hand = duckdb(&query.replace(" t ", &format!(" ({}) AS t ", self.by_hand())));
        assert_eq!(by_hand, extension, "by hand, and by DuckDB's extension");
        by_hand
    }

    fn scan(&self) -> String {
        format!("delta_scan({})", quoted(&self.folder.display().to_string()))
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn unescaped(path: &str) -> String {
    let mut bytes = vec![];
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next(), rest.next()].map(|digit| digit.expect("two digits follow"));
                let digits = std::str::from_utf8(&digits).expect("two digits follow").to_owned();
                bytes.push(u8::from_str_radix(&digits, 16).expect("two digits follow"));
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).expect("a path is UTF-8")
}

/// DuckDB's name of a simple type of Delta.
fn sql_type(delta: &str) -> &str {
    match delta {
        "string" => "VARCHAR",
        "byte" => "TINYINT",
        "short" => "SMALLINT",
        "integer" => "INTEGER",
        "long" => "BIGINT",
        "timestamp" => "TIMESTAMPTZ",
        "timestamp_ntz" => "TIMESTAMP",
        same => same,
    }
}
