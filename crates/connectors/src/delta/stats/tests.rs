use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int8Array, Int64Array, ListArray, RecordBatch,
    StringViewArray, TimestampMicrosecondArray,
};
use arrow::datatypes::Int32Type;
use proptest::prelude::*;

use super::*;
use crate::format::FileWriter;
use crate::format::parquet::{ParquetOptions, ParquetWriter};

/// What is told of a file whose row groups have these columns.
fn told(groups: &[Vec<(&str, ArrayRef)>]) -> Value {
    let batches: Vec<RecordBatch> = groups
        .iter()
        .map(|columns| {
            RecordBatch::try_from_iter_with_nullable(columns.iter().cloned().map(|(n, c)| (n, c, true))).unwrap()
        })
        .collect();
    let schema = batches[0].schema();
    let options = ParquetOptions { compression: parquet::basic::Compression::SNAPPY };
    let mut writer = ParquetWriter::new(Arc::clone(&schema), &options).unwrap();
    let mut bytes = vec![];
    for batch in &batches {
        writer.write(batch, None, &mut bytes).unwrap();
        writer.release(&mut bytes).unwrap();
    }
    let metadata = writer.finish_file(&mut bytes).unwrap();
    serde_json::from_str(&of_file(&schema, &metadata)).unwrap()
}

#[test]
fn bounds_are_those_of_all_row_groups() {
    let group = |numbers: Vec<Option<i64>>, texts: Vec<Option<&str>>| -> Vec<(&str, ArrayRef)> {
        vec![("n", Arc::new(Int64Array::from(numbers))), ("s", Arc::new(StringViewArray::from(texts)))]
    };
    let told = told(&[
        group(vec![Some(3), None], vec![None, None]),
        group(vec![Some(-7), Some(2)], vec![Some("b"), Some("ü")]),
        group(vec![None], vec![Some("a")]),
    ]);
    let expected = json!({
        "numRecords": 5,
        "minValues": { "n": -7, "s": "a" },
        "maxValues": { "n": 3, "s": "ü" },
        "nullCount": { "n": 2, "s": 2 },
    });
    assert_eq!(told, expected);
}

#[test]
fn every_type_has_the_form_of_the_protocol() {
    let decimal = |precision, digits: i128| -> ArrayRef {
        Arc::new(Decimal128Array::from(vec![digits]).with_precision_and_scale(precision, 2).unwrap())
    };
    let micros = TimestampMicrosecondArray::from(vec![1_772_355_909_000_070]);
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
    let told = told(&[vec![
        ("tiny", Arc::new(Int8Array::from(vec![-1])) as ArrayRef),
        ("flag", Arc::new(BooleanArray::from(vec![true]))),
        ("double", Arc::new(Float64Array::from(vec![f64::NAN]))),
        ("day", Arc::new(Date32Array::from(vec![20_513]))),
        ("local", Arc::new(micros.clone())),
        ("instant", Arc::new(micros.with_timezone("UTC"))),
        ("small", decimal(9, -5)),
        ("middle", decimal(18, 12_345)),
        ("large", decimal(38, -99_999_999_999_999_999_999_999_999_999_999_999_999)),
        ("list", Arc::new(list)),
        ("far", Arc::new(TimestampMicrosecondArray::from(vec![i64::MAX]))),
    ]]);
    let least = serde_json::to_string(&told["minValues"]).unwrap();
    let expected = concat!(
        r#"{"tiny":-1,"day":"2026-03-01","local":"2026-03-01T09:05:09.000070","instant":"2026-03-01T09:05:09.000070Z","#,
        r#""small":-0.05,"middle":123.45,"large":-999999999999999999999999999999999999.99}"#
    );
    assert_eq!(least, expected);
    assert_eq!(told["minValues"], told["maxValues"]);
    let counted: Vec<&String> = told["nullCount"].as_object().unwrap().keys().collect();
    assert_eq!(counted, ["tiny", "flag", "double", "day", "local", "instant", "small", "middle", "large", "far"]);
}

#[test]
fn of_many_columns_the_first_are_told() {
    let names: Vec<String> = (0..40).map(|number| format!("c{number}")).collect();
    let columns = names.iter().map(|name| (name.as_str(), Arc::new(Int8Array::from(vec![1])) as ArrayRef)).collect();
    assert_eq!(told(&[columns])["maxValues"].as_object().unwrap().len(), COLUMNS_MAX);
}

proptest! {
    /// No value is outside of the bounds, however long the texts are.
    #[test]
    fn all_texts_lie_within_the_bounds(texts in prop::collection::vec("\\PC{0,40}|[aü\u{10ffff}]{60,70}", 1..20)) {
        let told = told(&[vec![("s", Arc::new(StringViewArray::from_iter_values(&texts)) as ArrayRef)]]);
        for text in &texts {
            if let Some(least) = told["minValues"]["s"].as_str() {
                prop_assert!(least <= text.as_str());
            }
            if let Some(greatest) = told["maxValues"]["s"].as_str() {
                prop_assert!(greatest >= text.as_str());
            }
        }
    }
}
