//! Rows that wait, as one batch with what is known of each beside its columns; and many such batches as one, as they are
//! small: each source's batch is dealt to all key groups.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, DictionaryArray, Int32Array, RecordBatch, RecordBatchOptions, StringArray, StructArray,
    UInt8Array,
};
use arrow::compute::concat_batches;
use arrow::datatypes::{Field, FieldRef, Int32Type, Int64Type, Schema, UInt8Type};
use tidemill_core::{Error, EventBatch, Lineage, Result, RowKind, SourceRows, Watermark};

/// In the metadata: how many columns are the rows' own.
const COLUMNS: &str = "tidemill.columns";

/// In the metadata of what was several batches: of each the watermark before it and the number of its rows.
const BATCHES: &str = "tidemill.batches";

const KIND: &str = "kind";
const WATERMARK: &str = "watermark";
const PARTITION: &str = "partition";
const OFFSET: &str = "offset";
const SOURCE: &str = "source";

/// The rows' columns, then those of their sidecars that they have. `with_source`: whether somebody wants the rows of the
/// source.
pub(crate) fn saved(batch: &EventBatch, with_source: bool) -> Result<RecordBatch> {
    let mut fields: Vec<FieldRef> = batch.rows.schema_ref().fields().to_vec();
    let mut columns = batch.rows.columns().to_vec();
    let mut add = |name: &str, column: ArrayRef| {
        fields.push(Arc::new(Field::new(name, column.data_type().clone(), false)));
        columns.push(column);
    };
    if let Some(kinds) = &batch.kinds {
        add(KIND, Arc::new(kinds.iter().map(|&kind| kind as u8).collect::<UInt8Array>()));
    }
    if let Some(watermarks) = &batch.watermarks {
        add(WATERMARK, Arc::new(watermarks.clone()));
    }
    if let Some(lineage) = &batch.lineage {
        let partition = Arc::new(StringArray::from_iter_values([&*lineage.source.partition]));
        let keys = Int32Array::from(vec![0; batch.num_rows()]);
        add(PARTITION, Arc::new(DictionaryArray::<Int32Type>::try_new(keys, partition)?));
        add(OFFSET, Arc::new(lineage.offsets()?));
        if with_source {
            add(SOURCE, Arc::new(StructArray::from(lineage.source_rows()?)));
        }
    }
    let metadata = HashMap::from([(COLUMNS.to_owned(), batch.rows.num_columns().to_string())]);
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new_with_metadata(fields, metadata)), columns, &options)?)
}

/// The rows that were [`saved`].
pub(crate) fn restored(batch: &RecordBatch) -> Result<EventBatch> {
    let schema = batch.schema_ref();
    let width = schema.metadata().get(COLUMNS).and_then(|width| width.parse().ok());
    let width: usize =
        width.filter(|width| *width <= batch.num_columns()).ok_or_else(|| damaged("their number of columns"))?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = Arc::new(Schema::new(schema.fields()[..width].to_vec()));
    let rows = RecordBatch::try_new_with_options(columns, batch.columns()[..width].to_vec(), &options)?;
    let sidecar =
        |name: &str| (width..batch.num_columns()).find(|&i| schema.field(i).name() == name).map(|i| batch.column(i));
    let kinds = match sidecar(KIND) {
        Some(kinds) => {
            let kinds = kinds.as_primitive_opt::<UInt8Type>().ok_or_else(|| damaged("their kinds"))?;
            Some(kinds.values().iter().map(|&kind| row_kind(kind)).collect::<Result<_>>()?)
        }
        None => None,
    };
    let numbers = |name| match sidecar(name) {
        Some(numbers) => numbers.as_primitive_opt::<Int64Type>().cloned().map(Some).ok_or_else(|| damaged(name)),
        None => Ok(None),
    };
    let lineage = match (sidecar(PARTITION), numbers(OFFSET)?) {
        (Some(partitions), Some(offsets)) => {
            let partitions = partitions.as_dictionary_opt::<Int32Type>().ok_or_else(|| damaged(PARTITION))?;
            let names = partitions.values().as_string_opt::<i32>().ok_or_else(|| damaged(PARTITION))?;
            // The rows may be a part of what came from several.
            let name = partitions.keys().iter().flatten().next().and_then(|key| usize::try_from(key).ok());
            let partition = name.map_or("", |name| names.value(name)).into();
            let source = match sidecar(SOURCE) {
                Some(source) => {
                    let source = source.as_struct_opt().ok_or_else(|| damaged(SOURCE))?;
                    let (fields, columns, _) = source.clone().into_parts();
                    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?
                }
                None => RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options)?,
            };
            Some(Lineage { source: Arc::new(SourceRows { rows: source, partition, offsets }), indices: None })
        }
        _ => None,
    };
    Ok(EventBatch { kinds, watermarks: numbers(WATERMARK)?, lineage, ..EventBatch::append(rows) })
}

/// One batch of some that were [`saved`] and have the same columns, each with the watermark before it.
pub(super) fn joined(batches: &[(Watermark, RecordBatch)]) -> Result<RecordBatch> {
    let Some((_, first)) = batches.first() else { return Err(Error::internal("no rows wait")) };
    let rows = concat_batches(first.schema_ref(), batches.iter().map(|(_, rows)| rows))?;
    let lengths: Vec<String> =
        batches.iter().map(|(before, rows)| format!("{}:{}", before.0, rows.num_rows())).collect();
    let mut metadata = first.schema_ref().metadata().clone();
    metadata.insert(BATCHES.to_owned(), lengths.join(","));
    Ok(rows.with_schema(Arc::new(first.schema_ref().as_ref().clone().with_metadata(metadata)))?)
}

/// The batches that were [`joined`], or the one that was not, which came after `before`.
pub(super) fn split(rows: &RecordBatch, before: Watermark) -> Result<Vec<(Watermark, EventBatch)>> {
    let Some(lengths) = rows.schema_ref().metadata().get(BATCHES) else { return Ok(vec![(before, restored(rows)?)]) };
    let (mut batches, mut start) = (vec![], 0);
    for length in lengths.split(',') {
        let numbers =
            length.split_once(':').and_then(|(before, rows)| Some((before.parse().ok()?, rows.parse().ok()?)));
        let (before, length) = numbers.ok_or_else(|| damaged("their watermarks"))?;
        if length > rows.num_rows() - start {
            return Err(damaged("their number"));
        }
        batches.push((Watermark(before), restored(&rows.slice(start, length))?));
        start += length;
    }
    Ok(batches)
}

fn row_kind(code: u8) -> Result<RowKind> {
    let kinds = [RowKind::Insert, RowKind::UpdateBefore, RowKind::UpdateAfter, RowKind::Delete];
    kinds.into_iter().find(|&kind| kind as u8 == code).ok_or_else(|| damaged("their kinds"))
}

fn damaged(what: &str) -> Error {
    Error::data(format!("rows that wait in the state do not fit: {what}"))
}

#[cfg(test)]
mod tests;
