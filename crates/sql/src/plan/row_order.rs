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
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, Projection, TableScan, lit};
use tidemill_core::Error;

use super::carry::{Cargo, Carried, all_columns};
use super::ties::under_old_names;
use super::{Bound, bound_at, is_event_time, scanned_tables, unaliased};
use crate::function::Ordered;
use crate::physical::IDENTITY;
use crate::physical::batch::{SourceTable, identity_column, scan_with_identity};

/// The columns by which rows are ordered: event time in milliseconds, partition, offset. Each is NULL where a row has none.
const ORDER: Cargo<3> = Cargo {
    names: ["__tidemill_order_time", "__tidemill_order_partition", "__tidemill_order_offset"],
    element: Some(element_order),
    at_scan,
    made_of_several,
};

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
    let Carried { plan: input, known, levels } = ORDER.carry(&aggregate.input)?;
    if let Some((call, _)) = calls.iter().find(|(_, ordered)| ordered.picks_a_row() && !known) {
        let name = call.func.name().to_uppercase();
        let error = Error::invalid(format!("{name} needs rows that have an order, and these have no event time"));
        let of_stream = scanned_tables(&aggregate.input).iter().any(|table| table.streams.is_some());
        let error = error.hint(match of_stream {
            true => "they are those of a stream: make it a table with to_table_with_event_time",
            false => "they were made of several rows: select window_time too, or aggregate the rows of a table",
        });
        return Err(DataFusionError::External(Box::new(error)));
    }
    let keys = ORDER.columns(&input, levels);
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

fn at_scan(scan: &TableScan, source: &SourceTable) -> Result<LogicalPlan> {
    let table = LogicalPlan::TableScan(scan.clone());
    let plan = scan_with_identity(scan, source)?;
    let [partition, offset] = IDENTITY.map(|name| Expr::Column(identity_column(&plan, name)));
    let mut columns = all_columns(&table);
    let time = time(&table, &columns);
    columns.extend([time, partition.alias(ORDER.names[1]), offset.alias(ORDER.names[2])]);
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(plan))?))
}

fn made_of_several(plan: &LogicalPlan) -> Result<Carried> {
    let mut columns = all_columns(plan);
    let time = time(plan, &columns);
    let known = !matches!(unaliased(&time), Expr::Literal(..));
    columns.extend([
        time,
        lit(ScalarValue::Utf8View(None)).alias(ORDER.names[1]),
        lit(ScalarValue::Int64(None)).alias(ORDER.names[2]),
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
    time.alias(ORDER.names[0])
}
