use super::*;

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
