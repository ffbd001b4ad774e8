//! Tables that somebody else has made, by hand.

use super::*;

/// Makes a table whose log begins with a protocol and this schema.
fn made(folder: &Path, protocol: &str, fields: &str, partitioned_by: &str, configuration: &str) {
    fs::create_dir_all(folder.join("_delta_log")).unwrap();
    let schema = format!(r#"{{"type":"struct","fields":[{fields}]}}"#);
    let schema = serde_json::to_string(&schema).unwrap();
    let entry = format!(
        r#"{{"commitInfo":{{"timestamp":1,"operation":"CREATE TABLE","operationParameters":{{}}}}}}
{{"protocol":{protocol}}}
{{"metaData":{{"id":"1","format":{{"provider":"parquet","options":{{}}}},"schemaString":{schema},"partitionColumns":[{partitioned_by}],"configuration":{{{configuration}}},"createdTime":1}}}}
"#
    );
    fs::write(folder.join("_delta_log/00000000000000000000.json"), entry).unwrap();
}

const OLD: &str = r#"{"minReaderVersion":1,"minWriterVersion":2}"#;

fn field(name: &str, data_type: &str, nullable: bool, metadata: &str) -> String {
    format!(r#"{{"name":"{name}","type":{data_type},"nullable":{nullable},"metadata":{{{metadata}}}}}"#)
}

/// What is said to a table with these fields, to which rows of `p` and `a` are to be written.
fn refused(protocol: &str, fields: &[String], partitioned_by: &str, configuration: &str, mode: WriteMode) -> String {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path(), protocol, &fields.join(","), partitioned_by, configuration);
    let before = fs::read_dir(folder.path()).unwrap().count();
    let error = factory(folder.path(), false, mode).open().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(error.hint_text().is_some(), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before, "nothing is left");
    error.message().replace(folder.path().to_str().unwrap(), "T")
}

fn p() -> String {
    field("p", r#""string""#, true, "")
}

fn a() -> String {
    field("a", r#""long""#, true, "")
}

#[tokio::test]
async fn a_table_with_the_same_columns_is_written_to_whatever_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let commented = field("a", r#""long""#, true, r#""comment":"x""#);
    made(folder.path(), OLD, &[commented, p()].join(","), r#""p""#, "");
    let mut sink = open(folder.path(), true);
    write_epoch(&mut *sink, 1, [1, 11]).await;
    let table = DeltaTable::at(folder.path()).unwrap();
    assert_eq!(table.rows("SELECT p, a FROM t ORDER BY a").len(), 2);
    assert_eq!(table.operations, ["CREATE TABLE", "WRITE"]);
}

#[tokio::test]
async fn other_columns_are_refused_by_name() {
    let refused = |fields: &[String]| refused(OLD, fields, "", "", WriteMode::Append);
    assert_eq!(refused(&[p()]), "the Delta table 'T' has no column 'a'");
    assert_eq!(
        refused(&[p(), a(), field("b", r#""long""#, true, "")]),
        "the Delta table 'T' has a column 'b', which is not declared"
    );
    assert_eq!(
        refused(&[p(), field("a", r#""integer""#, true, "")]),
        "the column 'a' is integer in the Delta table 'T', and long in the declared table"
    );
    let list = r#"{"type":"array","elementType":"long","containsNull":true}"#;
    assert_eq!(
        refused(&[field("p", list, true, ""), a()]),
        "the column 'p' is array<long> in the Delta table 'T', and string in the declared table"
    );
    assert_eq!(
        refused(&[p(), field("a", r#""long""#, false, "")]),
        "the column 'a' is NOT NULL in the Delta table 'T', and may be NULL in the declared table"
    );
}

#[tokio::test]
async fn other_partitions_are_refused() {
    assert_eq!(
        refused(OLD, &[p(), a()], r#""p""#, "", WriteMode::Append),
        "the Delta table 'T' is partitioned by (p), and the declared table by ()"
    );
}

#[tokio::test]
async fn what_would_have_to_be_checked_is_refused() {
    let append = WriteMode::Append;
    for rule in [r#""delta.invariants":"x""#, r#""delta.generationExpression":"1""#] {
        assert_eq!(
            refused(OLD, &[p(), field("a", r#""long""#, true, rule)], "", "", append),
            "the column 'a' of the Delta table 'T' has a rule for its values, which can't be kept here"
        );
    }
    let constraint = r#""delta.constraints.positive":"a > 0""#;
    assert_eq!(
        refused(OLD, &[p(), a()], "", constraint, append),
        "the Delta table 'T' has the constraint 'positive', which can't be checked here"
    );
    let features = r#"{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["rowTracking","domainMetadata"]}"#;
    assert_eq!(
        refused(features, &[p(), a()], "", "", append),
        "the Delta table 'T' has features that can't be written here: domainMetadata, rowTracking"
    );
}

#[tokio::test]
async fn an_append_only_table_is_not_overwritten() {
    let fields = [p(), a()];
    assert_eq!(
        refused(OLD, &fields, "", r#""delta.appendOnly":"true""#, WriteMode::Overwrite),
        "the Delta table 'T' is append-only: INSERT OVERWRITE can't replace its rows"
    );
}

#[tokio::test]
async fn a_log_that_is_broken_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("_delta_log")).unwrap();
    fs::write(folder.path().join("_delta_log/00000000000000000000.json"), "{\"metaData\":").unwrap();
    let error = factory(folder.path(), false, WriteMode::Append).open().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.message().starts_with("cannot read the Delta table"), "{error}");
}

/// Somebody adds a column while rows are written: the next commit finds it.
#[tokio::test]
async fn a_table_that_is_changed_meanwhile_is_an_error_at_the_next_commit() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path(), OLD, &[p(), a()].join(","), "", "");
    let mut sink = open(folder.path(), false);
    write_epoch(&mut *sink, 1, [1]).await;
    let first = fs::read_to_string(folder.path().join("_delta_log/00000000000000000000.json")).unwrap();
    let metadata = first.lines().last().unwrap().replace(r#"\"name\":\"a\""#, r#"\"name\":\"b\""#);
    fs::write(folder.path().join("_delta_log/00000000000000000002.json"), metadata).unwrap();
    sink.write(&batch([2])).await.unwrap();
    sink.prepare(Epoch(2)).await.unwrap();
    let error = sink.commit(Epoch(2)).await.unwrap_err();
    assert!(error.message().ends_with("has no column 'a'"), "{error}");
    sink.abort().await.unwrap();
    assert_eq!(data_files(folder.path()).len(), 1);
}
