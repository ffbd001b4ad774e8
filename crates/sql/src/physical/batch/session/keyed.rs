//! The rows of one partition: numbered by key as they come, and put in the order of their sessions when all are there.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, TimestampMillisecondArray, UInt32Array};
use arrow::compute::{concat_batches, filter_record_batch, take_arrays};
use arrow::datatypes::{DataType, Int64Type, Schema, SchemaRef, TimestampMillisecondType};
use datafusion::common::exec_datafusion_err;
use datafusion::error::Result;
use datafusion::physical_plan::aggregates::group_values::{GroupValues, new_group_values};
use datafusion::physical_plan::aggregates::order::GroupOrdering;
use tidemill_runtime::window::Window;

use super::SessionColumns;

/// Rows with the number of their key.
pub(super) struct KeyedRows {
    columns: SessionColumns,
    /// The zone of the event time's type.
    time_zone: Option<Arc<str>>,
    kept_schema: SchemaRef,
    /// `None` where all rows have one key.
    keys: Option<Box<dyn GroupValues>>,
    batches: Vec<RecordBatch>,
    /// By row.
    key_numbers: Vec<u32>,
    times: Vec<i64>,
    /// Scratch space.
    numbers: Vec<usize>,
}

impl KeyedRows {
    pub(super) fn new(columns: SessionColumns, input: &SchemaRef) -> Result<Self> {
        let key = Schema::new(columns.key.iter().map(|&k| Arc::clone(&input.fields()[k])).collect::<Vec<_>>());
        let keys = match key.fields().is_empty() {
            true => None,
            false => Some(new_group_values(Arc::new(key), &GroupOrdering::None)?),
        };
        let time_zone = match input.field(columns.time).data_type() {
            DataType::Timestamp(_, zone) => zone.clone(),
            _ => None,
        };
        let kept_schema = Arc::new(input.project(&columns.kept)?);
        let (batches, key_numbers, times, numbers) = (vec![], vec![], vec![], vec![]);
        Ok(Self { columns, time_zone, kept_schema, keys, batches, key_numbers, times, numbers })
    }

    pub(super) fn push(&mut self, rows: &RecordBatch) -> Result<()> {
        let rows = self.usable(rows)?;
        let key: Vec<ArrayRef> = self.columns.key.iter().map(|&k| Arc::clone(rows.column(k))).collect();
        match &mut self.keys {
            Some(keys) => keys.intern(&key, &mut self.numbers)?,
            None => {
                self.numbers.clear();
                self.numbers.resize(rows.num_rows(), 0);
            }
        }
        // A number is at most that of the rows, and those are counted when they are put in order.
        self.key_numbers.extend(self.numbers.iter().map(|&number| number as u32));
        self.times.extend(rows.column(self.columns.time).as_primitive::<TimestampMillisecondType>().values());
        self.batches.push(rows);
        Ok(())
    }

    /// The rows again.
    pub(super) fn into_batches(self) -> Vec<RecordBatch> {
        self.batches
    }

    /// Rows that have a time and are not to be left out.
    fn usable(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        let times = rows.column(self.columns.time).as_primitive::<TimestampMillisecondType>();
        let excepted = |row: usize| {
            self.columns.except.as_ref().is_some_and(|(partition, offset, late)| {
                let partition = rows.column(*partition).as_string_view().value(row);
                late.contains_row(partition, rows.column(*offset).as_primitive::<Int64Type>().value(row))
            })
        };
        let usable = |row: usize| times.is_valid(row) && self.columns.range.hold(times.value(row)) && !excepted(row);
        let mask: BooleanArray = (0..rows.num_rows()).map(|row| Some(usable(row))).collect();
        if mask.true_count() == rows.num_rows() {
            return Ok(rows.clone());
        }
        Ok(filter_record_batch(rows, &mask)?)
    }

    /// All rows with the bounds of their sessions, in batches.
    pub(super) fn into_sessions(mut self, batch_rows: usize) -> Result<Sessions> {
        if u32::try_from(self.times.len()).is_err() {
            return Err(exec_datafusion_err!("one partition of a batch has more than 2^32 rows for its sessions"));
        }
        let keys = self.keys.take().map_or(1, |keys| keys.len());
        let order = order(keys, &self.key_numbers, &self.times);
        let sessions = sessions(&order, &self.key_numbers, &self.times, self.columns.gap_ms);
        let batches = std::mem::take(&mut self.batches);
        let kept: Vec<_> = batches.iter().map(|rows| rows.project(&self.columns.kept)).collect::<Result<_, _>>()?;
        drop(batches);
        let rows = concat_batches(&self.kept_schema, &kept)?;
        drop(kept);
        let open = (0, Window { start_ms: 0, end_ms: 0 });
        let Self { columns, time_zone, .. } = self;
        Ok(Sessions { columns, time_zone, rows, order, sessions: sessions.into_iter(), open, batch_rows, done: 0 })
    }
}

/// The rows by key, and those of a key by time: counted out, as keys are numbers from 0, and sorted within a key, where
/// rows are mostly in order as they came.
fn order(keys: usize, key_numbers: &[u32], times: &[i64]) -> Vec<u32> {
    let mut ends = vec![0; keys];
    key_numbers.iter().for_each(|&key| ends[key as usize] += 1);
    let mut start = 0;
    for end in &mut ends {
        start += std::mem::replace(end, start);
    }
    let mut order = vec![0; times.len()];
    for (row, &key) in (0u32..).zip(key_numbers) {
        let place = &mut ends[key as usize];
        order[*place] = row;
        *place += 1;
    }
    let mut start = 0;
    for end in ends {
        order[start..end].sort_by_key(|&row| times[row as usize]);
        start = end;
    }
    order
}

/// The sessions in the order of their rows: how many rows each has, and its window.
fn sessions(order: &[u32], key_numbers: &[u32], times: &[i64], gap_ms: i64) -> Vec<(usize, Window)> {
    let place = |row: u32| (key_numbers[row as usize], times[row as usize]);
    let together = |a: &u32, b: &u32| {
        let ((key, time_ms), (next_key, next_time_ms)) = (place(*a), place(*b));
        key == next_key && next_time_ms <= time_ms + gap_ms
    };
    // Of chunks none is empty.
    let window = |rows: &[u32]| {
        let (first, last) = (place(rows[0]), place(rows[rows.len() - 1]));
        (rows.len(), Window { start_ms: first.1, end_ms: last.1 + gap_ms })
    };
    order.chunk_by(together).map(window).collect()
}

/// Gives out the rows, session by session, in batches.
pub(super) struct Sessions {
    columns: SessionColumns,
    time_zone: Option<Arc<str>>,
    rows: RecordBatch,
    order: Vec<u32>,
    sessions: std::vec::IntoIter<(usize, Window)>,
    /// The session that is being given out, and how many of its rows are still to be.
    open: (usize, Window),
    batch_rows: usize,
    /// How many rows have been given out.
    done: usize,
}

impl Sessions {
    /// The windows of the next `rows` rows, each with how many of them are in it.
    fn windows(&mut self, rows: usize) -> Vec<(usize, Window)> {
        let (mut windows, mut missing) = (vec![], rows);
        while missing > 0 {
            if self.open.0 == 0 {
                let Some(next) = self.sessions.next() else { break };
                self.open = next;
            }
            let here = missing.min(self.open.0);
            windows.push((here, self.open.1));
            self.open.0 -= here;
            missing -= here;
        }
        windows
    }

    fn batch(&mut self, rows: usize) -> Result<RecordBatch> {
        let indices = UInt32Array::from(self.order[self.done..self.done + rows].to_vec());
        self.done += rows;
        let mut columns = take_arrays(self.rows.columns(), &indices, None)?;
        let windows = self.windows(rows);
        let zone = self.columns.zone;
        let bound = |of: &dyn Fn(&Window) -> i64| {
            let values = windows.iter().flat_map(|(rows, window)| std::iter::repeat_n(of(window), *rows));
            TimestampMillisecondArray::from_iter_values(values)
        };
        columns.push(Arc::new(bound(&|window| window.told_in(zone).start_ms)));
        columns.push(Arc::new(bound(&|window| window.told_in(zone).end_ms)));
        columns.push(Arc::new(bound(&|window| window.end_ms - 1).with_timezone_opt(self.time_zone.clone())));
        Ok(RecordBatch::try_new(Arc::clone(&self.columns.schema), columns)?)
    }
}

impl Iterator for Sessions {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let rows = self.batch_rows.min(self.order.len() - self.done);
        (rows > 0).then(|| self.batch(rows))
    }
}
