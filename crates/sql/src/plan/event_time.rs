//! Which columns of a plan are event time: the column that a table's watermark is declared for, as
//! long as nothing but its name changes on the way, and `window_time` of what has windows.

use datafusion::common::Column;
use datafusion::datasource::DefaultTableSource;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, TableScan};

use tidemill_core::EventTimes;

use super::{Bound, bound_at};
use crate::physical::batch::SourceTable;
use crate::unnest::Unnest;

/// The declared table that a scan reads.
pub(crate) fn scanned(scan: &TableScan) -> Option<&SourceTable> {
    let source = (scan.source.as_ref() as &dyn std::any::Any).downcast_ref::<DefaultTableSource>()?;
    (source.table_provider.as_ref() as &dyn std::any::Any).downcast_ref::<SourceTable>()
}

/// Whether the column of the plan's output is event time.
pub(crate) fn is_event_time(plan: &LogicalPlan, column: &Column) -> bool {
    event_times(plan, column).is_some()
}

/// The times that rows can have in the column of the plan's output; `None` where it is not event time.
/// Results of windows have any: only a table's own rows can be too far ahead.
pub(crate) fn event_times(plan: &LogicalPlan, column: &Column) -> Option<EventTimes> {
    event_times_at(plan, plan.schema().index_of_column(column).ok()?)
}

fn event_times_at(plan: &LogicalPlan, index: usize) -> Option<EventTimes> {
    if bound_at(plan, index) == Some(Bound::Time) {
        return Some(EventTimes::ALL);
    }
    match plan {
        LogicalPlan::TableScan(scan) => {
            let declared = scanned(scan)?.table().event_time.as_ref()?;
            (declared.name == *scan.projected_schema.field(index).name()).then_some(declared.range)
        }
        LogicalPlan::Filter(filter) => event_times_at(&filter.input, index),
        LogicalPlan::SubqueryAlias(alias) => event_times_at(&alias.input, index),
        LogicalPlan::Union(union) => {
            let of_inputs = union.inputs.iter().map(|input| event_times_at(input, index));
            of_inputs.reduce(|one, other| Some(one?.and(other?)))?
        }
        LogicalPlan::Projection(projection) => match unaliased(&projection.expr[index]) {
            Expr::Column(column) => event_times(&projection.input, column),
            _ => None,
        },
        LogicalPlan::Extension(Extension { node }) => {
            let unnest = node.as_any().downcast_ref::<Unnest>()?;
            event_times_at(&unnest.input, unnest.input_index(index)?)
        }
        _ => None,
    }
}

/// Whether the column of the plan's output is made of an element of an `UNNEST`: of one row, several may have others.
pub(crate) fn made_of_element(plan: &LogicalPlan, column: &Column) -> bool {
    plan.schema().index_of_column(column).is_ok_and(|index| made_of_element_at(plan, index))
}

fn made_of_element_at(plan: &LogicalPlan, index: usize) -> bool {
    match plan {
        LogicalPlan::Filter(filter) => made_of_element_at(&filter.input, index),
        LogicalPlan::SubqueryAlias(alias) => made_of_element_at(&alias.input, index),
        LogicalPlan::Union(union) => union.inputs.iter().any(|input| made_of_element_at(input, index)),
        LogicalPlan::Projection(projection) => {
            let columns = projection.expr[index].column_refs();
            columns.into_iter().any(|column| made_of_element(&projection.input, column))
        }
        LogicalPlan::Extension(Extension { node }) => match node.as_any().downcast_ref::<Unnest>() {
            Some(unnest) => unnest.input_index(index).is_none_or(|index| made_of_element_at(&unnest.input, index)),
            None => false,
        },
        _ => false,
    }
}

/// An expression without the names that it was given.
pub(crate) fn unaliased(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias(alias) => unaliased(&alias.expr),
        other => other,
    }
}
