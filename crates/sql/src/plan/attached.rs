//! Which columns of a plan are the bounds of its rows' windows.
//!
//! A window function attaches them, a grouped window keeps them, and filters, aliases and projections
//! pass them on: whatever groups by them again is a window too.

use arrow::datatypes::DataType;
use datafusion::logical_expr::utils::grouping_set_to_exprlist;
use datafusion::logical_expr::{Aggregate, Expr, Extension, LogicalPlan};
use tidemill_runtime::time_zone::TimeZone;

use super::{grouping_sets, unaliased};
use crate::unnest::Unnest;
use crate::window_tvf::{WINDOW_END, WINDOW_START, WINDOW_TIME, WindowTvf};

/// A bound of a row's window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// `window_start`
    Start,
    /// `window_end`
    End,
    /// `window_time`: the last moment that is in; event time again.
    Time,
}

impl Bound {
    /// The bound that a window function's column of that name is.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            WINDOW_START => Some(Self::Start),
            WINDOW_END => Some(Self::End),
            WINDOW_TIME => Some(Self::Time),
            _ => None,
        }
    }
}

/// The bound that the plan's output column is.
pub(crate) fn bound_at(plan: &LogicalPlan, index: usize) -> Option<Bound> {
    match plan {
        LogicalPlan::Extension(Extension { node }) => {
            if let Some(unnest) = node.as_any().downcast_ref::<Unnest>() {
                return bound_at(&unnest.input, unnest.input_index(index)?);
            }
            node.as_any().downcast_ref::<WindowTvf>()?;
            let fields = node.schema().fields();
            if index + 3 >= fields.len() { Bound::named(fields[index].name()) } else { None }
        }
        LogicalPlan::Filter(filter) => bound_at(&filter.input, index),
        LogicalPlan::SubqueryAlias(alias) => bound_at(&alias.input, index),
        LogicalPlan::Union(union) => {
            let (first, others) = union.inputs.split_first()?;
            let (bound, clocks) = (bound_at(first, index)?, clocks_of(first)?);
            // The same clock time of another zone is another moment.
            let is_same =
                |input: &LogicalPlan| bound_at(input, index) == Some(bound) && clocks_of(input) == Some(clocks);
            others.iter().all(|input| is_same(input)).then_some(bound)
        }
        LogicalPlan::Projection(projection) => bound_of(&projection.expr[index], &projection.input),
        LogicalPlan::Aggregate(aggregate) if is_windowed(aggregate) => {
            bound_of(grouping_set_to_exprlist(&aggregate.group_expr).ok()?.get(index)?, &aggregate.input)
        }
        _ => None,
    }
}

/// What tells the moment of a window's bound: the zone of its clocks, whether its time is an instant, and whether it
/// goes by processing time.
fn clocks_of(plan: &LogicalPlan) -> Option<(TimeZone, bool, bool)> {
    let function = attached_by(plan)?;
    let time = function.input.schema().field(function.time_index().ok()?).data_type();
    let is_instant = matches!(time, DataType::Timestamp(_, Some(_)));
    Some((function.kind.zone(), is_instant, function.by_clock()))
}

/// The bound that an expression over the plan is.
pub(crate) fn bound_of(expr: &Expr, input: &LogicalPlan) -> Option<Bound> {
    match unaliased(expr) {
        Expr::Column(column) => bound_at(input, input.schema().index_of_column(column).ok()?),
        _ => None,
    }
}

/// Whether the aggregate groups by both ends of a window, in every set that it groups by.
pub(crate) fn is_windowed(aggregate: &Aggregate) -> bool {
    let has = |set: &[Expr], wanted| set.iter().any(|group| bound_of(group, &aggregate.input) == Some(wanted));
    grouping_sets(aggregate).iter().all(|set| has(set, Bound::Start) && has(set, Bound::End))
}

/// The window function that attached the bounds of the plan's rows: the topmost.
pub(crate) fn attached_by(plan: &LogicalPlan) -> Option<&WindowTvf> {
    match plan {
        LogicalPlan::Extension(Extension { node }) if !node.as_any().is::<Unnest>() => {
            node.as_any().downcast_ref::<WindowTvf>()
        }
        other => other.inputs().into_iter().find_map(attached_by),
    }
}
