//! The first phase of a `GROUP BY` without a window: folds each batch by itself, before the exchange.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use tidemill_core::{Error, EventBatch, Result};

use super::{Aggregation, Table};
use crate::operator::{Operator, Output, evaluate};

/// Folds a batch of appended rows into partial states. It keeps nothing from batch to batch.
pub struct PreGroup {
    aggregation: Aggregation,
    schema: SchemaRef,
    table: Table,
}

/// The columns between the two phases: groups, states.
pub(super) fn partial_schema(aggregation: &Aggregation) -> Result<SchemaRef> {
    let mut fields = aggregation.group_fields();
    fields.extend(aggregation.state_fields()?);
    Ok(Arc::new(Schema::new(fields)))
}

impl PreGroup {
    /// Folds by the groups of `aggregation`.
    pub fn new(aggregation: Aggregation) -> Result<Self> {
        Ok(Self {
            schema: partial_schema(&aggregation)?,
            table: Table::new(aggregation.group_fields(), &aggregation.calls)?,
            aggregation,
        })
    }
}

impl Operator for PreGroup {
    fn describe(&self) -> String {
        format!("fold each batch by {}", self.aggregation)
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        if batch.kinds.is_some() {
            return Err(Error::internal("a group over rows that are updated was not refused"));
        }
        let groups = self.aggregation.groups.iter().map(|(expr, _)| evaluate(expr, &batch.rows));
        let key: Vec<ArrayRef> = groups.collect::<Result<_>>()?;
        self.table.update(&key, &batch.rows)?;
        let rows = self.table.len();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let states = self.table.states()?;
        out.emit(EventBatch::append(RecordBatch::try_new_with_options(Arc::clone(&self.schema), states, &options)?));
        Ok(())
    }
}
