//! The live planner: all statements of a file as one graph for the runtime.
//!
//! [`sources`] finds what must be decoded, [`planner`] turns plan nodes into operators (equal subplans
//! once; [`scan`] is a table's rows), [`window`] recognises a grouped window, [`group`] is a `GROUP BY` without one, [`top_n`] a numbering that is cut, [`watermark`] what a source claims of event time, [`late`] ends late rows in their sink, [`query`] leaves the rows of a program's query to others.

mod dead_letter;
mod expressions;
mod group;
mod grouping_sets;
mod late;
mod planner;
mod query;
mod scan;
mod sources;
mod top_n;
mod window;

use datafusion::execution::SessionState;
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::ChangelogMode;
use tidemill_runtime::graph::JobGraph;

use super::Outputs;
use crate::session::optimize_for_live;
use crate::{Pipeline, PlannedStatement};
use planner::Planner;
pub(crate) use query::plan_query;

/// One graph for all statements.
///
/// # Errors
/// What can't run live, with its place in the text and what to do.
pub fn plan(pipeline: &Pipeline, outputs: &dyn Outputs) -> Result<JobGraph> {
    let state = pipeline.session.state();
    let (mut planner, _) = plan_statements(&state, pipeline, &pipeline.statements, outputs)?;
    planner.dead_letters(pipeline, outputs)?;
    Ok(planner.into_graph())
}

/// The graph of one statement, and the row kinds that its rows have.
pub(crate) fn plan_one(
    pipeline: &Pipeline,
    statement: &PlannedStatement,
    outputs: &dyn Outputs,
) -> Result<(JobGraph, ChangelogMode)> {
    let state = pipeline.session.state();
    let (planner, changelogs) = plan_statements(&state, pipeline, std::slice::from_ref(statement), outputs)?;
    let changelog = changelogs.into_iter().next().ok_or_else(|| Error::internal("a statement was not planned"))?;
    Ok((planner.into_graph(), changelog))
}

/// A planner that holds the operators of the statements, and the row kinds of each.
fn plan_statements<'a>(
    state: &'a SessionState,
    pipeline: &'a Pipeline,
    planned: &[PlannedStatement],
    outputs: &dyn Outputs,
) -> Result<(Planner<'a>, Vec<ChangelogMode>)> {
    let mut statements = vec![];
    for statement in planned {
        let plan = optimize_for_live(statement.plan.clone(), state, &statement.excerpt)?;
        statements.push(planner::LiveStatement { plan, late: outputs.late(statement)?, statement });
    }
    sources::narrow(&mut statements)?;
    let needs = sources::needs(&statements)?;
    let limits = top_n::limits(&statements)?;
    let graph = JobGraph::new(pipeline.parallelism);
    let mut planner = Planner::new(state, pipeline, graph, &needs, limits)?;
    let changelogs = statements.iter().map(|statement| planner.statement(statement, outputs)).collect::<Result<_>>()?;
    Ok((planner, changelogs))
}
