//! Whatever the rows, the batches, the epochs and the size of parts: what a reader that shares no code with the sink
//! finds in the visible files is what was written, each row in the folder of its values.

use arrow::array::{ArrayRef, Int32Array, StringViewArray};
use proptest::prelude::*;
use serde_json::Value;
use tidemill_tests::duckdb::duckdb;

use super::*;

type Row = (Option<String>, Option<i32>, i64, Option<String>);

/// Rows in batches in epochs, and whether the epoch is committed at once or with a later one.
type Run = Vec<(Vec<Vec<Row>>, bool)>;

fn day() -> impl Strategy<Value = Option<String>> {
    let few =
        prop::sample::select(vec!["mon", "", "10:30", "a/b", "50%", "%2F", "..", "é ü", "=", "__DEFAULT_PARTITION__"]);
    prop_oneof![
        4 => few.prop_map(|text| Some(text.to_owned())),
        2 => "[ -~\u{1}-\u{1f}äß\u{1F600}]{1,6}".prop_map(Some),
        1 => Just(None),
    ]
}

fn row() -> impl Strategy<Value = Row> {
    (day(), prop::option::of(-1..3i32), any::<i64>(), prop::option::of("\\PC{0,8}"))
}

fn runs() -> impl Strategy<Value = Run> {
    let epoch = prop::collection::vec(prop::collection::vec(row(), 0..12), 0..4);
    prop::collection::vec((epoch, any::<bool>()), 1..4)
}

fn rows_of(rows: &[Row]) -> EventBatch {
    let columns: [(&str, ArrayRef); 4] = [
        ("day", Arc::new(StringViewArray::from_iter(rows.iter().map(|row| row.0.clone())))),
        ("v", Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.2)))),
        ("n", Arc::new(Int32Array::from_iter(rows.iter().map(|row| row.1)))),
        ("s", Arc::new(StringViewArray::from_iter(rows.iter().map(|row| row.3.clone())))),
    ];
    EventBatch::append(RecordBatch::try_from_iter(columns).unwrap())
}

fn write(folder: &Path, run: &Run, options: &[(&str, &str)]) {
    let column = |name, data_type| Field::new(name, data_type, true);
    let columns = vec![
        column("day", DataType::Utf8View),
        column("v", DataType::Int64),
        column("n", DataType::Int32),
        column("s", DataType::Utf8View),
    ];
    let table = table(folder, columns, &["day", "n"], options);
    let mut sink = FilesystemSinkFactory::new(&table, WriteMode::Append).unwrap().open().unwrap();
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        for (epoch, (batches, committed)) in (1..).zip(run) {
            for rows in batches {
                sink.write(&rows_of(rows)).await.unwrap();
            }
            sink.prepare(Epoch(epoch)).await.unwrap();
            if *committed || epoch == run.len() as u64 {
                sink.commit(Epoch(epoch)).await.unwrap();
            }
        }
    });
}

/// Each row as text: its two values in the path, and the two in the file.
fn expected(run: &Run) -> Vec<String> {
    let in_path = |text: Option<String>| text.filter(|t| !t.is_empty()).unwrap_or("__DEFAULT_PARTITION__".into());
    let text = |(day, n, v, s): Row| format!("{:?}", (in_path(day), in_path(n.map(|n| n.to_string())), v, s));
    let mut rows: Vec<String> = run.iter().flat_map(|(batches, _)| batches.concat()).map(text).collect();
    rows.sort();
    rows
}

fn percent_decoded(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut decoded = pieces.next().unwrap().to_owned();
    for piece in pieces {
        decoded.push(char::from(u8::from_str_radix(&piece[..2], 16).unwrap()));
        decoded.push_str(&piece[2..]);
    }
    decoded
}

fn rows_in_json(folder: &Path) -> Vec<String> {
    let mut rows = vec![];
    for file in files(folder, false) {
        let parts: Vec<&str> = file.split('/').collect();
        let [day, n, _] = parts[..] else { panic!("{file}") };
        let day = percent_decoded(day.strip_prefix("day=").unwrap());
        let n = percent_decoded(n.strip_prefix("n=").unwrap());
        for line in fs::read_to_string(folder.join(&file)).unwrap().lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            assert_eq!(row.as_object().unwrap().len(), 2, "{line}");
            let (v, s) = (row["v"].as_i64().unwrap(), row["s"].as_str().map(str::to_owned));
            rows.push(format!("{:?}", (&day, &n, v, s)));
        }
    }
    rows.sort();
    rows
}

fn rows_in_parquet(folder: &Path) -> Vec<String> {
    if files(folder, false).is_empty() {
        return vec![];
    }
    let pattern = folder.join("**/*.parquet");
    let mut rows: Vec<String> = duckdb(&format!(
        "SELECT day, n, v, s FROM read_parquet('{}', hive_partitioning = true, hive_types_autocast = false)",
        pattern.display()
    ))
    .iter()
    .map(|row| {
        let text = |name: &str| row[name].as_str().map(str::to_owned);
        format!("{:?}", (text("day").unwrap(), text("n").unwrap(), row["v"].as_i64().unwrap(), text("s")))
    })
    .collect();
    rows.sort();
    rows
}

/// So many cases where `PROPTEST_CASES` says nothing: each syncs many files, and some start DuckDB.
pub(super) fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let asked_for = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig { cases: if asked_for { default.cases } else { cases }, ..default }
}

proptest! {
    #![proptest_config(config(32))]
    #[test]
    fn json_holds_what_was_written(run in runs(), file_bytes in 1..400u32) {
        let folder = tempfile::tempdir().unwrap();
        let size = file_bytes.to_string();
        write(folder.path(), &run, &[("sink.rolling-policy.file-size", &size)]);
        prop_assert_eq!(rows_in_json(folder.path()), expected(&run));
        prop_assert!(files(folder.path(), true).is_empty());
    }
}

proptest! {
    #![proptest_config(config(12))]
    #[test]
    fn parquet_holds_what_was_written(run in runs(), file_bytes in 1..400u32) {
        let folder = tempfile::tempdir().unwrap();
        let size = file_bytes.to_string();
        write(folder.path(), &run, &[("format", "parquet"), ("sink.rolling-policy.file-size", &size)]);
        prop_assert_eq!(rows_in_parquet(folder.path()), expected(&run));
        prop_assert!(files(folder.path(), true).is_empty());
    }
}
