//! A grouping table: group keys with one accumulator an aggregate, filled from rows or from partial states.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use datafusion::common::cast::as_boolean_array;
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_expr::expressions::Column;
use tidemill_core::Result;

use super::keys::Keys;
use crate::engine_error;
use crate::operator::{evaluate, without_places};

/// One aggregate: `function(arguments) FILTER (WHERE filter)`.
#[derive(Debug, Clone)]
pub struct AggregateCall {
    /// The function with its arguments.
    pub function: Arc<AggregateFunctionExpr>,
    /// Only rows for which this is true count.
    pub filter: Option<Arc<dyn PhysicalExpr>>,
}

/// What a group computes: a result for each aggregate and group.
#[derive(Debug, Clone)]
pub struct Aggregation {
    /// The group's key, over the input's columns.
    pub groups: Vec<(Arc<dyn PhysicalExpr>, FieldRef)>,
    /// The aggregates, over the input's columns.
    pub calls: Vec<AggregateCall>,
}

impl Aggregation {
    /// The group columns.
    #[must_use]
    pub fn group_fields(&self) -> Vec<FieldRef> {
        self.groups.iter().map(|(_, field)| Arc::clone(field)).collect()
    }

    /// The columns of the partial states, aggregate by aggregate.
    pub fn state_fields(&self) -> Result<Vec<FieldRef>> {
        let mut fields: Vec<FieldRef> = vec![];
        for call in &self.calls {
            fields.extend(call.function.state_fields().map_err(engine_error)?);
        }
        // Names may repeat (`sum(a)` twice); positions count.
        Ok(fields
            .iter()
            .enumerate()
            .map(|(i, f)| Arc::new(Field::new(format!("state{i}"), f.data_type().clone(), f.is_nullable())))
            .collect())
    }

    /// What is kept of groups that no watermark ends: a row for each, and the values of aggregates that need all of
    /// them. `None` where there is one group, of a bounded size. Over rows that are taken back (`updated`) the ends of an
    /// order need all values too: what is taken back may be the end.
    pub(crate) fn unbounded_state(&self, updated: bool) -> Option<String> {
        let groups: Vec<String> = self.groups.iter().map(|(expr, field)| key_words(expr, field)).collect();
        let collecting = self.calls.iter().filter(|call| call.keeps_values() || updated && call.is_an_end());
        let values: Vec<&str> = collecting.map(|call| call.function.name()).collect();
        let groups = (!groups.is_empty()).then(|| format!("a row for each ({})", groups.join(", ")));
        let values = (!values.is_empty()).then(|| format!("the values of {}", values.join(", ")));
        match (groups, values) {
            (Some(groups), Some(values)) => Some(format!("{groups}, with {values}")),
            (groups, values) => groups.or(values),
        }
    }

    /// The columns of the results.
    #[must_use]
    pub fn result_fields(&self) -> Vec<FieldRef> {
        self.calls.iter().map(|call| call.function.field()).collect()
    }
}

impl AggregateCall {
    /// Whether it is the least or the greatest of its values.
    fn is_an_end(&self) -> bool {
        self.function.fun().is_descending().is_some()
    }

    /// Whether its state grows with the values that it has seen: then it is a list.
    fn keeps_values(&self) -> bool {
        let is_list = |field: &FieldRef| matches!(field.data_type(), DataType::List(_) | DataType::LargeList(_));
        self.function.state_fields().is_ok_and(|fields| fields.iter().any(is_list))
    }
}

impl fmt::Display for Aggregation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups: Vec<String> = self.groups.iter().map(|(expr, field)| key_words(expr, field)).collect();
        let calls: Vec<&str> = self.calls.iter().map(|call| call.function.name()).collect();
        write!(f, "({}): {}", groups.join(", "), if calls.is_empty() { "their keys".into() } else { calls.join(", ") })
    }
}

/// What a key is, in words: whoever finds the state of such groups again must be sure that it is theirs.
fn key_words(expr: &Arc<dyn PhysicalExpr>, field: &FieldRef) -> String {
    if expr.downcast_ref::<Column>().is_some() {
        return field.name().clone();
    }
    without_places(expr)
}

/// Groups and their accumulators. `key` may be empty: then there is one group.
pub(crate) struct Table {
    // Configuration.
    calls: Vec<AggregateCall>,
    state_widths: Vec<usize>,
    // Contents.
    keys: Option<Keys>,
    accumulators: Vec<Box<dyn GroupsAccumulator>>,
    occupied: bool,
    /// Scratch space, reused from batch to batch.
    indices: Vec<usize>,
}

impl Table {
    pub(crate) fn new(key: Vec<FieldRef>, calls: &[AggregateCall]) -> Result<Self> {
        let keys = (!key.is_empty()).then(|| Keys::new(&Arc::new(Schema::new(key)))).transpose()?;
        let state_widths = calls
            .iter()
            .map(|call| call.function.state_fields().map(|fields| fields.len()).map_err(engine_error))
            .collect::<Result<_>>()?;
        let mut table =
            Self { calls: calls.to_vec(), state_widths, keys, accumulators: vec![], occupied: false, indices: vec![] };
        table.begin()?;
        Ok(table)
    }

    /// Begins with accumulators that have seen nothing; the keys were taken.
    fn begin(&mut self) -> Result<()> {
        self.occupied = false;
        self.accumulators = self
            .calls
            .iter()
            .map(|call| call.function.create_groups_accumulator().map_err(engine_error))
            .collect::<Result<_>>()?;
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.occupied
    }

    pub(crate) fn len(&self) -> usize {
        match &self.keys {
            Some(keys) => keys.len(),
            None => usize::from(self.occupied),
        }
    }

    /// How much memory the accumulators take.
    pub(crate) fn bytes(&self) -> usize {
        self.accumulators.iter().map(|accumulator| accumulator.size()).sum()
    }

    fn intern(&mut self, key: &[ArrayRef], rows: usize) -> Result<()> {
        self.occupied |= rows > 0;
        match &mut self.keys {
            Some(keys) => keys.intern(key, &mut self.indices),
            None => {
                self.indices.clear();
                self.indices.resize(rows, 0);
                Ok(())
            }
        }
    }

    /// Adds rows; the aggregates' arguments are evaluated over `rows`.
    pub(crate) fn update(&mut self, key: &[ArrayRef], rows: &RecordBatch) -> Result<()> {
        self.intern(key, rows.num_rows())?;
        let groups = self.len();
        for (call, accumulator) in self.calls.iter().zip(&mut self.accumulators) {
            let arguments =
                call.function.expressions().iter().map(|e| evaluate(e, rows)).collect::<Result<Vec<_>>>()?;
            let filter = call.filter.as_ref().map(|f| evaluate(f, rows)).transpose()?;
            let filter = filter.as_ref().map(|f| as_boolean_array(f)).transpose().map_err(engine_error)?;
            accumulator.update_batch(&arguments, &self.indices, filter, groups).map_err(engine_error)?;
        }
        Ok(())
    }

    /// Adds partial states, as [`Table::states`] gave them.
    pub(crate) fn merge(&mut self, key: &[ArrayRef], states: &[ArrayRef], rows: usize) -> Result<()> {
        self.intern(key, rows)?;
        let groups = self.len();
        let mut states = states;
        for (width, accumulator) in self.state_widths.iter().zip(&mut self.accumulators) {
            let (own, rest) = states.split_at(*width);
            states = rest;
            accumulator.merge_batch(own, &self.indices, groups).map_err(engine_error)?;
        }
        Ok(())
    }

    /// Makes sure that a table without a key has its one group, even if no row came.
    pub(crate) fn occupy(&mut self, input: &Schema) -> Result<()> {
        if self.keys.is_some() || self.occupied {
            return Ok(());
        }
        self.occupied = true;
        // A row that a filter takes out: min and max of DataFusion tell an empty group only from one.
        let nothing = BooleanArray::from(vec![false]);
        let columns = input.fields().iter().map(|field| new_null_array(field.data_type(), 1)).collect();
        let nullable: Vec<_> = input.fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(1));
        let row = RecordBatch::try_new_with_options(Arc::new(Schema::new(nullable)), columns, &options)?;
        for (call, accumulator) in self.calls.iter().zip(&mut self.accumulators) {
            let arguments =
                call.function.expressions().iter().map(|e| evaluate(e, &row)).collect::<Result<Vec<_>>>()?;
            accumulator.update_batch(&arguments, &[0], Some(&nothing), 1).map_err(engine_error)?;
        }
        Ok(())
    }

    /// Empties the table into key columns and partial states.
    pub(crate) fn states(&mut self) -> Result<Vec<ArrayRef>> {
        self.drain(|accumulator| accumulator.state(EmitTo::All))
    }

    /// Empties the table into key columns and results.
    pub(crate) fn results(&mut self) -> Result<Vec<ArrayRef>> {
        self.drain(|accumulator| Ok(vec![accumulator.evaluate(EmitTo::All)?]))
    }

    fn drain(
        &mut self,
        emit: impl Fn(&mut dyn GroupsAccumulator) -> datafusion::error::Result<Vec<ArrayRef>>,
    ) -> Result<Vec<ArrayRef>> {
        let mut columns = match &mut self.keys {
            Some(keys) => keys.take()?,
            None => vec![],
        };
        for accumulator in &mut self.accumulators {
            columns.extend(emit(accumulator.as_mut()).map_err(engine_error)?);
        }
        self.begin()?;
        Ok(columns)
    }
}
