use super::*;

use arrow::array::ArrayRef;
use tidemill_core::RowKind::{Insert, UpdateAfter, UpdateBefore};

#[tokio::test]
async fn a_format_of_changes_says_which_rows_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let a = Field::new("a", DataType::Int64, true);
    let table = table(folder.path(), vec![a], &[], &[("format", "debezium-json")]);
    let factory = FilesystemSinkFactory::new(&table, WriteMode::Append).unwrap();
    assert_eq!(factory.changelog(), ChangelogMode::Retract);
    let mut sink = factory.open().unwrap();
    sink.write(&EventBatch { kinds: Some([Insert, UpdateBefore, UpdateAfter].into()), ..batch([1, 1, 2]) })
        .await
        .unwrap();
    sink.prepare(Epoch(1)).await.unwrap();
    sink.commit(Epoch(1)).await.unwrap();
    let expected = [
        r#"{"before":null,"after":{"a":1},"op":"c"}"#,
        r#"{"before":{"a":1},"after":null,"op":"d"}"#,
        r#"{"before":null,"after":{"a":2},"op":"c"}"#,
    ];
    assert_eq!(lines(folder.path()), expected);
    assert!(files(folder.path(), false)[0].ends_with(".json"));
}

#[tokio::test]
async fn null_where_none_may_be_is_an_error_in_a_row_that_comes_and_in_one_that_goes() {
    for kind in [Insert, UpdateBefore] {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let a = Field::new("a", DataType::Int64, false);
        let table = table(&out, vec![a], &[], &[("format", "debezium-json")]);
        let mut sink = FilesystemSinkFactory::new(&table, WriteMode::Append).unwrap().open().unwrap();
        let column: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None]));
        let rows = RecordBatch::try_from_iter_with_nullable([("a", column, true)]).unwrap();
        let changes = EventBatch { kinds: Some([Insert, kind].into()), ..EventBatch::append(rows) };
        let error = sink.write(&changes).await.unwrap_err();
        assert_eq!(error.message(), "the column 'a' is NOT NULL, and a row has NULL there");
        sink.abort().await.unwrap();
        assert!(!out.exists());
    }
}

#[tokio::test]
async fn other_formats_have_no_place_for_kinds() {
    for (format, line) in [("json", r#"{"a":1}"#), ("csv", "1")] {
        let folder = tempfile::tempdir().unwrap();
        let a = Field::new("a", DataType::Int64, true);
        let table = table(folder.path(), vec![a], &[], &[("format", format)]);
        let factory = FilesystemSinkFactory::new(&table, WriteMode::Append).unwrap();
        assert_eq!(factory.changelog(), ChangelogMode::Append);
        let mut sink = factory.open().unwrap();
        sink.write(&EventBatch { kinds: Some([Insert].into()), ..batch([1]) }).await.unwrap();
        sink.prepare(Epoch(1)).await.unwrap();
        sink.commit(Epoch(1)).await.unwrap();
        assert_eq!(lines(folder.path()), [line]);
    }
}
