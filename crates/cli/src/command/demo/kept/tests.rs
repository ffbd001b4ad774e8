use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::Int64Type;

use super::*;

fn changes(rows: &[(RowKind, i64)]) -> EventBatch {
    let values: ArrayRef = Arc::new(rows.iter().map(|(_, value)| Some(*value)).collect::<Int64Array>());
    let rows_only = RecordBatch::try_from_iter([("n", values)]).unwrap();
    EventBatch { kinds: Some(rows.iter().map(|(kind, _)| *kind).collect()), ..EventBatch::append(rows_only) }
}

/// What is left of changes: kind and value, sorted.
fn left(batches: &[&[(RowKind, i64)]]) -> Vec<(RowKind, i64)> {
    let mut kept = Kept::new(changes(&[]).rows.schema()).unwrap();
    for batch in batches {
        kept.change(&changes(batch)).unwrap();
    }
    let captured = kept.captured().unwrap();
    let batch = &captured.rows[0];
    let values = batch.rows.column(0).as_primitive::<Int64Type>().values().iter().copied();
    let mut left: Vec<_> = batch.kinds.as_ref().unwrap().iter().copied().zip(values).collect();
    left.sort();
    left
}

#[test]
fn changes_add_up() {
    use RowKind::{Delete, Insert, UpdateAfter, UpdateBefore};
    let updates: [&[_]; 3] = [&[(Insert, 1)], &[(UpdateBefore, 1), (UpdateAfter, 2)], &[(Insert, 2)]];
    assert_eq!(left(&updates), [(Insert, 2), (Insert, 2)]);
    assert_eq!(left(&[&[(UpdateAfter, 5), (UpdateBefore, 5)]]), []);
    assert_eq!(left(&[&[(Delete, 9)]]), [(Delete, 9)], "what was never given can't be taken back unseen");
}
