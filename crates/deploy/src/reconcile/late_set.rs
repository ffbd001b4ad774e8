//! The late output against the definition of late: a row's own watermark had reached the window's end.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{Int64Type, TimestampMillisecondType};
use tidemill_core::{Error, Result};
use tidemill_runtime::window::{LATE_COLUMNS, Window};
use tidemill_sql::physical::batch::LateRow;

use super::rows::describe;
use super::{Difference, DifferenceKind};
use crate::capture::StatementCapture;

/// The rows of a late output that missed a window; those without an event time are in none.
pub(super) fn late_rows(statement: &StatementCapture) -> Result<Vec<LateRow>> {
    let mut rows = vec![];
    for batch in &statement.late {
        rows.extend(identified(batch)?.into_iter().flatten());
    }
    Ok(rows)
}

/// Rows that are late by definition and are not there, and rows that are there and should not be.
pub(super) fn differences(statement: &StatementCapture, expected: Vec<LateRow>) -> Result<Vec<Difference>> {
    let mut missing: HashMap<LateRow, usize> = HashMap::new();
    for row in expected {
        *missing.entry(row).or_insert(0) += 1;
    }
    let mut differences = vec![];
    for batch in &statement.late {
        for (index, row) in identified(batch)?.into_iter().enumerate() {
            let Some(row) = row else { continue };
            match missing.get_mut(&row) {
                Some(count) if *count > 0 => *count -= 1,
                _ => {
                    let columns = describe(&batch.schema(), batch.columns(), index)?;
                    let row = format!("{} {columns}", place(&row));
                    differences.push(Difference { kind: DifferenceKind::ExtraLate, count: 1, row });
                }
            }
        }
    }
    differences.extend(missing.into_iter().filter(|(_, count)| *count > 0).map(|(row, count)| Difference {
        kind: DifferenceKind::MissingLate,
        count,
        row: place(&row),
    }));
    Ok(differences)
}

/// `events.jsonl, line 17, window [start, end)`
fn place(row: &LateRow) -> String {
    let LateRow { partition, offset, window } = row;
    format!("{partition}, line {}, window [{}, {})", offset + 1, time(window.start_ms), time(window.end_ms))
}

fn time(ms: i64) -> String {
    arrow::temporal_conversions::timestamp_ms_to_datetime(ms)
        .map_or_else(|| format!("{ms} ms"), |t| t.format("%Y-%m-%dT%H:%M:%S%.3f").to_string())
}

/// Each row's identity and window; `None` where it is in no window.
fn identified(batch: &RecordBatch) -> Result<Vec<Option<LateRow>>> {
    let [start, end, _, _, partition, offset] = LATE_COLUMNS.map(|name| late_column(batch, name));
    let (start, end) = (start?, end?);
    let start = start.as_primitive_opt::<TimestampMillisecondType>().ok_or_else(wrong_type)?;
    let end = end.as_primitive_opt::<TimestampMillisecondType>().ok_or_else(wrong_type)?;
    let (partition, offset) = (partition?, offset?);
    let partition = partition.as_string_view_opt().ok_or_else(wrong_type)?;
    let offset = offset.as_primitive_opt::<Int64Type>().ok_or_else(wrong_type)?;
    let row = |i: usize| {
        end.is_valid(i).then(|| LateRow {
            partition: Arc::from(partition.value(i)),
            offset: offset.value(i),
            window: Window { start_ms: start.value(i), end_ms: end.value(i) },
        })
    };
    Ok((0..batch.num_rows()).map(row).collect())
}

/// The late column of that name: the last, where a column of the source has the name too.
fn late_column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    let index = batch.schema_ref().fields().iter().rposition(|field| field.name() == name);
    index.map(|index| batch.column(index)).ok_or_else(|| Error::internal(format!("late rows have no column {name}")))
}

fn wrong_type() -> Error {
    Error::internal("the identity of late rows has another type than expected")
}
