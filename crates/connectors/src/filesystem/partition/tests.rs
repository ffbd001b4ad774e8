use std::path::PathBuf;

use arrow::array::{Date32Array, Int32Array, RecordBatch, TimestampMillisecondArray, TimestampNanosecondArray};
use arrow::datatypes::Schema;
use tidemill_runtime::connector::Options;

use super::*;

fn table(columns: Vec<Field>, partitioned_by: &[&str], options: &[(&str, &str)]) -> TableSpec {
    let mut table = TableSpec {
        name: "t".into(),
        schema: Arc::new(Schema::new(columns)),
        partitioned_by: partitioned_by.iter().map(|name| (*name).into()).collect(),
        options: Options::default(),
        folder: PathBuf::new(),
    };
    for (key, value) in options {
        table.options.set(*key, *value, None);
    }
    table
}

/// The folder of each value, in a table with one more column.
fn folders(name: &str, values: ArrayRef, options: &[(&str, &str)]) -> Vec<String> {
    let rest = Field::new("rest", DataType::Int32, true);
    let table = table(vec![Field::new(name, values.data_type().clone(), true), rest], &[name], options);
    let layout = Layout::of(&table).unwrap();
    let of_one = |row| {
        let one = Arc::new(Int32Array::from(vec![7])) as ArrayRef;
        let columns = vec![values.slice(row, 1), one];
        let rows = RecordBatch::try_new(Arc::clone(&table.schema), columns).unwrap();
        let split = layout.split(&EventBatch::append(rows)).unwrap();
        assert_eq!(split.len(), 1);
        assert_eq!(split[0].1.rows.schema().fields().len(), 1, "the column is in the path, not in the file");
        split[0].0.clone()
    };
    (0..values.len()).map(of_one).collect()
}

#[test]
fn special_characters_are_escaped_as_flink_escapes_them() {
    let values = ["a b", "é", "10:30", "50%", "a/b\\c", "\"#'*=?{[]^", "}~|<>&", "\n\u{7f}", ".."];
    let expected =
        ["a b", "é", "10%3A30", "50%25", "a%2Fb%5Cc", "%22%23%27%2A%3D%3F%7B%5B%5D%5E", "}~|<>&", "%0A%7F", ".."];
    let found = folders("a", Arc::new(StringViewArray::from(values.to_vec())), &[]);
    assert_eq!(found, expected.map(|value| format!("a={value}")));
    let one = Arc::new(Int32Array::from(vec![1]));
    assert_eq!(folders("a:b", one, &[]), ["a%3Ab=1"], "so is the name of the column");
}

#[test]
fn null_and_the_empty_string_have_the_default_name() {
    let values = || Arc::new(StringViewArray::from(vec![None, Some("")]));
    assert_eq!(folders("a", values(), &[]), ["a=__DEFAULT_PARTITION__"; 2]);
    assert_eq!(folders("a", values(), &[("partition.default-name", "no/ne")]), ["a=no%2Fne"; 2]);
    assert_eq!(folders("a", Arc::new(Int32Array::from(vec![None])), &[]), ["a=__DEFAULT_PARTITION__"]);
}

#[test]
fn each_type_has_one_text() {
    let days = Arc::new(Date32Array::from(vec![0, -1, 20_786]));
    assert_eq!(folders("d", days, &[]), ["d=1970-01-01", "d=1969-12-31", "d=2026-11-29"]);
    let times = Arc::new(TimestampMillisecondArray::from(vec![0, 1_000, 1, -60_000]));
    let expected =
        ["1970-01-01T00%3A00", "1970-01-01T00%3A00%3A01", "1970-01-01T00%3A00%3A00.001", "1969-12-31T23%3A59"];
    assert_eq!(folders("t", times, &[]), expected.map(|value| format!("t={value}")));
    let nanos = Arc::new(TimestampNanosecondArray::from(vec![1, 1_000]));
    assert_eq!(folders("t", nanos, &[]), ["t=1970-01-01T00%3A00%3A00.000000001", "t=1970-01-01T00%3A00%3A00.000001"]);
    let flags = Arc::new(BooleanArray::from(vec![true, false]));
    assert_eq!(folders("b", flags, &[]), ["b=true", "b=false"]);
    assert_eq!(folders("n", Arc::new(Int32Array::from(vec![-5])), &[]), ["n=-5"]);
}

#[test]
fn a_moment_past_the_calendar_is_an_error() {
    let table = table(
        vec![
            Field::new("t", DataType::Timestamp(TimeUnit::Millisecond, None), true),
            Field::new("a", DataType::Int32, true),
        ],
        &["t"],
        &[],
    );
    let columns: Vec<ArrayRef> =
        vec![Arc::new(TimestampMillisecondArray::from(vec![i64::MAX])), Arc::new(Int32Array::from(vec![1]))];
    let rows = RecordBatch::try_new(Arc::clone(&table.schema), columns).unwrap();
    assert!(Layout::of(&table).unwrap().split(&EventBatch::append(rows)).is_err());
}

#[test]
fn rows_keep_their_order_within_a_folder_and_folders_that_of_their_first_rows() {
    let column = |name| Field::new(name, DataType::Int32, true);
    let table = table(vec![column("b"), column("x"), column("a")], &["a", "b"], &[]);
    let ints = |values: &[i32]| Arc::new(Int32Array::from(values.to_vec())) as ArrayRef;
    let columns = vec![ints(&[1, 2, 1, 1]), ints(&[10, 20, 30, 40]), ints(&[5, 5, 5, 6])];
    let rows = RecordBatch::try_new(Arc::clone(&table.schema), columns).unwrap();
    let split = Layout::of(&table).unwrap().split(&EventBatch::append(rows)).unwrap();
    let found: Vec<(&str, Vec<i32>)> = split
        .iter()
        .map(|(folder, rows)| (folder.as_str(), rows.rows.column(0).as_primitive::<Int32Type>().values().to_vec()))
        .collect();
    assert_eq!(found, [("a=5/b=1", vec![10, 30]), ("a=5/b=2", vec![20]), ("a=6/b=1", vec![40])]);
}

#[test]
fn what_can_be_no_partition_is_refused() {
    let refused = |columns, by: &[&str], options: &[(&str, &str)]| {
        Layout::of(&table(columns, by, options)).unwrap_err().message().to_owned()
    };
    let column = |name, data_type| Field::new(name, data_type, true);
    let (a, b) = (|| column("a", DataType::Int32), || column("b", DataType::Float64));
    assert_eq!(refused(vec![a(), b()], &["b"], &[]), "PARTITIONED BY does not take the type of the column 'b'");
    assert_eq!(refused(vec![a()], &["a"], &[]), "every column of 't' is in PARTITIONED BY");
    let hidden = vec![a(), column("_day", DataType::Date32)];
    assert_eq!(refused(hidden, &["_day"], &[]), "the partition column '_day' would make hidden folders");
    let empty = [("partition.default-name", "")];
    assert_eq!(refused(vec![a(), b()], &["a"], &empty), "the option 'partition.default-name' is empty");
}

#[test]
fn each_row_keeps_its_kind() {
    use tidemill_core::RowKind::{Delete, Insert, UpdateAfter};

    let columns = vec![Field::new("day", DataType::Int32, true), Field::new("a", DataType::Int32, true)];
    let table = table(columns, &["day"], &[]);
    let values = |values: &[i32]| Arc::new(Int32Array::from(values.to_vec())) as ArrayRef;
    let columns = vec![values(&[1, 2, 1]), values(&[7, 8, 9])];
    let rows = EventBatch::append(RecordBatch::try_new(Arc::clone(&table.schema), columns).unwrap());
    let batch = EventBatch { kinds: Some([Insert, Delete, UpdateAfter].into()), ..rows };
    let split = Layout::of(&table).unwrap().split(&batch).unwrap();
    let kinds: Vec<_> = split.iter().map(|(folder, batch)| (&**folder, batch.kinds.as_deref().unwrap())).collect();
    assert_eq!(kinds, [("day=1", &[Insert, UpdateAfter][..]), ("day=2", &[Delete])]);
}
