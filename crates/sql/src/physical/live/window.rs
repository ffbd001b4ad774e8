//! A grouped window: `GROUP BY window_start, window_end, ...` over a window table function.
//!
//! Between the two may stand projections, aliases and filters that do not look at the window. They
//! are folded into the aggregate's own expressions, so that it reads the function's *input*: a row
//! of a hopping window is never copied into each of its windows, panes share it.

use std::sync::Arc;

use arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::Column;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{Aggregate, Expr, Extension, LogicalPlan};
use tidemill_core::{Error, Excerpt, Result};
use tidemill_runtime::exchange::Partitioning;
use tidemill_runtime::graph::{MakeOperator, Stream};
use tidemill_runtime::metrics::WindowMetrics;
use tidemill_runtime::operator::Port;
use tidemill_runtime::window::{
    Aggregation, LateOutput, PreAggregate, SessionAggregate, SessionSpec, WindowAggregate, WindowAssigner,
};

use super::expressions::{Expressions, arrow_schema, pick};
use super::planner::{LiveStatement, Planned, Planner, make_calc};
use crate::plan::{plan_error, scanned_table, unaliased};
use crate::window_tvf::{WINDOW_END, WINDOW_START, WINDOW_TIME, WindowKind, WindowTvf};

/// What both kinds of windows are built from.
struct Build {
    input: Stream,
    time_index: usize,
    time_type: DataType,
    aggregation: Aggregation,
    late: Option<LateOutput>,
    metrics: Arc<WindowMetrics>,
    name: String,
}

/// A grouped window over the input of its function.
struct WindowedAggregate<'a> {
    window: &'a WindowTvf,
    /// What stands in the output for each group expression.
    groups: Vec<Group>,
    /// Over the function's input.
    calls: Vec<Expr>,
}

enum Group {
    /// `window_start`, `window_end`, `window_time`: the bound's position in the operator's output.
    Bound(usize),
    /// Over the function's input.
    Key(Expr),
}

impl Planner<'_> {
    pub(super) fn window_aggregate(&mut self, aggregate: &Aggregate, live: &LiveStatement<'_>) -> Result<Planned> {
        let excerpt = &live.statement.excerpt;
        let windowed = windowed(aggregate).map_err(|e| e.at(excerpt.clone()))?;
        let window = windowed.window;
        let input = self.node(&window.input, live)?;
        let aggregation = self.aggregation(&windowed, live)?;
        let time_index = window.time_index().map_err(|e| plan_error(e, excerpt))?;
        let time_type = window.input.schema().field(time_index).data_type().clone();

        let late = match live.late {
            Some(_) => Some(self.late_output(window, &time_type)?),
            None => None,
        };
        let late_schema = late.as_ref().map(|late| Arc::clone(late.schema()));
        let metrics = Arc::new(WindowMetrics::default());
        let build = Build {
            input: input.stream,
            time_index,
            time_type: time_type.clone(),
            aggregation: aggregation.clone(),
            late,
            metrics: Arc::clone(&metrics),
            name: format!("window {} of {}", window.kind, live.statement.name),
        };
        let (results, late_stream) = match &window.kind {
            WindowKind::Aligned(assigner) => self.aligned(*assigner, build),
            WindowKind::Session { gap_ms, key } => {
                let key = key.iter().map(|column| window.input.schema().index_of_column(column));
                let key: Vec<usize> = key.collect::<Result<_, _>>().map_err(|e| plan_error(e, excerpt))?;
                check_session_key(&windowed, excerpt)?;
                self.session(*gap_ms, key, &arrow_schema(window.input.schema()), build)
            }
        };
        let in_order = pick(
            &WindowAggregate::output_schema(&aggregation, &time_type),
            &windowed.output_columns(),
            arrow_schema(&aggregate.schema),
        );
        let mut late_outputs = input.late;
        late_outputs.extend(late_schema.map(|schema| (late_stream.side(Port::LATE), schema)));
        let mut all_metrics = input.metrics;
        all_metrics.push(metrics);
        Ok(Planned { stream: self.graph.chain(results, make_calc(in_order)), late: late_outputs, metrics: all_metrics })
    }

    /// Two phases: panes before the exchange, windows behind it.
    fn aligned(&mut self, assigner: WindowAssigner, build: Build) -> (Stream, Stream) {
        let Build { input, time_index, time_type, aggregation, late, metrics, name } = build;
        let phase1 = aggregation.clone();
        let partials = self.graph.chain(
            input,
            Arc::new(move || {
                let operator =
                    PreAggregate::new(time_index, assigner, phase1.clone(), late.clone(), Arc::clone(&metrics))?;
                Ok(Box::new(operator))
            }),
        );
        let partitioning = match aggregation.groups.is_empty() {
            true => Partitioning::Gather,
            false => Partitioning::KeyGroups(PreAggregate::group_columns(&assigner, &aggregation)),
        };
        let make: MakeOperator =
            Arc::new(move || Ok(Box::new(WindowAggregate::new(assigner, aggregation.clone(), &time_type)?)));
        (self.graph.exchange(&[partials], &partitioning, name, make), partials)
    }

    /// One phase: who belongs together is known only where all rows of a key meet.
    fn session(&mut self, gap_ms: i64, key_columns: Vec<usize>, input: &SchemaRef, build: Build) -> (Stream, Stream) {
        let Build { input: rows, time_index, aggregation, late, metrics, name, .. } = build;
        let partitioning = match key_columns.is_empty() {
            true => Partitioning::Gather,
            false => Partitioning::KeyGroups(key_columns.clone()),
        };
        let spec = SessionSpec { time_column: time_index, key_columns, gap_ms, aggregation, late };
        let input = Arc::clone(input);
        let make: MakeOperator =
            Arc::new(move || Ok(Box::new(SessionAggregate::new(spec.clone(), &input, Arc::clone(&metrics))?)));
        let results = self.graph.exchange(&[rows], &partitioning, name, make);
        (results, results)
    }

    fn aggregation(&self, windowed: &WindowedAggregate<'_>, live: &LiveStatement<'_>) -> Result<Aggregation> {
        let expressions = Expressions { state: self.state, excerpt: &live.statement.excerpt };
        let input = &windowed.window.input;
        let mut groups = vec![];
        for group in &windowed.groups {
            if let Group::Key(expr) = group {
                let physical = expressions.scalar(expr, input.schema())?;
                let field = physical.return_field(input.schema().as_arrow());
                groups.push((physical, field.map_err(|e| plan_error(e, &live.statement.excerpt))?));
            }
        }
        let calls = windowed.calls.iter().map(|call| expressions.aggregate(call, input)).collect::<Result<_>>()?;
        Ok(Aggregation { groups, calls })
    }

    fn late_output(&self, window: &WindowTvf, time: &DataType) -> Result<LateOutput> {
        let table = scanned_table(&window.input)
            .ok_or_else(|| Error::internal("the input of a window with a late output has no source"))?;
        let (_, columns) = self.source(&table.name)?;
        LateOutput::new(&columns, time)
    }
}

impl WindowedAggregate<'_> {
    /// Where the aggregate's columns stand in [`WindowAggregate::output_schema`].
    fn output_columns(&self) -> Vec<usize> {
        let mut next_key = 3..;
        let keys = self.groups.iter().map(|group| match group {
            Group::Bound(position) => *position,
            Group::Key(_) => next_key.next().unwrap_or_default(),
        });
        let mut columns: Vec<usize> = keys.collect();
        columns.extend(next_key.take(self.calls.len()));
        columns
    }
}

/// A session belongs to its key: a group over several keys would mix sessions that only happen to
/// have the same bounds.
fn check_session_key(windowed: &WindowedAggregate<'_>, excerpt: &Excerpt) -> Result<()> {
    let WindowKind::Session { key, .. } = &windowed.window.kind else { return Ok(()) };
    let grouped = |column: &Column| {
        windowed.groups.iter().any(|group| matches!(group, Group::Key(Expr::Column(c)) if c == column))
    };
    match key.iter().find(|column| !grouped(column)) {
        None => Ok(()),
        Some(column) => Err(Error::invalid(format!("the session's key '{}' is not in the GROUP BY", column.name))
            .hint(format!("GROUP BY window_start, window_end, {}", column.name))
            .at(excerpt.clone())),
    }
}

fn windowed(aggregate: &Aggregate) -> Result<WindowedAggregate<'_>> {
    let mut groups = aggregate.group_expr.clone();
    let mut calls = aggregate.aggr_expr.clone();
    if groups.iter().any(|group| matches!(group, Expr::GroupingSet(_))) {
        return Err(Error::invalid("GROUPING SETS, ROLLUP and CUBE are not supported in a live run yet")
            .hint("run the file with --batch"));
    }
    let window = fold_down(&aggregate.input, &mut groups, &mut calls)?;
    let groups: Vec<Group> = groups.into_iter().map(|group| bound_or_key(group, window)).collect::<Result<_>>()?;
    for (position, name) in [(0, WINDOW_START), (1, WINDOW_END)] {
        if !groups.iter().any(|group| matches!(group, Group::Bound(p) if *p == position)) {
            return Err(Error::invalid(format!("a grouped window needs {name} in its GROUP BY"))
                .hint("GROUP BY window_start, window_end, ..."));
        }
    }
    if calls.iter().any(|call| window_column(call, window)) {
        return Err(Error::invalid("an aggregate of window_start, window_end or window_time is not supported yet")
            .hint("both are the same for all rows of the window: select them as they are"));
    }
    Ok(WindowedAggregate { window, groups, calls })
}

/// Goes down to the window function, rewriting the expressions to its columns.
fn fold_down<'a>(plan: &'a LogicalPlan, groups: &mut [Expr], calls: &mut [Expr]) -> Result<&'a WindowTvf> {
    match plan {
        LogicalPlan::Extension(Extension { node }) => node
            .as_any()
            .downcast_ref::<WindowTvf>()
            .ok_or_else(|| Error::internal(format!("no live form of {}", node.name()))),
        LogicalPlan::SubqueryAlias(alias) => {
            let below = alias.input.schema();
            replace(groups, calls, plan, |index| {
                let (qualifier, field) = below.qualified_field(index);
                Expr::Column(Column::new(qualifier.cloned(), field.name().clone()))
            })?;
            fold_down(&alias.input, groups, calls)
        }
        LogicalPlan::Projection(projection) => {
            replace(groups, calls, plan, |index| unaliased(&projection.expr[index]).clone())?;
            fold_down(&projection.input, groups, calls)
        }
        LogicalPlan::Filter(_) => Err(Error::invalid(
            "a condition on the window's columns is not supported in a live run yet",
        )
        .hint(
            "put it around the grouped query: SELECT ... FROM (SELECT ... GROUP BY window_start, window_end) WHERE ...",
        )),
        _ => Err(Error::invalid("GROUP BY without a window is not supported in a live run yet")
            .hint("group by window_start and window_end of a TUMBLE(...), or run the file with --batch")),
    }
}

/// Puts what `below` says in place of each column of `plan`.
fn replace(groups: &mut [Expr], calls: &mut [Expr], plan: &LogicalPlan, below: impl Fn(usize) -> Expr) -> Result<()> {
    for expr in groups.iter_mut().chain(calls) {
        let name = expr.schema_name().to_string();
        let replaced = expr.clone().transform(|e| match &e {
            Expr::Column(column) => Ok(Transformed::yes(below(plan.schema().index_of_column(column)?))),
            _ => Ok(Transformed::no(e)),
        });
        let replaced = replaced.map_err(tidemill_runtime::engine_error)?.data;
        // An aggregate keeps its name, which messages about it show.
        let renamed = replaced.schema_name().to_string() != name;
        *expr = match replaced {
            Expr::AggregateFunction(_) if renamed => replaced.alias(name),
            other => other,
        };
    }
    Ok(())
}

fn bound_or_key(group: Expr, window: &WindowTvf) -> Result<Group> {
    if let Expr::Column(column) = unaliased(&group)
        && let Some(position) = [WINDOW_START, WINDOW_END, WINDOW_TIME].iter().position(|name| *name == column.name)
    {
        return Ok(Group::Bound(position));
    }
    if window_column(&group, window) {
        return Err(Error::invalid(format!("GROUP BY {group} computes with the window's columns"))
            .hint("group by window_start and window_end as they are, and compute in the SELECT list"));
    }
    Ok(Group::Key(group))
}

fn window_column(expr: &Expr, window: &WindowTvf) -> bool {
    expr.column_refs().iter().any(|column| window.input.schema().index_of_column(column).is_err())
}
