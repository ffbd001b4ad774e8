//! Proves the accounting identity: `batch = final live ⊎ late`, or names the rows that break it.
//!
//! ```text
//! live run ─► final rows ───────────────────────── equal? ──┐
//!         └─► late rows ─► left out of ─► batch over what ──┘
//!                 │                       was not late
//!                 └── equal? ── rows that are late by definition (recomputed from the input)
//! ```
//!
//! The late set is what the live run wrote, never what is missing: a row that vanished in the live
//! run is in neither, and shows in both comparisons.

mod late_set;
mod rows;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use tidemill_core::Result;
use tidemill_sql::physical::batch::{LateRows, expected_late};
use tidemill_sql::{Pipeline, PlannedStatement};

pub use crate::capture::run_live;
use crate::capture::{Capture, StatementCapture, run_batch};

/// What was found, a statement an entry.
#[derive(Debug, Clone)]
pub struct Report {
    /// In the order of the file.
    pub statements: Vec<StatementReport>,
}

/// What was found for one statement.
#[derive(Debug, Clone)]
pub struct StatementReport {
    /// The statement.
    pub name: Arc<str>,
    /// Rows that the live run made final.
    pub live_rows: usize,
    /// Rows of the batch over the whole input.
    pub batch_rows: usize,
    /// Rows that the live run found late, each once for every window that it missed.
    pub late_rows: usize,
    /// Rows of the batch that the live run gives otherwise, or not at all, because of late rows.
    pub moved_by_late_rows: usize,
    /// What breaks the identity; empty if it holds.
    pub differences: Vec<Difference>,
}

/// One row that breaks the identity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// What is wrong with it.
    pub kind: DifferenceKind,
    /// How many times.
    pub count: usize,
    /// The row, as a person can find it.
    pub row: String,
}

/// What is wrong with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DifferenceKind {
    /// The live run gave it, and the batch over what was not late does not.
    OnlyLive,
    /// The batch over what was not late gives it, and the live run did not.
    OnlyBatch,
    /// It was late, and is not in the late output.
    MissingLate,
    /// It is in the late output, and was not late for that window (or not once more).
    ExtraLate,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            DifferenceKind::OnlyLive => "only in the live run",
            DifferenceKind::OnlyBatch => "only in the batch over what was not late",
            DifferenceKind::MissingLate => "late, but not in the late output",
            DifferenceKind::ExtraLate => "in the late output once too often, or not late",
        };
        write!(f, "{what}: {}", self.row)?;
        if self.count > 1 { write!(f, " ({} times)", self.count) } else { Ok(()) }
    }
}

impl Report {
    /// Whether the identity holds for every statement.
    #[must_use]
    pub fn balanced(&self) -> bool {
        self.statements.iter().all(|statement| statement.differences.is_empty())
    }
}

/// Compares a live run with the batch. The input is read three times more, so it must stay as it
/// was during the live run. `None` if it was stopped.
pub async fn reconcile<S: Future<Output = ()>>(
    pipeline: &Pipeline,
    live: &Capture,
    stop: impl Fn() -> S,
) -> Result<Option<Report>> {
    let Some(batch) = run_batch(pipeline, &HashMap::new(), stop()).await? else { return Ok(None) };
    let mut late = HashMap::new();
    for (name, statement) in &live.statements {
        late.insert(Arc::clone(name), Arc::new(LateRows::new(late_set::late_rows(statement)?)));
    }
    // A statement without a late row is compared over the whole input.
    for statement in &pipeline.statements {
        late.entry(Arc::clone(&statement.name)).or_default();
    }
    let Some(not_late) = run_batch(pipeline, &late, stop()).await? else { return Ok(None) };
    let mut statements = vec![];
    for statement in &pipeline.statements {
        let of = |capture: &Capture| capture.statements.get(&statement.name).cloned().unwrap_or_default();
        statements.push(compare(pipeline, statement, of(live), of(&batch), of(&not_late)).await?);
    }
    Ok(Some(Report { statements }))
}

async fn compare(
    pipeline: &Pipeline,
    statement: &PlannedStatement,
    live: StatementCapture,
    batch: StatementCapture,
    not_late: StatementCapture,
) -> Result<StatementReport> {
    let schema = statement.schema();
    let live_rows = rows::counted(&schema, &live.rows)?;
    let batch_rows = rows::counted(&schema, &batch.rows)?;
    let not_late_rows = rows::counted(&schema, &not_late.rows)?;
    let mut differences = rows::differences(&schema, &live_rows, &not_late_rows)?;
    let expected = expected_late(pipeline, statement).await?;
    differences.extend(late_set::differences(&live, expected)?);
    differences.sort();
    Ok(StatementReport {
        name: Arc::clone(&statement.name),
        live_rows: live_rows.total(),
        batch_rows: batch_rows.total(),
        late_rows: live.late.iter().map(arrow::array::RecordBatch::num_rows).sum(),
        moved_by_late_rows: batch_rows.not_in(&live_rows),
        differences,
    })
}
