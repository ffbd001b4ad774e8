//! Runs all statements over the input as bounded history; sinks commit together, at the end.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use chrono::Utc;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SessionState, SessionStateBuilder, TaskContext};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::StreamExt;
use futures::future::try_join_all;
use tidemill_core::{Epoch, Error, EventBatch, Result, Watermark};
use tidemill_runtime::connector::Sink;
use tidemill_runtime::engine_error;
use tidemill_runtime::key_groups::Spill;

use super::LateRows;
use super::dead_letter::DeadLetters;
use super::not_late::with_identity;
use super::planner::physical_plan;
use super::sessions_apart::sessions_apart;
use super::shared_scan::{SharedScan, groups};
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

/// Runs the statements one after the other, and those at once that share a scan. `late` leaves out, by statement, rows that a live run
/// found late.
///
/// What `spill` has no memory for lies on disk.
///
/// # Errors
/// Nothing is written where one statement fails.
pub async fn run(
    pipeline: &Pipeline,
    outputs: &dyn Outputs,
    late: &HashMap<Arc<str>, Arc<LateRows>>,
    spill: Option<&Spill>,
    stop: impl Future<Output = ()>,
) -> Result<BatchOutcome> {
    let mut sinks = vec![];
    let outcome = write_and_commit(pipeline, outputs, late, spill, stop, &mut sinks).await;
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
    spill: Option<&Spill>,
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
        outcome = write_all(pipeline, sinks, late, spill, &mut dead_letters) => outcome.map(|()| false),
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
    spill: Option<&Spill>,
    dead_letters: &mut DeadLetters,
) -> Result<()> {
    let state = begun(limited(pipeline.session.state(), spill).map_err(engine_error)?);
    let mut plans = vec![];
    for statement in &pipeline.statements {
        let plan = planned(statement, &state, late.get(&statement.name)).await;
        plans.push(plan.map_err(|e| plan_error(e, &statement.excerpt))?);
    }
    let groups = groups(&plans);
    // Each is taken when it runs, so that none outlives its run: a shared scan waits for those that may still read it.
    let mut plans: Vec<Option<Arc<dyn ExecutionPlan>>> = plans.into_iter().map(Some).collect();
    let mut sinks: Vec<Option<&mut Box<dyn Sink>>> = sinks.iter_mut().map(Some).collect();
    for group in groups {
        let members: Vec<_> = group.iter().filter_map(|&index| plans[index].take()).collect();
        let _reading = match &members[..] {
            [alone] => {
                dead_letters.attach(alone);
                None
            }
            members => {
                let shared = SharedScan::of(members, &state).await.map_err(engine_error)?;
                dead_letters.attach(shared.scan());
                Some(shared.start(&state.task_ctx()).map_err(engine_error)?)
            }
        };
        let writes = group.iter().zip(members).filter_map(|(&index, plan)| {
            let sink = sinks[index].take()?;
            Some(write(plan, sink.as_mut(), state.task_ctx()))
        });
        try_join_all(writes).await?;
    }
    Ok(())
}

/// The same session, whose operators take no more memory than there is; ours find where to spill in its configuration.
fn limited(state: SessionState, spill: Option<&Spill>) -> datafusion::error::Result<SessionState> {
    let Some(spill) = spill else { return Ok(state) };
    // The rest is for what nobody counts: what is decoded, and what is on its way.
    let bytes = usize::try_from(spill.limit.bytes() / 2).unwrap_or(usize::MAX);
    let environment = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(FairSpillPool::new(bytes)))
        .with_temp_file_path(spill.folder.path());
    let config = state.config().clone().with_extension(Arc::new(spill.clone()));
    let builder = SessionStateBuilder::new_from_existing(state);
    Ok(builder.with_config(config).with_runtime_env(environment.build_arc()?).build())
}

/// The session as of now: the present time of all statements.
fn begun(mut state: SessionState) -> SessionState {
    state.execution_props_mut().query_execution_start_time = Some(Utc::now());
    state
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

async fn planned(
    statement: &PlannedStatement,
    state: &SessionState,
    late: Option<&Arc<LateRows>>,
) -> datafusion::error::Result<Arc<dyn ExecutionPlan>> {
    let plan = match late {
        Some(_) => with_identity(&statement.plan)?,
        None => statement.plan.clone(),
    };
    let plan = without_unread_fields(state.optimize(&sessions_apart(plan)?)?)?;
    physical_plan(&plan, state, &late.cloned().unwrap_or_default()).await
}

async fn write(plan: Arc<dyn ExecutionPlan>, sink: &mut dyn Sink, context: Arc<TaskContext>) -> Result<()> {
    let mut rows = execute_stream(plan, context).map_err(engine_error)?;
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
