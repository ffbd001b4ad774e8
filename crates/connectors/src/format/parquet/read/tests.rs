use std::io::Write;

use arrow::array::{AsArray, Int32Array, StringViewArray, StructArray};
use arrow::datatypes::{Field, Fields, Int32Type};
use tidemill_runtime::connector::Options;

use super::*;
use crate::format::FileWriter;
use crate::format::parquet::{ParquetOptions, ParquetWriter};

fn row(fields: &[(&str, DataType)]) -> SchemaRef {
    let fields: Fields = fields.iter().map(|(name, t)| Field::new(*name, t.clone(), true)).collect();
    Arc::new(Schema::new(vec![Field::new("r", DataType::Struct(fields), true)]))
}

/// A file with a column `r ROW<a INT, b STRING, c INT>`.
fn file() -> File {
    let schema = row(&[("a", DataType::Int32), ("b", DataType::Utf8View), ("c", DataType::Int32)]);
    let DataType::Struct(fields) = schema.field(0).data_type().clone() else { unreachable!() };
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![1, 2])),
        Arc::new(StringViewArray::from(vec!["x", "y"])),
        Arc::new(Int32Array::from(vec![None, Some(4)])),
    ];
    let rows = StructArray::new(fields, columns, None);
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(rows)]).unwrap();
    let options = ParquetOptions::from_options(&Options::default()).unwrap();
    let (mut writer, mut bytes) = (ParquetWriter::new(schema, &options).unwrap(), vec![]);
    writer.write(&batch, None, &mut bytes).unwrap();
    writer.finish(&mut bytes).unwrap();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    file
}

#[test]
fn of_a_row_the_wanted_fields_are_read() {
    let wanted = row(&[("c", DataType::Int32), ("a", DataType::Int32)]);
    let mut file = ParquetFile::open(file(), Arc::clone(&wanted)).unwrap();
    let leaves = (0..3).filter(|leaf| file.shared.mask.leaf_included(*leaf)).collect::<Vec<_>>();
    assert_eq!(leaves, [0, 2], "what is not wanted is not decoded");
    let decoded = Box::new(file.next_chunk().unwrap()).decode().unwrap();
    assert_eq!(decoded.rows.schema(), wanted);
    let rows = decoded.rows.column(0).as_struct();
    let values = |column: usize| rows.column(column).as_primitive::<Int32Type>().iter().collect::<Vec<_>>();
    assert_eq!((values(0), values(1)), (vec![None, Some(4)], vec![Some(1), Some(2)]));
}
