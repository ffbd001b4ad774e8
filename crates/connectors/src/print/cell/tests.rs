use std::sync::Arc;

use arrow::array::{
    BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array, Int32Builder,
    Int64Array, ListArray, MapBuilder, NullArray, StringArray, StringBuilder, StructArray, Time32MillisecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, UInt64Array,
};
use arrow::datatypes::{Field, Fields, Int32Type, IntervalUnit};

use super::*;

fn texts(array: &dyn Array) -> Vec<String> {
    assert!(printable(array.data_type()), "{}", array.data_type());
    (0..array.len())
        .map(|row| {
            let mut out = String::new();
            write_cell(&mut out, array, row).unwrap();
            out
        })
        .collect()
}

/// 2026-11-29T10:00:00 in milliseconds.
const TEN: i64 = 1_795_946_400_000;

#[test]
fn simple_values_are_java_strings() {
    assert_eq!(texts(&Int8Array::from(vec![Some(-7), None])), ["-7", "null"]);
    assert_eq!(texts(&Int64Array::from(vec![i64::MIN])), ["-9223372036854775808"]);
    assert_eq!(texts(&UInt64Array::from(vec![u64::MAX])), ["18446744073709551615"]);
    assert_eq!(texts(&BooleanArray::from(vec![true, false])), ["true", "false"]);
    assert_eq!(texts(&StringArray::from(vec!["a, \"b\"", ""])), ["a, \"b\"", ""]);
    assert_eq!(texts(&BinaryArray::from(vec![&[1u8, 255][..], &[]])), ["[1, -1]", "[]"]);
    assert_eq!(texts(&NullArray::new(1)), ["null"]);
}

#[test]
fn floats_turn_to_the_exponent_where_java_does() {
    let values = [0.0, -0.0, 1.0, 0.001, 0.000_999, 9_999_999.0, 1e7, -1.25e10, 1e-5, f64::NAN, f64::NEG_INFINITY];
    let expected =
        ["0.0", "-0.0", "1.0", "0.001", "9.99E-4", "9999999.0", "1.0E7", "-1.25E10", "1.0E-5", "NaN", "-Infinity"];
    assert_eq!(texts(&Float64Array::from(values.to_vec())), expected);
    assert_eq!(texts(&Float32Array::from(vec![0.1f32, 0.001, 1e7])), ["0.1", "0.001", "1.0E7"]);
}

#[test]
fn decimals_are_written_as_big_decimals() {
    let decimals =
        |values: Vec<i128>, scale| texts(&Decimal128Array::from(values).with_precision_and_scale(38, scale).unwrap());
    assert_eq!(decimals(vec![150, -5, 0], 2), ["1.50", "-0.05", "0.00"]);
    assert_eq!(decimals(vec![1, -123, 10], 7), ["1E-7", "-0.0000123", "0.0000010"]);
    assert_eq!(decimals(vec![-123, 0], 10), ["-1.23E-8", "0E-10"]);
    assert_eq!(decimals(vec![42], 0), ["42"]);
}

#[test]
fn times_are_java_time() {
    let timestamps = TimestampMillisecondArray::from(vec![TEN, TEN + 5_000, TEN + 120, -1, i64::MAX]);
    assert_eq!(
        texts(&timestamps),
        [
            "2026-11-29T10:00",
            "2026-11-29T10:00:05",
            "2026-11-29T10:00:00.120",
            "1969-12-31T23:59:59.999",
            "9223372036854775807"
        ]
    );
    let instants = TimestampMillisecondArray::from(vec![TEN, TEN + 120]).with_timezone("UTC");
    assert_eq!(texts(&instants), ["2026-11-29T10:00:00Z", "2026-11-29T10:00:00.120Z"]);
    let nanos = TimestampNanosecondArray::from(vec![TEN * 1_000_000 + 1_000, TEN * 1_000_000 + 1]);
    assert_eq!(texts(&nanos), ["2026-11-29T10:00:00.000001", "2026-11-29T10:00:00.000000001"]);
    assert_eq!(texts(&Date32Array::from(vec![0, -1])), ["1970-01-01", "1969-12-31"]);
    assert_eq!(texts(&Time32MillisecondArray::from(vec![0, 61_001])), ["00:00", "00:01:01.001"]);
}

#[test]
fn nested_values_are_java_collections() {
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), None]), Some(vec![]), None]);
    assert_eq!(texts(&list), ["[1, null]", "[]", "null"]);
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    map.keys().append_value("a");
    map.values().append_value(1);
    map.keys().append_value("b");
    map.values().append_null();
    map.append(true).unwrap();
    assert_eq!(texts(&map.finish()), ["{a=1, b=null}"]);
    let fields: Fields = vec![Field::new("id", DataType::Int64, true), Field::new("name", DataType::Utf8, true)].into();
    let columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(vec![1])), Arc::new(StringArray::from(vec!["Ada"]))];
    assert_eq!(texts(&StructArray::new(fields, columns, None)), ["+I[1, Ada]"]);
}

#[test]
fn a_type_without_a_text_is_known_before() {
    assert!(!printable(&DataType::Interval(IntervalUnit::DayTime)));
    let list = DataType::List(Arc::new(Field::new("item", DataType::Interval(IntervalUnit::DayTime), true)));
    assert!(!printable(&list));
}
