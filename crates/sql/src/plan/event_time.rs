//! Which columns of a plan are event time: the column that a table's watermark is declared for, as
//! long as nothing but its name changes on the way, and `window_time` of what has windows.

use datafusion::common::Column;
use datafusion::datasource::DefaultTableSource;
use datafusion::logical_expr::{Expr, LogicalPlan, TableScan};

use super::{Bound, bound_at};
use crate::catalog::Table;
use crate::physical::batch::SourceTable;

/// The declared table that a scan reads.
pub(crate) fn scanned(scan: &TableScan) -> Option<&SourceTable> {
    let source = (scan.source.as_ref() as &dyn std::any::Any).downcast_ref::<DefaultTableSource>()?;
    (source.table_provider.as_ref() as &dyn std::any::Any).downcast_ref::<SourceTable>()
}

/// Whether the column of the plan's output is event time.
pub(crate) fn is_event_time(plan: &LogicalPlan, column: &Column) -> bool {
    let Ok(index) = plan.schema().index_of_column(column) else { return false };
    event_time_at(plan, index)
}

fn event_time_at(plan: &LogicalPlan, index: usize) -> bool {
    if bound_at(plan, index) == Some(Bound::Time) {
        return true;
    }
    match plan {
        LogicalPlan::TableScan(scan) => {
            let name = scan.projected_schema.field(index).name();
            let declared = |table: &Table| table.event_time.as_ref().is_some_and(|e| e.name == *name);
            scanned(scan).is_some_and(|table| declared(table.table()))
        }
        LogicalPlan::Filter(filter) => event_time_at(&filter.input, index),
        LogicalPlan::SubqueryAlias(alias) => event_time_at(&alias.input, index),
        LogicalPlan::Union(union) => union.inputs.iter().all(|input| event_time_at(input, index)),
        LogicalPlan::Projection(projection) => match unaliased(&projection.expr[index]) {
            Expr::Column(column) => is_event_time(&projection.input, column),
            _ => false,
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
