//! Plans `UNNEST(...)` where a table stands, alone or behind one.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, Result, TableReference};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion::logical_expr::{Expr, ExprSchemable, Extension, LogicalPlan, LogicalPlanBuilder};
use datafusion::sql::sqlparser::ast::TableFactor;
use tidemill_core::Error;

use super::node::{Made, Unnest, element_columns};
use crate::parse::{SqlText, UnnestCall, unnest_call, unnests};
use crate::types::flink_type_name;
use crate::window_tvf::{WindowKind, WindowTvf};

/// The column of arrays that an [`Unnest`] takes.
const COLUMN: &str = "__tidemill_unnest";

/// Recognises `UNNEST`.
#[derive(Debug)]
pub(crate) struct UnnestPlanner {
    sql: SqlText,
}

impl UnnestPlanner {
    pub(crate) fn new(sql: SqlText) -> Self {
        Self { sql }
    }

    fn plan(
        &self,
        left: LogicalPlan,
        call: &UnnestCall,
        keeps_empty: bool,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<LogicalPlan> {
        let list = context.sql_to_expr(call.array.clone(), left.schema())?;
        self.refuse_aggregate(call, &list)?;
        let made = self.made(call, &list, left.schema())?;
        match under_window(&left, &list, keeps_empty, &made)? {
            Some(plan) => Ok(plan),
            None => unnest(left, list, keeps_empty, made),
        }
    }

    /// The array stands in a row: it can't be made of many.
    fn refuse_aggregate(&self, call: &UnnestCall, list: &Expr) -> Result<()> {
        let aggregate = |expr: &Expr| Ok(matches!(expr, Expr::AggregateFunction(_) | Expr::WindowFunction(_)));
        if !list.exists(aggregate)? {
            return Ok(());
        }
        let error = Error::invalid("UNNEST takes the array of a row, and this is an aggregate of many rows")
            .hint("aggregate first: FROM (SELECT ARRAY_AGG(x) AS xs FROM t) CROSS JOIN UNNEST(xs) AS u(x)");
        Err(DataFusionError::External(Box::new(error.at(self.sql.excerpt(call.span)))))
    }

    /// The names of the columns, as Flink gives them.
    fn made(&self, call: &UnnestCall, list: &Expr, schema: &DFSchema) -> Result<Made> {
        let data_type = list.get_type(schema)?;
        let place = |error: Error| DataFusionError::External(Box::new(error.at(self.sql.excerpt(call.span))));
        let Some(elements) = element_columns(&data_type) else {
            let what = format!("UNNEST takes an ARRAY or a MAP, and this is a {}", flink_type_name(&data_type));
            return Err(place(Error::invalid(what)));
        };
        let alias = call.alias.as_ref();
        let relation = alias.map(|alias| TableReference::bare(alias.name.value.clone()));
        let mut names: Vec<String> = elements.into_iter().map(|(name, _)| name).collect();
        let mut ordinals = if call.ordinality { vec!["ORDINALITY".to_owned()] } else { vec![] };
        let count = names.len() + ordinals.len();
        let given: Vec<String> = alias.iter().flat_map(|a| &a.columns).map(|c| c.name.value.clone()).collect();
        match (&given[..], alias) {
            ([], Some(alias)) if count == 1 && names == ["EXPR$0"] => names = vec![alias.name.value.clone()],
            ([], _) => {}
            (given, _) if given.len() == count => {
                let (elements, ordinal) = given.split_at(names.len());
                (names, ordinals) = (elements.to_vec(), ordinal.to_vec());
            }
            (given, _) => {
                let what = format!("this UNNEST gives {count} columns, and AS names {}", given.len());
                return Err(place(
                    Error::invalid(what).hint(format!("it gives {}", [names, ordinals].concat().join(", "))),
                ));
            }
        }
        Ok(Made { relation, names, ordinals })
    }
}

fn unnest(left: LogicalPlan, list: Expr, keeps_empty: bool, made: Made) -> Result<LogicalPlan> {
    let mut columns: Vec<Expr> = left.schema().columns().into_iter().map(Expr::Column).collect();
    columns.push(list.alias(COLUMN));
    let input = LogicalPlanBuilder::from(left).project(columns)?.build()?;
    let node = Unnest::new(input, Column::new_unqualified(COLUMN), keeps_empty, made)?;
    Ok(LogicalPlan::Extension(Extension { node: Arc::new(node) }))
}

/// The rows of a window function are unnested before it: so the rows that a grouped window sees are its input's, and
/// each is judged by itself. `None` where the left side is no window function, the array is made of its bounds, or rows
/// without elements, which are to go, have made a session what it is.
fn under_window(left: &LogicalPlan, list: &Expr, keeps_empty: bool, made: &Made) -> Result<Option<LogicalPlan>> {
    let function = match left {
        LogicalPlan::SubqueryAlias(alias) => &alias.input,
        other => other,
    };
    let LogicalPlan::Extension(Extension { node }) = function else { return Ok(None) };
    let Some(window) = node.as_any().downcast_ref::<WindowTvf>() else { return Ok(None) };
    if matches!(window.kind, WindowKind::Session { .. }) && !keeps_empty {
        return Ok(None);
    }
    let below = window.input.schema().columns();
    let mut outside = false;
    let list = list.clone().transform(|expr| match &expr {
        Expr::Column(column) => match below.get(left.schema().index_of_column(column)?) {
            Some(column) => Ok(Transformed::yes(Expr::Column(column.clone()))),
            None => {
                outside = true;
                Ok(Transformed::no(expr))
            }
        },
        _ => Ok(Transformed::no(expr)),
    })?;
    if outside {
        return Ok(None);
    }
    let input = unnest(window.input.clone(), list.data, keeps_empty, made.clone())?;
    let window = window.over(input, None)?;
    let window = LogicalPlan::Extension(Extension { node: Arc::new(window) });
    // The columns of the window stand last now, and are to stand before those of the elements.
    let columns = window.schema().columns();
    let bounds = columns.len() - 3;
    let order = (0..below.len()).chain(bounds..columns.len()).chain(below.len()..bounds);
    let outer = left.schema().columns();
    let named = order.enumerate().map(|(position, index)| match outer.get(position) {
        Some(name) if *name != columns[index] => {
            Expr::Column(columns[index].clone()).alias_qualified(name.relation.clone(), name.name.clone())
        }
        _ => Expr::Column(columns[index].clone()),
    });
    let named: Vec<Expr> = named.collect();
    LogicalPlanBuilder::from(window).project(named)?.build().map(Some)
}

impl RelationPlanner for UnnestPlanner {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let planned = if let Some(call) = unnest_call(&relation) {
            self.plan(LogicalPlanBuilder::empty(true).build()?, &call, false, context)?
        } else if let Some((first, calls)) = unnests(&relation) {
            let mut plan = context.plan(first)?;
            for (call, keeps_empty) in calls {
                plan = self.plan(plan, &call, keeps_empty, context)?;
            }
            plan
        } else {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        };
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(planned, None))))
    }
}
