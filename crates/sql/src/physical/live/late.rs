//! The end of late rows: their columns matched by name with those of the sink.

use std::sync::Arc;

use arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{CastExpr, Column as PhysicalColumn};
use tidemill_core::{Error, Result};
use tidemill_runtime::graph::Stream;
use tidemill_runtime::operator::Calc;

use super::planner::{Planner, make_calc};
use crate::PlannedStatement;
use crate::physical::LateSink;
use crate::types::flink_type_name;

impl Planner<'_> {
    pub(super) fn late_sink(
        &mut self,
        late: &[(Stream, SchemaRef)],
        sink: &LateSink,
        statement: &PlannedStatement,
    ) -> Result<()> {
        if late.is_empty() && sink.columns.is_some() {
            return Err(Error::invalid(format!(
                "'{}' has a late output, and no window for which a row could be late",
                statement.name
            ))
            .hint("remove the SET 'tidemill.late-output...'")
            .at(statement.excerpt.clone()));
        }
        let mut streams = vec![];
        for (stream, schema) in late {
            streams.push(match &sink.columns {
                Some(wanted) => {
                    let calc = by_name(schema, wanted).map_err(|e| e.at(statement.excerpt.clone()))?;
                    self.graph.chain(*stream, make_calc(calc))
                }
                None => *stream,
            });
        }
        if !streams.is_empty() {
            self.graph.sink(&streams, format!("late rows of {}", statement.name), Arc::clone(&sink.sink));
        }
        Ok(())
    }
}

fn by_name(late: &Schema, wanted: &SchemaRef) -> Result<Calc> {
    let mut exprs: Vec<Arc<dyn PhysicalExpr>> = vec![];
    for field in wanted.fields() {
        let Some((index, given)) = late.column_with_name(field.name()) else {
            let names: Vec<&str> = late.fields().iter().map(|f| f.name().as_str()).collect();
            return Err(Error::invalid(format!("late rows have no column '{}'", field.name()))
                .hint(format!("a late output may declare: {}", names.join(", "))));
        };
        let column: Arc<dyn PhysicalExpr> = Arc::new(PhysicalColumn::new(field.name(), index));
        if given.data_type() == field.data_type() {
            exprs.push(column);
        } else if !between_clocks(given.data_type(), field.data_type())
            && arrow::compute::can_cast_types(given.data_type(), field.data_type())
        {
            exprs.push(Arc::new(CastExpr::new(column, field.data_type().clone(), None)));
        } else {
            return Err(Error::invalid(format!(
                "the late output's column '{}' has the type {}, and late rows have {}",
                field.name(),
                flink_type_name(field.data_type()),
                flink_type_name(given.data_type())
            )));
        }
    }
    let nullable = wanted.fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect::<Vec<_>>();
    Ok(Calc { predicate: None, projection: Some((exprs, Arc::new(Schema::new(nullable)))) })
}

/// A cast between TIMESTAMP and TIMESTAMP_LTZ needs a zone, and a late output is no place to guess one.
fn between_clocks(from: &DataType, to: &DataType) -> bool {
    matches!((from, to), (DataType::Timestamp(_, from), DataType::Timestamp(_, to)) if from.is_some() != to.is_some())
}
