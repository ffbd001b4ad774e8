//! Sessions are apart by when they were, not by what clocks told.
//!
//! Where a clock is put back, two sessions of a key can have the same bounds, an hour apart. A live run has
//! told the first before the second begins, so a `GROUP BY` of their bounds must not make one of them
//! here: it groups by their last instant, `window_time`, too.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result};
use datafusion::logical_expr::expr::GroupingSet;
use datafusion::logical_expr::{Aggregate, Expr, Extension, Filter, LogicalPlan, Projection, SubqueryAlias};

use crate::plan::{Bound, bound_of, function_below, grouping_sets, has_grouping_sets, is_windowed};
use crate::window_tvf::{WINDOW_TIME, WindowKind};

/// The name of `window_time` where a projection carries it up to the `GROUP BY`.
const SESSION_TIME: &str = "__tidemill_session_time";

/// The plan with each `GROUP BY` of a session's bounds by the instant of its end, too.
pub(crate) fn sessions_apart(plan: LogicalPlan) -> Result<LogicalPlan> {
    let done = plan.transform_up_with_subqueries(|node| match &node {
        LogicalPlan::Aggregate(aggregate) if may_meet(aggregate) => apart(aggregate).map(Transformed::yes),
        _ => Ok(Transformed::no(node)),
    })?;
    Ok(done.data)
}

/// Whether sessions that are not one could have all that they are grouped by in common.
fn may_meet(aggregate: &Aggregate) -> bool {
    let told = function_below(&aggregate.input)
        .is_some_and(|window| matches!(&window.kind, WindowKind::Session { zone, .. } if !zone.is_utc()));
    let by_time = |set: &Vec<Expr>| set.iter().any(|expr| bound_of(expr, &aggregate.input) == Some(Bound::Time));
    told && is_windowed(aggregate) && !grouping_sets(aggregate).iter().all(by_time)
}

fn apart(aggregate: &Aggregate) -> Result<LogicalPlan> {
    let (input, time) = with_time(&aggregate.input)?;
    let time = Expr::Column(time);
    let mut groups = aggregate.group_expr.clone();
    if has_grouping_sets(aggregate) {
        let sets = grouping_sets(aggregate).into_iter().map(|mut set| {
            set.push(time.clone());
            set
        });
        groups = vec![Expr::GroupingSet(GroupingSet::GroupingSets(sets.collect()))];
    } else {
        groups.push(time);
    }
    let grouped = Aggregate::try_new(Arc::new(input), groups, aggregate.aggr_expr.clone())?;
    let columns = aggregate.schema.columns().into_iter().map(Expr::Column).collect();
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(LogicalPlan::Aggregate(grouped)))?))
}

/// The plan, and its column that is the `window_time` of the function below.
fn with_time(plan: &LogicalPlan) -> Result<(LogicalPlan, Column)> {
    match plan {
        LogicalPlan::Extension(Extension { .. }) => Ok((plan.clone(), Column::new_unqualified(WINDOW_TIME))),
        LogicalPlan::Filter(filter) => {
            let (input, time) = with_time(&filter.input)?;
            Ok((LogicalPlan::Filter(Filter::try_new(filter.predicate.clone(), Arc::new(input))?), time))
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let (input, time) = with_time(&alias.input)?;
            let alias = SubqueryAlias::try_new(Arc::new(input), alias.alias.clone())?;
            let time = Column::new(Some(alias.alias.clone()), time.name);
            Ok((LogicalPlan::SubqueryAlias(alias), time))
        }
        LogicalPlan::Projection(projection) => {
            let (input, time) = with_time(&projection.input)?;
            let mut columns = projection.expr.clone();
            columns.push(Expr::Column(time).alias(SESSION_TIME));
            let carried = Projection::try_new(columns, Arc::new(input))?;
            Ok((LogicalPlan::Projection(carried), Column::new_unqualified(SESSION_TIME)))
        }
        _ => datafusion::common::internal_err!("no window function below"),
    }
}
