//! Which columns of a plan are time attributes. Event time is the column that a table's watermark is declared for, as
//! long as nothing but its name changes on the way, and processing time is a column made by `PROCTIME()`; `window_time`
//! is of the kind that its window is.

use datafusion::common::Column;
use datafusion::datasource::DefaultTableSource;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, TableScan};

use tidemill_core::EventTimes;

use super::{Bound, attached_by, bound_at};
use crate::catalog::Table;
use crate::function::is_processing_time;
use crate::physical::batch::SourceTable;
use crate::unnest::Unnest;
use crate::window_tvf::WindowTvf;

/// The declared table that a scan reads.
pub(crate) fn scanned(scan: &TableScan) -> Option<&SourceTable> {
    let source = (scan.source.as_ref() as &dyn std::any::Any).downcast_ref::<DefaultTableSource>()?;
    (source.table_provider.as_ref() as &dyn std::any::Any).downcast_ref::<SourceTable>()
}

/// What a column says of time, so that windows can be over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TimeAttribute {
    /// When a row happened; rows with another time are in no window. Results of windows have any: only a table's own
    /// rows can be too far ahead.
    Event(EventTimes),
    /// When it is processed.
    Processing,
}

impl TimeAttribute {
    /// What the column of a union is, of which it is this in one input and that in another.
    fn and(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Event(one), Self::Event(other)) => Some(Self::Event(one.and(other))),
            (Self::Processing, Self::Processing) => Some(Self::Processing),
            _ => None,
        }
    }
}

/// Whether the column of the plan's output is event time.
pub(crate) fn is_event_time(plan: &LogicalPlan, column: &Column) -> bool {
    matches!(time_attribute(plan, column), Some(TimeAttribute::Event(_)))
}

/// What the column of the plan's output says of time.
pub(crate) fn time_attribute(plan: &LogicalPlan, column: &Column) -> Option<TimeAttribute> {
    time_attribute_at(plan, plan.schema().index_of_column(column).ok()?)
}

fn time_attribute_at(plan: &LogicalPlan, index: usize) -> Option<TimeAttribute> {
    if let LogicalPlan::Union(union) = plan {
        let of_inputs = union.inputs.iter().map(|input| time_attribute_at(input, index));
        return of_inputs.reduce(|one, other| one?.and(other?))?;
    }
    if bound_at(plan, index) == Some(Bound::Time) {
        return Some(match attached_by(plan).is_some_and(WindowTvf::by_clock) {
            true => TimeAttribute::Processing,
            false => TimeAttribute::Event(EventTimes::ALL),
        });
    }
    match plan {
        LogicalPlan::TableScan(scan) => of_table(scanned(scan)?.table(), scan.projected_schema.field(index).name()),
        LogicalPlan::Filter(filter) => time_attribute_at(&filter.input, index),
        LogicalPlan::SubqueryAlias(alias) => time_attribute_at(&alias.input, index),
        LogicalPlan::Projection(projection) => match unaliased(&projection.expr[index]) {
            Expr::Column(column) => time_attribute(&projection.input, column),
            other => is_processing_time(other).then_some(TimeAttribute::Processing),
        },
        LogicalPlan::Extension(Extension { node }) => {
            let unnest = node.as_any().downcast_ref::<Unnest>()?;
            time_attribute_at(&unnest.input, unnest.input_index(index)?)
        }
        _ => None,
    }
}

fn of_table(table: &Table, column: &str) -> Option<TimeAttribute> {
    if table.computed.get(column).is_some_and(|computed| is_processing_time(unaliased(&computed.expr))) {
        return Some(TimeAttribute::Processing);
    }
    let declared = table.event_time.as_ref().filter(|declared| declared.name == column)?;
    Some(TimeAttribute::Event(declared.range))
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
