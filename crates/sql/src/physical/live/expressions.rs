//! Logical expressions to physical ones, with our errors.

use std::sync::Arc;

use arrow::datatypes::{FieldRef, Schema, SchemaRef};
use datafusion::common::{DFSchema, DFSchemaRef};
use datafusion::execution::SessionState;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::LoweredAggregateBuilder;
use datafusion::physical_expr::expressions::Column as PhysicalColumn;
use tidemill_core::{Error, Excerpt, Result};
use tidemill_runtime::aggregate::AggregateCall;
use tidemill_runtime::operator::Calc;

use crate::plan::plan_error;

/// Plans the expressions of one statement.
pub(super) struct Expressions<'a> {
    pub(super) state: &'a SessionState,
    pub(super) excerpt: &'a Excerpt,
}

impl Expressions<'_> {
    pub(super) fn scalar(&self, expr: &Expr, schema: &DFSchema) -> Result<Arc<dyn PhysicalExpr>> {
        self.state.create_physical_expr(expr.clone(), schema).map_err(|e| plan_error(e, self.excerpt))
    }

    pub(super) fn projection(&self, exprs: &[Expr], input: &DFSchema, output: &DFSchemaRef) -> Result<Calc> {
        let exprs = exprs.iter().map(|e| self.scalar(e, input)).collect::<Result<_>>()?;
        Ok(Calc { predicate: None, projection: Some((exprs, arrow_schema(output))) })
    }

    /// A group's key, with the column that it makes.
    pub(super) fn group(&self, expr: &Expr, input: &DFSchema) -> Result<(Arc<dyn PhysicalExpr>, FieldRef)> {
        let physical = self.scalar(expr, input)?;
        let field = physical.return_field(input.as_arrow()).map_err(|e| plan_error(e, self.excerpt))?;
        Ok((physical, field))
    }

    pub(super) fn aggregate(&self, expr: &Expr, input: &LogicalPlan) -> Result<AggregateCall> {
        let physical = input.schema().as_arrow();
        let context = PhysicalPlanningContext::default();
        let builder =
            LoweredAggregateBuilder::new(expr, input.schema(), physical, self.state.execution_props(), &context);
        let lowered = builder.build().map_err(|e| plan_error(e, self.excerpt))?;
        let function = lowered.aggregate;
        if !lowered.order_bys.is_empty() || !function.groups_accumulator_supported() {
            return Err(Error::invalid(format!("{} is not supported in a live window yet", function.name()))
                .hint("run the file with --batch")
                .at(self.excerpt.clone()));
        }
        Ok(AggregateCall { function, filter: lowered.filter })
    }
}

pub(super) fn arrow_schema(schema: &DFSchema) -> SchemaRef {
    Arc::new(schema.as_arrow().clone())
}

/// A choice of the input's columns, by index, under other names.
pub(super) fn pick(input: &Schema, columns: &[usize], output: SchemaRef) -> Calc {
    let exprs = columns
        .iter()
        .map(|&index| Arc::new(PhysicalColumn::new(input.field(index).name(), index)) as Arc<dyn PhysicalExpr>)
        .collect();
    Calc { predicate: None, projection: Some((exprs, output)) }
}
