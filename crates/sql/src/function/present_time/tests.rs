use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::ScalarUDFImpl;
use proptest::prelude::*;
use tidemill_runtime::time_zone::TimeZone;

use super::{FORMS, Form, PresentTime};
use crate::types::LTZ_ZONE;

fn told(form: Form, zone: &str, now_ms: i64) -> ScalarValue {
    let zone = zone.parse().unwrap();
    PresentTime { name: "now", form, zone }.value(now_ms)
}

/// 2026-11-30T23:59:59.999Z
const EVENING_MS: i64 = 1_796_083_199_999;

#[test]
fn every_form_tells_the_moment() {
    let days = |y, m, d| chrono::NaiveDate::from_ymd_opt(y, m, d).unwrap().to_epoch_days();
    assert_eq!(told(Form::Date, "UTC", EVENING_MS), ScalarValue::Date32(Some(days(2026, 11, 30))));
    assert_eq!(told(Form::Date, "Europe/Berlin", EVENING_MS), ScalarValue::Date32(Some(days(2026, 12, 1))));
    let time = |h: i32, m: i32, s: i32| ScalarValue::Time32Millisecond(Some(((h * 60 + m) * 60 + s) * 1_000));
    assert_eq!(told(Form::TimeOfDay, "UTC", EVENING_MS), time(23, 59, 59));
    assert_eq!(told(Form::TimeOfDay, "Europe/Berlin", EVENING_MS), time(0, 59, 59));
    let instant = ScalarValue::TimestampMillisecond(Some(EVENING_MS), Some(LTZ_ZONE.into()));
    assert_eq!(told(Form::Instant, "Europe/Berlin", EVENING_MS), instant);
    let local = ScalarValue::TimestampMillisecond(Some(EVENING_MS + 3_600_000), None);
    assert_eq!(told(Form::Local, "Europe/Berlin", EVENING_MS), local);
    assert_eq!(told(Form::Seconds, "Europe/Berlin", EVENING_MS), ScalarValue::Int64(Some(1_796_083_199)));
}

proptest! {
    /// What a planner is told of a function is what it gives.
    #[test]
    fn values_have_the_declared_type_at_any_time(now_ms in -62_135_596_800_000i64..253_402_300_800_000) {
        for (name, form) in FORMS {
            let function = PresentTime { name, form, zone: TimeZone::UTC };
            let value = function.value(now_ms);
            prop_assert!(!value.is_null(), "{} at {}", name, now_ms);
            let declared: DataType = function.return_type(&[]).unwrap();
            prop_assert_eq!(value.data_type(), declared);
        }
    }
}
