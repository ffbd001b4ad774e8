use std::time::Duration;

use arrow::array::{AsArray, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, UInt64Type};
use proptest::prelude::*;
use tidemill_runtime::connector::ReadPartition;

use super::*;

/// Rows that are their numbers.
struct Numbers {
    row_bytes: usize,
}

impl Recipe for Numbers {
    fn generate(&self, columns: &SchemaRef, rows: Range<u64>) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some((rows.end - rows.start) as usize));
        let numbers = UInt64Array::from_iter_values(rows);
        Ok(RecordBatch::try_new_with_options(Arc::clone(columns), vec![Arc::new(numbers)], &options)?)
    }

    fn row_bytes(&self, _: &SchemaRef) -> usize {
        self.row_bytes
    }
}

async fn reader(row_bytes: usize, end: Option<u64>, pace: Option<Pace>) -> Box<dyn PartitionReader> {
    open(row_bytes, end, pace, 1000, &[]).await.remove(0)
}

/// The partitions, behind what was read.
async fn open(
    row_bytes: usize,
    end: Option<u64>,
    pace: Option<Pace>,
    batch_rows: usize,
    read: &[ReadPartition],
) -> Vec<Box<dyn PartitionReader>> {
    let source = SyntheticSource { name: "numbers".into(), recipe: Arc::new(Numbers { row_bytes }), end, pace };
    assert_eq!(source.bounded(), end.is_some());
    let columns = Arc::new(Schema::new(vec![Field::new("n", DataType::UInt64, false)]));
    let request = ScanRequest { columns, batch_rows, keep_rejected: false, follow: true, resume: read.into() };
    source.open(&request).await.unwrap().partitions
}

fn read(position: Option<u64>) -> [ReadPartition; 1] {
    [ReadPartition { name: "numbers".into(), position, until: None }]
}

async fn next(reader: &mut dyn PartitionReader) -> Option<Vec<u64>> {
    let decoded = reader.next_chunk().await.unwrap()?.decode().unwrap();
    let numbers = decoded.rows.column(0).as_primitive::<UInt64Type>().values().to_vec();
    assert_eq!(decoded.offset_count, numbers.len() as u64);
    Some(numbers)
}

#[tokio::test]
async fn chunks_follow_each_other_to_the_end() {
    let mut reader = reader(8, Some(2_500), None).await;
    let mut all = vec![];
    while let Some(mut rows) = next(reader.as_mut()).await {
        assert!(rows.len() <= 1000);
        all.append(&mut rows);
    }
    assert_eq!(all, (0..2_500).collect::<Vec<_>>());
    assert!(reader.next_chunk().await.unwrap().is_none());
}

#[tokio::test]
async fn wide_rows_come_in_small_chunks() {
    assert_eq!(next(reader(100 << 10, None, None).await.as_mut()).await, Some((0..10).collect()));
    assert_eq!(next(reader(2 << 20, None, None).await.as_mut()).await, Some(vec![0]));
    assert_eq!(next(reader(8, Some(0), None).await.as_mut()).await, None);
}

#[tokio::test]
async fn rows_come_when_they_are_due() {
    let began = Instant::now();
    let mut reader = reader(8, Some(40), Some(Pace::new(200))).await;
    assert_eq!(next(reader.as_mut()).await.unwrap()[0], 0);
    // A wait that is given up loses nothing.
    let _ = tokio::time::timeout(Duration::from_micros(10), reader.next_chunk()).await.map(|_| panic!("early"));
    let mut last = 0;
    while let Some(rows) = next(reader.as_mut()).await {
        assert_eq!(rows[0], last + 1);
        last = rows[rows.len() - 1];
        assert!(began.elapsed() >= Pace::new(200).due(last), "row {last} is early");
    }
    assert_eq!(last, 39);
}

#[tokio::test]
async fn what_was_read_to_its_end_is_not_opened_again() {
    assert!(open(8, Some(10), None, 3, &read(None)).await.is_empty());
    let mut at_end = open(8, Some(10), None, 3, &read(Some(10))).await.remove(0);
    assert_eq!(next(at_end.as_mut()).await, None);
}

#[tokio::test]
async fn a_pace_begins_where_reading_goes_on() {
    let began = Instant::now();
    let mut reader = open(8, Some(10_004), Some(Pace::new(200)), 1000, &read(Some(10_000))).await.remove(0);
    let mut all = vec![];
    while let Some(rows) = next(reader.as_mut()).await {
        all.extend(rows);
    }
    assert_eq!(all, (10_000..10_004).collect::<Vec<_>>());
    assert!(began.elapsed() >= Pace::new(200).due(3) && began.elapsed() < Duration::from_secs(20));
}

proptest! {
    #[test]
    fn runs_give_what_one_run_gives(end in 0..200u64, runs in prop::collection::vec((1..60usize, 0..4usize), 0..5)) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
            let (mut all, mut position) = (vec![], 0);
            for (batch_rows, chunks) in runs.into_iter().chain([(7, usize::MAX)]) {
                let mut reader = open(8, Some(end), None, batch_rows, &read(Some(position))).await.remove(0);
                for _ in 0..chunks {
                    let Some(rows) = next(reader.as_mut()).await else { break };
                    all.extend(rows);
                }
                position = reader.position();
            }
            assert_eq!(all, (0..end).collect::<Vec<_>>());
        });
    }
}
