//! When a session of results is complete.

use super::*;
use arrow::datatypes::{Field, Schema};
use tidemill_core::EventTimes;

const MINUTE_MS: i64 = 60_000;

fn sessions_of_results() -> (SessionAggregate, SchemaRef) {
    let time = DataType::Timestamp(TimeUnit::Millisecond, None);
    let schema: SchemaRef = Arc::new(Schema::new(vec![Field::new("minute_time", time, false)]));
    let spec = SessionSpec {
        time: TimeColumn { index: 0, range: EventTimes::ALL },
        key_columns: vec![],
        gap_ms: 2 * MINUTE_MS,
        zone: TimeZone::UTC,
        aggregation: Aggregation { groups: vec![], calls: vec![] },
        never_late: true,
        lateness_ms: 0,
        early_fire: None,
        late_fire: None,
        late: None,
    };
    (SessionAggregate::new(spec, &schema, Arc::default()).unwrap(), schema)
}

/// The windows of what is emitted.
fn windows(out: &mut Output) -> Vec<(i64, i64)> {
    let bounds = |batch: &RecordBatch| {
        let bound = |column: usize| batch.column(column).as_primitive::<TimestampMillisecondType>().values().to_vec();
        bound(0).into_iter().zip(bound(1)).collect::<Vec<_>>()
    };
    out.take().iter().flat_map(|(_, batch)| bounds(&batch.rows)).collect()
}

#[test]
fn a_result_at_the_very_end_of_a_session_goes_on_with_it() {
    let (mut sessions, schema) = sessions_of_results();
    let mut out = Output::default();
    let mut result = |sessions: &mut SessionAggregate, time_ms: i64| {
        let times: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![time_ms]));
        let rows = RecordBatch::try_new(Arc::clone(&schema), vec![times]).unwrap();
        sessions.on_batch(EventBatch::append(rows), &mut out).unwrap();
    };
    result(&mut sessions, MINUTE_MS - 1);
    // The window whose last moment is the session's end comes before the watermark says so.
    let mut at_watermark = Output::default();
    let before = Watermark(3 * MINUTE_MS - 2);
    sessions.on_watermark(before, &mut at_watermark).unwrap();
    assert_eq!(windows(&mut at_watermark), []);
    assert_eq!(sessions.reached(before), Watermark(before.0 - 1));
    result(&mut sessions, 3 * MINUTE_MS - 1);
    sessions.on_watermark(Watermark(5 * MINUTE_MS - 1), &mut at_watermark).unwrap();
    assert_eq!(windows(&mut at_watermark), [(MINUTE_MS - 1, 5 * MINUTE_MS - 1)]);
}
