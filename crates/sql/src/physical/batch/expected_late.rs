//! Which rows are late, by the definition alone: naively, over the whole input.
//!
//! It shares with the live driver the decoders and the expressions, and nothing of its time: each
//! partition's rows are put in order, a running maximum is taken, and every row that reaches a
//! window is compared with it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Int64Type, TimestampMillisecondType};
use arrow::row::{RowConverter, Rows, SortField};
use datafusion::common::Column;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use datafusion::physical_plan::execute_stream;
use futures::StreamExt;
use tidemill_core::{EventTimes, Result, Watermark};
use tidemill_runtime::engine_error;
use tidemill_runtime::window::{Window, session_reach_ms};

use super::not_late::carry;
use super::planner::physical_plan;
use super::source::SourceTable;
use super::{LateRow, not_late::identity_column};
use crate::physical::IDENTITY;
use crate::plan::{plan_error, scanned_tables, windows};
use crate::session::optimize_for_live;
use crate::window_tvf::WindowKind;
use crate::{Pipeline, PlannedStatement};

/// Every row of the statement's windows that was late, once for each window that it missed.
pub async fn expected_late(pipeline: &Pipeline, statement: &PlannedStatement) -> Result<Vec<LateRow>> {
    let at_statement = |e| plan_error(e, &statement.excerpt);
    let lateness_ms = pipeline.settings.emit.lateness_ms();
    let mut late = vec![];
    // Rows that a filter above the window takes out never reach it live.
    let plan = optimize_for_live(statement.plan.clone(), &pipeline.session.state(), &statement.excerpt)?;
    for window in windows(&plan).map_err(at_statement)? {
        let Some(input) = carry(&window.input).map_err(at_statement)? else { continue };
        let mut watermarks = RowWatermarks::new();
        for table in scanned_tables(&window.input) {
            watermarks.extend(row_watermarks(pipeline, statement, &SourceTable::new(table)).await?);
        }
        let mut columns = IDENTITY.map(|name| Expr::Column(identity_column(&input, name))).to_vec();
        columns.push(Expr::Column(window.time.clone()));
        if let WindowKind::Session { key, .. } = &window.kind {
            columns.extend(key.iter().map(|column| Expr::Column(column.clone())));
        }
        let plan = LogicalPlanBuilder::from(input).project(columns).and_then(LogicalPlanBuilder::build);
        let batches = execute(pipeline, statement, plan.map_err(at_statement)?).await?;
        match &window.kind {
            WindowKind::Aligned(assigner) => {
                for row in batches.iter().flat_map(|rows| timed(rows, window.range(), &watermarks)) {
                    let windows = assigner.windows(assigner.pane(row.time_ms));
                    late.extend(
                        windows
                            .filter(|w| row.watermark.closes(assigner.closes_at(w.end_ms) + lateness_ms))
                            .map(|w| row.late_for(w)),
                    );
                }
            }
            WindowKind::Session { gap_ms, zone, .. } => {
                let sessions = late_for_sessions(&batches, *gap_ms, lateness_ms, &|rows| {
                    timed(rows, window.range(), &watermarks)
                })?;
                late.extend(sessions.into_iter().map(|row| LateRow { window: row.window.told_in(*zone), ..row }));
            }
        }
    }
    Ok(late)
}

/// By partition: each offset with the watermark after its row, in the order of the offsets.
type RowWatermarks = HashMap<Arc<str>, Vec<(i64, i64)>>;

async fn row_watermarks(
    pipeline: &Pipeline,
    statement: &PlannedStatement,
    table: &SourceTable,
) -> Result<RowWatermarks> {
    let at_statement = |e| plan_error(e, &statement.excerpt);
    let mut watermarks = RowWatermarks::new();
    let Some(event_time) = &table.table().event_time else { return Ok(watermarks) };
    let source = provider_as_source(Arc::new(table.with_sidecars()));
    let plan = LogicalPlanBuilder::scan(table.table().name.to_string(), source, None).map_err(at_statement)?;
    let mut columns = IDENTITY.map(|name| Expr::Column(Column::new_unqualified(name))).to_vec();
    columns.push(Expr::Column(Column::new_unqualified(&event_time.name)));
    columns.push(event_time.watermark.clone().alias("__tidemill_watermark"));
    let plan = plan.project(columns).and_then(LogicalPlanBuilder::build).map_err(at_statement)?;
    for rows in execute(pipeline, statement, plan).await? {
        let (partitions, offsets) = identity(&rows);
        let times = rows.column(2).as_primitive::<TimestampMillisecondType>();
        let claims = rows.column(3).as_primitive::<TimestampMillisecondType>();
        for row in 0..rows.num_rows() {
            let usable = times.is_valid(row) && event_time.range.hold(times.value(row)) && claims.is_valid(row);
            let claim = if usable { claims.value(row) } else { i64::MIN };
            watermarks.entry(Arc::from(partitions.value(row))).or_default().push((offsets.value(row), claim));
        }
    }
    for rows in watermarks.values_mut() {
        rows.sort_unstable();
        let mut maximum = i64::MIN;
        for (_, watermark) in rows {
            maximum = maximum.max(*watermark);
            *watermark = maximum;
        }
    }
    Ok(watermarks)
}

/// A row that reaches a window.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct TimedRow {
    watermark: Watermark,
    partition: Arc<str>,
    offset: i64,
    time_ms: i64,
    /// Its index in its batch.
    index: usize,
}

impl TimedRow {
    fn late_for(&self, window: Window) -> LateRow {
        LateRow { partition: Arc::clone(&self.partition), offset: self.offset, window }
    }
}

fn timed(rows: &RecordBatch, range: EventTimes, watermarks: &RowWatermarks) -> Vec<TimedRow> {
    let (partitions, offsets) = identity(rows);
    let times = rows.column(2).as_primitive::<TimestampMillisecondType>();
    let usable = (0..rows.num_rows()).filter(|&row| times.is_valid(row) && range.hold(times.value(row)));
    let row = |index: usize| {
        let (partition, offset) = (partitions.value(index), offsets.value(index));
        let before = watermarks.get(partition).and_then(|of_partition| {
            let position = of_partition.partition_point(|(o, _)| *o < offset);
            position.checked_sub(1).map(|previous| of_partition[previous].1)
        });
        let watermark = Watermark(before.unwrap_or(i64::MIN));
        TimedRow { watermark, partition: Arc::from(partition), offset, time_ms: times.value(index), index }
    };
    usable.map(row).collect()
}

/// Plays every key's rows, in the order that counts, against a plain list of sessions.
fn late_for_sessions(
    batches: &[RecordBatch],
    gap_ms: i64,
    lateness_ms: i64,
    timed: &dyn Fn(&RecordBatch) -> Vec<TimedRow>,
) -> Result<Vec<LateRow>> {
    let mut by_key: BTreeMap<Vec<u8>, Vec<TimedRow>> = BTreeMap::new();
    for rows in batches {
        let keys = keys_of(rows)?;
        for row in timed(rows) {
            let key = keys.as_ref().map(|keys| keys.row(row.index).as_ref().to_vec());
            by_key.entry(key.unwrap_or_default()).or_default().push(row);
        }
    }
    let closed = |row: &TimedRow, end_ms: i64| row.watermark.closes(end_ms.saturating_add(lateness_ms));
    let mut late = vec![];
    for mut rows in by_key.into_values() {
        rows.sort();
        let mut sessions: Vec<Window> = vec![];
        for row in rows {
            let mut own = Window { start_ms: row.time_ms, end_ms: row.time_ms + gap_ms };
            if closed(&row, own.end_ms.saturating_add(session_reach_ms(gap_ms))) {
                late.push(row.late_for(own));
                continue;
            }
            let touched = |w: &Window| w.start_ms <= own.end_ms && own.start_ms <= w.end_ms;
            let (touching, mut apart): (Vec<Window>, Vec<Window>) = sessions.iter().partition(|w| touched(w));
            if let Some(closed) = touching.iter().filter(|w| closed(&row, w.end_ms)).min() {
                late.push(row.late_for(*closed));
                continue;
            }
            for window in &touching {
                own.start_ms = own.start_ms.min(window.start_ms);
                own.end_ms = own.end_ms.max(window.end_ms);
            }
            if closed(&row, own.end_ms) {
                late.push(row.late_for(own));
                continue;
            }
            apart.push(own);
            sessions = apart;
        }
    }
    Ok(late)
}

/// The session's key, in the columns behind identity and time.
fn keys_of(rows: &RecordBatch) -> Result<Option<Rows>> {
    let key = &rows.columns()[3..];
    if key.is_empty() {
        return Ok(None);
    }
    let fields = key.iter().map(|column| SortField::new(column.data_type().clone())).collect();
    Ok(Some(RowConverter::new(fields)?.convert_columns(key)?))
}

fn identity(rows: &RecordBatch) -> (&arrow::array::StringViewArray, &arrow::array::PrimitiveArray<Int64Type>) {
    (rows.column(0).as_string_view(), rows.column(1).as_primitive::<Int64Type>())
}

async fn execute(pipeline: &Pipeline, statement: &PlannedStatement, plan: LogicalPlan) -> Result<Vec<RecordBatch>> {
    let at_statement = |e| plan_error(e, &statement.excerpt);
    let state = pipeline.session.state();
    let plan = state.optimize(&plan).map_err(at_statement)?;
    let plan = physical_plan(&plan, &state, &Arc::default()).await.map_err(at_statement)?;
    let mut stream = execute_stream(plan, state.task_ctx()).map_err(engine_error)?;
    let mut batches = vec![];
    while let Some(batch) = stream.next().await {
        batches.push(batch.map_err(engine_error)?);
    }
    Ok(batches)
}
