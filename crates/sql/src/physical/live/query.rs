//! A program's query: its rows are streams of the program's graph, for others to read.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidemill_core::Result;
use tidemill_runtime::connector::ChangelogMode;
use tidemill_runtime::graph::{JobGraph, Stream};

use super::planner::{LiveStatement, Planner};
use super::{sources, top_n};
use crate::session::optimize_for_live;
use crate::{Pipeline, PlannedStatement};

/// What a query became.
pub(crate) struct PlannedQuery {
    pub(crate) streams: Vec<Stream>,
    /// Which row kinds its rows have.
    pub(crate) changelog: ChangelogMode,
    /// The key of the `SET` without which its rows would come once.
    pub(crate) updated_by: Option<&'static str>,
}

/// Adds a query to a graph. A table that it reads from a connector is read for it alone, under a name of `free_name`'s.
pub(crate) fn plan_query(
    pipeline: &Pipeline,
    statement: &PlannedStatement,
    graph: JobGraph,
    free_name: &mut dyn FnMut(&str) -> String,
) -> Result<(JobGraph, PlannedQuery)> {
    let state = pipeline.session.state();
    let plan = optimize_for_live(statement.plan.clone(), &state, &statement.excerpt)?;
    let mut statements = [LiveStatement { plan, late: None, statement }];
    sources::narrow(&mut statements)?;
    let mut needs = sources::needs(&statements)?;
    let mut names: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
    for ((table, _), need) in &mut needs {
        let name = names.entry(Arc::clone(table)).or_insert_with(|| free_name(table).into());
        need.name = Arc::clone(name);
    }
    let limits = top_n::limits(&statements)?;
    let mut planner = Planner::new(&state, pipeline, graph, &needs, limits)?;
    let [live] = &statements;
    planner.numbered = sources::numbered(live)?;
    let planned = planner.rows(live)?;
    let query =
        PlannedQuery { streams: planned.streams(), changelog: planned.changelog, updated_by: planned.updated_by };
    planner.count(statement, planned.metrics);
    Ok((planner.into_graph(), query))
}
