//! Dates and times: the moment of their row, or one that lies before it.
//!
//! Flink takes the machine's clock when it makes a row. Here the moment of row n is n / `rows-per-second` after the start
//! of the program, which is when it is due, so that reading the table twice gives the same rows. Without a time zone
//! they are in UTC.

use std::ops::Range;
use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use arrow::array::{ArrayRef, Int64Array, TimestampMillisecondArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use tidemill_core::Result;
use tidemill_runtime::connector::duration;

use super::super::fields::Field;
use super::Values;
use crate::synthetic::Sequence;

/// The moment of the first row, in milliseconds.
static START: LazyLock<i64> = LazyLock::new(|| {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
});

const MILLISECONDS_PER_DAY: i64 = 86_400_000;

/// Says when a position is.
#[derive(Debug, Clone, Copy)]
pub(in crate::datagen) struct Clock {
    rows_per_second: u64,
    /// How many positions a row has.
    per_row: u64,
}

impl Clock {
    /// Of a column whose rows come at this pace.
    pub(in crate::datagen) fn new(rows_per_second: u64) -> Self {
        Self { rows_per_second, per_row: 1 }
    }

    /// Of what stands in an array of `length` elements.
    pub(super) fn in_array(self, length: usize) -> Self {
        Self { per_row: self.per_row.saturating_mul(length as u64), ..self }
    }

    /// In milliseconds since 1970 (UTC).
    fn at(self, position: u64) -> i64 {
        let row = position / self.per_row;
        let (seconds, rest) = (row / self.rows_per_second, row % self.rows_per_second);
        let milliseconds = u128::from(seconds) * 1000 + u128::from(rest) * 1000 / u128::from(self.rows_per_second);
        START.saturating_add(i64::try_from(milliseconds).unwrap_or(i64::MAX))
    }
}

pub(super) fn random(
    data_type: &DataType,
    field: &Field<'_>,
    draws: Sequence,
    clock: Clock,
) -> Result<Box<dyn Values>> {
    let max_past = match data_type {
        DataType::Timestamp(..) => {
            let past = |text: &str| duration(text).and_then(|past: Duration| u64::try_from(past.as_millis()).ok());
            field.get("max-past", past, "a duration, such as '1 h'")?.unwrap_or(0)
        }
        _ => 0,
    };
    Ok(Box::new(Times { data_type: data_type.clone(), max_past, draws, clock }))
}

struct Times {
    data_type: DataType,
    /// In milliseconds.
    max_past: u64,
    draws: Sequence,
    clock: Clock,
}

impl Values for Times {
    fn generate(&self, positions: Range<u64>) -> Result<ArrayRef, ArrowError> {
        let time = |position| {
            // Flink's greatest past is 'max-past' itself.
            let past = self.draws.at(position).below(self.max_past.saturating_add(1));
            self.clock.at(position).saturating_sub_unsigned(past)
        };
        let times = positions.map(time);
        match &self.data_type {
            DataType::Time32(_) => {
                let in_day = Int64Array::from_iter_values(times.map(|time| time.rem_euclid(MILLISECONDS_PER_DAY)));
                cast(&cast(&in_day, &DataType::Int32)?, &self.data_type)
            }
            DataType::Timestamp(_, zone) => {
                let instants = TimestampMillisecondArray::from_iter_values(times).with_timezone_opt(zone.clone());
                cast(&instants, &self.data_type)
            }
            _ => cast(&TimestampMillisecondArray::from_iter_values(times), &self.data_type),
        }
    }

    fn bytes(&self) -> usize {
        8
    }
}
