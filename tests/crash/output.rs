//! What stands in the visible files of a table, or in those that the log of a Delta table names.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tidemill_tests::delta::DeltaTable;
use tidemill_tests::duckdb::duckdb;

/// Each row and how often it is there. A line with `op` is a change: it adds its row after, or takes away its row before.
pub fn committed(folder: &Path) -> BTreeMap<String, i64> {
    let mut rows = BTreeMap::new();
    let Ok(entries) = fs::read_dir(folder) else { return rows };
    for entry in entries {
        let entry = entry.unwrap();
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        for line in fs::read_to_string(entry.path()).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let (row, times) = match line["op"].as_str() {
                Some("d") => (&line["before"], -1),
                Some(_) => (&line["after"], 1),
                None => (&line, 1),
            };
            *rows.entry(row.to_string()).or_default() += times;
        }
    }
    rows.retain(|_, times| *times != 0);
    rows
}

/// Each row of a Delta table and how often it is there.
pub fn committed_to_delta(folder: &Path) -> BTreeMap<String, i64> {
    let mut rows = BTreeMap::new();
    let table = DeltaTable::at(folder).filter(|table| !table.files.is_empty());
    for row in table.into_iter().flat_map(|table| duckdb(&table.by_hand())) {
        *rows.entry(row.to_string()).or_default() += 1;
    }
    rows
}
