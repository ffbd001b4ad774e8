//! Which rows are late, by the definition alone: naively, over the whole input.
//!
//! It shares with the live driver the decoders and the expressions, and nothing of its time: each
//! partition's rows are put in order, a running maximum is taken, and every row that reaches a
//! window is compared with it.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Int64Type, TimestampMillisecondType};
use datafusion::common::Column;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use datafusion::physical_plan::execute_stream;
use futures::StreamExt;
use tidemill_core::{EventTime, Result, Watermark};
use tidemill_runtime::engine_error;

use super::not_late::carry;
use super::planner::physical_plan;
use super::source::{IDENTITY, SourceTable};
use super::{LateRow, not_late::identity_column};
use crate::plan::{plan_error, scanned_table, windows};
use crate::window_tvf::WindowTvf;
use crate::{Pipeline, PlannedStatement};

/// Every row of the statement's windows that was late, once for each window that it missed.
pub async fn expected_late(pipeline: &Pipeline, statement: &PlannedStatement) -> Result<Vec<LateRow>> {
    let at_statement = |e| plan_error(e, &statement.excerpt);
    let mut late = vec![];
    for window in windows(&statement.plan).map_err(at_statement)? {
        let Some(input) = carry(&window.input).map_err(at_statement)? else { continue };
        let Some(table) = scanned_table(&window.input) else { continue };
        let watermarks = row_watermarks(pipeline, statement, &SourceTable::new(table)).await?;
        let mut columns = IDENTITY.map(|name| Expr::Column(identity_column(&input, name))).to_vec();
        columns.push(Expr::Column(window.time.clone()));
        let plan = LogicalPlanBuilder::from(input).project(columns).and_then(LogicalPlanBuilder::build);
        for rows in execute(pipeline, statement, plan.map_err(at_statement)?).await? {
            late_in(&rows, &window, &watermarks, &mut late);
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
    let source = provider_as_source(Arc::new(table.with_identity()));
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
            let usable = times.is_valid(row) && EventTime(times.value(row)).possible() && claims.is_valid(row);
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

fn late_in(rows: &RecordBatch, window: &WindowTvf, watermarks: &RowWatermarks, late: &mut Vec<LateRow>) {
    let (partitions, offsets) = identity(rows);
    let times = rows.column(2).as_primitive::<TimestampMillisecondType>();
    for row in 0..rows.num_rows() {
        if times.is_null(row) || !EventTime(times.value(row)).possible() {
            continue;
        }
        let offset = offsets.value(row);
        let before = watermarks.get(partitions.value(row)).and_then(|of_partition| {
            let position = of_partition.partition_point(|(o, _)| *o < offset);
            position.checked_sub(1).map(|previous| of_partition[previous].1)
        });
        let watermark = Watermark(before.unwrap_or(i64::MIN));
        for window in window.assigner.windows(window.assigner.pane(times.value(row))) {
            if watermark.closes(window.end_ms) {
                late.push(LateRow { partition: Arc::from(partitions.value(row)), offset, window });
            }
        }
    }
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
