//! Any rows come back as they were written, by whoever reads the table.

use arrow::array::{Date32Array, Decimal128Array, TimestampMillisecondArray};
use proptest::prelude::*;
use serde_json::json;

use super::*;

#[derive(Debug, Clone)]
struct Row {
    text: Option<String>,
    day: Option<i32>,
    amount: Option<i64>,
    time: Option<i64>,
}

fn row() -> impl Strategy<Value = Row> {
    let text = prop::option::of("[ab/=%?#&+:'\" ü\\[\\]{}\\\\*.~\u{1F980}-]{0,6}");
    let time = prop::option::of(-60_000_000_000_000i64..200_000_000_000_000);
    (text, prop::option::of(0..4i32), prop::option::of(-1000..1000i64), time)
        .prop_map(|(text, day, amount, time)| Row { text, day, amount, time })
}

fn rows_of(rows: &[Row]) -> EventBatch {
    let amount = Decimal128Array::from_iter(rows.iter().map(|row| row.amount.map(i128::from)));
    let columns: [(&str, ArrayRef); 4] = [
        ("text", Arc::new(StringViewArray::from_iter(rows.iter().map(|row| row.text.as_deref())))),
        ("day", Arc::new(Date32Array::from_iter(rows.iter().map(|row| row.day)))),
        ("amount", Arc::new(amount.with_precision_and_scale(12, 2).unwrap())),
        ("time", Arc::new(TimestampMillisecondArray::from_iter(rows.iter().map(|row| row.time)).with_timezone("UTC"))),
    ];
    EventBatch::append(RecordBatch::try_from_iter_with_nullable(columns.map(|(name, of)| (name, of, true))).unwrap())
}

/// The row as the query shows it. Delta takes the empty text of a partition for NULL.
fn shown(row: &Row, partitioned_by: &[&str]) -> String {
    let text = row.text.clone().filter(|text| !(text.is_empty() && partitioned_by.contains(&"text")));
    json!([text, row.day, row.amount, row.time]).to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn rows_are_read_as_they_were_written(
        epochs in prop::collection::vec(prop::collection::vec(row(), 0..12), 1..4),
        partitions in prop::sample::subsequence(vec!["text", "day", "amount", "time"], 0..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let fields = rows_of(&[]).rows.schema().fields().iter().map(|field| field.as_ref().clone()).collect();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let spec = table(folder.path(), fields, &partitions);
            let mut sink = DeltaSinkFactory::new(&spec, WriteMode::Append).unwrap().open().unwrap();
            for (rows, epoch) in epochs.iter().zip(1..) {
                sink.write(&rows_of(rows)).await.unwrap();
                sink.prepare(Epoch(epoch)).await.unwrap();
                sink.commit(Epoch(epoch)).await.unwrap();
            }
        });
        let query = "SELECT text, date_diff('day', DATE '1970-01-01', day) AS day, CAST(amount * 100 AS BIGINT) AS amount, \
                     epoch_ms(time) AS time FROM t ORDER BY ALL";
        let read = DeltaTable::at(folder.path()).unwrap().rows(query);
        let read = read.iter().map(|row| json!([row["text"], row["day"], row["amount"], row["time"]]).to_string());
        let mut read: Vec<String> = read.collect();
        let mut expected: Vec<String> = epochs.concat().iter().map(|row| shown(row, &partitions)).collect();
        read.sort();
        expected.sort();
        prop_assert_eq!(read, expected);
    }
}
