//! A grouped window: `GROUP BY window_start, window_end, ...` over a window table function.
//!
//! Between the two may stand projections and aliases. They are folded into the aggregate's own
//! expressions, so that it reads the function's *input*: a row of a hopping window is never copied
//! into each of its windows, panes share it. A filter that looks only at what is grouped by, such
//! as the window's bounds, stands above the results instead: it leaves out whole groups.

use std::sync::Arc;
use std::time::Duration;

use arrow::datatypes::IntervalMonthDayNano;
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, ScalarValue, internal_datafusion_err};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::utils::grouping_set_to_exprlist;
use datafusion::logical_expr::{
    Aggregate, Expr, Extension, Filter, LogicalPlan, LogicalPlanBuilder, UserDefinedLogicalNode, lit,
};
use tidemill_core::{Error, Result};
use tidemill_runtime::aggregate::Aggregation;
use tidemill_runtime::connector::ChangelogMode;
use tidemill_runtime::engine_error;
use tidemill_runtime::exchange::Partitioning;
use tidemill_runtime::graph::{MakeOperator, Stream};
use tidemill_runtime::metrics::WindowMetrics;
use tidemill_runtime::operator::{Calc, Port};
use tidemill_runtime::window::{
    AssignWindows, LateOutput, PreAggregate, SessionAggregate, SessionSpec, TimeColumn, WindowAggregate,
    WindowAssigner, WindowSpec, late_schema,
};

use super::expressions::{Expressions, arrow_schema, pick};
use super::planner::{Branch, LiveStatement, Planned, Planner, make_calc};
use super::sources::TimeKind;
use crate::catalog::Table;
use crate::function::Clock;
use crate::plan::{Bound, attached_by, bound_of, function_below, made_of_element, plan_error, unaliased};
use crate::settings::{ALLOW_LATENESS, EARLY_FIRE};
use crate::unnest::Unnest;
use crate::window_tvf::{WINDOW_END, WINDOW_START, WINDOW_TIME, WindowKind, WindowTvf};

/// What both kinds of windows are built from.
struct Build {
    time: TimeColumn,
    time_type: DataType,
    aggregation: Aggregation,
    late: Option<LateOutput>,
    metrics: Arc<WindowMetrics>,
    name: String,
}

/// When a window tells its results.
#[derive(Clone, Copy)]
struct Emission {
    lateness_ms: i64,
    early_fire: Option<Duration>,
    late_fire: Option<Duration>,
}

/// The late outputs of a window, with the tables whose rows leave by them.
type LateStreams = Vec<(Stream, Arc<Table>)>;

/// A grouped window over the input of its function.
struct WindowedAggregate {
    window: WindowTvf,
    /// The rows have their windows from below.
    attached: bool,
    /// What stands in the output for each group expression.
    groups: Vec<Group>,
    /// Over the function's input.
    calls: Vec<Expr>,
    /// Which groups are wanted: conditions over the aggregate's output.
    conditions: Vec<Expr>,
}

enum Group {
    /// `window_start`, `window_end`, `window_time`: the bound's position in the operator's output.
    Bound(usize),
    /// Over the function's input.
    Key(Expr),
}

impl Planner<'_> {
    /// `before_sink`: no other operator reads the results, so that they may be provisional.
    pub(super) fn window_aggregate(
        &mut self,
        aggregate: &Aggregate,
        before_sink: bool,
        live: &LiveStatement<'_>,
    ) -> Result<Planned> {
        let excerpt = &live.statement.excerpt;
        let windowed = windowed(aggregate).map_err(|e| e.at(excerpt.clone()))?;
        let window = &windowed.window;
        let input = self.windowed_input(window, live)?;
        if windowed.attached && input.branches.iter().any(|branch| branch.table.is_some()) {
            return Err(windows_of_several(&aggregate.input).at(excerpt.clone()));
        }
        let aggregation = self.aggregation(&windowed, live)?;
        let time = time_column(window).map_err(|e| plan_error(e, excerpt))?;
        let time_type = window.input.schema().field(time.index).data_type().clone();

        let by_clock = window.by_clock();
        let emission = self.emission(before_sink, by_clock);
        // A window that takes rows after it has fired updates its result, and so does one that fires early.
        let updated_by = match emission {
            Emission { early_fire: Some(_), .. } => Some(EARLY_FIRE),
            Emission { lateness_ms: 1.., .. } => Some(ALLOW_LATENESS),
            _ => None,
        };
        let metrics = Arc::new(WindowMetrics::default());
        let build = Build {
            time,
            time_type: time_type.clone(),
            aggregation: aggregation.clone(),
            late: live.late.as_ref().filter(|_| !by_clock).map(|_| LateOutput::new(time_type.clone())),
            metrics: Arc::clone(&metrics),
            name: format!("window {} of {}", window.kind, live.statement.name),
        };
        let (results, late_streams) = match &window.kind {
            WindowKind::Aligned(assigner) => {
                let Emission { lateness_ms, early_fire, late_fire } = emission;
                let aggregation = aggregation.clone();
                let spec = WindowSpec { assigner: *assigner, lateness_ms, aggregation, early_fire, late_fire };
                self.aligned(spec, &input.branches, build)
            }
            WindowKind::Session { gap_ms, zone, key } => {
                let key = key.iter().map(|column| window.input.schema().index_of_column(column));
                let key: Vec<usize> = key.collect::<Result<_, _>>().map_err(|e| plan_error(e, excerpt))?;
                check_session(&windowed, &input.branches, live)?;
                let Emission { lateness_ms, early_fire, late_fire } = emission;
                let Build { time, aggregation, late, metrics, name, .. } = build;
                let (gap_ms, zone, key_columns) = (*gap_ms, *zone, key);
                let spec = SessionSpec {
                    time,
                    key_columns,
                    gap_ms,
                    zone,
                    aggregation,
                    never_late: by_clock || input.branches.iter().all(|branch| branch.table.is_none()),
                    lateness_ms,
                    early_fire,
                    late_fire,
                    late,
                };
                self.session(spec, &arrow_schema(window.input.schema()), &input.branches, metrics, name)
            }
        };
        let in_order = pick(
            &WindowAggregate::output_schema(&aggregation, &time_type),
            &windowed.output_columns(),
            arrow_schema(&aggregate.schema),
        );
        let changelog = updated_by.map_or(ChangelogMode::Append, |_| ChangelogMode::Retract);
        let branches = vec![Branch { stream: results, table: None }];
        let mut planned = Planned { branches, changelog, updated_by, ..input };
        // By the clock no row is late; late rows of a program's streams are only counted.
        for (late, table) in late_streams.into_iter().filter(|(_, table)| !by_clock && table.streams.is_none()) {
            let columns = self.source(&table.name, TimeKind::Event)?.1;
            planned.late.push((late, late_schema(&columns, &time_type)));
        }
        planned.metrics.push(metrics);
        let planned = planned.chain(&mut self.graph, &make_calc(in_order));
        self.wanted(planned, &windowed.conditions, aggregate, live)
    }

    /// The results of those groups that meet all of the conditions.
    fn wanted(
        &mut self,
        mut planned: Planned,
        conditions: &[Expr],
        aggregate: &Aggregate,
        live: &LiveStatement<'_>,
    ) -> Result<Planned> {
        let expressions = Expressions { state: self.state, excerpt: &live.statement.excerpt };
        for condition in conditions {
            let predicate = expressions.scalar(condition, &aggregate.schema)?;
            let calc = Calc { predicate: Some(predicate), projection: None };
            planned = planned.chain(&mut self.graph, &make_calc(calc));
        }
        Ok(planned)
    }

    /// A window's rows come once: there is no way back for one that was folded and is then updated.
    fn windowed_input(&mut self, window: &WindowTvf, live: &LiveStatement<'_>) -> Result<Planned> {
        let above = self.time;
        self.time = above.below(window);
        let input = self.node(&window.input, live);
        self.time = above;
        let input = input?;
        if input.changelog == ChangelogMode::Append {
            return Ok(input);
        }
        Err(Error::invalid("a window over a result that is updated can't be complete")
            .hint("make the window over the rows themselves, or over the results of a window")
            .at(live.statement.excerpt.clone()))
    }

    /// A window function that nobody groups by: its columns behind those of its input.
    pub(super) fn window_columns(
        &mut self,
        node: &dyn UserDefinedLogicalNode,
        live: &LiveStatement<'_>,
    ) -> Result<Planned> {
        let excerpt = &live.statement.excerpt;
        let Some(window) = node.as_any().downcast_ref::<WindowTvf>() else {
            return Err(Error::internal(format!("no live form of {}", node.name())));
        };
        let WindowKind::Aligned(assigner) = window.kind else {
            return Err(Error::invalid("a SESSION that is not grouped at once is not supported in a live run yet")
                .hint(
                    "GROUP BY window_start, window_end and the session's key right above it (behind it, LEFT JOIN \
                     UNNEST(...) ON TRUE may stand); or run the file with --batch",
                )
                .at(excerpt.clone()));
        };
        let input = self.windowed_input(window, live)?;
        let time = time_column(window).map_err(|e| plan_error(e, excerpt))?;
        let schema = arrow_schema(node.schema());
        let metrics = Arc::new(WindowMetrics::default());
        let counted = Arc::clone(&metrics);
        let make: MakeOperator = Arc::new(move || {
            Ok(Box::new(AssignWindows::new(time, assigner, Arc::clone(&schema), Arc::clone(&counted))))
        });
        let mut planned = input.chain(&mut self.graph, &make);
        planned.metrics.push(metrics);
        Ok(planned)
    }

    /// By the clock no row is late, so a window waits for none.
    fn emission(&self, before_sink: bool, by_clock: bool) -> Emission {
        Emission {
            lateness_ms: if by_clock { 0 } else { self.emit.lateness_ms() },
            early_fire: if before_sink { self.emit.early_fire() } else { None },
            late_fire: if by_clock { None } else { self.emit.late_fire() },
        }
    }

    /// Two phases: panes before the exchange, windows behind it.
    fn aligned(&mut self, spec: WindowSpec, input: &[Branch], build: Build) -> (Stream, LateStreams) {
        let Build { time, time_type, late, metrics, name, .. } = build;
        let phase1 = spec.clone();
        let make: MakeOperator = Arc::new(move || {
            let (late, metrics) = (late.clone(), Arc::clone(&metrics));
            Ok(Box::new(PreAggregate::new(time, phase1.clone(), late, metrics)?))
        });
        let mut partials = vec![];
        let mut late_streams = vec![];
        for branch in input {
            let stream = self.graph.chain(branch.stream, Arc::clone(&make));
            partials.push(stream);
            // Rows made of several have no watermark of their own: they are never late.
            late_streams.extend(branch.table.clone().map(|table| (stream.side(Port::LATE), table)));
        }
        let partitioning = match spec.aggregation.groups.is_empty() {
            true => Partitioning::Gather,
            false => Partitioning::KeyGroups(PreAggregate::group_columns(&spec.assigner, &spec.aggregation)),
        };
        let make: MakeOperator = Arc::new(move || Ok(Box::new(WindowAggregate::new(spec.clone(), &time_type)?)));
        (self.graph.exchange(&partials, &partitioning, name, make), late_streams)
    }

    /// One phase: who belongs together is known only where all rows of a key meet.
    fn session(
        &mut self,
        spec: SessionSpec,
        columns: &SchemaRef,
        input: &[Branch],
        metrics: Arc<WindowMetrics>,
        name: String,
    ) -> (Stream, LateStreams) {
        let partitioning = match spec.key_columns.is_empty() {
            true => Partitioning::Gather,
            false => Partitioning::KeyGroups(spec.key_columns.clone()),
        };
        let columns = Arc::clone(columns);
        let make: MakeOperator =
            Arc::new(move || Ok(Box::new(SessionAggregate::new(spec.clone(), &columns, Arc::clone(&metrics))?)));
        let streams: Vec<Stream> = input.iter().map(|branch| branch.stream).collect();
        let results = self.graph.exchange(&streams, &partitioning, name, make);
        let table = input.first().and_then(|branch| branch.table.clone());
        (results, table.map(|table| (results.side(Port::LATE), table)).into_iter().collect())
    }

    fn aggregation(&self, windowed: &WindowedAggregate, live: &LiveStatement<'_>) -> Result<Aggregation> {
        let expressions = Expressions { state: self.state, excerpt: &live.statement.excerpt };
        let input = &windowed.window.input;
        let mut groups = vec![];
        for group in &windowed.groups {
            if let Group::Key(expr) = group {
                groups.push(expressions.group(expr, input.schema())?);
            }
        }
        let calls = windowed.calls.iter().map(|call| expressions.aggregate(call, input)).collect::<Result<_>>()?;
        Ok(Aggregation { groups, calls })
    }
}

impl WindowedAggregate {
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

fn time_column(window: &WindowTvf) -> datafusion::error::Result<TimeColumn> {
    Ok(TimeColumn { index: window.time_index()?, range: window.range() })
}

/// Why rows that have their windows from below can't be grouped by them.
fn windows_of_several(plan: &LogicalPlan) -> Error {
    let is_unnest =
        |plan: &LogicalPlan| matches!(plan, LogicalPlan::Extension(Extension { node }) if node.as_any().is::<Unnest>());
    let unnested = plan.exists(|node| Ok(is_unnest(node))).unwrap_or(false);
    let (what, hint) = if unnested {
        (
            "an UNNEST between a window function in a subquery and its GROUP BY",
            "unnest in the function's input: TUMBLE((SELECT ... FROM t CROSS JOIN UNNEST(...)), ...)",
        )
    } else {
        (
            "a GROUP BY over a UNION of window functions",
            "make the window over the union: TUMBLE((SELECT ... UNION ALL SELECT ...), ...)",
        )
    };
    Error::invalid(format!("{what} is not supported in a live run yet")).hint(hint)
}

/// What a session can't be made of.
fn check_session(windowed: &WindowedAggregate, input: &[Branch], live: &LiveStatement<'_>) -> Result<()> {
    let refuse =
        |message: String, hint: String| Err(Error::invalid(message).hint(hint).at(live.statement.excerpt.clone()));
    let WindowKind::Session { key, .. } = &windowed.window.kind else { return Ok(()) };
    // A group over several keys would mix sessions that only happen to have the same bounds.
    let grouped = |column: &Column| {
        windowed.groups.iter().any(|group| matches!(group, Group::Key(Expr::Column(c)) if c == column))
    };
    if let Some(column) = key.iter().find(|column| !grouped(column)) {
        return refuse(
            format!("the session's key '{}' is not in the GROUP BY", column.name),
            format!("GROUP BY window_start, window_end, {}", column.name),
        );
    }
    // Two such streams have no order in common.
    let placeless =
        |table: &&Arc<Table>| table.streams.as_ref().is_some_and(|streams| !streams.in_order || input.len() > 1);
    if let Some(table) = input.iter().filter_map(|branch| branch.table.as_ref()).find(placeless) {
        return refuse(
            format!(
                "a SESSION over '{}' needs rows in the order of one partition, which this stream is not in",
                table.name
            ),
            "key the stream, and make it a window(WindowAssigner::session(...)), which takes elements as they come"
                .to_owned(),
        );
    }
    // One row of the source would be in several sessions, and be late for one and in time for another.
    if let Some(column) = key.iter().find(|column| made_of_element(&windowed.window.input, column)) {
        return refuse(
            format!("the session's key '{}' is made by UNNEST, which is not supported in a live run yet", column.name),
            "INSERT the unnested rows into a table, and make the sessions of that".to_owned(),
        );
    }
    let results = input.iter().filter(|branch| branch.table.is_none()).count();
    if results > 0 && results < input.len() {
        return refuse(
            "a SESSION over a UNION of a table and results of windows is not supported in a live run".to_owned(),
            "make the sessions of one of them, or run the file with --batch".to_owned(),
        );
    }
    let names = live.late.as_ref().is_some_and(|late| late.columns.is_some());
    if names && input.len() > 1 {
        return refuse(
            "a late output of a SESSION over a UNION is not supported yet".to_owned(),
            "remove the SET 'tidemill.late-output...', or make the sessions of one table".to_owned(),
        );
    }
    Ok(())
}

fn windowed(aggregate: &Aggregate) -> Result<WindowedAggregate> {
    // A key that is named twice is one column of the output.
    let distinct = grouping_set_to_exprlist(&aggregate.group_expr).map_err(engine_error)?;
    let mut groups: Vec<Expr> = distinct.into_iter().cloned().collect();
    let mut calls = aggregate.aggr_expr.clone();
    let mut conditions = vec![];
    let below = fold_down(&aggregate.input, &mut groups, &mut calls, &mut conditions, &aggregate.schema)?;
    let (window, is_attached) = match below {
        Some(window) => (window.clone(), false),
        None => (attached(aggregate, &mut groups, &mut calls).map_err(engine_error)?, true),
    };
    let groups: Vec<Group> = groups.into_iter().map(|group| bound_or_key(group, &window)).collect::<Result<_>>()?;
    if calls.iter().any(|call| window_column(call, &window)) {
        return Err(Error::invalid("an aggregate of window_start, window_end or window_time is not supported yet")
            .hint("they are the same for all rows of the window: select them as they are"));
    }
    Ok(WindowedAggregate { window, attached: is_attached, groups, calls, conditions })
}

/// Goes down to the window function, rewriting the expressions to its columns; `None` where the
/// rows have their windows from a grouped window below. Filters on the way become conditions over the `output`.
fn fold_down<'a>(
    plan: &'a LogicalPlan,
    groups: &mut [Expr],
    calls: &mut [Expr],
    conditions: &mut Vec<Expr>,
    output: &DFSchema,
) -> Result<Option<&'a WindowTvf>> {
    match plan {
        LogicalPlan::Extension(Extension { node }) => match node.as_any().downcast_ref::<WindowTvf>() {
            Some(window) => Ok(Some(window)),
            None if node.as_any().is::<Unnest>() => Ok(None),
            None => Err(Error::internal(format!("no live form of {}", node.name()))),
        },
        LogicalPlan::SubqueryAlias(alias) => {
            let below = alias.input.schema();
            replace(groups, calls, plan, |index| {
                let (qualifier, field) = below.qualified_field(index);
                Expr::Column(Column::new(qualifier.cloned(), field.name().clone()))
            })?;
            fold_down(&alias.input, groups, calls, conditions, output)
        }
        LogicalPlan::Projection(projection) => {
            replace(groups, calls, plan, |index| unaliased(&projection.expr[index]).clone())?;
            fold_down(&projection.input, groups, calls, conditions, output)
        }
        LogicalPlan::Filter(filter) if function_below(&filter.input).is_some() => {
            conditions.push(condition_on_groups(filter, groups, output)?);
            fold_down(&filter.input, groups, calls, conditions, output)
        }
        _ => Ok(None),
    }
}

/// A condition between the window function and the aggregate, with the aggregate's columns in place of those that it
/// groups by: the optimizer puts conditions on groups there, wherever they are written.
fn condition_on_groups(filter: &Filter, groups: &[Expr], output: &DFSchema) -> Result<Expr> {
    let input = filter.input.schema();
    let index = |expr: &Expr| match unaliased(expr) {
        Expr::Column(column) => input.index_of_column(column).ok(),
        _ => None,
    };
    let grouped = |expr: &Expr| {
        let wanted = index(expr)?;
        let position = groups.iter().position(|group| index(group) == Some(wanted))?;
        let (qualifier, field) = output.qualified_field(position);
        Some(Expr::Column(Column::new(qualifier.cloned(), field.name().clone())))
    };
    let is_grouped = |column: &Column| grouped(&Expr::Column(column.clone())).is_some();
    // What has another value for each row can't be asked once for all of a group.
    if filter.predicate.is_volatile() || !filter.predicate.column_refs().into_iter().all(is_grouped) {
        return Err(Error::invalid(
            "a condition between a window function and its GROUP BY is supported in a live run only on columns that \
             are in the GROUP BY",
        )
        .hint(
            "put it into the function's input, as in TUMBLE((SELECT * FROM t WHERE ...), ...), or around the grouped \
             query",
        ));
    }
    let replaced = filter.predicate.clone().transform(|expr| match grouped(&expr) {
        Some(column) => Ok(Transformed::yes(column)),
        None => Ok(Transformed::no(expr)),
    });
    Ok(replaced.map_err(engine_error)?.data)
}

/// A window over rows that have their windows already: the last moment of each is a pane of its own,
/// one millisecond long, and the bounds are columns of the group.
fn attached(
    aggregate: &Aggregate,
    groups: &mut Vec<Expr>,
    calls: &mut Vec<Expr>,
) -> datafusion::error::Result<WindowTvf> {
    *groups = grouping_set_to_exprlist(&aggregate.group_expr)?.into_iter().cloned().collect();
    *calls = aggregate.aggr_expr.clone();
    let input = aggregate.input.as_ref();
    let end = groups.iter().find(|group| bound_of(group, input) == Some(Bound::End)).cloned();
    let end = end.ok_or_else(|| internal_datafusion_err!("a window without an end"))?;
    let function = attached_by(input).ok_or_else(|| internal_datafusion_err!("windows that no function attached"))?;
    // Other names than the window's own columns, which the new function adds.
    let renamed = |index: usize| format!("__tidemill_{index}");
    let mut columns: Vec<Expr> = (0..input.schema().fields().len())
        .map(|index| {
            let (qualifier, field) = input.schema().qualified_field(index);
            Expr::Column(Column::new(qualifier.cloned(), field.name().clone())).alias(renamed(index))
        })
        .collect();
    columns.push(last_moment(unaliased(&end).clone(), function)?.alias(ATTACHED_TIME));
    let bounds: Vec<Option<Bound>> = groups.iter().map(|group| bound_of(group, input)).collect();
    replace(groups, calls, input, |index| Expr::Column(Column::new_unqualified(renamed(index))))
        .map_err(|e| DataFusionError::External(Box::new(e)))?;
    for (group, bound) in groups.iter_mut().zip(bounds) {
        if bound == Some(Bound::Time) {
            *group = Expr::Column(Column::new_unqualified(WINDOW_TIME));
        }
    }
    let input = LogicalPlanBuilder::from(input.clone()).project(columns)?.build()?;
    let pane = WindowAssigner::tumble(1, 0).map_err(|e| DataFusionError::External(Box::new(e)))?;
    function.of_results(input, Column::new_unqualified(ATTACHED_TIME), WindowKind::Aligned(pane))
}

/// The last moment of the window that a row has already.
const ATTACHED_TIME: &str = "__tidemill_window_time";

/// The event time that ends a window with this end.
fn last_moment(end: Expr, function: &WindowTvf) -> datafusion::error::Result<Expr> {
    let time = function.input.schema().field(function.time_index()?).data_type();
    Ok(match time {
        DataType::Timestamp(_, Some(_)) => Clock::LastInstant.call(function.kind.zone(), end),
        _ => end - lit(ScalarValue::IntervalMonthDayNano(Some(IntervalMonthDayNano::new(0, 0, 1_000_000)))),
    })
}

/// Puts what `below` says in place of each column of `plan`.
fn replace(groups: &mut [Expr], calls: &mut [Expr], plan: &LogicalPlan, below: impl Fn(usize) -> Expr) -> Result<()> {
    for expr in groups.iter_mut().chain(calls) {
        let name = expr.schema_name().to_string();
        let replaced = expr.clone().transform(|e| match &e {
            Expr::Column(column) => Ok(Transformed::yes(below(plan.schema().index_of_column(column)?))),
            _ => Ok(Transformed::no(e)),
        });
        let replaced = replaced.map_err(engine_error)?.data;
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
        && column.relation.is_none()
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
