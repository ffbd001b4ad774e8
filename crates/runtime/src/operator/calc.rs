//! Filter and projection: expressions over the columns of one batch.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{FieldRef, SchemaRef};
use datafusion::common::cast::as_boolean_array;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use tidemill_core::{EventBatch, Result};

use super::{Derivation, Operator, Output};
use crate::engine_error;

/// `SELECT <projection> ... WHERE <predicate>`, in that order of evaluation: predicate first.
///
/// Sidecars stay with their rows.
#[derive(Debug, Clone)]
pub struct Calc {
    /// Rows for which this is not true are dropped.
    pub predicate: Option<Arc<dyn PhysicalExpr>>,
    /// The output's columns; `None` keeps the input's.
    pub projection: Option<(Vec<Arc<dyn PhysicalExpr>>, SchemaRef)>,
}

impl Operator for Calc {
    fn describe(&self) -> String {
        let predicate = self.predicate.as_ref().map(|predicate| format!("filter {predicate}"));
        let projection = self.projection.as_ref().map(|(exprs, schema)| {
            let column = |(expr, field): (&Arc<dyn PhysicalExpr>, &FieldRef)| {
                let renamed = !matches!(expr.downcast_ref::<Column>(), Some(column) if column.name() == field.name());
                if renamed { format!("{expr} AS {}", field.name()) } else { field.name().clone() }
            };
            let columns: Vec<String> = exprs.iter().zip(schema.fields()).map(column).collect();
            format!("project {}", columns.join(", "))
        });
        predicate.into_iter().chain(projection).collect::<Vec<_>>().join(", ")
    }

    fn derivation(&self) -> Derivation {
        self.projection.as_ref().map_or(Derivation::Same, |(exprs, schema)| Derivation::of(exprs, schema))
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        let batch = match &self.predicate {
            Some(predicate) => {
                let mask = evaluate(predicate, &batch.rows)?;
                batch.filter(as_boolean_array(&mask).map_err(engine_error)?)?
            }
            None => batch,
        };
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let batch = match &self.projection {
            Some((exprs, schema)) => {
                let rows = project(exprs, schema, &batch.rows)?;
                batch.with_rows(rows)
            }
            None => batch,
        };
        out.emit(batch);
        Ok(())
    }
}

/// An expression's value for each row.
pub(crate) fn evaluate(expr: &Arc<dyn PhysicalExpr>, rows: &RecordBatch) -> Result<arrow::array::ArrayRef> {
    expr.evaluate(rows).and_then(|value| value.into_array(rows.num_rows())).map_err(engine_error)
}

fn project(exprs: &[Arc<dyn PhysicalExpr>], schema: &SchemaRef, rows: &RecordBatch) -> Result<RecordBatch> {
    let columns = exprs.iter().map(|expr| evaluate(expr, rows)).collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}
