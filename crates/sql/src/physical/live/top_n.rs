//! Top-N: `ROW_NUMBER() OVER (PARTITION BY ... ORDER BY ...)` under `WHERE row_number <= n`.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::logical_expr::expr::{Sort, WindowFunction};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{BinaryExpr, Expr, FetchType, Filter, Limit, LogicalPlan, Operator, SkipType, Window};
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::ChangelogMode;
use tidemill_runtime::exchange::Partitioning;
use tidemill_runtime::graph::{MakeOperator, Stream};
use tidemill_runtime::operator::{PreTopN, TopN, TopNSpec};
use tidemill_runtime::time_zone::TimeZone;

use super::expressions::{Expressions, arrow_schema, pick};
use super::planner::{Branch, LiveStatement, Planned, Planner, make_calc};
use crate::plan::{Bound, attached_by, bound_at, plan_error, unaliased};
use crate::window_tvf::WindowTvf;

/// The most rows that anybody reads of each numbered input.
pub(super) type Limits = HashMap<LogicalPlan, usize>;

/// Finds the conditions that make a numbering a Top-N.
pub(super) fn limits(statements: &[LiveStatement<'_>]) -> Result<Limits> {
    let mut limits = Limits::new();
    for live in statements {
        let visit = live.plan.apply(|node| {
            if let LogicalPlan::Filter(filter) = node {
                for condition in split_conjunction(&filter.predicate) {
                    if let Some((window, limit)) = bounded_numbering(condition, &filter.input) {
                        let most = limits.entry(window).or_insert(0);
                        *most = limit.max(*most);
                    }
                }
            }
            Ok(TreeNodeRecursion::Continue)
        });
        visit.map_err(|e| plan_error(e, &live.statement.excerpt))?;
    }
    Ok(limits)
}

/// Whether the filter lets only the first rows of the numbering below it pass.
pub(super) fn bounds_numbering(filter: &Filter) -> bool {
    split_conjunction(&filter.predicate)
        .into_iter()
        .any(|condition| bounded_numbering(condition, &filter.input).is_some())
}

/// The numbering whose rows the condition cuts, and how many of each partition it lets pass.
fn bounded_numbering(condition: &Expr, input: &LogicalPlan) -> Option<(LogicalPlan, usize)> {
    let (column, limit) = upper_bound(condition)?;
    Some((numbered(input, &column)?, limit))
}

/// `column <= n`, `column < n`, `column = n`, either way round. Only of integers: text and fractions have another order
/// or values between.
fn upper_bound(condition: &Expr) -> Option<(Column, usize)> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = condition else { return None };
    let (column, op, value) = match (uncast(left), uncast(right)) {
        (Expr::Column(column), Expr::Literal(value, _)) => (column, *op, value),
        (Expr::Literal(value, _), Expr::Column(column)) => (column, op.swap()?, value),
        _ => return None,
    };
    if !value.data_type().is_integer() {
        return None;
    }
    let Ok(ScalarValue::Int64(Some(value))) = value.cast_to(&DataType::Int64) else { return None };
    let limit = match op {
        Operator::LtEq | Operator::Eq => value,
        Operator::Lt => value.checked_sub(1)?,
        _ => return None,
    };
    Some((column.clone(), usize::try_from(limit).unwrap_or(0)))
}

/// The expression below casts to integers.
fn uncast(expr: &Expr) -> &Expr {
    match expr {
        Expr::Cast(cast) if cast.field.data_type().is_integer() => uncast(&cast.expr),
        other => unaliased(other),
    }
}

/// The numbering that makes the column, where it is passed up as it is.
fn numbered(plan: &LogicalPlan, column: &Column) -> Option<LogicalPlan> {
    let index = plan.schema().index_of_column(column).ok()?;
    match plan {
        LogicalPlan::Window(window) => (index >= window.input.schema().fields().len()).then(|| plan.clone()),
        LogicalPlan::SubqueryAlias(alias) => {
            let (qualifier, field) = alias.input.schema().qualified_field(index);
            numbered(&alias.input, &Column::new(qualifier.cloned(), field.name().clone()))
        }
        LogicalPlan::Filter(filter) => numbered(&filter.input, column),
        LogicalPlan::Projection(projection) => match uncast(&projection.expr[index]) {
            Expr::Column(column) => numbered(&projection.input, column),
            _ => None,
        },
        _ => None,
    }
}

impl Planner<'_> {
    pub(super) fn top_n(&mut self, plan: &LogicalPlan, window: &Window, live: &LiveStatement<'_>) -> Result<Planned> {
        let refuse =
            |message: &str, hint: &str| Err(Error::invalid(message).hint(hint).at(live.statement.excerpt.clone()));
        let [Expr::WindowFunction(function)] = window.window_expr.as_slice() else {
            return refuse("several functions OVER a window are not supported in a live run yet", TOP_N_FORM);
        };
        if function.fun.name() != "row_number" {
            return refuse("OVER is supported in a live run only with ROW_NUMBER() so far", TOP_N_FORM);
        }
        // Another reader's bound is none for this one.
        let Some(&limit) = self.limits.get(plan).filter(|_| self.bounded) else {
            return refuse("ROW_NUMBER() without an upper bound has no end in a live run", TOP_N_FORM);
        };
        self.bounded = false;
        let input = self.node(&window.input, live)?;
        input.check_steady(&[], &live.statement.excerpt)?;
        let Some(spec) = spec(window, function, limit, &input) else {
            return refuse(
                "PARTITION BY and ORDER BY of a live Top-N name columns",
                "compute the expression in a subquery, and name its column",
            );
        };
        let partitioning = match spec.partition.is_empty() {
            true => Partitioning::Gather,
            false => Partitioning::KeyGroups(spec.partition.clone()),
        };
        let changelog = match spec.window_end {
            Some(_) => ChangelogMode::Append,
            None => ChangelogMode::Retract,
        };
        let name = format!("top {limit} of {}", live.statement.name);
        let ranked = self.ranked(&input, spec, &partitioning, name);
        Ok(Planned { branches: vec![Branch { stream: ranked, table: None }], changelog, ..input })
    }

    /// The first rows of each partition, in two phases where rows are only added.
    fn ranked(&mut self, input: &Planned, spec: TopNSpec, partitioning: &Partitioning, name: String) -> Stream {
        let mut input = input.clone();
        if spec.append_only {
            let spec = spec.clone();
            let first: MakeOperator = Arc::new(move || Ok(Box::new(PreTopN::new(spec.clone()))));
            input = input.chain(&mut self.graph, &first);
        }
        let top_n: MakeOperator = Arc::new(move || Ok(Box::new(TopN::new(spec.clone())?)));
        self.graph.exchange(&input.streams(), partitioning, name, top_n)
    }
}

impl Planner<'_> {
    /// `ORDER BY ... LIMIT n`: a Top-N of all rows, whose rank nobody reads.
    pub(super) fn sorted_limit(&mut self, limit: &Limit, live: &LiveStatement<'_>) -> Result<Planned> {
        if let LogicalPlan::Projection(projection) = limit.input.as_ref() {
            // What is only sorted by is dropped above the sort: first cut, then drop.
            let cut = Limit { input: Arc::clone(&projection.input), ..limit.clone() };
            let input = projection.input.schema();
            let expressions = Expressions { state: self.state, excerpt: &live.statement.excerpt };
            let calc = expressions.projection(&projection.expr, input, &projection.schema)?;
            return Ok(self.sorted_limit(&cut, live)?.chain(&mut self.graph, &make_calc(calc)));
        }
        let refuse =
            |message: &str, hint: &str| Err(Error::invalid(message).hint(hint).at(live.statement.excerpt.clone()));
        let fetch = limit.get_fetch_type().map_err(|e| plan_error(e, &live.statement.excerpt))?;
        let skip = limit.get_skip_type().map_err(|e| plan_error(e, &live.statement.excerpt))?;
        let (FetchType::Literal(Some(fetch)), SkipType::Literal(0)) = (fetch, skip) else {
            return refuse("OFFSET is not supported in a live run yet", "run the file with --batch");
        };
        let LogicalPlan::Sort(sort) = limit.input.as_ref() else {
            return refuse(
                "LIMIT without ORDER BY takes any rows, other ones in every run",
                "add an ORDER BY, or run the file with --batch",
            );
        };
        let input = self.node(&sort.input, live)?;
        input.check_steady(&[], &live.statement.excerpt)?;
        let order = sort_order(&sort.expr, sort.input.schema());
        let Some(order) = order else {
            return refuse(
                "ORDER BY of a live Top-N names columns",
                "compute the expression in a subquery, and name its column",
            );
        };
        let columns = arrow_schema(sort.input.schema());
        let mut fields = columns.fields().to_vec();
        fields.push(Arc::new(Field::new("rank", DataType::UInt64, false)));
        let spec = TopNSpec {
            partition: vec![],
            order,
            limit: fetch,
            append_only: input.changelog == ChangelogMode::Append,
            window_end: None,
            zone: TimeZone::UTC,
            schema: Arc::new(Schema::new(fields)),
        };
        let all: Vec<usize> = (0..columns.fields().len()).collect();
        let without_rank = pick(&spec.schema, &all, columns);
        let name = format!("first {fetch} of {}", live.statement.name);
        let ranked = self.ranked(&input, spec, &Partitioning::Gather, name);
        let branches = vec![Branch { stream: ranked, table: None }];
        let planned = Planned { branches, changelog: ChangelogMode::Retract, ..input };
        Ok(planned.chain(&mut self.graph, &make_calc(without_rank)))
    }
}

/// The columns of an order; `None` where it has an expression.
fn sort_order(order: &[Sort], schema: &DFSchema) -> Option<Vec<(usize, SortOptions)>> {
    let column = |sort: &Sort| match unaliased(&sort.expr) {
        Expr::Column(column) => {
            let options = SortOptions { descending: !sort.asc, nulls_first: sort.nulls_first };
            Some((schema.index_of_column(column).ok()?, options))
        }
        _ => None,
    };
    order.iter().map(column).collect()
}

const TOP_N_FORM: &str = "write SELECT ... FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY ... ORDER BY ...) AS rn \
                          FROM ...) WHERE rn <= 10";

fn spec(window: &Window, function: &WindowFunction, limit: usize, input: &Planned) -> Option<TopNSpec> {
    let schema = window.input.schema();
    let index = |expr: &Expr| match unaliased(expr) {
        Expr::Column(column) => schema.index_of_column(column).ok(),
        _ => None,
    };
    let partition = function.params.partition_by.iter().map(index).collect::<Option<Vec<usize>>>()?;
    let order = sort_order(&function.params.order_by, schema)?;
    let column_of = |wanted| partition.iter().copied().find(|&c| bound_at(&window.input, c) == Some(wanted));
    let append_only = input.changelog == ChangelogMode::Append;
    // Once a window only where its rows come once and none is late, and each partition belongs to one window.
    let window_end = match (column_of(Bound::Start), column_of(Bound::End)) {
        (Some(_), Some(end)) if append_only && never_late(window, input) => Some(end),
        _ => None,
    };
    Some(TopNSpec {
        order,
        partition,
        limit,
        append_only,
        window_end,
        zone: attached_by(&window.input).map(|function| function.kind.zone()).unwrap_or_default(),
        schema: arrow_schema(&window.schema),
    })
}

/// Whether no row comes behind its window: the rows are results of windows, or go by the clock. A table's rows can be
/// late, and only a grouped window judges them.
fn never_late(window: &Window, input: &Planned) -> bool {
    let by_clock = attached_by(&window.input).is_some_and(WindowTvf::by_clock);
    by_clock || input.branches.iter().all(|branch| branch.table.is_none())
}
