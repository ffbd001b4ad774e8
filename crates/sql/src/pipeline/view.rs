//! `CREATE VIEW`: the query's columns, under the names that the view gives them.

use std::collections::HashSet;

use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use tidemill_core::{Error, Result};

use crate::parse::CreateView;
use crate::plan::plan_error;

/// The plan with the view's column names.
///
/// # Errors
/// `Invalid` if there are more or fewer names than columns, or two columns of one name.
pub(super) fn named(plan: LogicalPlan, view: &CreateView) -> Result<LogicalPlan> {
    let columns = plan.schema().columns();
    if !view.columns.is_empty() && view.columns.len() != columns.len() {
        return Err(Error::invalid(format!(
            "the view '{}' names {} columns, and its query has {}",
            view.name.value,
            view.columns.len(),
            columns.len()
        ))
        .at(view.excerpt.clone()));
    }
    let names = match view.columns.is_empty() {
        true => columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>(),
        false => view.columns.iter().map(|ident| ident.value.clone()).collect(),
    };
    let mut seen = HashSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
        return Err(Error::invalid(format!("the view '{}' has two columns '{twice}'", view.name.value))
            .hint("give one of them another name with AS")
            .at(view.excerpt.clone()));
    }
    let exprs = columns.into_iter().zip(&names).map(|(column, name)| Expr::Column(column).alias(name));
    let plan = LogicalPlanBuilder::from(plan).project(exprs).and_then(LogicalPlanBuilder::build);
    plan.map_err(|e| plan_error(e, &view.excerpt))
}
