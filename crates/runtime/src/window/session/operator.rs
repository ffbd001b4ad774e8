//! The operator: judges rows when their turn comes, and emits a session when it is complete; before, and
//! again, where that is asked for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, RecordBatch, RecordBatchOptions, TimestampMillisecondArray,
};
use arrow::compute::{filter_record_batch, not};
use arrow::datatypes::{DataType, SchemaRef, TimeUnit, TimestampMillisecondType, UInt32Type};
use tidemill_core::{Error, EventBatch, Result, Watermark};
use tidemill_state::{State, StateChanges};

use super::buffer::Buffer;
use super::pending::{Pending, Ready};
use super::sessions::{SessionId, Sessions, Verdict};
use super::told::Told;
use crate::aggregate::Aggregation;
use crate::metrics::{LateReason, WindowMetrics, add};
use crate::operator::hands::Hands;
use crate::operator::{Dealer, Operator, Output, Port};
use crate::time_zone::TimeZone;
use crate::window::aggregate::{WindowAggregate, emit_in_pieces};
use crate::window::changes::changes;
use crate::window::late::Missed;
use crate::window::pace::Pace;
use crate::window::spec::telling_words;
use crate::window::{LateOutput, TimeColumn, Window};

/// What a session aggregate computes.
#[derive(Debug, Clone)]
pub struct SessionSpec {
    /// The event time, in the input.
    pub time: TimeColumn,
    /// The columns of the key, in the input; none makes one session of all.
    pub key_columns: Vec<usize>,
    /// How long a pause ends a session.
    pub gap_ms: i64,
    /// On whose clocks its bounds are told. The gap itself is a span of real time.
    pub zone: TimeZone,
    /// The groups within a session (its key among them) and the aggregates.
    pub aggregation: Aggregation,
    /// Whether each row comes before the watermark has reached its time, as results of windows do, and rows of
    /// processing time.
    pub never_late: bool,
    /// How long after its end a session takes rows.
    pub lateness_ms: i64,
    /// How often, in processing time, an open session tells provisional results; `None`: never.
    pub early_fire: Option<Duration>,
    /// How often, in processing time, a session that has told its result tells what later rows change;
    /// `None`: at the next watermark.
    pub late_fire: Option<Duration>,
    /// Where late rows go, if somebody wants them.
    pub late: Option<LateOutput>,
}

impl SessionSpec {
    fn tells_more_than_once(&self) -> bool {
        self.lateness_ms > 0 || self.early_fire.is_some()
    }
}

/// Groups a key's rows by session. A session that tells more than once emits what has changed: where a
/// row joins two, or moves a bound, the old results leave as `-D`.
///
/// Its input has every row's watermark and identity, if it is not [`SessionSpec::never_late`]. Output columns: as
/// [`WindowAggregate`]'s.
pub struct SessionAggregate {
    // Configuration.
    pub(super) spec: SessionSpec,
    time_zone: Option<Arc<str>>,
    pub(super) schema: SchemaRef,
    metrics: Arc<WindowMetrics>,
    // State.
    pub(super) pending: Pending,
    pub(super) sessions: Sessions,
    pub(super) buffer: Buffer,
    pub(super) told: Told,
    // Processing time: never part of a snapshot.
    early: Option<Pace>,
    late: Option<Pace>,
}

impl SessionAggregate {
    /// `input` are the columns of the rows.
    pub fn new(spec: SessionSpec, input: &SchemaRef, metrics: Arc<WindowMetrics>) -> Result<Self> {
        let time = input.field(spec.time.index).data_type();
        let DataType::Timestamp(TimeUnit::Millisecond, time_zone) = time else {
            return Err(Error::internal(format!("event time has the type {time}")));
        };
        let key = spec.key_columns.iter().map(|&column| Arc::clone(&input.fields()[column])).collect();
        Ok(Self {
            time_zone: time_zone.clone(),
            schema: WindowAggregate::output_schema(&spec.aggregation, time),
            metrics,
            pending: Pending::default(),
            sessions: Sessions::new(spec.gap_ms, spec.lateness_ms, spec.tells_more_than_once(), key)?,
            told: Told::default(),
            early: spec.early_fire.map(Pace::new),
            late: spec.late_fire.map(Pace::new),
            buffer: Buffer::new(spec.aggregation.clone(), Arc::clone(input))?,
            spec,
        })
    }

    /// Takes out the rows that have no usable time: they are in no session, and need not wait.
    fn without_event_time(&self, batch: EventBatch, out: &mut Output) -> Result<EventBatch> {
        let times = batch.rows.column(self.spec.time.index).as_primitive::<TimestampMillisecondType>();
        let usable = |row: usize| times.is_valid(row) && self.spec.time.range.hold(times.value(row));
        let mask: BooleanArray = (0..times.len()).map(|row| Some(usable(row))).collect();
        if mask.true_count() == times.len() {
            return Ok(batch);
        }
        let mut missed = Missed::default();
        for row in (0..times.len()).filter(|&row| !usable(row)) {
            let reason = LateReason::of_unusable(times.is_valid(row).then(|| times.value(row)));
            self.metrics.count_unusable(reason);
            missed.push(row, None, reason);
        }
        if let Some(late) = &self.spec.late {
            out.emit_to(Port::LATE, late.batch(&batch, missed)?);
        }
        batch.filter(&mask)
    }

    fn judge(&mut self, ready: Ready, out: &mut Output) -> Result<()> {
        let Ready { rows, watermarks, batches, origins } = ready;
        let times = rows.column(self.spec.time.index).as_primitive::<TimestampMillisecondType>();
        let key: Vec<ArrayRef> = self.spec.key_columns.iter().map(|&c| Arc::clone(rows.column(c))).collect();
        let verdicts = self.sessions.assign(&key, times.values(), &watermarks)?;
        let late: BooleanArray = verdicts.iter().map(|v| Some(matches!(v, Verdict::Late(..)))).collect();
        let late_rows = late.true_count();
        if late_rows == 0 {
            let ids = verdicts.into_iter().filter_map(session).collect();
            self.buffer.push(ids, rows);
            return Ok(());
        }
        add(&self.metrics.late_rows, late_rows);
        for (verdict, watermark) in verdicts.iter().zip(&watermarks) {
            if let Verdict::Late(window, _) = verdict {
                self.metrics.missing_delay.record(watermark - (window.end_ms - 1 + self.spec.lateness_ms));
            }
        }
        self.emit_late(&verdicts, &batches, &origins, out)?;
        let ids = verdicts.into_iter().filter_map(session).collect();
        self.buffer.push(ids, filter_record_batch(&rows, &not(&late)?)?);
        Ok(())
    }

    fn emit_late(
        &self,
        verdicts: &[Verdict],
        batches: &[EventBatch],
        origins: &[(u32, u32)],
        out: &mut Output,
    ) -> Result<()> {
        let Some(late) = &self.spec.late else { return Ok(()) };
        let mut missed: Vec<Missed> = batches.iter().map(|_| Missed::default()).collect();
        for (verdict, (batch, row)) in verdicts.iter().zip(origins) {
            if let Verdict::Late(window, reason) = verdict {
                missed[*batch as usize].push(*row as usize, Some(window.told_in(self.spec.zone)), *reason);
            }
        }
        for (batch, missed) in batches.iter().zip(missed) {
            if !missed.is_empty() {
                out.emit_to(Port::LATE, late.batch(batch, missed)?);
            }
        }
        Ok(())
    }

    /// Emits the results of sessions, or what has changed in them.
    fn tell(&mut self, mut ids: Vec<SessionId>, out: &mut Output) -> Result<()> {
        ids.sort_unstable_by_key(|&id| (self.sessions.window(id).end_ms, id));
        ids.dedup();
        if ids.is_empty() {
            return Ok(());
        }
        let (ids_of_rows, rows) = self.results(&ids)?;
        if !self.spec.tells_more_than_once() {
            emit_in_pieces(&EventBatch::append(rows), out);
            return Ok(());
        }
        let old = self.told.take(&self.sessions, &self.schema, &ids)?;
        match old.num_rows() {
            0 => emit_in_pieces(&EventBatch::append(rows.clone()), out),
            _ => emit_in_pieces(&changes(&old, &rows, 3 + self.spec.aggregation.groups.len())?, out),
        }
        self.told.push(ids_of_rows, rows);
        Ok(())
    }

    /// The sessions' results as they are now, and whose each row is.
    fn results(&mut self, ids: &[SessionId]) -> Result<(Vec<SessionId>, RecordBatch)> {
        let results = self.buffer.results(&self.sessions, ids)?;
        let (ids, columns) = (results[0].as_primitive::<UInt32Type>(), &results[1..]);
        let windows: Vec<Window> = ids.values().iter().map(|&id| self.sessions.window(id)).collect();
        let zone = self.spec.zone;
        let bound = |of: &dyn Fn(&Window) -> i64| TimestampMillisecondArray::from_iter_values(windows.iter().map(of));
        let time = bound(&|w| w.end_ms - 1).with_timezone_opt(self.time_zone.clone());
        let mut output: Vec<ArrayRef> = vec![
            Arc::new(bound(&|w| w.told_in(zone).start_ms)),
            Arc::new(bound(&|w| w.told_in(zone).end_ms)),
            Arc::new(time),
        ];
        output.extend_from_slice(columns);
        let options = RecordBatchOptions::new().with_row_count(Some(windows.len()));
        let rows = RecordBatch::try_new_with_options(Arc::clone(&self.schema), output, &options)?;
        Ok((ids.values().to_vec(), rows))
    }

    /// Rows have joined sessions: those that tell at a pace will.
    pub(super) fn arm(&mut self) {
        let now = Instant::now();
        self.early.iter_mut().for_each(|pace| pace.arm(now));
        self.late.iter_mut().for_each(|pace| pace.arm(now));
    }
}

fn session(verdict: Verdict) -> Option<SessionId> {
    match verdict {
        Verdict::In(id) => Some(id),
        Verdict::Late(..) => None,
    }
}

impl Operator for SessionAggregate {
    fn describe(&self) -> String {
        format!("sessions with a gap of {} ms by {}", self.spec.gap_ms, self.spec.aggregation)
    }

    fn state_words(&self) -> String {
        let SessionSpec { lateness_ms, early_fire, late_fire, .. } = self.spec;
        self.describe() + &telling_words(lateness_ms, early_fire.is_some(), late_fire.is_some())
    }

    fn needs_source(&self) -> bool {
        self.spec.late.is_some()
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        add(&self.metrics.rows, batch.num_rows());
        let batch = self.without_event_time(batch, out)?;
        match batch.num_rows() {
            0 => Ok(()),
            _ if self.spec.never_late => {
                self.arm();
                self.judge(Ready::at_once(batch), out)
            }
            _ => {
                self.pending.push(batch);
                Ok(())
            }
        }
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<()> {
        if let Some(ready) = self.pending.ready(watermark)? {
            self.judge(ready, out)?;
            self.arm();
        }
        let watermark = self.reached(watermark);
        let mut ids = self.sessions.close(watermark);
        let at_once = self.late.is_none();
        ids.extend(self.sessions.take_changed(|sessions, id| match sessions.is_live(id) {
            true => at_once && !sessions.is_open(id),
            false => true,
        }));
        self.tell(ids, out)?;
        if self.buffer.is_full() {
            self.buffer.compact(&self.sessions)?;
            self.told.forget(&self.sessions)?;
            self.sessions.forget(watermark)?;
        }
        Ok(())
    }

    /// Such a row of time t comes while the watermark is below t, and t is one session with what ends at t: that
    /// waits until the watermark is t, where a table's rows would be late from t - 1 ms on.
    fn reached(&self, watermark: Watermark) -> Watermark {
        match watermark {
            Watermark::MAX => watermark,
            Watermark(ms) if self.spec.never_late => Watermark(ms.saturating_sub(1)),
            Watermark(_) => watermark,
        }
    }

    fn timer(&self) -> Option<Instant> {
        [&self.early, &self.late].into_iter().flatten().filter_map(Pace::due).min()
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) -> Result<()> {
        let early = self.early.as_mut().is_some_and(|pace| pace.take(now));
        let late = self.late.as_mut().is_some_and(|pace| pace.take(now));
        let ids = self.sessions.take_changed(|sessions, id| if sessions.is_open(id) { early } else { late });
        self.tell(ids, out)
    }

    fn snapshot(&mut self, changes: &mut StateChanges) -> Result<()> {
        self.save(changes)
    }

    fn restore(&mut self, state: State) -> Result<()> {
        self.load(state)
    }

    fn deal(&self, state: State, dealer: &Dealer) -> Result<Vec<State>> {
        Hands::deal(state, dealer, !self.spec.key_columns.is_empty(), |state, hands| self.deal_sessions(state, hands))
    }

    fn restore_all(&mut self, states: Vec<State>) -> Result<()> {
        self.load_anew(states)
    }
}

#[cfg(test)]
mod tests;
