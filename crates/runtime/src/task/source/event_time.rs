//! Each row's watermark: the maximum of the `WATERMARK FOR` expression over the rows before it.

use arrow::array::{Array, AsArray, Int64Array, RecordBatch};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::TimestampMillisecondType;
use tidemill_core::{Result, Watermark};

use crate::graph::{ElementTimes, EventTimeSpec};
use crate::operator::evaluate;

/// The times and the watermark expression of a batch.
pub(super) struct Times {
    /// Each row's event time; `i64::MIN` where it has none: the row will be late, and tell its watermark.
    times: ScalarBuffer<i64>,
    /// What each row says of the watermark; `i64::MIN` where it says nothing.
    claims: ScalarBuffer<i64>,
}

impl Times {
    pub(super) fn of(spec: &EventTimeSpec, rows: &RecordBatch) -> Result<Self> {
        let times = rows.column(spec.column).as_primitive::<TimestampMillisecondType>();
        let claims = evaluate(&spec.watermark, rows)?;
        let claims = claims.as_primitive::<TimestampMillisecondType>();
        if times.null_count() == 0 && claims.null_count() == 0 && spec.range.hold_all(times.values()) {
            // As nearly always: there is nothing to leave out, and the columns are shared.
            return Ok(Self { times: times.values().clone(), claims: claims.values().clone() });
        }
        let usable = |i: usize| times.is_valid(i) && spec.range.hold(times.value(i));
        let claim = |i: usize| if usable(i) && claims.is_valid(i) { claims.value(i) } else { i64::MIN };
        Ok(Self {
            times: (0..times.len()).map(|i| if usable(i) { times.value(i) } else { i64::MIN }).collect(),
            claims: (0..times.len()).map(claim).collect(),
        })
    }

    pub(super) fn of_elements(times: ElementTimes) -> Self {
        Self { times: times.times.into(), claims: times.claims.into() }
    }

    /// The watermark after these rows, apart from what came before them.
    pub(super) fn claimed(&self) -> Watermark {
        Watermark(self.claims.iter().copied().fold(i64::MIN, i64::max))
    }

    /// Each row's watermark, if one has reached its row's event time (a row that is ahead of its
    /// watermark is in time for every aligned window), if a row has none, or if somebody asked for all.
    pub(super) fn row_watermarks(&self, before: Watermark, all: bool) -> Option<Int64Array> {
        if !all && !self.any_behind(before) {
            return None;
        }
        let mut watermark = before.0;
        let own = |&claim: &i64| {
            let own = watermark;
            watermark = watermark.max(claim);
            own
        };
        Some(Int64Array::from_iter_values(self.claims.iter().map(own)))
    }

    /// Whether the watermark of a row has reached its event time.
    fn any_behind(&self, before: Watermark) -> bool {
        let mut watermark = before.0;
        let mut behind = false;
        for (&time, &claim) in self.times.iter().zip(self.claims.iter()) {
            behind |= watermark >= time;
            watermark = watermark.max(claim);
        }
        behind
    }
}
