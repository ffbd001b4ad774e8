//! The order of the log for functions that have one: `FIRST_VALUE`, `LAST_VALUE`, `LISTAGG` and `ARRAY_AGG`.
//!
//! Rows are ordered by event time, then by partition and offset, whatever the order in which they come. So these three
//! are carried as columns from the scan up to the aggregate, and are further arguments of the function. Rows that `UNNEST`
//! made of one row go by the place of their element too. Rows that were
//! made of several have no partition and no offset: they are ordered by their event time, which for the rows of a window
//! is its end, and where that is equal by the value.

use std::any::Any;
use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::expr::{AggregateFunction, Cast};
use datafusion::logical_expr::{
    Aggregate, Expr, Extension, Filter, LogicalPlan, Projection, SubqueryAlias, TableScan, Union, lit,
};
use tidemill_core::Error;

use super::ties::under_old_names;
use super::{Bound, bound_at, is_event_time, scanned, unaliased};
use crate::function::Ordered;
use crate::physical::IDENTITY;
use crate::physical::batch::{identity_column, scan_with_identity};
use crate::unnest::Unnest;
use crate::window_tvf::WindowTvf;

/// The columns by which rows are ordered: event time in milliseconds, partition, offset. Each is NULL where a row has none.
const ORDER: [&str; 3] = ["__tidemill_order_time", "__tidemill_order_partition", "__tidemill_order_offset"];

/// Rows that `UNNEST` made of one row go by the place of their element, which for the first `UNNEST` is in the column 0.
fn element_order(level: usize) -> String {
    format!("__tidemill_order_element_{level}")
}

/// Gives every function that has an order the columns that it goes by.
pub(crate) fn order_rows(plan: LogicalPlan) -> Result<LogicalPlan> {
    let done = plan.transform_up_with_subqueries(|node| match &node {
        LogicalPlan::Aggregate(aggregate) => match ordered(aggregate)? {
            Some(plan) => Ok(Transformed::yes(plan)),
            None => Ok(Transformed::no(node)),
        },
        _ => Ok(Transformed::no(node)),
    })?;
    if done.transformed { done.data.recompute_schema() } else { Ok(done.data) }
}

/// The function of an aggregate, if it is one of ours that keeps values.
fn function(expr: &Expr) -> Option<(&AggregateFunction, &Ordered)> {
    let Expr::AggregateFunction(call) = unaliased(expr) else { return None };
    (call.func.inner().as_ref() as &dyn Any).downcast_ref::<Ordered>().map(|ordered| (call, ordered))
}

fn ordered(aggregate: &Aggregate) -> Result<Option<LogicalPlan>> {
    let calls: Vec<(&AggregateFunction, &Ordered)> = aggregate.aggr_expr.iter().filter_map(function).collect();
    calls.iter().try_for_each(|(call, ordered)| check(call, ordered))?;
    if !calls.iter().any(|(_, ordered)| ordered.needs_order()) {
        return Ok(None);
    }
    let Carried { plan: input, known, levels } = carry(&aggregate.input)?;
    if let Some((call, _)) = calls.iter().find(|(_, ordered)| ordered.picks_a_row() && !known) {
        let name = call.func.name().to_uppercase();
        let error = Error::invalid(format!("{name} needs rows that have an order, and these have no event time"))
            .hint("they were made of several rows: select window_time too, or aggregate the rows of a table");
        return Err(DataFusionError::External(Box::new(error)));
    }
    let keys = order_of(&input, levels);
    let with_keys = aggregate.aggr_expr.iter().map(|expr| with_keys(expr, &keys)).collect();
    let grouped = Aggregate::try_new(Arc::new(input), aggregate.group_expr.clone(), with_keys)?;
    let schema = Arc::clone(&grouped.schema);
    under_old_names(LogicalPlan::Aggregate(grouped), &schema, &aggregate.schema).map(Some)
}

fn check(call: &AggregateFunction, ordered: &Ordered) -> Result<()> {
    let name = call.func.name().to_uppercase();
    if !call.params.order_by.is_empty() {
        return plan_err!("ORDER BY within {name} is not supported: its order is that of event time");
    }
    for argument in call.params.args.get(ordered.constants()).unwrap_or_default() {
        if !argument.column_refs().is_empty() {
            return plan_err!("an argument of {name} must be a literal, the same for all rows, and {argument} is none");
        }
        if let Some(literal) = literal(argument) {
            ordered.check_constant(literal)?;
        }
    }
    Ok(())
}

/// The literal that an argument is, whatever type it is then cast to.
fn literal(argument: &Expr) -> Option<&ScalarValue> {
    match unaliased(argument) {
        Expr::Literal(value, _) => Some(value),
        Expr::Cast(cast) => literal(&cast.expr),
        _ => None,
    }
}

fn with_keys(expr: &Expr, keys: &[Expr]) -> Expr {
    let Some((call, ordered)) = function(expr).filter(|(_, ordered)| ordered.needs_order()) else {
        return expr.clone();
    };
    let mut params = call.params.clone();
    params.args.extend_from_slice(keys);
    let func = Arc::new(ordered.with_keys(keys.len()));
    Expr::AggregateFunction(AggregateFunction { func, params })
}

/// A plan that has the columns of [`ORDER`] among its own.
struct Carried {
    plan: LogicalPlan,
    /// Whether there is an order: they are not all NULL.
    known: bool,
    /// How often rows were unnested: so many columns of [`element_order`] stand beside the others.
    levels: usize,
}

fn carry(plan: &LogicalPlan) -> Result<Carried> {
    let carried = |input: &LogicalPlan, node: &dyn Fn(Arc<LogicalPlan>, usize) -> Result<LogicalPlan>| {
        let Carried { plan, known, levels } = carry(input)?;
        Ok(Carried { plan: node(Arc::new(plan), levels)?, known, levels })
    };
    match plan {
        LogicalPlan::TableScan(scan) => at_scan(scan),
        LogicalPlan::Filter(filter) => carried(&filter.input, &|input, _| {
            Ok(LogicalPlan::Filter(Filter::try_new(filter.predicate.clone(), input)?))
        }),
        LogicalPlan::SubqueryAlias(alias) => carried(&alias.input, &|input, _| {
            Ok(LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(input, alias.alias.clone())?))
        }),
        LogicalPlan::Projection(projection) => carried(&projection.input, &|input, levels| {
            let mut exprs = projection.expr.clone();
            exprs.extend(order_of(&input, levels));
            Ok(LogicalPlan::Projection(Projection::try_new(exprs, input)?))
        }),
        LogicalPlan::Extension(Extension { node }) => {
            if let Some(unnest) = node.as_any().downcast_ref::<Unnest>() {
                return at_unnest(unnest);
            }
            match node.as_any().downcast_ref::<WindowTvf>() {
                Some(window) => carried(&window.input, &|input, _| {
                    let input = Arc::unwrap_or_clone(input);
                    let window =
                        WindowTvf::new(input, window.time.clone(), window.kind.clone(), window.identity.clone())?;
                    Ok(LogicalPlan::Extension(Extension { node: Arc::new(window) }))
                }),
                None => made_of_several(plan),
            }
        }
        LogicalPlan::Union(union) => at_union(union),
        _ => made_of_several(plan),
    }
}

/// The columns of the order of a plan that has them.
fn order_of(plan: &LogicalPlan, levels: usize) -> Vec<Expr> {
    let names = ORDER.map(str::to_owned).into_iter().chain((0..levels).map(element_order));
    names.map(|name| Expr::Column(identity_column(plan, &name))).collect()
}

/// Rows of one row have its time, partition and offset, and go by the place of their element.
fn at_unnest(unnest: &Unnest) -> Result<Carried> {
    let Carried { plan, known, levels } = carry(&unnest.input)?;
    let node = Arc::new(unnest.with_ordinal(plan, element_order(levels))?);
    Ok(Carried { plan: LogicalPlan::Extension(Extension { node }), known, levels: levels + 1 })
}

fn all_columns(plan: &LogicalPlan) -> Vec<Expr> {
    plan.schema().columns().into_iter().map(Expr::Column).collect()
}

fn at_scan(scan: &TableScan) -> Result<Carried> {
    let table = LogicalPlan::TableScan(scan.clone());
    let Some(source) = scanned(scan) else { return made_of_several(&table) };
    let plan = scan_with_identity(scan, source)?;
    let [partition, offset] = IDENTITY.map(|name| Expr::Column(identity_column(&plan, name)));
    let mut columns = all_columns(&table);
    let time = time(&table, &columns);
    columns.extend([time, partition.alias(ORDER[1]), offset.alias(ORDER[2])]);
    Ok(Carried { plan: LogicalPlan::Projection(Projection::try_new(columns, Arc::new(plan))?), known: true, levels: 0 })
}

/// Each input may have the columns elsewhere: in a union they stand at the end of all. Rows that were unnested less often
/// than others have no place there.
fn at_union(union: &Union) -> Result<Carried> {
    let carried = union.inputs.iter().map(|input| Ok((input, carry(input)?))).collect::<Result<Vec<_>>>()?;
    let levels = carried.iter().map(|(_, carried)| carried.levels).max().unwrap_or(0);
    let known = carried.iter().all(|(_, carried)| carried.known);
    let mut inputs = vec![];
    for (input, carried) in carried {
        let mut columns = all_columns(input);
        columns.extend(order_of(&carried.plan, carried.levels));
        let none = |level| lit(ScalarValue::Int32(None)).alias(element_order(level));
        columns.extend((carried.levels..levels).map(none));
        inputs.push(Arc::new(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(carried.plan))?)));
    }
    Ok(Carried { plan: LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?), known, levels })
}

fn made_of_several(plan: &LogicalPlan) -> Result<Carried> {
    let mut columns = all_columns(plan);
    let time = time(plan, &columns);
    let known = !matches!(unaliased(&time), Expr::Literal(..));
    columns.extend([
        time,
        lit(ScalarValue::Utf8View(None)).alias(ORDER[1]),
        lit(ScalarValue::Int64(None)).alias(ORDER[2]),
    ]);
    Ok(Carried {
        plan: LogicalPlan::Projection(Projection::try_new(columns, Arc::new(plan.clone()))?),
        known,
        levels: 0,
    })
}

/// The event time of a plan's rows, or the end of their window.
fn time(plan: &LogicalPlan, columns: &[Expr]) -> Expr {
    let is_time = |column: &&Expr| matches!(column, Expr::Column(column) if is_event_time(plan, column));
    let is_end = |index: &usize| bound_at(plan, *index) == Some(Bound::End);
    let end = || (0..columns.len()).find(is_end).map(|index| &columns[index]);
    let time = match columns.iter().find(is_time).or_else(end) {
        Some(column) => Expr::Cast(Cast::new(Box::new(column.clone()), DataType::Int64)),
        None => lit(ScalarValue::Int64(None)),
    };
    time.alias(ORDER[0])
}
