//! `tidemill.watermark.max-ahead`: how far ahead a row's event time can be. One phone that stands in the year 2099
//! would otherwise make all that follows late.

use arrow::compute::kernels::cast_utils::string_to_datetime;
use arrow::datatypes::DataType;
use chrono::Utc;
use tidemill_core::{EventTime, EventTimes};
use tidemill_runtime::time_zone::TimeZone;

use crate::plan::names_its_zone;

pub(crate) const MAX_AHEAD: &str = "tidemill.watermark.max-ahead";

/// The last moment that a row can have: rows of files have no time of their append to measure from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MaxAhead {
    /// What a clock shows, in milliseconds as if it were UTC.
    Local(i64),
    /// Milliseconds since the Unix epoch.
    Instant(i64),
}

impl MaxAhead {
    /// Reads a moment as `CAST(... AS TIMESTAMP)` does; one that says its offset from UTC is an instant.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let ms = string_to_datetime(&Utc, text).ok()?.timestamp_millis();
        Some(if names_its_zone(text) { Self::Instant(ms) } else { Self::Local(ms) })
    }

    /// The times that rows can have in a column of this type.
    pub(crate) fn range(self, time: &DataType, zone: TimeZone) -> EventTimes {
        let has_zone = matches!(time, DataType::Timestamp(_, Some(_)));
        EventTimes::up_to(EventTime(match self {
            Self::Local(ms) if has_zone => zone.instant_ms(ms),
            Self::Instant(ms) if !has_zone => zone.local_ms(ms),
            Self::Local(ms) | Self::Instant(ms) => ms,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::TimeUnit;

    const NEW_YEAR_MS: i64 = 1_798_761_600_000;

    fn last_ms(text: &str, zone: Option<&str>) -> i64 {
        let berlin: TimeZone = "Europe/Berlin".parse().unwrap();
        let time = DataType::Timestamp(TimeUnit::Millisecond, zone.map(Into::into));
        let range = MaxAhead::parse(text).unwrap().range(&time, berlin);
        let hours = (-48..48).rev().map(|hour| NEW_YEAR_MS + hour * 3_600_000);
        hours.into_iter().find(|&ms| range.hold(ms)).unwrap()
    }

    #[test]
    fn a_moment_is_told_by_the_clock_of_the_column() {
        assert_eq!(last_ms("2027-01-01 00:00:00", None), NEW_YEAR_MS);
        assert_eq!(last_ms("2027-01-01", None), NEW_YEAR_MS);
        assert_eq!(last_ms("2027-01-01 00:00:00", Some("UTC")), NEW_YEAR_MS - 3_600_000);
        assert_eq!(last_ms("2027-01-01 00:00:00Z", Some("UTC")), NEW_YEAR_MS);
        assert_eq!(last_ms("2027-01-01 00:00:00Z", None), NEW_YEAR_MS + 3_600_000);
        assert_eq!(MaxAhead::parse("1 h"), None);
    }
}
