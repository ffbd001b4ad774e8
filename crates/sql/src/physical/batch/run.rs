//! Runs all statements over the input as bounded history; sinks commit together, at the end.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::execute_stream;
use futures::StreamExt;
use tidemill_core::{Epoch, Error, EventBatch, Result, Watermark};
use tidemill_runtime::connector::Sink;
use tidemill_runtime::engine_error;

use super::LateRows;
use super::dead_letter::DeadLetters;
use super::not_late::with_identity;
use super::planner::physical_plan;
use super::sessions_apart::sessions_apart;
use crate::physical::Outputs;
use crate::plan::{plan_error, scanned, without_unread_fields};
use crate::{Pipeline, PlannedStatement};

/// How a batch run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchOutcome {
    /// It was stopped, and has written nothing.
    pub stopped: bool,
    /// By table: how many rows could not be decoded, and were kept.
    pub rejected: BTreeMap<Arc<str>, u64>,
}

/// Runs the statements one after the other. `late` leaves out, by statement, rows that a live run
/// found late.
///
/// # Errors
/// Nothing is written where one statement fails.
pub async fn run(
    pipeline: &Pipeline,
    outputs: &dyn Outputs,
    late: &HashMap<Arc<str>, Arc<LateRows>>,
    stop: impl Future<Output = ()>,
) -> Result<BatchOutcome> {
    let mut sinks = vec![];
    let outcome = write_and_commit(pipeline, outputs, late, stop, &mut sinks).await;
    if matches!(&outcome, Ok(outcome) if !outcome.stopped) {
        return outcome;
    }
    for sink in &mut sinks {
        let aborted = sink.abort().await;
        if outcome.is_ok() {
            aborted?;
        }
    }
    outcome
}

/// Every sink that was opened is in `sinks`, whatever happens.
async fn write_and_commit(
    pipeline: &Pipeline,
    outputs: &dyn Outputs,
    late: &HashMap<Arc<str>, Arc<LateRows>>,
    stop: impl Future<Output = ()>,
    sinks: &mut Vec<Box<dyn Sink>>,
) -> Result<BatchOutcome> {
    for statement in &pipeline.statements {
        check_bounded(statement)?;
        let sink = outputs.rows(statement, &statement.schema()).map_err(|e| e.at(statement.excerpt.clone()))?;
        sinks.push(sink.open()?);
    }
    let mut dead_letters = DeadLetters::open(pipeline, outputs)?;
    let outcome = tokio::select! {
        outcome = write_all(pipeline, sinks, late, &mut dead_letters) => outcome.map(|()| false),
        () = stop => Ok(true),
    };
    let (more, rejected) = dead_letters.finish().await;
    sinks.extend(more);
    match (outcome, rejected) {
        (Ok(false), Ok(rejected)) => commit(sinks).await.map(|()| BatchOutcome { stopped: false, rejected }),
        (Ok(true), _) => Ok(BatchOutcome { stopped: true, rejected: BTreeMap::new() }),
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

async fn write_all(
    pipeline: &Pipeline,
    sinks: &mut [Box<dyn Sink>],
    late: &HashMap<Arc<str>, Arc<LateRows>>,
    dead_letters: &mut DeadLetters,
) -> Result<()> {
    for (statement, sink) in pipeline.statements.iter().zip(sinks.iter_mut()) {
        write(pipeline, statement, sink.as_mut(), late.get(&statement.name), dead_letters).await?;
    }
    Ok(())
}

/// Everything is durable before anything is visible.
async fn commit(sinks: &mut [Box<dyn Sink>]) -> Result<()> {
    let epoch = Epoch::default().next();
    for sink in sinks.iter_mut() {
        sink.prepare(epoch).await?;
    }
    for sink in sinks {
        sink.commit(epoch).await?;
    }
    Ok(())
}

async fn write(
    pipeline: &Pipeline,
    statement: &PlannedStatement,
    sink: &mut dyn Sink,
    late: Option<&Arc<LateRows>>,
    dead_letters: &mut DeadLetters,
) -> Result<()> {
    let state = pipeline.session.state();
    let at_statement = |e| plan_error(e, &statement.excerpt);
    let plan = match late {
        Some(_) => with_identity(&statement.plan).map_err(at_statement)?,
        None => statement.plan.clone(),
    };
    let plan = sessions_apart(plan).and_then(|plan| state.optimize(&plan));
    let plan = plan.and_then(without_unread_fields).map_err(at_statement)?;
    let plan = physical_plan(&plan, &state, &late.cloned().unwrap_or_default()).await.map_err(at_statement)?;
    dead_letters.attach(&plan);
    let mut rows = execute_stream(plan, state.task_ctx()).map_err(engine_error)?;
    while let Some(batch) = rows.next().await {
        sink.write(&EventBatch::append(batch.map_err(engine_error)?)).await?;
    }
    sink.progress(Watermark::MAX).await
}

/// Refuses a statement that reads a table without an end.
///
/// # Errors
/// It does, or a source can't be made.
pub fn check_bounded(statement: &PlannedStatement) -> Result<()> {
    let mut outcome = Ok(());
    let visit = statement.plan.apply(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && let Some(source) = scanned(scan)
        {
            let table = source.table();
            match table.source() {
                Ok(source) if !source.bounded() => {
                    outcome = Err(Error::invalid(format!(
                        "the table '{}' has no end, so it can't run as a batch",
                        table.name
                    ))
                    .hint("run the file without --batch, or give the table an end ('number-of-rows' of datagen, 'events.num' of nexmark)")
                    .at(statement.excerpt.clone()));
                }
                Ok(_) => {}
                Err(error) => outcome = Err(error),
            }
        }
        Ok(TreeNodeRecursion::Continue)
    });
    visit.map_err(|e| plan_error(e, &statement.excerpt))?;
    outcome
}
