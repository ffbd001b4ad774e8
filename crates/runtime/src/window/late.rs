//! The late output: rows that missed a window, as the source gave them, with what they missed.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringViewArray, TimestampMillisecondArray, UInt32Array};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use tidemill_core::{Error, EventBatch, Result};

use super::Window;
use crate::metrics::LateReason;

/// The columns that a late row has beside those of its source row.
///
/// `window_start` and `window_end` are local times, and NULL where the row is in no window;
/// `row_watermark` is the row's own watermark; `source_partition` and `source_offset` are its identity.
pub const LATE_COLUMNS: [&str; 6] =
    ["window_start", "window_end", "late_reason", "row_watermark", "source_partition", "source_offset"];

/// The schema of late rows over a source with these columns. A source column hides a column of
/// [`LATE_COLUMNS`] that has its name.
#[must_use]
pub fn late_schema(source: &Schema, time: &DataType) -> SchemaRef {
    let mut fields: Vec<FieldRef> =
        source.fields().iter().map(|f| Arc::new(f.as_ref().clone().with_nullable(true))).collect();
    for name in LATE_COLUMNS {
        let data_type = match name {
            "late_reason" | "source_partition" => DataType::Utf8View,
            "source_offset" => DataType::Int64,
            "row_watermark" => time.clone(),
            _ => DataType::Timestamp(TimeUnit::Millisecond, None),
        };
        if source.column_with_name(name).is_none() {
            fields.push(Arc::new(Field::new(name, data_type, true)));
        }
    }
    Arc::new(Schema::new(fields))
}

/// Makes late rows, in the columns of [`late_schema`] over their source.
#[derive(Debug, Clone)]
pub struct LateOutput {
    time: DataType,
}

/// The rows of a batch that missed windows: one entry a row and missed window.
#[derive(Debug, Default)]
pub(super) struct Missed {
    rows: Vec<u32>,
    windows: Vec<Option<Window>>,
    reasons: Vec<LateReason>,
}

impl Missed {
    pub(super) fn push(&mut self, row: usize, window: Option<Window>, reason: LateReason) {
        self.rows.push(u32::try_from(row).expect("a batch has fewer than 2^32 rows"));
        self.windows.push(window);
        self.reasons.push(reason);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl LateOutput {
    /// Late rows whose event time has the type `time`.
    #[must_use]
    pub fn new(time: DataType) -> Self {
        Self { time }
    }

    pub(super) fn batch(&self, batch: &EventBatch, missed: Missed) -> Result<EventBatch> {
        let late = batch.take(&UInt32Array::from(missed.rows))?;
        let lineage = late
            .lineage
            .ok_or_else(|| Error::internal("a window with a late output reads rows that have no lineage"))?;
        let source = lineage.source_rows()?;
        let count = source.num_rows();
        let schema = late_schema(source.schema_ref(), &self.time);
        let mut columns = source.columns().to_vec();
        for field in &schema.fields()[columns.len()..] {
            columns.push(match field.name().as_str() {
                "window_start" => bounds(missed.windows.iter().map(|w| w.map(|w| w.start_ms))),
                "window_end" => bounds(missed.windows.iter().map(|w| w.map(|w| w.end_ms))),
                "row_watermark" => self.instants(match &late.watermarks {
                    Some(watermarks) => watermarks.iter().map(|w| w.filter(|&w| w != i64::MIN)).collect(),
                    None => vec![None; count],
                }),
                "late_reason" => words(missed.reasons.iter().map(|reason| reason.word())),
                "source_partition" => words(std::iter::repeat_n(&*lineage.source.partition, count)),
                "source_offset" => Arc::new(lineage.offsets()?),
                other => return Err(Error::internal(format!("late rows have no column {other}"))),
            });
        }
        Ok(EventBatch::append(RecordBatch::try_new(schema, columns)?))
    }

    fn instants(&self, times: Vec<Option<i64>>) -> ArrayRef {
        Arc::new(TimestampMillisecondArray::from_iter(times).with_data_type(self.time.clone()))
    }
}

fn bounds(times: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(TimestampMillisecondArray::from_iter(times))
}

fn words<'a>(words: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringViewArray::from_iter_values(words))
}
