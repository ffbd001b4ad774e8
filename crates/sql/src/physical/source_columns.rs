//! What a scan decodes of a table, and how it makes the table's columns of that.

use std::sync::Arc;

use arrow::datatypes::{FieldRef, Schema, SchemaRef};
use datafusion::catalog::Session;
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_expr::PhysicalExpr;

use crate::catalog::Table;

/// The columns of a scan.
pub(crate) struct SourceColumns {
    /// Those to decode.
    pub(crate) decoded: SchemaRef,
    /// How the wanted ones are made of those; `None` where they are the same.
    pub(crate) computed: Option<Arc<[Arc<dyn PhysicalExpr>]>>,
}

/// `wanted` are columns of the table.
pub(crate) fn source_columns(table: &Table, wanted: &SchemaRef, state: &dyn Session) -> Result<SourceColumns> {
    let exprs: Vec<Option<&Expr>> =
        wanted.fields().iter().map(|f| table.computed.get(f.name()).map(|c| &c.expr)).collect();
    if exprs.iter().all(Option::is_none) && !table.keep_rejected {
        return Ok(SourceColumns { decoded: Arc::clone(wanted), computed: None });
    }
    let of_computed: Vec<&str> =
        exprs.iter().flatten().flat_map(|expr| expr.column_refs()).map(|column| column.name.as_str()).collect();
    let needed = |name: &String| {
        table.keep_rejected || of_computed.contains(&name.as_str()) || wanted.column_with_name(name).is_some()
    };
    let stored = table.stored().fields().iter().filter(|f| needed(f.name()));
    // A ROW that is wanted with some of its fields is decoded so.
    let narrowed = |field: &FieldRef| match wanted.column_with_name(field.name()) {
        Some((index, _)) => Arc::clone(&wanted.fields()[index]),
        None => Arc::clone(field),
    };
    let decoded: Vec<_> = stored.map(narrowed).collect();
    let decoded = Arc::new(Schema::new(decoded));
    let over = DFSchema::try_from(decoded.as_ref().clone())?;
    let computed = wanted.fields().iter().zip(exprs).map(|(field, expr)| {
        let column = Expr::Column(Column::new_unqualified(field.name()));
        state.create_physical_expr(at_start(expr.cloned().unwrap_or(column), &over, state)?, &over)
    });
    Ok(SourceColumns { computed: Some(computed.collect::<Result<_>>()?), decoded })
}

/// Where a run has one present time, the expression with that in it.
fn at_start(expr: Expr, columns: &DFSchema, state: &dyn Session) -> Result<Expr> {
    let start = state.execution_props().query_execution_start_time;
    if start.is_none() || !expr.is_volatile() {
        return Ok(expr);
    }
    let context = SimplifyContext::builder().with_schema(Arc::new(columns.clone()));
    ExprSimplifier::new(context.with_query_execution_start_time(start).build()).simplify(expr)
}
