use std::collections::HashMap;

use arrow::array::{Array, AsArray, Date32Array, Int64Array, StringViewArray, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Date32Type, Field, Int64Type, Schema, TimeUnit, TimestampMillisecondType};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use super::*;

type Row = (Option<i64>, Option<String>, Option<i32>, i64);

fn columns(rows: &[Row]) -> Vec<ArrayRef> {
    vec![
        Arc::new(rows.iter().map(|row| row.0).collect::<Int64Array>()),
        Arc::new(rows.iter().map(|row| row.1.as_deref()).collect::<StringViewArray>()),
        Arc::new(rows.iter().map(|row| row.2).collect::<Date32Array>()),
        Arc::new(TimestampMillisecondArray::from_iter_values(rows.iter().map(|row| row.3)).with_timezone("UTC")),
    ]
}

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("a", DataType::Int64, true),
        Field::new("b", DataType::Utf8View, true),
        Field::new("c", DataType::Date32, true),
        Field::new("d", DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())), false),
    ]))
}

fn rows(columns: &[ArrayRef]) -> Vec<Row> {
    let numbers = columns[0].as_primitive::<Int64Type>();
    let texts = columns[1].as_string_view();
    let days = columns[2].as_primitive::<Date32Type>();
    let times = columns[3].as_primitive::<TimestampMillisecondType>();
    let texts = texts.iter().map(|text| text.map(str::to_owned));
    let rest = days.iter().zip(times.values());
    numbers.iter().zip(texts).zip(rest).map(|((a, b), (c, d))| (a, b, c, *d)).collect()
}

fn row() -> impl Strategy<Value = Row> {
    let text = prop_oneof!["", "[ab]{1,2}", "long enough to be kept elsewhere [ab]", "exactly12byt", "and 13 bytes."];
    (of(-2i64..3), of(text), of(-1i32..2), 0i64..2)
}

proptest! {
    /// Numbers are those of a map that is asked row by row, and the keys come back in their order; also behind NULLs
    /// with something under them, in slices, and again after they were taken.
    #[test]
    fn keys_are_numbered_as_they_come(batches in vec(vec(row(), 0..40), 1..4), skipped in 0usize..3, runs in 1..3) {
        let mut keys = Keys::new(&schema()).unwrap();
        prop_assert!(matches!(keys, Keys::Words(_)));
        for _ in 0..runs {
            let (mut known, mut order, mut numbers) = (HashMap::new(), vec![], vec![]);
            for batch in &batches {
                let skipped = skipped.min(batch.len());
                let all = columns(batch);
                let sliced: Vec<ArrayRef> = all.iter().map(|c| c.slice(skipped, batch.len() - skipped)).collect();
                keys.intern(&sliced, &mut numbers).unwrap();
                let expected: Vec<usize> = batch[skipped..].iter().map(|row| {
                    let next = known.len();
                    *known.entry(row.clone()).or_insert_with(|| { order.push(row.clone()); next })
                }).collect();
                prop_assert_eq!(&numbers, &expected);
                prop_assert_eq!(keys.len(), known.len());
            }
            let taken = keys.take().unwrap();
            prop_assert_eq!(keys.len(), 0);
            let types = schema();
            prop_assert!(taken.iter().zip(types.fields()).all(|(c, field)| c.data_type() == field.data_type()));
            prop_assert_eq!(rows(&taken), order);
        }
    }
}

#[test]
fn what_stands_under_a_null_is_nothing() {
    let nulls = arrow::buffer::NullBuffer::from(vec![false, false, true, true]);
    let numbers = Int64Array::new(vec![1, 2, 0, 0].into(), Some(nulls.clone()));
    let long = "a text that is longer than a view";
    let texts = StringViewArray::from(vec![long, "x", "", long]);
    let texts = StringViewArray::new(texts.views().clone(), texts.data_buffers().to_vec(), Some(nulls));
    let fields = vec![Field::new("a", DataType::Int64, true), Field::new("b", DataType::Utf8View, true)];
    let mut keys = Keys::new(&Arc::new(Schema::new(fields))).unwrap();
    let mut found = vec![];
    keys.intern(&[Arc::new(numbers), Arc::new(texts)], &mut found).unwrap();
    assert_eq!(found, [0, 0, 1, 2], "NULL, NULL is one key, apart from 0 and an empty text");
}

#[test]
fn many_keys_grow_the_table() {
    let fields = vec![Field::new("a", DataType::Int64, false)];
    let mut keys = Keys::new(&Arc::new(Schema::new(fields))).unwrap();
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values((0..100_000).map(|i| i * 4096)));
    let mut found = vec![];
    for _ in 0..2 {
        keys.intern(&[Arc::clone(&column)], &mut found).unwrap();
        assert!(found.iter().copied().eq(0..100_000));
    }
    assert_eq!(keys.take().unwrap()[0].as_primitive::<Int64Type>(), column.as_primitive::<Int64Type>());
}

#[test]
fn other_types_are_left_to_the_engine() {
    let fields = vec![Field::new("a", DataType::Float64, true), Field::new("b", DataType::Int64, true)];
    assert!(matches!(Keys::new(&Arc::new(Schema::new(fields))).unwrap(), Keys::Engine(..)));
}
