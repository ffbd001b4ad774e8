use std::collections::BTreeMap;

use arrow::array::{ArrayRef, Int64Array, StringViewArray, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::execution::memory_pool::{FairSpillPool, UnboundedMemoryPool};
use proptest::prelude::*;
use tempfile::TempDir;
use tidemill_core::EventTimes;
use tidemill_runtime::key_groups::MemoryLimit;
use tidemill_runtime::time_zone::TimeZone;
use tidemill_state::SpillFolder;

use super::*;

fn columns(key: Vec<usize>) -> SessionColumns {
    let time = DataType::Timestamp(TimeUnit::Millisecond, None);
    let bound = |name| Field::new(name, time.clone(), false);
    let schema = Schema::new(vec![
        Field::new("user", DataType::Utf8View, true),
        Field::new("amount", DataType::Int64, false),
        bound("window_start"),
        bound("window_end"),
        bound("window_time"),
    ]);
    SessionColumns {
        time: 0,
        range: EventTimes::ALL,
        key,
        gap_ms: 10,
        zone: TimeZone::UTC,
        except: None,
        kept: vec![1, 2],
        schema: Arc::new(schema),
    }
}

fn batch(rows: &[(i64, i64)]) -> RecordBatch {
    let users: StringViewArray = rows.iter().map(|(_, user)| (*user > 0).then(|| format!("user {user}"))).collect();
    let columns: [(_, ArrayRef, _); 3] = [
        ("time", Arc::new(TimestampMillisecondArray::from_iter_values(rows.iter().map(|row| row.0))), true),
        ("user", Arc::new(users), true),
        ("amount", Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.0 * 100 + row.1))), false),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn spill(folder: &TempDir) -> Arc<Spill> {
    let folder = SpillFolder::within(folder.path()).unwrap();
    Arc::new(Spill { limit: MemoryLimit::new(0, || 0), folder })
}

/// How often there is each row.
fn sessions(mut rows: Rows, batches: &[Vec<(i64, i64)>]) -> BTreeMap<String, usize> {
    batches.iter().for_each(|rows_of| rows.push(&batch(rows_of)).unwrap());
    let mut found = BTreeMap::new();
    for batch in rows.into_sessions(3).unwrap() {
        let batch = batch.unwrap();
        let options = FormatOptions::new();
        let columns: Vec<_> = batch.columns().iter().map(|c| ArrayFormatter::try_new(c, &options).unwrap()).collect();
        for row in 0..batch.num_rows() {
            let line: Vec<String> = columns.iter().map(|column| column.value(row).to_string()).collect();
            *found.entry(line.join(" ")).or_default() += 1;
        }
    }
    found
}

proptest! {
    #[test]
    fn sessions_of_rows_that_were_on_disk_are_the_same(
        batches in prop::collection::vec(prop::collection::vec((0i64..200, 0i64..12), 1..30), 0..12),
        bytes in prop_oneof![Just(0usize), 1usize..20_000],
    ) {
        let folder = tempfile::tempdir().unwrap();
        let schema = batch(&[]).schema();
        let rows = |memory: Arc<dyn MemoryPool>| {
            Rows::new(columns(vec![1]), Arc::clone(&schema), &memory, Some(spill(&folder))).unwrap()
        };
        let here = sessions(rows(Arc::new(UnboundedMemoryPool::default())), &batches);
        let apart = sessions(rows(Arc::new(FairSpillPool::new(bytes))), &batches);
        prop_assert_eq!(here.values().sum::<usize>(), batches.iter().map(Vec::len).sum::<usize>());
        prop_assert_eq!(here, apart);
    }
}

#[test]
fn rows_of_one_key_can_not_be_kept_apart() {
    let folder = tempfile::tempdir().unwrap();
    let memory: Arc<dyn MemoryPool> = Arc::new(FairSpillPool::new(1));
    for (key, spill) in [(vec![], Some(spill(&folder))), (vec![1], None)] {
        let mut rows = Rows::new(columns(key), batch(&[]).schema(), &memory, spill).unwrap();
        assert!(matches!(rows.push(&batch(&[(1, 1)])), Err(DataFusionError::ResourcesExhausted(_))));
    }
}
