use arrow::datatypes::IntervalMonthDayNano;
use arrow::datatypes::{Field, Schema};
use datafusion::prelude::{col, lit};

use super::*;

fn rewritten(zone: Option<&str>, interval: IntervalMonthDayNano) -> String {
    let time = DataType::Timestamp(TimeUnit::Millisecond, zone.map(Into::into));
    let schema = DFSchema::try_from(Schema::new(vec![Field::new("t", time, true)])).unwrap();
    in_durations(col("t") - lit(ScalarValue::IntervalMonthDayNano(Some(interval))), &schema).unwrap().to_string()
}

#[test]
fn intervals_of_a_fixed_length_are_durations() {
    let interval = IntervalMonthDayNano::new;
    assert_eq!(rewritten(None, interval(0, 0, 5_000_000_000)), "t - DurationMillisecond(\"5000\")");
    assert_eq!(rewritten(None, interval(0, 180, 1_000_000)), "t - DurationMillisecond(\"15552000001\")");
    assert_eq!(rewritten(Some("UTC"), interval(0, 0, 5_000_000_000)), "t - DurationMillisecond(\"5000\")");
    for (zone, other) in [
        (None, interval(1, 0, 0)),
        (None, interval(0, 0, 1)),
        // A day of a zone may have 23 hours.
        (Some("Europe/Berlin"), interval(0, 1, 0)),
    ] {
        assert!(!rewritten(zone, other).contains("Duration"), "{other:?}");
    }
}
