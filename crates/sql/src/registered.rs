//! What a program gives to its queries, beside what their text declares: tables and functions.

mod aggregate_function;
mod arguments;
mod scalar_function;

use std::sync::Arc;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};
use tidemill_core::{Error, Excerpt, Result};

pub use aggregate_function::{Accumulators, AggregateFunction};
pub(crate) use arguments::check_arguments;
pub use scalar_function::ScalarFunction;

use crate::catalog::{StreamTable, Table};
use crate::function;
use crate::plan::plan_error;
use crate::session::Session;
use aggregate_function::ProgramAggregate;

/// The tables and functions that a program has registered.
#[derive(Debug, Clone, Default)]
pub struct Registered {
    tables: Vec<Arc<Table>>,
    functions: Vec<Arc<ScalarFunction>>,
    aggregates: Vec<Arc<AggregateFunction>>,
}

impl Registered {
    /// Adds streams as a table.
    ///
    /// # Errors
    /// `Invalid` if there is a table of that name.
    pub fn add_stream(&mut self, table: StreamTable) -> Result<()> {
        if self.tables.iter().any(|other| other.name == table.name) {
            let error = Error::invalid(format!("there is a table '{}' already", table.name));
            return Err(error.hint("give it another name"));
        }
        self.tables.push(Arc::new(table.into_table()));
        Ok(())
    }

    /// Adds a function that makes one value of each row.
    ///
    /// # Errors
    /// `Invalid` if the name is none that a text can write, or is taken.
    pub fn add_function(&mut self, function: ScalarFunction) -> Result<()> {
        let name = self.free_name(&function.name)?;
        self.functions.push(Arc::new(ScalarFunction { name, ..function }));
        Ok(())
    }

    /// Adds a function that makes one value of many rows.
    ///
    /// # Errors
    /// As [`Registered::add_function`].
    pub fn add_aggregate(&mut self, function: AggregateFunction) -> Result<()> {
        let name = self.free_name(&function.name)?;
        self.aggregates.push(Arc::new(AggregateFunction { name, ..function }));
        Ok(())
    }

    /// Function names are the same in upper and lower case.
    fn free_name(&self, name: &str) -> Result<String> {
        let first = |c: char| c.is_ascii_alphabetic() || c == '_';
        if !name.starts_with(first) || !name.chars().all(|c| first(c) || c.is_ascii_digit()) {
            return Err(Error::invalid(format!("'{name}' is no name of a function"))
                .hint("it is made of the letters a to z, digits and '_', and does not begin with a digit"));
        }
        let name = name.to_ascii_lowercase();
        let own = self.functions.iter().map(|f| &f.name).chain(self.aggregates.iter().map(|f| &f.name));
        if function::names().contains(&name) || own.into_iter().any(|other| *other == name) {
            let error = Error::invalid(format!("there is a function '{}' already", name.to_uppercase()));
            return Err(error.hint("give it another name"));
        }
        Ok(name)
    }

    /// Makes all of it known to a session.
    pub(crate) fn register_in(&self, session: &Session) -> Result<()> {
        self.functions.iter().for_each(|function| session.register_function(function.udf()));
        self.aggregates.iter().for_each(|function| session.register_aggregate(function.udf()));
        self.tables.iter().try_for_each(|table| session.register(Arc::clone(table)))
    }
}

/// Refuses what a program's aggregate functions are asked for and can't do.
pub(crate) fn check_aggregates(plan: &LogicalPlan, excerpt: &Excerpt) -> Result<()> {
    let mut distinct = None;
    let visit = plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                if let Expr::AggregateFunction(call) = expr
                    && call.params.distinct
                    && ProgramAggregate::of(&call.func).is_some()
                {
                    distinct = Some(call.func.name().to_uppercase());
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    });
    visit.map_err(|e| plan_error(e, excerpt))?;
    match distinct {
        None => Ok(()),
        Some(name) => Err(Error::invalid(format!("{name}(DISTINCT ...) is not supported for a function of a program"))
            .hint("aggregate a subquery: SELECT DISTINCT ... FROM ...")
            .at(excerpt.clone())),
    }
}
