//! What is written is read by DuckDB.

use arrow::array::{
    ArrayRef, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int8Array, Int32Array,
    Int64Array, ListArray, MapArray, StringViewArray, StructArray, Time32MillisecondArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Fields, Int64Type, Schema};
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use tidemill_core::ErrorKind;
use tidemill_tests::duckdb::duckdb;

use super::*;

const PLAIN: ParquetOptions = ParquetOptions { compression: Compression::SNAPPY };

fn written(rows: &[RecordBatch], options: &ParquetOptions) -> tempfile::NamedTempFile {
    let mut writer = ParquetWriter::new(rows[0].schema(), options).unwrap();
    let mut bytes = vec![];
    for rows in rows {
        writer.write(rows, None, &mut bytes).unwrap();
    }
    writer.finish(&mut bytes).unwrap();
    let file = tempfile::Builder::new().suffix(".parquet").tempfile().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    file
}

fn ask(file: &tempfile::NamedTempFile, query: &str) -> Vec<String> {
    let from = format!("read_parquet('{}')", file.path().display());
    duckdb(&query.replace("$file", &from)).iter().map(ToString::to_string).collect()
}

/// A column, its type in DuckDB, and its two values there as text.
fn columns() -> Vec<(ArrayRef, &'static str, [&'static str; 2])> {
    let decimal = |precision, scale, value| {
        let values = Decimal128Array::from(vec![Some(value), None]);
        Arc::new(values.with_precision_and_scale(precision, scale).unwrap()) as ArrayRef
    };
    let big = 99_999_999_999_999_999_999_999_999_999_999_999_999i128;
    let element = Arc::new(Field::new("item", DataType::Int64, true));
    let list = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1), None]), None]);
    let (_, offsets, values, nulls) = list.into_parts();
    let list = ListArray::new(element, offsets, values, nulls);
    let fields = Fields::from(vec![Field::new("x", DataType::Int32, true), Field::new("y", DataType::Utf8View, true)]);
    let row = StructArray::new(
        fields,
        vec![Arc::new(Int32Array::from(vec![Some(1), None])), Arc::new(StringViewArray::from(vec!["é", "z"]))],
        None,
    );
    let entries =
        Fields::from(vec![Field::new("keys", DataType::Utf8View, false), Field::new("values", DataType::Int32, true)]);
    let map = MapArray::new(
        Arc::new(Field::new("entries", DataType::Struct(entries.clone()), false)),
        OffsetBuffer::new(vec![0, 2, 2].into()),
        StructArray::new(
            entries,
            vec![Arc::new(StringViewArray::from(vec!["a", "b"])), Arc::new(Int32Array::from(vec![Some(1), None]))],
            None,
        ),
        None,
        false,
    );
    vec![
        (Arc::new(BooleanArray::from(vec![Some(true), None])), "BOOLEAN", ["true", "NULL"]),
        (Arc::new(Int8Array::from(vec![Some(-128), None])), "TINYINT", ["-128", "NULL"]),
        (Arc::new(Int32Array::from(vec![Some(i32::MIN), None])), "INTEGER", ["-2147483648", "NULL"]),
        (Arc::new(Int64Array::from(vec![Some(i64::MAX), None])), "BIGINT", ["9223372036854775807", "NULL"]),
        (Arc::new(Float64Array::from(vec![Some(0.1), None])), "DOUBLE", ["0.1", "NULL"]),
        (decimal(7, 2, -12_345), "DECIMAL(7,2)", ["-123.45", "NULL"]),
        (decimal(18, 0, 5), "DECIMAL(18,0)", ["5", "NULL"]),
        (decimal(38, 38, big), "DECIMAL(38,38)", [".99999999999999999999999999999999999999", "NULL"]),
        (
            Arc::new(StringViewArray::from(vec![Some("longer than twelve bytes"), None])),
            "VARCHAR",
            ["longer than twelve bytes", "NULL"],
        ),
        (Arc::new(BinaryViewArray::from(vec![Some(&b"\x01a"[..]), None])), "BLOB", ["\\x01a", "NULL"]),
        (Arc::new(Date32Array::from(vec![Some(-1), None])), "DATE", ["1969-12-31", "NULL"]),
        (Arc::new(Time32MillisecondArray::from(vec![Some(1), None])), "TIME", ["00:00:00.001", "NULL"]),
        (
            Arc::new(TimestampMillisecondArray::from(vec![Some(-1), None])),
            "TIMESTAMP",
            ["1969-12-31 23:59:59.999", "NULL"],
        ),
        (
            Arc::new(TimestampMicrosecondArray::from(vec![Some(1), None])),
            "TIMESTAMP",
            ["1970-01-01 00:00:00.000001", "NULL"],
        ),
        (
            Arc::new(TimestampNanosecondArray::from(vec![Some(1), None])),
            "TIMESTAMP_NS",
            ["1970-01-01 00:00:00.000000001", "NULL"],
        ),
        (
            Arc::new(TimestampMillisecondArray::from(vec![Some(1), None]).with_timezone("UTC")),
            "TIMESTAMP WITH TIME ZONE",
            ["1970-01-01 00:00:00.001+00", "NULL"],
        ),
        (Arc::new(list), "BIGINT[]", ["[1, NULL]", "NULL"]),
        (Arc::new(row), "STRUCT(x INTEGER, y VARCHAR)", ["{'x': 1, 'y': é}", "{'x': NULL, 'y': z}"]),
        (Arc::new(map), "MAP(VARCHAR, INTEGER)", ["{a=1, b=NULL}", "{}"]),
    ]
}

#[test]
fn every_type_is_what_it_is_to_others() {
    let columns = columns();
    let named = columns.iter().enumerate().map(|(n, (array, ..))| (format!("c{n:02}"), Arc::clone(array), true));
    let file = written(&[RecordBatch::try_from_iter_with_nullable(named).unwrap()], &PLAIN);
    let types = ask(&file, "SELECT column_type AS t FROM (DESCRIBE SELECT * FROM $file)");
    let expected: Vec<String> = columns.iter().map(|(_, t, _)| format!(r#"{{"t":"{t}"}}"#)).collect();
    assert_eq!(types, expected);
    let texts =
        (0..columns.len()).map(|n| format!("coalesce(c{n:02}::VARCHAR, 'NULL')")).collect::<Vec<_>>().join(", ");
    let rows = duckdb(&format!("SELECT [{texts}] AS row FROM read_parquet('{}')", file.path().display()));
    for (number, row) in rows.iter().enumerate() {
        let expected: Vec<&str> = columns.iter().map(|(_, _, values)| values[number]).collect();
        let found: Vec<&str> = row["row"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn names_inside_of_lists_and_maps_are_the_standard_ones() {
    let (array, ..) = columns().swap_remove(16);
    let file = written(&[RecordBatch::try_from_iter_with_nullable([("a", array, true)]).unwrap()], &PLAIN);
    let schema = format!("SELECT list(name) AS names FROM parquet_schema('{}')", file.path().display());
    assert_eq!(duckdb(&schema)[0]["names"].to_string(), r#"["arrow_schema","a","list","element"]"#);
}

#[test]
fn each_compression_is_read() {
    let rows =
        RecordBatch::try_from_iter([("a", Arc::new(Int64Array::from_iter_values(0..10_000)) as ArrayRef)]).unwrap();
    for (compression, name) in [
        (Compression::SNAPPY, "SNAPPY"),
        (Compression::ZSTD(ZstdLevel::default()), "ZSTD"),
        (Compression::GZIP(GzipLevel::default()), "GZIP"),
        (Compression::UNCOMPRESSED, "UNCOMPRESSED"),
    ] {
        let file = written(std::slice::from_ref(&rows), &ParquetOptions { compression });
        assert_eq!(ask(&file, "SELECT sum(a)::BIGINT AS s FROM $file"), [r#"{"s":49995000}"#]);
        let codec = format!("SELECT DISTINCT compression AS c FROM parquet_metadata('{}')", file.path().display());
        assert_eq!(duckdb(&codec)[0]["c"], name);
    }
}

#[test]
fn rows_that_are_released_are_a_row_group_of_their_own() {
    let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, false)]));
    let rows = |from: i64| {
        let column = Int64Array::from_iter_values(from..from + 10);
        RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(column)]).unwrap()
    };
    let mut writer = ParquetWriter::new(Arc::clone(&schema), &PLAIN).unwrap();
    let mut bytes = vec![];
    for from in [0, 10, 20] {
        writer.write(&rows(from), None, &mut bytes).unwrap();
        let before = bytes.len();
        assert!(writer.held_bytes() > 0);
        writer.release(&mut bytes).unwrap();
        assert!(bytes.len() > before && writer.held_bytes() == 0);
    }
    writer.finish(&mut bytes).unwrap();
    let file = tempfile::Builder::new().suffix(".parquet").tempfile().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    assert_eq!(ask(&file, "SELECT list(a ORDER BY a) = range(30) AS same FROM $file"), [r#"{"same":true}"#]);
    let groups = format!("SELECT num_row_groups AS n FROM parquet_file_metadata('{}')", file.path().display());
    assert_eq!(duckdb(&groups)[0]["n"].to_string(), "3");
}

#[test]
fn memory_is_what_columns_allocate_until_a_file_has_many_row_groups() {
    let column = Arc::new(Int64Array::from(vec![1])) as ArrayRef;
    let rows = RecordBatch::try_from_iter([("a", column)]).unwrap();
    let mut writer = ParquetWriter::new(rows.schema(), &PLAIN).unwrap();
    let mut bytes = vec![];
    for _ in 0..EARLY_ROW_GROUPS {
        writer.write(&rows, None, &mut bytes).unwrap();
        assert!(writer.memory_bytes() > 10_000 && writer.held_bytes() < 1000, "the table of a dictionary is larger");
        writer.release(&mut bytes).unwrap();
        assert_eq!(writer.memory_bytes(), 0);
    }
    writer.write(&rows, None, &mut bytes).unwrap();
    assert_eq!(writer.memory_bytes(), writer.held_bytes());
}

#[test]
fn null_in_a_column_that_has_none_is_an_error_that_names_it() {
    let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, false)]));
    let mut writer = ParquetWriter::new(schema, &PLAIN).unwrap();
    let column = Arc::new(Int64Array::from(vec![None])) as ArrayRef;
    let rows = RecordBatch::try_from_iter_with_nullable([("a", column, true)]).unwrap();
    let error = writer.write(&rows, None, &mut vec![]).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Data, "the column 'a' is NOT NULL, and a row has NULL there")
    );
}
