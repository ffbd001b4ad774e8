//! Plan nodes to operators. A node that stands in several statements becomes one operator.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Distinct, Expr, Extension, LogicalPlan, Union};
use tidemill_core::{Error, Excerpt, Result};
use tidemill_runtime::connector::{ChangelogMode, WriteMode};
use tidemill_runtime::graph::{JobGraph, MakeOperator, SourceSpec, Stream};
use tidemill_runtime::metrics::WindowMetrics;
use tidemill_runtime::operator::Calc;

use super::expressions::{Expressions, arrow_schema, pick};
use super::sources::{Need, Needs, ScanKey, TimeKind};
use super::top_n::{Limits, bounds_numbering};
use crate::catalog::Table;
use crate::physical::{LateSink, Outputs, SourceColumns, event_time_spec, source_columns};
use crate::plan::{has_grouping_sets, is_windowed, plan_error};
use crate::settings::Emit;
use crate::unnest::Unnest;
use crate::{Pipeline, PlannedStatement};

/// What helps where a query updates its result.
const TAKES_UPDATES: &str =
    "write to a sink that takes updates, such as 'print', or files with 'format' = 'debezium-json'";

/// A statement as the live planner sees it.
pub(super) struct LiveStatement<'a> {
    pub(super) plan: LogicalPlan,
    pub(super) late: Option<LateSink>,
    pub(super) statement: &'a PlannedStatement,
}

/// What a plan node became.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    /// One stream, or those of a union: what follows is chained to each.
    pub(super) branches: Vec<Branch>,
    /// The late outputs of the windows at and below the node, with their columns.
    pub(super) late: Vec<(Stream, SchemaRef)>,
    /// Which row kinds its rows have.
    pub(super) changelog: ChangelogMode,
    /// A row that is taken back may come with other values than before: they were made by a function whose value is
    /// another each time.
    pub(super) unsteady: bool,
    /// The key of the `SET` without which its rows would come once.
    pub(super) updated_by: Option<&'static str>,
    /// What the windows at and below the node count.
    pub(super) metrics: Vec<Arc<WindowMetrics>>,
}

/// One stream of rows.
#[derive(Debug, Clone)]
pub(super) struct Branch {
    pub(super) stream: Stream,
    /// The table whose rows these are, filtered and projected; `None` where rows were made of several.
    pub(super) table: Option<Arc<Table>>,
}

impl Planned {
    pub(super) fn new() -> Self {
        let changelog = ChangelogMode::Append;
        Self { branches: vec![], late: vec![], changelog, unsteady: false, updated_by: None, metrics: vec![] }
    }

    /// Notes what these expressions do to rows that are taken back.
    fn computed_by(mut self, exprs: &[&Expr]) -> Self {
        self.unsteady |= self.changelog == ChangelogMode::Retract && exprs.iter().any(|expr| expr.is_volatile());
        self
    }

    /// Refuses rows that an operator above could not find again when they are taken back.
    pub(super) fn check_steady(&self, exprs: &[&Expr], excerpt: &Excerpt) -> Result<()> {
        let volatile = || exprs.iter().any(|expr| expr.is_volatile());
        if self.changelog == ChangelogMode::Append || !(self.unsteady || volatile()) {
            return Ok(());
        }
        Err(Error::invalid(
            "rows that are updated can't be grouped or ranked by way of a value that is another each time, such as \
             NOW(): one that is taken back would not be found",
        )
        .hint("compute the value above: SELECT *, NOW() FROM (SELECT ... GROUP BY ...)")
        .at(excerpt.clone()))
    }

    pub(super) fn streams(&self) -> Vec<Stream> {
        self.branches.iter().map(|branch| branch.stream).collect()
    }

    /// The same rows behind one more operator.
    pub(super) fn chain(mut self, graph: &mut JobGraph, make: &MakeOperator) -> Self {
        for branch in &mut self.branches {
            branch.stream = graph.chain(branch.stream, Arc::clone(make));
        }
        self
    }
}

pub(super) struct Planner<'a> {
    pub(super) state: &'a SessionState,
    pub(super) graph: JobGraph,
    sources: BTreeMap<ScanKey, (Stream, SchemaRef)>,
    /// The tables of a program's own streams whose rows are given a place.
    pub(super) numbered: BTreeSet<Arc<str>>,
    pub(super) limits: Limits,
    /// When windows tell their results.
    pub(super) emit: &'a Emit,
    /// Only filters and projections stand between the node and a sink: a window here may fire early. What
    /// another operator reads comes once.
    before_sink: bool,
    /// Only the first rows of the numbering at or below the node are read, by the way that is being planned.
    pub(super) bounded: bool,
    /// The time by which the windows above the node go.
    pub(super) time: TimeKind,
    /// Equal subplans run once. A late output is part of what a window does, and so is firing early; a bound is part of
    /// what a numbering does.
    done: HashMap<(LogicalPlan, bool, bool, bool, TimeKind), Planned>,
}

impl<'a> Planner<'a> {
    /// Adds to `graph`.
    pub(super) fn new(
        state: &'a SessionState,
        pipeline: &'a Pipeline,
        mut graph: JobGraph,
        needs: &Needs,
        limits: Limits,
    ) -> Result<Self> {
        let mut sources = BTreeMap::new();
        for (key, need) in needs {
            let columns = need.schema()?;
            let stream = graph.source(source_spec(need, key.1, &columns, state)?);
            sources.insert(key.clone(), (stream, columns));
        }
        let emit = &pipeline.settings.emit;
        let (time, done) = (TimeKind::Event, HashMap::new());
        let numbered = BTreeSet::new();
        Ok(Self { state, graph, sources, numbered, limits, emit, before_sink: false, bounded: false, time, done })
    }

    pub(super) fn into_graph(self) -> JobGraph {
        self.graph
    }

    /// Adds a statement to the graph; gives the row kinds that its rows have.
    pub(super) fn statement(&mut self, live: &LiveStatement<'_>, outputs: &dyn Outputs) -> Result<ChangelogMode> {
        let statement = live.statement;
        if statement.mode == WriteMode::Overwrite {
            return Err(Error::invalid(
                "INSERT OVERWRITE needs a batch run: a live run never has all rows of a partition",
            )
            .hint("run the file with --batch, or write INSERT INTO")
            .at(statement.excerpt.clone()));
        }
        let planned = self.rows(live)?;
        let at_statement = |e: Error| e.at(statement.excerpt.clone());
        let sink = outputs.rows(statement, &arrow_schema(live.plan.schema())).map_err(at_statement)?;
        if sink.changelog() < planned.changelog {
            return Err(Error::invalid(format!(
                "'{}' takes only rows that are added, and this query updates its result",
                statement.name
            ))
            .hint(match planned.updated_by {
                Some(key) => format!("remove the SET '{key}', or {TAKES_UPDATES}"),
                None => format!("group by the windows of a TUMBLE(...), whose rows come once, or {TAKES_UPDATES}"),
            })
            .at(statement.excerpt.clone()));
        }
        self.graph.sink(&planned.streams(), format!("sink {}", statement.name), sink);
        self.count(statement, planned.metrics);
        if let Some(late) = &live.late {
            self.late_sink(&planned.late, late, statement)?;
        }
        Ok(planned.changelog)
    }

    /// The rows of a statement.
    pub(super) fn rows(&mut self, live: &LiveStatement<'_>) -> Result<Planned> {
        self.before_sink = self.emit.early_fire().is_some();
        self.node(&live.plan, live)
    }

    /// What the windows of a statement count is told under its name.
    pub(super) fn count(&mut self, statement: &PlannedStatement, windows: Vec<Arc<WindowMetrics>>) {
        self.graph.metrics.windows.insert(Arc::clone(&statement.name), windows);
    }

    pub(super) fn node(&mut self, plan: &LogicalPlan, live: &LiveStatement<'_>) -> Result<Planned> {
        let key = (plan.clone(), live.late.is_some(), self.before_sink, self.bounded, self.time);
        if let Some(planned) = self.done.get(&key) {
            return Ok(planned.clone());
        }
        let (before_sink, bounded) = (self.before_sink, self.bounded);
        self.before_sink &= passes_rows_on(plan);
        self.bounded = bounds_below(plan, bounded);
        let fires_early = before_sink && !self.before_sink;
        let planned = self.new_node(plan, fires_early, live)?;
        (self.before_sink, self.bounded) = (before_sink, bounded);
        self.done.insert(key, planned.clone());
        Ok(planned)
    }

    fn new_node(&mut self, plan: &LogicalPlan, before_sink: bool, live: &LiveStatement<'_>) -> Result<Planned> {
        let expressions = Expressions { state: self.state, excerpt: &live.statement.excerpt };
        match plan {
            LogicalPlan::TableScan(scan) => self.scan(scan, live),
            LogicalPlan::SubqueryAlias(alias) => self.node(&alias.input, live),
            LogicalPlan::Filter(filter) => {
                let predicate = expressions.scalar(&filter.predicate, filter.input.schema())?;
                let planned = self.calc(&filter.input, Calc { predicate: Some(predicate), projection: None }, live)?;
                Ok(planned.computed_by(&[&filter.predicate]))
            }
            LogicalPlan::Projection(projection) => {
                let input = projection.input.schema();
                let calc = expressions.projection(&projection.expr, input, &projection.schema)?;
                let planned = self.calc(&projection.input, calc, live)?;
                Ok(planned.computed_by(&projection.expr.iter().collect::<Vec<_>>()))
            }
            LogicalPlan::Union(union) => self.union(union, live),
            LogicalPlan::Aggregate(aggregate) if has_grouping_sets(aggregate) => self.grouping_sets(aggregate, live),
            LogicalPlan::Aggregate(aggregate) if is_windowed(aggregate) => {
                self.window_aggregate(aggregate, before_sink, live)
            }
            LogicalPlan::Aggregate(aggregate) => self.group_aggregate(aggregate, live),
            LogicalPlan::Limit(limit) => self.sorted_limit(limit, live),
            LogicalPlan::Window(window) => self.top_n(plan, window, live),
            LogicalPlan::Distinct(Distinct::All(input)) => self.distinct(input, live),
            LogicalPlan::Extension(Extension { node }) => match node.as_any().downcast_ref::<Unnest>() {
                Some(unnest) => self.unnest(unnest, live),
                None => self.window_columns(node.as_ref(), live),
            },
            other => Err(refusal(other).at(live.statement.excerpt.clone())),
        }
    }

    fn calc(&mut self, input: &LogicalPlan, calc: Calc, live: &LiveStatement<'_>) -> Result<Planned> {
        let input = self.node(input, live)?;
        Ok(input.chain(&mut self.graph, &make_calc(calc)))
    }

    fn unnest(&mut self, node: &Unnest, live: &LiveStatement<'_>) -> Result<Planned> {
        let operator = node.operator().map_err(|e| plan_error(e, &live.statement.excerpt))?;
        let input = self.node(&node.input, live)?;
        let make: MakeOperator = Arc::new(move || Ok(Box::new(operator.clone())));
        Ok(input.chain(&mut self.graph, &make))
    }

    fn union(&mut self, union: &Union, live: &LiveStatement<'_>) -> Result<Planned> {
        let mut all = Planned::new();
        for input in &union.inputs {
            let columns: Vec<usize> = (0..union.schema.fields().len()).collect();
            let renamed = pick(input.schema().as_arrow(), &columns, arrow_schema(&union.schema));
            let planned = self.calc(input, renamed, live)?;
            all.branches.extend(planned.branches);
            all.late.extend(planned.late);
            all.changelog = all.changelog.max(planned.changelog);
            all.unsteady |= planned.unsteady;
            all.updated_by = all.updated_by.or(planned.updated_by);
            all.metrics.extend(planned.metrics);
        }
        Ok(all)
    }

    pub(super) fn source(&self, table: &str, time: TimeKind) -> Result<(Stream, SchemaRef)> {
        let found = self.sources.get(&(Arc::from(table), time)).cloned();
        found.ok_or_else(|| Error::internal(format!("the table '{table}' is scanned but not read")))
    }

    /// One of the scans of a table: all of them find the same rows that can't be decoded.
    pub(super) fn any_source(&self, table: &str) -> Result<Stream> {
        let of_event_time = self.source(table, TimeKind::Event);
        Ok(of_event_time.or_else(|_| self.source(table, TimeKind::Processing))?.0)
    }
}

/// Whether the node passes the changes of its input on, each for itself.
fn passes_rows_on(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::SubqueryAlias(_) | LogicalPlan::Filter(_) | LogicalPlan::Projection(_) => true,
        LogicalPlan::Union(_) => true,
        LogicalPlan::Aggregate(aggregate) => has_grouping_sets(aggregate),
        LogicalPlan::Extension(Extension { node }) => node.as_any().is::<Unnest>(),
        _ => false,
    }
}

/// Whether only the first rows of a numbering below the node are read, where `bounded` says so of the node itself.
fn bounds_below(plan: &LogicalPlan, bounded: bool) -> bool {
    match plan {
        LogicalPlan::Filter(filter) => bounded || bounds_numbering(filter),
        LogicalPlan::SubqueryAlias(_) | LogicalPlan::Projection(_) | LogicalPlan::Window(_) => bounded,
        _ => false,
    }
}

pub(super) fn make_calc(calc: Calc) -> MakeOperator {
    Arc::new(move || Ok(Box::new(calc.clone())))
}

fn source_spec(need: &Need, time: TimeKind, columns: &SchemaRef, state: &SessionState) -> Result<SourceSpec> {
    let table = &need.table;
    let source = table.source()?;
    let place = |e| plan_error(e, &table.excerpt);
    let event_time = table.event_time.as_ref().filter(|_| time == TimeKind::Event);
    let event_time = event_time.map(|event_time| event_time_spec(event_time, columns, state));
    let event_time = event_time.transpose().map_err(place)?;
    let SourceColumns { decoded, computed } = source_columns(table, columns, state).map_err(place)?;
    Ok(SourceSpec {
        table: Arc::clone(&need.name),
        source,
        decoded,
        computed,
        columns: Arc::clone(columns),
        event_time,
        lineage: need.lineage,
        row_watermarks: need.row_watermarks,
        keep_rejected: table.keep_rejected,
        processing_time: time == TimeKind::Processing,
        program: None,
    })
}

fn refusal(plan: &LogicalPlan) -> Error {
    let (what, hint) = match plan {
        LogicalPlan::Sort(_) => ("ORDER BY", "a live result has no end to sort at; run the file with --batch"),
        LogicalPlan::Distinct(_) => ("DISTINCT ON", "run the file with --batch"),
        _ => ("this query", "run the file with --batch"),
    };
    Error::invalid(format!("{what} is not supported in a live run yet")).hint(hint)
}
