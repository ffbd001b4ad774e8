//! `GROUP BY` without a window, and `SELECT DISTINCT`: results that are updated as rows come.

use std::sync::Arc;

use arrow::datatypes::Schema;
use datafusion::logical_expr::utils::grouping_set_to_exprlist;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column as PhysicalColumn;
use tidemill_core::{Error, Result};
use tidemill_runtime::aggregate::{Aggregation, GroupAggregate, PreGroup, RetractGroup};
use tidemill_runtime::connector::ChangelogMode;
use tidemill_runtime::exchange::Partitioning;
use tidemill_runtime::graph::{MakeOperator, Stream};
use tidemill_runtime::operator::Calc;

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
        planned.check_steady(&groups.iter().chain(calls).collect::<Vec<_>>(), &live.statement.excerpt)?;
        let partitioning = match groups.len() {
            0 => Partitioning::Gather,
            count => Partitioning::KeyGroups((0..count).collect()),
        };
        let (planned, results, changelog) = match planned.changelog {
            ChangelogMode::Append => {
                // Without an aggregate there is nothing to update: a group is there, or it is not yet.
                let changelog = if calls.is_empty() { ChangelogMode::Append } else { ChangelogMode::Retract };
                let (planned, results) = self.of_added_rows(planned, &aggregation, &partitioning, input, live);
                (planned, results, changelog)
            }
            ChangelogMode::Retract => {
                let (planned, results) = self.of_changed_rows(planned, &aggregation, &partitioning, input, live)?;
                (planned, results, ChangelogMode::Retract)
            }
        };
        let schema = GroupAggregate::output_schema(&aggregation);
        let all: Vec<usize> = (0..schema.fields().len()).collect();
        let named = pick(&schema, &all, arrow_schema(output));
        let planned = Planned { branches: vec![Branch { stream: results, table: None }], changelog, ..planned };
        Ok(planned.chain(&mut self.graph, &make_calc(named)))
    }

    /// Two phases: the first folds before the exchange.
    fn of_added_rows(
        &mut self,
        planned: Planned,
        aggregation: &Aggregation,
        partitioning: &Partitioning,
        input: &LogicalPlan,
        live: &LiveStatement<'_>,
    ) -> (Planned, Stream) {
        let phase1 = aggregation.clone();
        let make: MakeOperator = Arc::new(move || Ok(Box::new(PreGroup::new(phase1.clone())?)));
        let planned = planned.chain(&mut self.graph, &make);
        let (phase2, columns) = (aggregation.clone(), arrow_schema(input.schema()));
        let results = self.graph.exchange(
            &planned.streams(),
            partitioning,
            format!("group of {}", live.statement.name),
            Arc::new(move || Ok(Box::new(GroupAggregate::new(phase2.clone(), Arc::clone(&columns))?))),
        );
        (planned, results)
    }

    /// Rows may be taken back, so they cross the exchange themselves, behind their group's columns.
    fn of_changed_rows(
        &mut self,
        planned: Planned,
        aggregation: &Aggregation,
        partitioning: &Partitioning,
        input: &LogicalPlan,
        live: &LiveStatement<'_>,
    ) -> Result<(Planned, Stream)> {
        let columns = arrow_schema(input.schema());
        if let Some(call) = aggregation.calls.iter().find(|call| call.function.create_sliding_accumulator().is_err()) {
            return Err(Error::invalid(format!(
                "{} over a result that is updated is not supported in a live run yet",
                call.function.name()
            ))
            .hint("group the rows themselves, or a window's results, or run the file with --batch")
            .at(live.statement.excerpt.clone()));
        }
        let group = aggregation.groups.iter().enumerate().map(|(number, (expr, field))| {
            (Arc::clone(expr), Arc::new(field.as_ref().clone().with_name(format!("group{number}"))))
        });
        let own = columns.fields().iter().enumerate().map(|(index, field)| {
            (Arc::new(PhysicalColumn::new(field.name(), index)) as Arc<dyn PhysicalExpr>, Arc::clone(field))
        });
        let (exprs, fields): (Vec<_>, Vec<_>) = group.chain(own).unzip();
        let keyed = Calc { predicate: None, projection: Some((exprs, Arc::new(Schema::new(fields)))) };
        let planned = planned.chain(&mut self.graph, &make_calc(keyed));
        let aggregation = aggregation.clone();
        let results = self.graph.exchange(
            &planned.streams(),
            partitioning,
            format!("group of {}", live.statement.name),
            Arc::new(move || Ok(Box::new(RetractGroup::new(aggregation.clone(), Arc::clone(&columns))?))),
        );
        Ok((planned, results))
    }
}
