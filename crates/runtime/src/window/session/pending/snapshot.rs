//! What snapshots hold of rows that wait: a section a batch, with what is known of each row beside its columns.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, DictionaryArray, Int32Array, Int64Array, RecordBatch, RecordBatchOptions, StringArray,
    StructArray,
};
use arrow::datatypes::{DataType, Field, FieldRef, Int32Type, Int64Type, Schema, SchemaRef};
use tidemill_core::{Error, EventBatch, Lineage, Result, SourceRows};
use tidemill_state::{Section, State, StateChanges};

use super::{Pending, lineage, watermarks};
use crate::operator::fitting;
use crate::operator::hands::Hands;
use crate::operator::noted::Noted;

/// By number: a batch that waits.
const PENDING: &str = "pending";

impl Pending {
    /// `with_source`: whether somebody wants late rows as the source gave them.
    pub(in crate::window::session) fn save(&mut self, with_source: bool, changes: &mut StateChanges) -> Result<()> {
        for number in self.unsaved.take(self.batches.keys().copied()) {
            let section = Section::new(PENDING, number);
            match self.batches.get(&number) {
                Some(batch) => changes.replace(section, vec![saved(batch, with_source)?]),
                None => changes.remove(section),
            }
        }
        Ok(())
    }

    /// `schema`: of the rows.
    pub(in crate::window::session) fn load(
        &mut self,
        with_source: bool,
        schema: &SchemaRef,
        state: &mut State,
    ) -> Result<()> {
        let before = self.next;
        for (number, batches) in state.take_all(PENDING)? {
            let number = number.saturating_add(before);
            for batch in batches {
                self.batches.insert(number, restored(&batch, with_source, schema)?);
            }
            self.next = number.saturating_add(1);
        }
        self.unsaved.begin();
        Ok(())
    }

    /// No snapshot has any of it.
    pub(in crate::window::session) fn forget_saved(&mut self) {
        self.unsaved = Noted::default();
    }

    /// Deals rows that wait by the columns of their key.
    pub(in crate::window::session) fn deal(key: &[usize], state: &mut State, hands: &mut Hands<'_>) -> Result<()> {
        for (number, batches) in state.take_all(PENDING)? {
            for batch in batches {
                hands.by_key(&Section::new(PENDING, number), &batch, batch.project(key)?.columns())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
impl Pending {
    pub(in crate::window::session) fn held_rows(&self) -> usize {
        self.batches.values().map(EventBatch::num_rows).sum()
    }
}

/// The rows' columns, then their watermark, partition and offset, and the source's columns.
fn saved(batch: &EventBatch, with_source: bool) -> Result<RecordBatch> {
    let lineage = lineage(batch)?;
    let partition = Arc::new(StringArray::from_iter_values([&*lineage.source.partition]));
    let partitions = DictionaryArray::<Int32Type>::try_new(Int32Array::from(vec![0; batch.num_rows()]), partition)?;
    let watermarks = Int64Array::from(watermarks(batch)?.to_vec());
    let mut columns = batch.rows.columns().to_vec();
    columns.extend([Arc::new(watermarks) as ArrayRef, Arc::new(partitions), Arc::new(lineage.offsets()?)]);
    let mut fields = batch.rows.schema_ref().fields().to_vec();
    fields.extend(sidecars());
    if with_source {
        let source = StructArray::from(lineage.source_rows()?);
        fields.push(Arc::new(Field::new("source", source.data_type().clone(), false)));
        columns.push(Arc::new(source));
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

fn sidecars() -> [FieldRef; 3] {
    let field = |name, data_type| Arc::new(Field::new(name, data_type, false));
    let partition = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    [field("watermark", DataType::Int64), field("partition", partition), field("offset", DataType::Int64)]
}

fn restored(batch: &RecordBatch, with_source: bool, schema: &SchemaRef) -> Result<EventBatch> {
    let (width, count) = (schema.fields().len(), batch.num_rows());
    let source = match batch.columns().get(width + 3) {
        Some(source) if with_source => source.as_struct_opt(),
        _ => None,
    };
    if with_source && source.is_none() {
        return Err(Error::data(format!(
            "the section '{PENDING}' of the state has no source rows for the late output"
        )));
    }
    let mut fields = schema.fields().to_vec();
    fields.extend(sidecars());
    // Further columns are the source's, which nobody may want any more.
    let columns: Vec<usize> = (0..batch.num_columns().min(width + 3)).collect();
    let batch = fitting(PENDING, vec![batch.project(&columns)?], &Arc::new(Schema::new(fields)))?.remove(0);
    let (rows, sidecars) = batch.columns().split_at(width);
    let options = RecordBatchOptions::new().with_row_count(Some(count));
    let source_rows = match source {
        Some(source) => {
            let (fields, columns, _) = source.clone().into_parts();
            RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?
        }
        None => RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options)?,
    };
    let partitions = sidecars[1].as_dictionary::<Int32Type>();
    let names = partitions.values().as_string::<i32>();
    let partition = partitions.keys_iter().flatten().next().map_or("", |key| names.value(key));
    let source = SourceRows {
        rows: source_rows,
        partition: partition.into(),
        offsets: sidecars[2].as_primitive::<Int64Type>().clone(),
    };
    let rows = RecordBatch::try_new_with_options(Arc::clone(schema), rows.to_vec(), &options)?;
    Ok(EventBatch {
        watermarks: Some(sidecars[0].as_primitive::<Int64Type>().clone()),
        lineage: Some(Lineage { source: Arc::new(source), indices: None }),
        ..EventBatch::append(rows)
    })
}
