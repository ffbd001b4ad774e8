//! `GROUPING SETS`, `ROLLUP` and `CUBE` over rows of which DataFusion knows nothing.
//!
//! Where a key is the same in all rows, by a `WHERE` or as a literal, DataFusion's aggregate takes it for the same in
//! all of its own rows, too. With sets it is NULL in some: groups would be given out before they have all their rows,
//! and sorts would be left out.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchemaRef, Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Aggregate, Expr, Extension, LogicalPlan, Projection, UserDefinedLogicalNodeCore};

use super::over_input::{OverInput, Step};
use crate::plan::has_grouping_sets;

/// The plan, which is optimized already, with nothing known of the rows below grouping sets.
pub(super) fn with_unknown_keys(plan: LogicalPlan) -> Result<LogicalPlan> {
    let done = plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Aggregate(aggregate) if has_grouping_sets(&aggregate) => {
            of_unknown_keys(aggregate).map(Transformed::yes)
        }
        node => Ok(Transformed::no(node)),
    })?;
    Ok(done.data)
}

fn of_unknown_keys(aggregate: Aggregate) -> Result<LogicalPlan> {
    let Aggregate { input, group_expr, aggr_expr, schema, .. } = aggregate;
    let mut literals = vec![];
    let groups = group_expr.into_iter().map(|sets| {
        let sets = sets.map_children(|key| Ok(Transformed::yes(literal_as_column(key, &mut literals))))?;
        Ok(sets.data)
    });
    let groups = groups.collect::<Result<_>>()?;
    let rows = UnknownRows { input: with_columns(input, literals)? };
    let input = LogicalPlan::Extension(Extension { node: Arc::new(rows) });
    Ok(LogicalPlan::Aggregate(Aggregate::try_new_with_schema(Arc::new(input), groups, aggr_expr, schema)?))
}

/// The key, or where it is a literal a column of its name; the literal is put with the others.
fn literal_as_column(key: Expr, literals: &mut Vec<Expr>) -> Expr {
    let (relation, name) = key.qualified_name();
    let value = key.clone().unalias();
    if !matches!(value, Expr::Literal(..)) {
        return key;
    }
    let named = value.alias_qualified(relation.clone(), name.clone());
    // Several sets may have it.
    if !literals.contains(&named) {
        literals.push(named);
    }
    Expr::Column(Column::new(relation, name))
}

/// The rows with more columns.
fn with_columns(input: Arc<LogicalPlan>, more: Vec<Expr>) -> Result<LogicalPlan> {
    if more.is_empty() {
        return Ok(Arc::unwrap_or_clone(input));
    }
    let columns = input.schema().columns().into_iter().map(Expr::Column).chain(more).collect();
    Ok(LogicalPlan::Projection(Projection::try_new(columns, input)?))
}

/// The rows of the input.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd)]
pub(super) struct UnknownRows {
    input: LogicalPlan,
}

impl UserDefinedLogicalNodeCore for UnknownRows {
    fn name(&self) -> &'static str {
        "UnknownRows"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        vec![]
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UnknownRows")
    }

    fn with_exprs_and_inputs(&self, _exprs: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        match <[_; 1]>::try_from(inputs) {
            Ok([input]) => Ok(Self { input }),
            Err(_) => internal_err!("unknown rows have one input"),
        }
    }
}

/// The plan node of [`UnknownRows`].
pub(super) type UnknownRowsExec = OverInput<AsTheyCome>;

/// The rows as they come.
#[derive(Debug, Clone)]
pub(super) struct AsTheyCome;

impl Step for AsTheyCome {
    const NAME: &'static str = "UnknownRowsExec";

    fn schema(&self, input: &SchemaRef) -> SchemaRef {
        Arc::clone(input)
    }

    fn run(
        &self,
        rows: SendableRecordBatchStream,
        _input: SchemaRef,
        _context: &TaskContext,
    ) -> Result<SendableRecordBatchStream> {
        Ok(rows)
    }
}
