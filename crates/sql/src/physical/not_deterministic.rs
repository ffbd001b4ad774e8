//! What of a statement gives another value each time that it runs: functions of the present time and of chance.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::common::Result as DfResult;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan, Volatility};
use datafusion::optimizer::optimize_projections::OptimizeProjections;
use datafusion::optimizer::{Optimizer, OptimizerContext};
use tidemill_core::{Error, Excerpt, Result};

use crate::plan::{plan_error, scanned};
use crate::{Pipeline, PlannedStatement};

/// A function that does, and where it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NotDeterministic {
    /// In upper case.
    pub(super) function: String,
    pub(super) place: Excerpt,
}

/// Every such call that the statement's rows depend on: in its own text, in the views that it reads, and in the
/// columns of tables that it reads.
pub(super) fn not_deterministic(statement: &PlannedStatement) -> Result<Vec<NotDeterministic>> {
    let at_statement = |e| plan_error(e, &statement.excerpt);
    let plan = without_unread_columns(&statement.plan).map_err(at_statement)?;
    let Volatile { functions, columns } = Volatile::of(&plan).map_err(at_statement)?;
    let mut found = vec![];
    for function in functions {
        let calls = statement.calls.iter().filter(|call| call.function == function);
        let places: Vec<Excerpt> = calls.map(|call| call.place.clone()).collect();
        let places = if places.is_empty() { vec![statement.excerpt.clone()] } else { places };
        found.extend(places.into_iter().map(|place| (function.clone(), place)));
    }
    found.extend(columns);
    Ok(found.into_iter().map(|(name, place)| NotDeterministic { function: shown(&name), place }).collect())
}

/// Refuses a file whose live run and batch can't agree.
///
/// # Errors
/// The first such call.
pub fn check_deterministic(pipeline: &Pipeline) -> Result<()> {
    for statement in &pipeline.statements {
        if let Some(NotDeterministic { function, place }) = not_deterministic(statement)?.into_iter().next() {
            return Err(Error::invalid(format!(
                "{function} gives another value each time, so that the live run and the batch of '{}' can't agree",
                statement.name
            ))
            .hint("compare a file without this statement, or make the value where the rows are made, and read it")
            .at(place));
        }
    }
    Ok(())
}

/// A function's name as a text has it.
fn shown(name: &str) -> String {
    name.trim_end().to_uppercase()
}

fn without_unread_columns(plan: &LogicalPlan) -> DfResult<LogicalPlan> {
    let context = OptimizerContext::new().without_query_execution_start_time();
    Optimizer::with_rules(vec![Arc::new(OptimizeProjections::new())]).optimize(plan.clone(), &context, |_, _| {})
}

/// The functions of a plan whose value is another each time.
#[derive(Default)]
struct Volatile {
    /// By name.
    functions: BTreeSet<String>,
    /// Those behind the columns of tables that are read, and where each column is declared.
    columns: Vec<(String, Excerpt)>,
}

impl Volatile {
    fn of(plan: &LogicalPlan) -> DfResult<Self> {
        let mut found = Self::default();
        plan.apply_with_subqueries(|node| {
            if let LogicalPlan::TableScan(scan) = node
                && let Some(source) = scanned(scan)
            {
                for field in scan.projected_schema.fields() {
                    let Some(computed) = source.table().computed.get(field.name()) else { continue };
                    let names = volatile_functions(&computed.expr)?;
                    found.columns.extend(names.into_iter().map(|name| (name, computed.excerpt.clone())));
                }
            }
            node.apply_expressions(|expr| {
                found.functions.extend(volatile_functions(expr)?);
                Ok(TreeNodeRecursion::Continue)
            })
        })?;
        Ok(found)
    }
}

fn volatile_functions(expr: &Expr) -> DfResult<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    expr.apply(|expr| {
        if let Expr::ScalarFunction(call) = expr
            && call.func.signature().volatility == Volatility::Volatile
        {
            names.insert(call.func.name().to_owned());
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(names)
}
