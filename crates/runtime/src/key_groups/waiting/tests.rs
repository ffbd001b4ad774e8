use arrow::array::{Array, Int64Array, StringViewArray};
use arrow::compute::concat_batches;
use arrow::datatypes::DataType;

use super::*;

fn rows() -> RecordBatch {
    let columns: [(_, ArrayRef); 2] = [
        ("kind", Arc::new(Int64Array::from(vec![1, 2, 3]))),
        ("text", Arc::new(StringViewArray::from(vec![Some("a text that is no view by itself"), None, Some("")]))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
}

fn lineage() -> Lineage {
    let source = SourceRows {
        rows: concat_batches(&rows().schema(), [&rows(), &rows()]).unwrap(),
        partition: "a/b.jsonl".into(),
        offsets: Int64Array::from_iter_values(10..16),
    };
    Lineage { source: Arc::new(source), indices: Some(vec![5, 0, 3].into()) }
}

#[test]
fn rows_come_back_with_what_is_known_of_them() {
    let batch = EventBatch {
        kinds: Some([RowKind::Delete, RowKind::UpdateBefore, RowKind::Insert].into()),
        watermarks: Some(Int64Array::from(vec![7, i64::MIN, 9])),
        lineage: Some(lineage()),
        ..EventBatch::append(rows())
    };
    let restored = restored(&saved(&batch, true).unwrap()).unwrap();
    assert_eq!(restored.rows, batch.rows);
    assert_eq!(restored.kinds, batch.kinds);
    assert_eq!(restored.watermarks, batch.watermarks);
    let (now, before) = (restored.lineage.unwrap(), batch.lineage.unwrap());
    assert_eq!(&*now.source.partition, "a/b.jsonl");
    assert_eq!(now.offsets().unwrap(), before.offsets().unwrap());
    assert_eq!(now.source_rows().unwrap(), before.source_rows().unwrap());
}

#[test]
fn what_is_not_known_stays_unknown() {
    let bare = restored(&saved(&EventBatch::append(rows()), true).unwrap()).unwrap();
    assert_eq!(bare.rows, rows());
    assert!(bare.kinds.is_none() && bare.watermarks.is_none() && bare.lineage.is_none());
    let batch = EventBatch { lineage: Some(lineage()), ..EventBatch::append(rows()) };
    let without_source = restored(&saved(&batch, false).unwrap()).unwrap().lineage.unwrap();
    assert_eq!(without_source.offsets().unwrap(), lineage().offsets().unwrap());
    assert_eq!(without_source.source.rows.num_columns(), 0);
}

#[test]
fn rows_without_columns_are_counted() {
    let options = RecordBatchOptions::new().with_row_count(Some(4));
    let empty = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options).unwrap();
    assert_eq!(restored(&saved(&EventBatch::append(empty), false).unwrap()).unwrap().num_rows(), 4);
}

#[test]
fn batches_that_are_joined_come_back_one_by_one() {
    let of = |partition: &str, watermark: i64| {
        let source = SourceRows { partition: partition.into(), ..Arc::into_inner(lineage().source).unwrap() };
        EventBatch {
            watermarks: Some(Int64Array::from(vec![watermark; 3])),
            lineage: Some(Lineage { source: Arc::new(source), ..lineage() }),
            ..EventBatch::append(rows())
        }
    };
    let batches = [(Watermark(5), of("a", 1)), (Watermark(5), of("b", 2)), (Watermark(i64::MAX), of("a", 3))];
    let alone: Vec<_> = batches.iter().map(|(before, batch)| (*before, saved(batch, true).unwrap())).collect();
    let back = split(&joined(&alone).unwrap(), Watermark(0)).unwrap();
    assert_eq!(back.len(), 3);
    for ((before, batch), (wanted_before, wanted)) in back.iter().zip(&batches) {
        assert_eq!((before, &batch.rows, &batch.watermarks), (wanted_before, &wanted.rows, &wanted.watermarks));
        let (now, then) = (batch.lineage.as_ref().unwrap(), wanted.lineage.as_ref().unwrap());
        assert_eq!(now.source.partition, then.source.partition);
        assert_eq!(now.offsets().unwrap(), then.offsets().unwrap());
        assert_eq!(now.source_rows().unwrap(), then.source_rows().unwrap());
    }
    // One that was written alone.
    let back = split(&alone[1].1, Watermark(7)).unwrap();
    assert_eq!((back.len(), back[0].0, &back[0].1.rows), (1, Watermark(7), &rows()));
}

#[test]
fn other_batches_are_refused() {
    for (lengths, what) in [("5:9", "their number"), ("5", "their watermarks"), ("5:2,x:1", "their watermarks")] {
        let batch = saved(&EventBatch::append(rows()), false).unwrap();
        let mut metadata = batch.schema_ref().metadata().clone();
        metadata.insert(BATCHES.to_owned(), lengths.to_owned());
        let schema = Arc::new(batch.schema_ref().as_ref().clone().with_metadata(metadata));
        let error = split(&batch.with_schema(schema).unwrap(), Watermark(0)).unwrap_err();
        assert_eq!(error.message(), format!("rows that wait in the state do not fit: {what}"));
    }
    let error = restored(&rows()).unwrap_err();
    assert_eq!(error.message(), "rows that wait in the state do not fit: their number of columns");
    let field = Field::new(WATERMARK, DataType::Utf8View, true);
    let metadata = HashMap::from([(COLUMNS.to_owned(), "0".to_owned())]);
    let text: ArrayRef = Arc::clone(rows().column(1));
    assert_eq!(text.len(), 3);
    let batch = RecordBatch::try_new(Arc::new(Schema::new_with_metadata(vec![field], metadata)), vec![text]).unwrap();
    assert_eq!(restored(&batch).unwrap_err().message(), "rows that wait in the state do not fit: watermark");
}
