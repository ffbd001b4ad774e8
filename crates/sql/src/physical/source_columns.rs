//! What a scan decodes of a table, and how it makes the table's columns of that.

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::Session;
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::PhysicalExpr;

use tidemill_runtime::graph::EventTimeSpec;

use crate::catalog::{EventTimeColumn, Table};

/// The columns of a scan.
pub(crate) struct SourceColumns {
    /// Those to decode.
    pub(crate) decoded: SchemaRef,
    /// How the wanted ones are made of those; `None` where they are the same.
    pub(crate) computed: Option<Arc<[Arc<dyn PhysicalExpr>]>>,
}

/// Where event time stands among `columns` of its table, and how a row's claim is made of them.
pub(crate) fn event_time_spec(
    time: &EventTimeColumn,
    columns: &SchemaRef,
    state: &dyn Session,
) -> Result<EventTimeSpec> {
    let schema = DFSchema::try_from(columns.as_ref().clone())?;
    let watermark = state.create_physical_expr(time.watermark.clone(), &schema)?;
    Ok(EventTimeSpec { column: columns.index_of(&time.name)?, range: time.range, watermark })
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
    let decoded: Vec<_> = table.stored().fields().iter().filter(|f| needed(f.name())).cloned().collect();
    let decoded = Arc::new(Schema::new(decoded));
    let over = DFSchema::try_from(decoded.as_ref().clone())?;
    let computed = wanted.fields().iter().zip(exprs).map(|(field, expr)| {
        let column = Expr::Column(Column::new_unqualified(field.name()));
        state.create_physical_expr(expr.cloned().unwrap_or(column), &over)
    });
    Ok(SourceColumns { computed: Some(computed.collect::<Result<_>>()?), decoded })
}
