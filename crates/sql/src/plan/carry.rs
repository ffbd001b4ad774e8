//! Columns that no text names, carried from the scan of a table up to the node that needs them.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::logical_expr::{Expr, Extension, Filter, LogicalPlan, Projection, SubqueryAlias, TableScan, Union};

use super::scanned;
use crate::physical::batch::{SourceTable, identity_column};
use crate::window_tvf::WindowTvf;

/// What is carried.
pub(super) struct Cargo<const N: usize> {
    /// The names of the columns, which nothing else in a plan has.
    pub(super) names: [&'static str; N],
    /// The scan, and the columns behind its own.
    pub(super) at_scan: fn(&TableScan, &SourceTable) -> Result<LogicalPlan>,
    /// The same for rows that were made of several.
    pub(super) made_of_several: fn(&LogicalPlan) -> Result<Carried>,
}

/// A plan that has the carried columns among its own.
pub(super) struct Carried {
    pub(super) plan: LogicalPlan,
    /// Whether they say anything: they are not all NULL.
    pub(super) known: bool,
}

impl<const N: usize> Cargo<N> {
    /// The plan with the columns among its own; the others stay as they are.
    pub(super) fn carry(&self, plan: &LogicalPlan) -> Result<Carried> {
        let carried = |input: &LogicalPlan, node: &dyn Fn(Arc<LogicalPlan>) -> Result<LogicalPlan>| {
            let Carried { plan, known } = self.carry(input)?;
            Ok(Carried { plan: node(Arc::new(plan))?, known })
        };
        match plan {
            LogicalPlan::TableScan(scan) => match scanned(scan) {
                Some(source) => Ok(Carried { plan: (self.at_scan)(scan, source)?, known: true }),
                None => (self.made_of_several)(plan),
            },
            LogicalPlan::Filter(filter) => carried(&filter.input, &|input| {
                Ok(LogicalPlan::Filter(Filter::try_new(filter.predicate.clone(), input)?))
            }),
            LogicalPlan::SubqueryAlias(alias) => carried(&alias.input, &|input| {
                Ok(LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(input, alias.alias.clone())?))
            }),
            LogicalPlan::Projection(projection) => carried(&projection.input, &|input| {
                let mut exprs = projection.expr.clone();
                exprs.extend(self.columns(&input));
                Ok(LogicalPlan::Projection(Projection::try_new(exprs, input)?))
            }),
            LogicalPlan::Extension(Extension { node }) => match node.as_any().downcast_ref::<WindowTvf>() {
                Some(window) => carried(&window.input, &|input| {
                    let window = window.over(Arc::unwrap_or_clone(input), window.identity.clone())?;
                    Ok(LogicalPlan::Extension(Extension { node: Arc::new(window) }))
                }),
                None => (self.made_of_several)(plan),
            },
            LogicalPlan::Union(union) => self.at_union(union),
            _ => (self.made_of_several)(plan),
        }
    }

    /// The carried columns of a plan that has them.
    pub(super) fn columns(&self, plan: &LogicalPlan) -> [Expr; N] {
        self.names.map(|name| Expr::Column(identity_column(plan, name)))
    }

    /// Each input may have the columns elsewhere: in a union they stand at the end of all.
    fn at_union(&self, union: &Union) -> Result<Carried> {
        let (mut inputs, mut known) = (vec![], true);
        for input in &union.inputs {
            let carried = self.carry(input)?;
            let mut columns = all_columns(input);
            columns.extend(self.columns(&carried.plan));
            known &= carried.known;
            inputs.push(Arc::new(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(carried.plan))?)));
        }
        Ok(Carried { plan: LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?), known })
    }
}

pub(super) fn all_columns(plan: &LogicalPlan) -> Vec<Expr> {
    plan.schema().columns().into_iter().map(Expr::Column).collect()
}
