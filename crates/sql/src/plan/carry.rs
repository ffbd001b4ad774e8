//! Columns that no text names, carried from the scan of a table up to the node that needs them.

use std::sync::Arc;

use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    Expr, Extension, Filter, LogicalPlan, Projection, SubqueryAlias, TableScan, Union, lit,
};

use super::scanned;
use crate::physical::batch::{SourceTable, identity_column};
use crate::unnest::Unnest;
use crate::window_tvf::WindowTvf;

/// What is carried.
pub(super) struct Cargo<const N: usize> {
    /// The names of the columns, which nothing else in a plan has.
    pub(super) names: [&'static str; N],
    /// The name of the column with the place of an element among those of its row, for rows that `UNNEST` made, by how
    /// often their row was unnested before; `None` where nobody asks.
    pub(super) element: Option<fn(usize) -> String>,
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
    /// How often rows were unnested: so many columns with the place of an element stand beside the others.
    pub(super) levels: usize,
}

impl<const N: usize> Cargo<N> {
    /// The plan with the columns among its own; the others stay as they are.
    pub(super) fn carry(&self, plan: &LogicalPlan) -> Result<Carried> {
        let carried = |input: &LogicalPlan, node: &dyn Fn(Arc<LogicalPlan>, usize) -> Result<LogicalPlan>| {
            let Carried { plan, known, levels } = self.carry(input)?;
            Ok(Carried { plan: node(Arc::new(plan), levels)?, known, levels })
        };
        match plan {
            LogicalPlan::TableScan(scan) => match scanned(scan) {
                // A program's streams come without them.
                Some(source) if source.table().streams.is_some() => (self.made_of_several)(plan),
                Some(source) => Ok(Carried { plan: (self.at_scan)(scan, source)?, known: true, levels: 0 }),
                None => (self.made_of_several)(plan),
            },
            LogicalPlan::Filter(filter) => carried(&filter.input, &|input, _| {
                Ok(LogicalPlan::Filter(Filter::try_new(filter.predicate.clone(), input)?))
            }),
            LogicalPlan::SubqueryAlias(alias) => carried(&alias.input, &|input, _| {
                Ok(LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(input, alias.alias.clone())?))
            }),
            LogicalPlan::Projection(projection) => carried(&projection.input, &|input, levels| {
                let mut exprs = projection.expr.clone();
                // What reads one of them itself has it already.
                exprs.extend(
                    self.columns(&input, levels).into_iter().filter(|column| !projection.expr.contains(column)),
                );
                Ok(LogicalPlan::Projection(Projection::try_new(exprs, input)?))
            }),
            LogicalPlan::Extension(Extension { node }) => {
                if let Some(unnest) = node.as_any().downcast_ref::<Unnest>() {
                    return self.at_unnest(unnest);
                }
                match node.as_any().downcast_ref::<WindowTvf>() {
                    Some(window) => carried(&window.input, &|input, _| {
                        let window = window.over(Arc::unwrap_or_clone(input), window.identity.clone())?;
                        Ok(LogicalPlan::Extension(Extension { node: Arc::new(window) }))
                    }),
                    None => (self.made_of_several)(plan),
                }
            }
            LogicalPlan::Union(union) => self.at_union(union),
            _ => (self.made_of_several)(plan),
        }
    }

    /// The carried columns of a plan that has them.
    pub(super) fn columns(&self, plan: &LogicalPlan, levels: usize) -> Vec<Expr> {
        let elements = self.element.into_iter().flat_map(|element| (0..levels).map(element));
        let names = self.names.into_iter().map(str::to_owned).chain(elements);
        names.map(|name| Expr::Column(identity_column(plan, &name))).collect()
    }

    /// Rows of one row have what it has, and the place of their element.
    fn at_unnest(&self, unnest: &Unnest) -> Result<Carried> {
        let Carried { plan, known, levels } = self.carry(&unnest.input)?;
        let (node, levels) = match self.element {
            Some(element) => (unnest.with_ordinal(plan, element(levels))?, levels + 1),
            None => (unnest.with_input(plan)?, levels),
        };
        Ok(Carried { plan: LogicalPlan::Extension(Extension { node: Arc::new(node) }), known, levels })
    }

    /// Each input may have the columns elsewhere: in a union they stand at the end of all. Rows that were unnested less
    /// often than others have no place there.
    fn at_union(&self, union: &Union) -> Result<Carried> {
        let carried = union.inputs.iter().map(|input| Ok((input, self.carry(input)?))).collect::<Result<Vec<_>>>()?;
        let levels = carried.iter().map(|(_, carried)| carried.levels).max().unwrap_or(0);
        let known = carried.iter().all(|(_, carried)| carried.known);
        let mut inputs = vec![];
        for (input, carried) in carried {
            let mut columns = all_columns(input);
            columns.extend(self.columns(&carried.plan, carried.levels));
            let missing = self.element.into_iter().flat_map(|element| (carried.levels..levels).map(element));
            columns.extend(missing.map(|name| lit(ScalarValue::Int32(None)).alias(name)));
            inputs.push(Arc::new(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(carried.plan))?)));
        }
        Ok(Carried { plan: LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?), known, levels })
    }
}

pub(super) fn all_columns(plan: &LogicalPlan) -> Vec<Expr> {
    plan.schema().columns().into_iter().map(Expr::Column).collect()
}
