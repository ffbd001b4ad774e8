//! Each row's watermark: the maximum of the `WATERMARK FOR` expression over the rows before it.

use arrow::array::{Array, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::TimestampMillisecondType;
use tidemill_core::{Result, Watermark};

use crate::graph::EventTimeSpec;
use crate::operator::evaluate;

/// The times and the watermark expression of a batch.
pub(super) struct Times {
    /// Each row's event time; `i64::MIN` where it has none: the row will be late, and tell its watermark.
    times: Vec<i64>,
    /// What each row says of the watermark; `i64::MIN` where it says nothing.
    claims: Vec<i64>,
}

impl Times {
    pub(super) fn of(spec: &EventTimeSpec, rows: &RecordBatch) -> Result<Self> {
        let times = rows.column(spec.column).as_primitive::<TimestampMillisecondType>();
        let claims = evaluate(&spec.watermark, rows)?;
        let claims = claims.as_primitive::<TimestampMillisecondType>();
        let usable = |i: usize| times.is_valid(i) && spec.range.hold(times.value(i));
        let claim = |i: usize| if usable(i) && claims.is_valid(i) { claims.value(i) } else { i64::MIN };
        Ok(Self {
            times: (0..times.len()).map(|i| if usable(i) { times.value(i) } else { i64::MIN }).collect(),
            claims: (0..times.len()).map(claim).collect(),
        })
    }

    /// The watermark after these rows, apart from what came before them.
    pub(super) fn claimed(&self) -> Watermark {
        Watermark(self.claims.iter().copied().max().unwrap_or(i64::MIN))
    }

    /// Each row's watermark, if one has reached its row's event time (a row that is ahead of its
    /// watermark is in time for every aligned window), if a row has none, or if somebody asked for all.
    pub(super) fn row_watermarks(&self, before: Watermark, all: bool) -> Option<Int64Array> {
        let mut watermark = before.0;
        let mut behind = all;
        let mut row_watermarks = Vec::with_capacity(self.times.len());
        for (&time, &claim) in self.times.iter().zip(&self.claims) {
            row_watermarks.push(watermark);
            behind |= watermark >= time;
            watermark = watermark.max(claim);
        }
        behind.then(|| row_watermarks.into())
    }
}
