//! What a person sees of rows.

use arrow::array::{ArrayRef, Float64Array, Int64Array, StringViewArray};

use super::*;

fn sink(schema: SchemaRef) -> TableSink {
    TableSink { schema, held: vec![], layout: None, rows: 0 }
}

fn shown(rows: &RecordBatch) -> String {
    let (mut sink, mut out) = (sink(rows.schema()), String::new());
    sink.take(rows, &mut out).unwrap();
    out + &sink.end()
}

#[test]
fn numbers_stand_on_the_right_and_text_on_the_left() {
    let columns: [(&str, ArrayRef); 3] = [
        ("kind", Arc::new(StringViewArray::from(vec![Some("a"), None, Some("全角\n")]))),
        ("n", Arc::new(Int64Array::from(vec![1, 22, 333]))),
        ("share", Arc::new(Float64Array::from(vec![Some(0.5), None, Some(12.0)]))),
    ];
    let table = shown(&RecordBatch::try_from_iter(columns).unwrap());
    let expected = "\
kind      n  share
------  ---  -----
a         1    0.5
NULL     22   NULL
全角\\n  333   12.0
(3 rows)
";
    assert_eq!(table, expected);
}

#[test]
fn a_result_without_rows_shows_its_columns() {
    let none: ArrayRef = Arc::new(Int64Array::from(Vec::<i64>::new()));
    assert_eq!(shown(&RecordBatch::try_from_iter([("id", none)]).unwrap()), "id\n--\n(0 rows)\n");
}

#[test]
fn no_more_rows_are_held_than_are_measured() {
    let rows = |from: i64, count: i64| {
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(from..from + count));
        RecordBatch::try_from_iter([("id", ids)]).unwrap()
    };
    let (mut sink, mut out) = (sink(rows(0, 0).schema()), String::new());
    sink.take(&rows(0, MEASURED_ROWS as i64 - 1), &mut out).unwrap();
    assert_eq!(out, "");
    sink.take(&rows(MEASURED_ROWS as i64 - 1, 2), &mut out).unwrap();
    assert_eq!(out.lines().count(), 2 + MEASURED_ROWS + 1);
    // A cell that is wider than those that were measured is shown whole.
    sink.take(&rows(100_000, 1), &mut out).unwrap();
    assert!(out.ends_with("100000\n"), "{out}");
    assert_eq!(sink.end(), "(1002 rows)\n");
}
