//! `INSERT OVERWRITE`: what goes, and that it goes with what comes.

use super::*;

async fn overwrite(path: &Path, partitioned: bool, values: impl IntoIterator<Item = i64>) {
    let mut sink = factory(path, partitioned, WriteMode::Overwrite).open().unwrap();
    write_epoch(&mut *sink, 1, values).await;
}

#[tokio::test]
async fn a_table_without_partitions_is_replaced_whole() {
    let folder = tempfile::tempdir().unwrap();
    write_epoch(&mut *open(folder.path(), false), 1, [1, 2]).await;
    overwrite(folder.path(), false, [3]).await;
    assert_eq!(values(folder.path()), [3]);
    assert_eq!(DeltaTable::at(folder.path()).unwrap().operations.len(), 2, "one entry");
    overwrite(folder.path(), false, []).await;
    let table = DeltaTable::at(folder.path()).unwrap();
    assert_eq!((table.files.len(), table.operations.len()), (0, 3));
    assert_eq!(table.rows("SELECT a FROM t "), Vec::<Value>::new());
}

#[tokio::test]
async fn of_a_partitioned_table_only_what_is_written_goes() {
    let folder = tempfile::tempdir().unwrap();
    write_epoch(&mut *open(folder.path(), true), 1, [1, 2, 11, 21]).await;
    write_epoch(&mut *open(folder.path(), true), 1, [3, 22]).await;
    overwrite(folder.path(), true, [4, 31]).await;
    assert_eq!(values(folder.path()), [4, 11, 21, 22, 31]);
    overwrite(folder.path(), true, []).await;
    assert_eq!(values(folder.path()), [4, 11, 21, 22, 31]);
    assert_eq!(DeltaTable::at(folder.path()).unwrap().operations.len(), 3);
}

#[tokio::test]
async fn a_table_that_is_not_there_is_made() {
    for partitioned in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        overwrite(folder.path(), partitioned, []).await;
        assert_eq!(values(folder.path()), Vec::<i64>::new());
        overwrite(folder.path(), partitioned, [1]).await;
        assert_eq!(values(folder.path()), [1]);
    }
}

/// A value of a partition that another writer has written in another form is the same value.
#[tokio::test]
async fn partitions_are_compared_by_value() {
    let folder = tempfile::tempdir().unwrap();
    let timed = vec![
        Field::new("p", DataType::Timestamp(arrow::datatypes::TimeUnit::Microsecond, None), true),
        Field::new("a", DataType::Int64, true),
    ];
    let open =
        |mode| DeltaSinkFactory::new(&table(folder.path(), timed.clone(), &["p"]), mode).unwrap().open().unwrap();
    let batch = |value: i64| {
        let times = arrow::array::TimestampMicrosecondArray::from(vec![Some(0), None]);
        let values = Int64Array::from(vec![value, value + 1]);
        let columns: [(&str, ArrayRef); 2] = [("p", Arc::new(times)), ("a", Arc::new(values))];
        EventBatch::append(
            RecordBatch::try_from_iter_with_nullable(columns.map(|(name, of)| (name, of, true))).unwrap(),
        )
    };
    let write = async |mode, value| {
        let mut sink = open(mode);
        sink.write(&batch(value)).await.unwrap();
        sink.prepare(Epoch(1)).await.unwrap();
        sink.commit(Epoch(1)).await.unwrap();
    };
    write(WriteMode::Append, 1).await;
    let entry = folder.path().join("_delta_log/00000000000000000000.json");
    let text = fs::read_to_string(&entry).unwrap();
    let other = text.replace("1970-01-01 00:00:00.000000", "1970-01-01 00:00:00");
    assert_ne!(text, other);
    fs::write(&entry, other).unwrap();
    write(WriteMode::Overwrite, 5).await;
    assert_eq!(values(folder.path()), [5, 6]);
}

#[tokio::test]
async fn what_fails_before_its_commit_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    write_epoch(&mut *open(folder.path(), false), 1, [1]).await;
    let mut sink = factory(folder.path(), false, WriteMode::Overwrite).open().unwrap();
    sink.write(&batch([2])).await.unwrap();
    sink.prepare(Epoch(1)).await.unwrap();
    sink.abort().await.unwrap();
    assert_eq!((values(folder.path()), data_files(folder.path()).len()), (vec![1], 1));
}
