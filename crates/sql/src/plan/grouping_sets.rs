//! `GROUPING SETS`, `ROLLUP` and `CUBE` as the lists of expressions that they stand for.

use datafusion::logical_expr::{Aggregate, Expr, GroupingSet};

/// The sets that the aggregate groups by, one result each; one set where it groups plainly.
pub(crate) fn grouping_sets(aggregate: &Aggregate) -> Vec<Vec<Expr>> {
    match aggregate.group_expr.as_slice() {
        [Expr::GroupingSet(GroupingSet::GroupingSets(sets))] => sets.clone(),
        [Expr::GroupingSet(GroupingSet::Rollup(exprs))] => {
            (0..=exprs.len()).rev().map(|length| exprs[..length].to_vec()).collect()
        }
        [Expr::GroupingSet(GroupingSet::Cube(exprs))] => (0..1usize << exprs.len())
            .rev()
            .map(|chosen| {
                let of_set = exprs.iter().enumerate().filter(|(i, _)| chosen >> (exprs.len() - 1 - i) & 1 == 1);
                of_set.map(|(_, expr)| expr.clone()).collect()
            })
            .collect(),
        plain => vec![plain.to_vec()],
    }
}

/// Whether the aggregate has more than plain groups.
pub(crate) fn has_grouping_sets(aggregate: &Aggregate) -> bool {
    matches!(aggregate.group_expr.as_slice(), [Expr::GroupingSet(_)])
}
