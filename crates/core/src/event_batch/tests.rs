//! Sidecars keep step with their rows.

use super::*;
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use arrow::datatypes::{DataType, Field, Schema};

fn batch() -> EventBatch {
    let schema = Arc::new(Schema::new(vec![Field::new("v", DataType::Int64, false)]));
    let rows = RecordBatch::try_new(schema, vec![Arc::new(Int64Array::from(vec![10, 11, 12, 13]))]).unwrap();
    EventBatch {
        kinds: Some(Arc::from([RowKind::Insert, RowKind::UpdateBefore, RowKind::UpdateAfter, RowKind::Delete])),
        watermarks: Some(Int64Array::from(vec![0, 1, 2, 3])),
        lineage: Some(Lineage {
            source: Arc::new(SourceRows {
                rows: rows.clone(),
                partition: Arc::from("f"),
                offsets: Int64Array::from(vec![100, 101, 102, 103]),
            }),
            indices: None,
        }),
        ..EventBatch::append(rows)
    }
}

fn values(batch: &RecordBatch) -> Vec<i64> {
    batch.column(0).as_primitive::<Int64Type>().values().to_vec()
}

#[test]
fn filter_then_take_moves_every_sidecar() {
    let mask = BooleanArray::from(vec![Some(true), None, Some(false), Some(true)]);
    let filtered = batch().filter(&mask).unwrap();
    let taken = filtered.take(&UInt32Array::from(vec![1, 0, 1])).unwrap();
    assert_eq!(values(&taken.rows), [13, 10, 13]);
    assert_eq!(&*taken.kinds.clone().unwrap(), [RowKind::Delete, RowKind::Insert, RowKind::Delete]);
    assert_eq!(taken.watermarks.clone().unwrap().values().to_vec(), [3, 0, 3]);
    let lineage = taken.lineage.unwrap();
    assert_eq!(lineage.offsets().unwrap().values().to_vec(), [103, 100, 103]);
    assert_eq!(values(&lineage.source_rows().unwrap()), [13, 10, 13]);
}

#[test]
fn a_mask_that_keeps_all_changes_nothing() {
    let kept = batch().filter(&BooleanArray::from(vec![true; 4])).unwrap();
    assert_eq!(values(&kept.rows), [10, 11, 12, 13]);
    assert!(kept.lineage.unwrap().indices.is_none());
}
