//! Which columns of a plan are event time: the column that a table's watermark is declared for, as
//! long as nothing but its name changes on the way, and `window_time` of what has windows.

use datafusion::common::Column;
use datafusion::datasource::DefaultTableSource;
use datafusion::logical_expr::{Expr, LogicalPlan, TableScan};

use tidemill_core::EventTimes;

use super::{Bound, bound_at};
use crate::physical::batch::SourceTable;

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
        _ => None,
    }
}

/// An expression without the names that it was given.
pub(crate) fn unaliased(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias(alias) => unaliased(&alias.expr),
        other => other,
    }
}
