//! One batch as bytes: an Arrow IPC stream of its own.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, GenericListArray, OffsetSizeTrait, RecordBatch, RecordBatchOptions, StructArray,
};
use arrow::buffer::Buffer;
use arrow::compute::concat_batches;
use arrow::datatypes::DataType;
use arrow::ipc::reader::StreamDecoder;
use arrow::ipc::writer::StreamWriter;
use tidemill_core::{Error, Result};
use xxhash_rust::xxh3::xxh3_64;

/// The bytes of a batch, and their checksum.
pub(crate) fn encode(batch: &RecordBatch) -> Result<(Vec<u8>, u64)> {
    let columns = batch.columns().iter().map(without_slack).collect::<Result<_>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let batch = RecordBatch::try_new_with_options(batch.schema(), columns, &options)?;
    let mut writer = StreamWriter::try_new(vec![], batch.schema_ref())?;
    writer.write(&batch)?;
    let bytes = writer.into_inner()?;
    let checksum = xxh3_64(&bytes);
    Ok((bytes, checksum))
}

/// # Errors
/// `Data` if the bytes are not what was written.
pub(crate) fn check(bytes: &[u8], checksum: u64) -> Result<()> {
    match xxh3_64(bytes) == checksum {
        true => Ok(()),
        false => Err(Error::data("a part is damaged: its checksum does not fit")),
    }
}

/// The batch that was written as these bytes, which it keeps: nothing is copied.
///
/// # Errors
/// `Data` if they are not what was written.
pub(crate) fn decode(mut bytes: Buffer, checksum: u64) -> Result<RecordBatch> {
    check(&bytes, checksum)?;
    let batch = StreamDecoder::new().decode(&mut bytes)?;
    batch.ok_or_else(|| Error::data("a part holds no rows"))
}

/// One batch with the rows of all, which have the same columns.
pub(super) fn concat(batches: &[RecordBatch]) -> Result<Option<RecordBatch>> {
    let Some(first) = batches.first() else { return Ok(None) };
    if batches.iter().any(|batch| batch.schema_ref() != first.schema_ref()) {
        return Ok(None);
    }
    Ok(Some(concat_batches(first.schema_ref(), batches)?))
}

/// The same values without what is shared with others: views keep the whole buffers that they look into, and those would
/// be written with them.
fn without_slack(array: &ArrayRef) -> Result<ArrayRef> {
    Ok(match array.data_type() {
        DataType::Utf8View => Arc::new(array.as_string_view().gc()),
        DataType::BinaryView => Arc::new(array.as_binary_view().gc()),
        DataType::Struct(fields) if !fields.is_empty() => {
            let structs = array.as_struct();
            let columns = structs.columns().iter().map(without_slack).collect::<Result<_>>()?;
            Arc::new(StructArray::try_new(fields.clone(), columns, structs.nulls().cloned())?)
        }
        DataType::List(_) => list_without_slack(array.as_list::<i32>())?,
        DataType::LargeList(_) => list_without_slack(array.as_list::<i64>())?,
        _ => Arc::clone(array),
    })
}

fn list_without_slack<O: OffsetSizeTrait>(list: &GenericListArray<O>) -> Result<ArrayRef> {
    let (field, offsets, values, nulls) = list.clone().into_parts();
    Ok(Arc::new(GenericListArray::<O>::try_new(field, offsets, without_slack(&values)?, nulls)?))
}

#[cfg(test)]
mod tests {
    use arrow::array::{Int64Array, StringViewArray};

    use super::*;

    fn texts(rows: usize) -> RecordBatch {
        let text: StringViewArray =
            (0..rows).map(|row| Some(format!("a text of more than twelve bytes, {row}"))).collect();
        let numbers = Int64Array::from_iter_values(0..rows as i64);
        let nested = StructArray::try_from(vec![("s", Arc::new(text.clone()) as ArrayRef)]).unwrap();
        let columns: [(_, ArrayRef); 3] = [("t", Arc::new(text)), ("n", Arc::new(numbers)), ("r", Arc::new(nested))];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    #[test]
    fn what_is_written_is_read_and_damage_is_seen() {
        let batch = texts(10);
        let (mut bytes, checksum) = encode(&batch).unwrap();
        assert_eq!(decode(bytes.clone().into(), checksum).unwrap(), batch);
        bytes[100] ^= 1;
        assert_eq!(
            decode(bytes.clone().into(), checksum).unwrap_err().message(),
            "a part is damaged: its checksum does not fit"
        );
    }

    #[test]
    fn a_slice_is_not_written_with_all_that_it_was_cut_from() {
        let (whole, _) = encode(&texts(10_000)).unwrap();
        let (slice, checksum) = encode(&texts(10_000).slice(5000, 10)).unwrap();
        assert!(slice.len() * 100 < whole.len(), "{} of {} bytes", slice.len(), whole.len());
        assert_eq!(decode(slice.into(), checksum).unwrap(), texts(10_000).slice(5000, 10));
    }

    #[test]
    fn rows_without_columns_are_counted() {
        let options = RecordBatchOptions::new().with_row_count(Some(3));
        let batch =
            RecordBatch::try_new_with_options(Arc::new(arrow::datatypes::Schema::empty()), vec![], &options).unwrap();
        let (bytes, checksum) = encode(&batch).unwrap();
        assert_eq!(decode(bytes.clone().into(), checksum).unwrap().num_rows(), 3);
    }
}
