//! What is encoded reads back, and looks as promised.

use arrow::array::{ArrayRef, Decimal128Array, Float32Array, Float64Array, Int64Array, TimestampMillisecondArray};
use proptest::prelude::*;
use tidemill_core::RowKind;

use super::super::TimestampFormat;
use super::*;

#[test]
fn fields_that_are_null_can_be_left_out() {
    let columns: [(_, ArrayRef); 2] = [
        ("a", Arc::new(Int64Array::from(vec![None, Some(2), None]))),
        ("b", Arc::new(Int64Array::from(vec![Some(1), None, None]))),
    ];
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let options = JsonOptions { ignore_null_fields: true, ..JsonOptions::default() };
    let encoder = JsonEncoder::new(rows.schema(), options).unwrap();
    let (mut out, kinds) = (vec![], [RowKind::Insert, RowKind::Delete, RowKind::Insert]);
    encoder.encode(&rows, None, &mut out).unwrap();
    encoder.encode(&rows, Some(&kinds), &mut out).unwrap();
    let expected = "{\"b\":1}\n{\"a\":2}\n{}\n\
                    {\"op\":\"+I\",\"b\":1}\n{\"op\":\"-D\",\"a\":2}\n{\"op\":\"+I\"}\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn kinds_come_first_as_op() {
    let ts = TimestampMillisecondArray::from(vec![1_795_946_400_000, -1]).with_timezone("UTC");
    let money = Decimal128Array::from(vec![Some(1250), None]).with_precision_and_scale(10, 2).unwrap();
    let schema = schema(&[("ts", zoned(TimeUnit::Millisecond)), ("money", DataType::Decimal128(10, 2))]);
    let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(ts), Arc::new(money)]).unwrap();
    let options = JsonOptions { timestamp_format: TimestampFormat::Iso8601, ..JsonOptions::default() };
    let encoder = JsonEncoder::new(schema, options).unwrap();
    let mut out = Vec::new();
    encoder.encode(&batch, Some(&[RowKind::Insert, RowKind::UpdateBefore]), &mut out).unwrap();
    let expected = "{\"op\":\"+I\",\"ts\":\"2026-11-29T10:00:00.000Z\",\"money\":12.50}\n\
                    {\"op\":\"-U\",\"ts\":\"1969-12-31T23:59:59.999Z\",\"money\":null}\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    assert!(encoder.encode(&batch, Some(&[RowKind::Insert]), &mut Vec::new()).is_err());
}

#[test]
fn no_columns_make_empty_objects() {
    assert_eq!(through(&[], "{\"a\":1}\n{}\n"), "{}\n{}\n");
}

proptest! {
    #[test]
    fn numbers_and_strings_survive(
        doubles in prop::collection::vec(any::<f64>(), 8),
        floats in prop::collection::vec(any::<f32>(), 8),
        integers in prop::collection::vec(any::<i64>(), 8),
        decimals in prop::collection::vec(-10i128.pow(38) + 1..10i128.pow(38), 8),
        millis in prop::collection::vec(-62_135_596_800_000i64..253_402_300_800_000, 8),
        texts in prop::collection::vec(any::<String>(), 8),
        name in any::<String>(),
    ) {
        let columns = schema(&[
            (&format!("{name}1"), DataType::Float64),
            (&format!("{name}2"), DataType::Float32),
            (&format!("{name}3"), DataType::Int64),
            (&format!("{name}4"), DataType::Decimal128(38, 11)),
            (&format!("{name}5"), MILLISECONDS),
            (&format!("{name}6"), DataType::Utf8View),
        ]);
        let decimals = Decimal128Array::from(decimals).with_precision_and_scale(38, 11).unwrap();
        let texts: arrow::array::StringViewArray = texts.iter().map(Some).collect();
        let batch = RecordBatch::try_new(columns.clone(), vec![
            Arc::new(Float64Array::from(doubles)),
            Arc::new(Float32Array::from(floats)),
            Arc::new(Int64Array::from(integers)),
            Arc::new(decimals),
            Arc::new(TimestampMillisecondArray::from(millis)),
            Arc::new(texts),
        ]).unwrap();
        let text = encoded(&batch, JsonOptions::default());
        for line in text.lines() {
            prop_assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
        }
        let read = decode(&columns, JsonOptions::default(), text.as_bytes()).unwrap().rows;
        // Text, since a NaN is not equal to itself.
        prop_assert_eq!(encoded(&read, JsonOptions::default()), text);
        prop_assert_eq!(&read.columns()[2..], &batch.columns()[2..]);
    }
}
