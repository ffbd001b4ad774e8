//! `GROUPING SETS`, `ROLLUP` and `CUBE`: one aggregate a set over the same input, put together.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use datafusion::common::{Column, Result as DfResult, ScalarValue, internal_err};
use datafusion::functions_aggregate::count::count_all;
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::utils::grouping_set_to_exprlist;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, LogicalPlanBuilder, Projection, lit};
use tidemill_core::{Error, Result};

use super::expressions::{arrow_schema, pick};
use super::planner::{LiveStatement, Planned, Planner, make_calc};
use crate::plan::{Bound, bound_of, grouping_sets, is_windowed, plan_error};

impl Planner<'_> {
    pub(super) fn grouping_sets(&mut self, aggregate: &Aggregate, live: &LiveStatement<'_>) -> Result<Planned> {
        let windowed = |set: &[Expr]| set.iter().any(|e| bound_of(e, &aggregate.input) == Some(Bound::End));
        if !is_windowed(aggregate) && crate::plan::grouping_sets(aggregate).iter().any(|set| windowed(set)) {
            return Err(Error::invalid(
                "a window in only some of the grouping sets is not supported in a live run yet",
            )
            .hint("GROUP BY window_start, window_end, ROLLUP(...): the window is in every set")
            .at(live.statement.excerpt.clone()));
        }
        let branches = branches(aggregate).map_err(|e| plan_error(e, &live.statement.excerpt))?;
        let columns: Vec<usize> = (0..aggregate.schema.fields().len()).collect();
        let mut all: Option<Planned> = None;
        for branch in branches {
            let planned = self.node(&branch, live)?;
            let named = pick(branch.schema().as_arrow(), &columns, arrow_schema(&aggregate.schema));
            let planned = planned.chain(&mut self.graph, &make_calc(named));
            match &mut all {
                None => all = Some(planned),
                // Every branch reads the same rows: they are late and counted once, in the first.
                Some(all) => {
                    all.branches.extend(planned.branches);
                    all.changelog = all.changelog.max(planned.changelog);
                    all.unsteady |= planned.unsteady;
                    all.updated_by = all.updated_by.or(planned.updated_by);
                }
            }
        }
        all.ok_or_else(|| Error::internal("grouping sets without a set"))
    }
}

/// For each set its aggregate, with the columns of all: NULL for what the set does not group by, and
/// the number by which DataFusion tells the sets apart.
fn branches(aggregate: &Aggregate) -> DfResult<Vec<LogicalPlan>> {
    let grouped = grouping_set_to_exprlist(&aggregate.group_expr)?;
    if aggregate.schema.fields().len() != grouped.len() + 1 + aggregate.aggr_expr.len() {
        return internal_err!("grouping sets with other columns than expected");
    }
    let id_field = aggregate.schema.field(grouped.len());
    let mut seen: HashMap<u64, u64> = HashMap::new();
    let mut branches = vec![];
    for mut set in grouping_sets(aggregate) {
        let mut once = HashSet::new();
        set.retain(|expr| once.insert(expr.clone()));
        let missing = grouped.iter().fold(0u64, |id, expr| id << 1 | u64::from(!set.contains(expr)));
        let occurrence = seen.entry(missing).or_insert(0);
        let id = missing | *occurrence << grouped.len();
        *occurrence += 1;
        let input = LogicalPlanBuilder::from(aggregate.input.as_ref().clone());
        let of_set = input.aggregate(set.clone(), calls(&set, aggregate))?.build()?;
        let at = |index: usize| {
            let (qualifier, field) = of_set.schema().qualified_field(index);
            Expr::Column(Column::new(qualifier.cloned(), field.name().clone()))
        };
        let mut columns = vec![];
        for (index, expr) in grouped.iter().enumerate() {
            let field = aggregate.schema.field(index);
            let column = match set.iter().position(|e| e == *expr) {
                Some(position) => at(position),
                None => lit(ScalarValue::try_from(field.data_type())?),
            };
            columns.push(column.alias(format!("__tidemill_{index}")));
        }
        columns.push(Expr::Cast(Cast::new(Box::new(lit(id)), id_field.data_type().clone())).alias("__tidemill_set"));
        columns.extend((0..aggregate.aggr_expr.len()).map(|i| at(set.len() + i).alias(format!("__tidemill_call_{i}"))));
        branches.push(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(of_set))?));
    }
    Ok(branches)
}

/// What is aggregated for a set. All rows together are one row, also where nobody reads an aggregate of them; no plan
/// has neither groups nor aggregates, so they are counted, and the number is left out.
fn calls(set: &[Expr], aggregate: &Aggregate) -> Vec<Expr> {
    match (set, aggregate.aggr_expr.as_slice()) {
        ([], []) => vec![count_all()],
        (_, calls) => calls.to_vec(),
    }
}
