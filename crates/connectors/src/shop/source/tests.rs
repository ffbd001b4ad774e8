use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema};

use tidemill_runtime::connector::ReadPartition;

use super::*;

fn request(columns: &[(&str, DataType)], follow: bool) -> ScanRequest {
    let fields: Vec<Field> = columns.iter().map(|(name, t)| Field::new(*name, t.clone(), true)).collect();
    ScanRequest {
        columns: Arc::new(Schema::new(fields)),
        batch_rows: 100,
        keep_rejected: false,
        follow,
        resume: Arc::new([]),
    }
}

async fn read(source: &ShopSource, request: &ScanRequest) -> Vec<RecordBatch> {
    let mut partitions = source.open(request).await.unwrap().partitions;
    let mut batches = vec![];
    while let Some(chunk) = partitions[0].next_chunk().await.unwrap() {
        let Ok(decoded) = chunk.decode() else { panic!("a chunk decodes") };
        assert_eq!(decoded.offset_count, decoded.rows.num_rows() as u64);
        batches.push(decoded.rows);
    }
    assert!(partitions[0].next_chunk().await.unwrap().is_none(), "an end stays an end");
    batches
}

fn rows(batches: &[RecordBatch]) -> usize {
    batches.iter().map(RecordBatch::num_rows).sum()
}

fn source(events: u64, events_per_second: Option<u64>, doors: &Arc<Doors>) -> ShopSource {
    ShopSource::new(Traffic { events, events_per_second, ..Traffic::default() }, Arc::clone(doors))
}

const USER: (&str, DataType) = ("user_id", DataType::Int64);
const ID: (&str, DataType) = ("event_id", DataType::Int64);

#[tokio::test]
async fn a_column_has_the_same_values_whatever_else_is_read() {
    let source = source(20_000, None, &Arc::default());
    let alone = read(&source, &request(&[USER], false)).await;
    let beside = read(&source, &request(&[ID, USER], false)).await;
    assert_eq!(rows(&alone), 20_000);
    for (alone, beside) in alone.iter().zip(&beside) {
        assert_eq!(alone.column(0), beside.column(1));
    }
}

/// What one reading leaves, a later one reads, at the pace of its own beginning.
#[tokio::test]
async fn a_reading_goes_on_behind_another() {
    for (events_per_second, follow) in [(None, false), (Some(1_000_000), true)] {
        let source = source(20_000, events_per_second, &Arc::default());
        let whole = read(&source, &request(&[ID], false)).await;
        let mut first = source.open(&request(&[ID], follow)).await.unwrap().partitions.remove(0);
        let Ok(chunk) = first.next_chunk().await.unwrap().unwrap().decode() else { panic!("a chunk decodes") };
        assert_eq!(first.position(), chunk.rows.num_rows() as u64);
        let resumed = |position| ScanRequest {
            resume: Arc::new([ReadPartition { name: first.partition(), position, until: None }]),
            ..request(&[ID], follow)
        };
        let rest = read(&source, &resumed(Some(first.position()))).await;
        let ids = |batches: &[RecordBatch]| arrow::compute::concat_batches(&chunk.rows.schema(), batches).unwrap();
        assert_eq!(ids(&[std::slice::from_ref(&chunk.rows), &rest[..]].concat()), ids(&whole));
        assert!(source.open(&resumed(None)).await.unwrap().partitions.is_empty(), "it was read to its end");
    }
}

#[tokio::test]
async fn without_columns_rows_are_counted() {
    assert_eq!(rows(&read(&source(9_000, None, &Arc::default()), &request(&[], false)).await), 9_000);
}

#[tokio::test]
async fn a_live_reading_is_paced() {
    let source = source(200, Some(1_000), &Arc::default());
    let begun = Instant::now();
    assert_eq!(rows(&read(&source, &request(&[ID], true)).await), 200);
    assert!(begun.elapsed() >= Duration::from_millis(200), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_shop_that_closes_keeps_what_it_had() {
    let doors = Arc::new(Doors::default());
    let source = source(1_000_000_000, Some(1_000), &doors);
    let closing = Arc::clone(&doors);
    tokio::spawn(async move {
        sleep(Duration::from_millis(100)).await;
        closing.close();
    });
    let live = read(&source, &request(&[ID], true)).await;
    assert!(rows(&live) > 0);
    assert_eq!(rows(&read(&source, &request(&[ID], false)).await), rows(&live), "history is what was live");
}
