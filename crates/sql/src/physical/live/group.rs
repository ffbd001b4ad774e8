//! `GROUP BY` without a window, and `SELECT DISTINCT`: results that are updated as rows come.

use std::sync::Arc;

use datafusion::logical_expr::utils::grouping_set_to_exprlist;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan};
use tidemill_core::{Error, Result};
use tidemill_runtime::aggregate::{Aggregation, GroupAggregate, PreGroup};
use tidemill_runtime::connector::ChangelogMode;
use tidemill_runtime::exchange::Partitioning;
use tidemill_runtime::graph::MakeOperator;

use super::expressions::{Expressions, arrow_schema, pick};
use super::planner::{Branch, LiveStatement, Planned, Planner, make_calc};
use crate::plan::plan_error;

impl Planner<'_> {
    pub(super) fn group_aggregate(&mut self, aggregate: &Aggregate, live: &LiveStatement<'_>) -> Result<Planned> {
        // A key that is named twice is one column of the output.
        let groups = grouping_set_to_exprlist(&aggregate.group_expr);
        let groups = groups.map_err(|e| plan_error(e, &live.statement.excerpt))?;
        let groups: Vec<Expr> = groups.into_iter().cloned().collect();
        self.grouped(&aggregate.input, &groups, &aggregate.aggr_expr, &aggregate.schema, live)
    }

    pub(super) fn distinct(&mut self, input: &LogicalPlan, live: &LiveStatement<'_>) -> Result<Planned> {
        let columns: Vec<Expr> = input.schema().columns().into_iter().map(Expr::Column).collect();
        self.grouped(input, &columns, &[], input.schema(), live)
    }

    fn grouped(
        &mut self,
        input: &LogicalPlan,
        groups: &[Expr],
        calls: &[Expr],
        output: &datafusion::common::DFSchemaRef,
        live: &LiveStatement<'_>,
    ) -> Result<Planned> {
        let expressions = Expressions { state: self.state, excerpt: &live.statement.excerpt };
        let aggregation = Aggregation {
            groups: groups.iter().map(|group| expressions.group(group, input.schema())).collect::<Result<_>>()?,
            calls: calls.iter().map(|call| expressions.aggregate(call, input)).collect::<Result<_>>()?,
        };
        let planned = self.node(input, live)?;
        if planned.changelog != ChangelogMode::Append {
            return Err(Error::invalid("a GROUP BY over a result that is updated is not supported in a live run yet")
                .hint("group the rows themselves, or a window's results, or run the file with --batch")
                .at(live.statement.excerpt.clone()));
        }
        let phase1 = aggregation.clone();
        let make: MakeOperator = Arc::new(move || Ok(Box::new(PreGroup::new(phase1.clone())?)));
        let planned = planned.chain(&mut self.graph, &make);
        let partitioning = match groups.len() {
            0 => Partitioning::Gather,
            count => Partitioning::KeyGroups((0..count).collect()),
        };
        let (phase2, columns) = (aggregation.clone(), arrow_schema(input.schema()));
        let results = self.graph.exchange(
            &planned.streams(),
            &partitioning,
            format!("group of {}", live.statement.name),
            Arc::new(move || Ok(Box::new(GroupAggregate::new(phase2.clone(), Arc::clone(&columns))?))),
        );
        let schema = GroupAggregate::output_schema(&aggregation);
        let all: Vec<usize> = (0..schema.fields().len()).collect();
        let named = pick(&schema, &all, arrow_schema(output));
        // Without an aggregate there is nothing to update: a group is there, or it is not yet.
        let changelog = if calls.is_empty() { ChangelogMode::Append } else { ChangelogMode::Retract };
        let planned = Planned { branches: vec![Branch { stream: results, table: None }], changelog, ..planned };
        Ok(planned.chain(&mut self.graph, &make_calc(named)))
    }
}
