//! Runs a function over the elements and timers of one subtask.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::{EventBatch, EventTime, Result, Watermark};
use tidemill_runtime::clock::present_ms;
use tidemill_runtime::operator::{Dealer, Operator, Output, Port};
use tidemill_state::{State, StateChanges};

use super::{Context, KeyedProcessFunction, Life, Made, Make, Timer};
use crate::collector::Collector;
use crate::guard::in_step;
use crate::keyed_stream::KeyOf;
use crate::output_tag::{SideOutputs, Sides};
use crate::state_backend::StateBackend;
use crate::timed::{Batch, Element, Timed};

/// What to run, and on what.
pub(crate) struct ProcessSpec<K, T, F> {
    pub(crate) name: Arc<str>,
    /// What the function does, as far as a state depends on it; nothing if only the program knows.
    pub(crate) words: String,
    pub(crate) key: KeyOf<T, K>,
    pub(crate) make: Make<F>,
    pub(crate) side_outputs: SideOutputs,
    pub(crate) backend: StateBackend,
    /// Elements come in the order of one partition, so that their watermarks are a clock.
    pub(crate) one_partition: bool,
    pub(crate) pace: Pace,
}

/// How a step's clock and its output stand to event time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pace {
    /// An element may still touch what ends at its time, as in sessions: where elements come in the order of their times, which
    /// is known up to a millisecond before each, the clock stands a millisecond further behind.
    pub(crate) touching: bool,
    /// What the step emits may be so much older than the watermark that has made it, in milliseconds.
    pub(crate) held_back_ms: i64,
}

impl<K, T, F> Clone for ProcessSpec<K, T, F> {
    fn clone(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            words: self.words.clone(),
            key: self.key.clone(),
            make: Arc::clone(&self.make),
            side_outputs: self.side_outputs.clone(),
            backend: self.backend.clone(),
            one_partition: self.one_partition,
            pace: self.pace,
        }
    }
}

pub(crate) struct ProcessOperator<K, T, F: KeyedProcessFunction<K, T>> {
    name: Arc<str>,
    words: String,
    key: KeyOf<T, K>,
    one_partition: bool,
    pace: Pace,
    /// How far the clock stands behind what is known, in milliseconds.
    slack_ms: i64,
    life: Life<F>,
    run: Run<F::Out>,
}

/// What is under way.
pub(crate) struct Run<Out> {
    pub(crate) watermark: Watermark,
    pub(crate) sides: Sides,
    pub(crate) out: Collector<Out>,
}

impl<K, T, F> ProcessOperator<K, T, F>
where
    K: Serialize + DeserializeOwned + 'static,
    T: Element,
    F: KeyedProcessFunction<K, T>,
{
    pub(crate) fn new(spec: ProcessSpec<K, T, F>) -> Self {
        let ProcessSpec { name, words, key, make, side_outputs, backend, one_partition, pace } = spec;
        let life = Life::new(Arc::clone(&name), make, backend);
        let run = Run { watermark: Watermark::MIN, sides: side_outputs.open(), out: Collector::default() };
        Self { name, words, key, one_partition, pace, slack_ms: 0, life, run }
    }

    /// The function, which is made if it is not yet.
    pub(crate) fn function(&mut self) -> Result<&mut F> {
        Ok(&mut self.life.made()?.function)
    }

    /// Does work of the function's, and emits what comes of it.
    pub(crate) fn work(
        &mut self,
        out: &mut Output,
        work: impl FnOnce(&mut Made<F>, &mut Run<F::Out>, &KeyOf<T, K>) -> Result<()>,
    ) -> Result<()> {
        let Self { name, key, life, run, .. } = self;
        let made = life.made()?;
        made.state.set_processing_time(present_ms());
        in_step(name, || work(made, run, key))?;
        made.state.end_batch()?;
        run.out.emit_to(Port::MAIN, out);
        run.sides.emit(out);
        Ok(())
    }
}

impl<Out: Element> Run<Out> {
    fn element<K: Serialize + DeserializeOwned, T, F: KeyedProcessFunction<K, T, Out = Out>>(
        &mut self,
        made: &mut Made<F>,
        key: &K,
        value: T,
        (time, row_watermark): (i64, i64),
    ) -> Result<()> {
        let Made { state, function } = made;
        state.set_current_key(key)?;
        let known = (time != i64::MIN).then_some(EventTime(time));
        state.set_element_time(known, Watermark(row_watermark));
        self.out.at(time, row_watermark);
        let (sides, watermark) = (&mut self.sides, self.watermark);
        let mut context = Context { state, sides, timer: None, time, row_watermark, watermark };
        function.process_element(key, value, &mut context, &mut self.out)?;
        // What a watermark has passed already does not wait for the next: that would come sooner or later with each run.
        self.fire::<K, T, F>(made, row_watermark)
    }

    /// Event time has come so far: the timers fire that it has reached.
    fn advance<K: DeserializeOwned, T, F: KeyedProcessFunction<K, T, Out = Out>>(
        &mut self,
        made: &mut Made<F>,
        watermark: Watermark,
    ) -> Result<()> {
        self.watermark = watermark;
        made.state.advance_watermark(watermark);
        self.fire::<K, T, F>(made, i64::MIN)
    }

    /// `row_watermark`: of the element that has set timers for times that are past. What they emit is as late as that is.
    fn fire<K: DeserializeOwned, T, F: KeyedProcessFunction<K, T, Out = Out>>(
        &mut self,
        made: &mut Made<F>,
        row_watermark: i64,
    ) -> Result<()> {
        while let Some(time) = made.state.next_event_time_timer()? {
            self.timer::<K, T, F>(made, Timer::EventTime(time), (time.0, row_watermark))?;
        }
        Ok(())
    }

    fn timer<K: DeserializeOwned, T, F: KeyedProcessFunction<K, T, Out = Out>>(
        &mut self,
        made: &mut Made<F>,
        timer: Timer,
        (time, row_watermark): (i64, i64),
    ) -> Result<()> {
        let Made { state, function } = made;
        let key: K = state.current_key()?;
        self.out.at(time, row_watermark);
        let (sides, watermark) = (&mut self.sides, self.watermark);
        let mut context = Context { state, sides, timer: Some(timer), time, row_watermark, watermark };
        function.on_timer(&key, timer, &mut context, &mut self.out)
    }
}

/// So many milliseconds less, but at the end of the input.
pub(crate) fn behind(watermark: Watermark, ms: i64) -> Watermark {
    match watermark {
        Watermark::MAX => watermark,
        Watermark(time) => Watermark(time.saturating_sub(ms)),
    }
}

impl<K, T, F> Operator for ProcessOperator<K, T, F>
where
    K: Serialize + DeserializeOwned + 'static,
    T: Element,
    F: KeyedProcessFunction<K, T>,
{
    fn describe(&self) -> String {
        let colon = if self.words.is_empty() { "" } else { ": " };
        format!("process '{}'{colon}{}", self.name, self.words)
    }

    fn in_order(&mut self) {
        self.one_partition = true;
        self.slack_ms = i64::from(self.pace.touching);
    }

    fn reached(&self, watermark: Watermark) -> Watermark {
        behind(watermark, self.pace.held_back_ms.saturating_add(self.slack_ms))
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        let Batch { elements: Timed { values, times }, watermarks } = Batch::<T>::of(batch)?;
        let (one_partition, slack_ms) = (self.one_partition, self.slack_ms);
        self.work(out, |made, run, key| {
            let keys: Vec<K> = values.iter().map(|value| (key.0)(value)).collect();
            made.state.prefetch(&keys)?;
            for (index, (value, key)) in values.into_iter().zip(keys).enumerate() {
                let time = times.get(index).copied().unwrap_or(i64::MIN);
                let row_watermark = watermarks.get(index).copied().unwrap_or(i64::MIN);
                let clock = behind(Watermark(row_watermark), slack_ms);
                if one_partition && clock > run.watermark {
                    run.advance::<K, T, F>(made, clock)?;
                }
                run.element(made, &key, value, (time, row_watermark))?;
            }
            Ok(())
        })
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<()> {
        let watermark = behind(watermark, self.slack_ms);
        self.work(out, |made, run, _| {
            if watermark > run.watermark {
                run.advance::<K, T, F>(made, watermark)?;
            }
            Ok(())
        })
    }

    fn timer(&self) -> Option<Instant> {
        let due_ms = self.life.now()?.state.next_processing_time()?;
        let wait_ms = due_ms.saturating_sub(present_ms()).max(0);
        // One that is further ahead than a clock of this machine can tell is asked for again on the way.
        Instant::now().checked_add(Duration::from_millis(wait_ms.unsigned_abs().min(86_400_000)))
    }

    fn on_timer(&mut self, _: Instant, out: &mut Output) -> Result<()> {
        self.work(out, |made, run, _| {
            while let Some(time_ms) = made.state.next_processing_time_timer()? {
                run.timer::<K, T, F>(made, Timer::ProcessingTime(time_ms), (i64::MIN, i64::MIN))?;
                // It may have set timers for event times that are past.
                run.fire::<K, T, F>(made, i64::MIN)?;
            }
            Ok(())
        })
    }

    fn snapshot(&mut self, changes: &mut StateChanges) -> Result<()> {
        self.life.snapshot(changes)
    }

    fn restore(&mut self, state: State) -> Result<()> {
        self.life.restore(state)
    }

    fn deal(&self, state: State, dealer: &Dealer) -> Result<Vec<State>> {
        Life::<F>::deal(state, dealer)
    }

    fn restore_all(&mut self, states: Vec<State>) -> Result<()> {
        self.life.restore_all(states)
    }
}
