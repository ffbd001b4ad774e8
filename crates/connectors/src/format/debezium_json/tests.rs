use std::sync::Arc;

use arrow::array::{ArrayRef, Decimal128Array, Int64Array, StringViewArray, StructArray, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field};
use proptest::prelude::*;
use serde_json::{Value, json};
use tidemill_core::ErrorKind;

use super::*;

const KINDS: [RowKind; 4] = [RowKind::Insert, RowKind::UpdateBefore, RowKind::UpdateAfter, RowKind::Delete];

fn set(pairs: &[(&str, &str)]) -> Options {
    let mut options = Options::default();
    for (key, value) in pairs {
        options.set(*key, *value, None);
    }
    options
}

fn written(rows: &RecordBatch, kinds: Option<&[RowKind]>, pairs: &[(&str, &str)]) -> String {
    let encoder = DebeziumJsonEncoder::new(rows.schema(), options(&set(pairs)).unwrap()).unwrap();
    let mut out = vec![];
    encoder.encode(rows, kinds, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn ids(ids: &[Option<i64>]) -> RecordBatch {
    RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from(ids.to_vec())) as ArrayRef)]).unwrap()
}

#[test]
fn a_row_comes_or_goes() {
    let rows = ids(&[Some(1), Some(1), Some(2), None]);
    let expected = "{\"before\":null,\"after\":{\"id\":1},\"op\":\"c\"}\n\
                    {\"before\":{\"id\":1},\"after\":null,\"op\":\"d\"}\n\
                    {\"before\":null,\"after\":{\"id\":2},\"op\":\"c\"}\n\
                    {\"before\":{\"id\":null},\"after\":null,\"op\":\"d\"}\n";
    assert_eq!(written(&rows, Some(&KINDS), &[]), expected);
    let only_added = written(&ids(&[Some(7)]), None, &[]);
    assert_eq!(only_added, "{\"before\":null,\"after\":{\"id\":7},\"op\":\"c\"}\n");
}

#[test]
fn what_is_null_can_be_left_out() {
    let inner = StructArray::from(vec![
        (Arc::new(Field::new("x", DataType::Int64, true)), Arc::new(Int64Array::from(vec![None, Some(1)])) as ArrayRef),
        (Arc::new(Field::new("y", DataType::Int64, true)), Arc::new(Int64Array::from(vec![Some(2), None])) as ArrayRef),
    ]);
    let columns: [(_, ArrayRef); 2] = [("id", Arc::new(Int64Array::from(vec![None, Some(3)]))), ("r", Arc::new(inner))];
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let expected = "{\"before\":{\"r\":{\"y\":2}},\"op\":\"d\"}\n{\"after\":{\"id\":3,\"r\":{\"x\":1}},\"op\":\"c\"}\n";
    let kinds = [RowKind::Delete, RowKind::Insert];
    assert_eq!(written(&rows, Some(&kinds), &[(IGNORE_NULL_FIELDS, "true")]), expected);
}

#[test]
fn values_look_as_in_json() {
    let amount = Decimal128Array::from(vec![27]).with_precision_and_scale(10, 9).unwrap();
    let columns: [(_, ArrayRef); 3] = [
        ("a \"b\"", Arc::new(StringViewArray::from(vec!["é\n"]))),
        ("amount", Arc::new(amount)),
        ("at", Arc::new(TimestampMillisecondArray::from(vec![1_764_410_400_250]))),
    ];
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let expected = |at: &str| {
        format!(
            "{{\"before\":null,\"after\":{{\"a \\\"b\\\"\":\"é\\n\",\"amount\":0.000000027,\"at\":\"{at}\"}},\"op\":\"c\"}}\n"
        )
    };
    assert_eq!(written(&rows, None, &[]), expected("2025-11-29 10:00:00.250"));
    let set = [(TIMESTAMP_FORMAT, "ISO-8601"), (DECIMAL_AS_PLAIN_NUMBER, "true")];
    assert_eq!(written(&rows, None, &set), expected("2025-11-29T10:00:00.250"));
}

#[test]
fn what_is_not_supported_is_refused() {
    let error = options(&set(&[(DECIMAL_AS_PLAIN_NUMBER, "false")])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(error.message(), "'debezium-json.encode.decimal-as-plain-number' can't be 'false'");
    assert!(options(&set(&[(TIMESTAMP_FORMAT, "RFC")])).is_err());
    assert!(options(&set(&[(IGNORE_NULL_FIELDS, "maybe")])).is_err());
}

proptest! {
    /// A parser that shares no code with the encoder reads back which rows came and went.
    #[test]
    fn each_line_is_one_change(changes in prop::collection::vec((any::<Option<i64>>(), 0..4usize), 0..20)) {
        let (values, kinds): (Vec<_>, Vec<_>) = changes.iter().map(|(id, kind)| (*id, KINDS[*kind])).unzip();
        for skip in ["true", "false"] {
            let text = written(&ids(&values), Some(&kinds), &[(IGNORE_NULL_FIELDS, skip)]);
            prop_assert_eq!(text.lines().count(), changes.len());
            for (line, (id, kind)) in text.lines().zip(&changes) {
                let line: Value = serde_json::from_str(line).unwrap();
                let (held, empty, op) = if kind % 2 == 0 { ("after", "before", "c") } else { ("before", "after", "d") };
                prop_assert_eq!(&line["op"], op);
                prop_assert_eq!(&line[empty], &Value::Null);
                prop_assert_eq!(&line[held]["id"], &json!(id));
            }
        }
    }
}
