//! Windows that are the same for all keys, with one value a key and window, in memory: a table a window.
//!
//! ```text
//! window that ends at 10:01   a: 3, b: 1 ...    an element finds its window, and there its key
//! window that ends at 10:02   a: 1 ...          a window that is complete tells its table, in one go
//! ```

mod pane;
mod snapshot;

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::{EventBatch, Result, Watermark};
use tidemill_runtime::metrics::WindowMetrics;
use tidemill_runtime::operator::{Dealer, Operator, Output, Port};
use tidemill_state::keyed::{decode_key, encode_key};
use tidemill_state::{State, StateChanges};

use self::pane::Pane;
use self::snapshot::Panes;
use super::accumulate::Accumulate;
use super::operator::WindowOptions;
use super::{LateElement, TimeWindow, Windowed};
use crate::collector::Collector;
use crate::guard::in_step;
use crate::keyed_stream::KeyOf;
use crate::output_tag::{SideOutputs, Sides};
use crate::timed::{Batch, Element, Timed};

/// What to do, and with what.
pub(super) struct AlignedSpec<K, T, F> {
    pub(super) name: Arc<str>,
    pub(super) words: String,
    pub(super) key: KeyOf<T, K>,
    pub(super) function: F,
    pub(super) options: WindowOptions<T>,
    pub(super) metrics: Arc<WindowMetrics>,
    pub(super) side_outputs: SideOutputs,
    /// Elements come in the order of one partition, so that their watermarks are a clock.
    pub(super) one_partition: bool,
}

impl<K, T, F: Clone> Clone for AlignedSpec<K, T, F> {
    fn clone(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            words: self.words.clone(),
            key: self.key.clone(),
            function: self.function.clone(),
            options: self.options,
            metrics: Arc::clone(&self.metrics),
            side_outputs: self.side_outputs.clone(),
            one_partition: self.one_partition,
        }
    }
}

pub(super) struct AlignedOperator<K, T, F: Accumulate<T>> {
    spec: AlignedSpec<K, T, F>,
    run: Run<K, F::Acc, F::Out>,
}

/// What is under way.
struct Run<K, A, R> {
    panes: Panes<K, A>,
    watermark: Watermark,
    /// No window is complete, or forgotten, before the watermark has reached this.
    due: i64,
    /// Snapshots are taken: the first has told all.
    noting: bool,
    /// The ends of windows that were forgotten since.
    forgotten: Vec<i64>,
    out: Collector<Windowed<K, R>>,
    sides: Sides,
    /// The key of the present element, as it is written.
    bytes: Vec<u8>,
}

impl<K, T, F> AlignedOperator<K, T, F>
where
    K: Element + Serialize + DeserializeOwned,
    T: Element,
    F: Accumulate<T>,
{
    pub(super) fn new(spec: AlignedSpec<K, T, F>) -> Self {
        let run = Run {
            panes: Panes::new(),
            watermark: Watermark::MIN,
            due: i64::MAX,
            noting: false,
            forgotten: vec![],
            out: Collector::default(),
            sides: spec.side_outputs.open(),
            bytes: vec![],
        };
        Self { spec, run }
    }

    /// Does work of the program's, and emits what comes of it.
    fn work(
        &mut self,
        out: &mut Output,
        work: impl FnOnce(&AlignedSpec<K, T, F>, &mut Run<K, F::Acc, F::Out>) -> Result<()>,
    ) -> Result<()> {
        let Self { spec, run } = self;
        in_step(&spec.name, || work(spec, run))?;
        run.out.emit_to(Port::MAIN, out);
        run.sides.emit(out);
        Ok(())
    }
}

impl<K: Element + Serialize + DeserializeOwned, A: Serialize + DeserializeOwned, R: Element> Run<K, A, R> {
    fn element<T: Element, F: Accumulate<T, Acc = A, Out = R>>(
        &mut self,
        spec: &AlignedSpec<K, T, F>,
        value: T,
        (time, row_watermark): (i64, i64),
    ) -> Result<()> {
        if time == i64::MIN && spec.options.assigner.needs_time() {
            spec.metrics.no_event_time_rows.add(1);
            return self.late(spec, value, vec![], (time, row_watermark));
        }
        let key = (spec.key.0)(&value);
        let mut bytes = std::mem::take(&mut self.bytes);
        encode_key(&key, &mut bytes)?;
        let mut windows = spec.options.assigner.assign(time).peekable();
        let (mut value, mut missed) = (Some(value), vec![]);
        while let Some(window) = windows.next() {
            if row_watermark >= spec.options.forgotten(window) {
                missed.push(window);
                continue;
            }
            let last = windows.peek().is_none() && missed.is_empty();
            let Some(element) = (if last { value.take() } else { value.clone() }) else { break };
            self.add(spec, window, (&bytes, &key), element, row_watermark);
        }
        self.bytes = bytes;
        match value {
            Some(value) if !missed.is_empty() => {
                spec.metrics.late_rows.add(1);
                self.late(spec, value, missed, (time, row_watermark))
            }
            _ => Ok(()),
        }
    }

    fn add<T: Element, F: Accumulate<T, Acc = A, Out = R>>(
        &mut self,
        spec: &AlignedSpec<K, T, F>,
        window: TimeWindow,
        (bytes, key): (&[u8], &K),
        value: T,
        row_watermark: i64,
    ) {
        let function = &spec.function;
        let (end, forgotten) = (window.max_timestamp().0, spec.options.forgotten(window));
        let (_, pane) = self.panes.entry(window.end).or_insert_with(|| {
            let pane = Pane::new(self.watermark.0 >= end);
            self.due = self.due.min(if pane.fired { forgotten } else { end });
            (window, pane)
        });
        let fired = pane.fired;
        let how = (|value| function.first(value), |acc: &mut A, value| function.add(acc, value));
        let (key, acc) = pane.update(bytes, || key.clone(), value, how, self.noting);
        if fired {
            // It is allowed to be late, and what it changes is as late as it is.
            self.out.at(end, row_watermark);
            tell(&mut self.out, key, window, function.result(acc));
        }
    }

    fn late<T: Element, F: Accumulate<T>>(
        &mut self,
        spec: &AlignedSpec<K, T, F>,
        element: T,
        missed: Vec<TimeWindow>,
        (time, row_watermark): (i64, i64),
    ) -> Result<()> {
        match &spec.options.late {
            Some(late) => self.sides.collect(late, LateElement { element, missed }, time, row_watermark),
            None => Ok(()),
        }
    }

    /// Event time has come so far: windows tell their results that are complete.
    fn advance<T: Element, F: Accumulate<T, Acc = A, Out = R>>(
        &mut self,
        spec: &AlignedSpec<K, T, F>,
        watermark: Watermark,
    ) {
        self.watermark = watermark;
        if watermark.0 < self.due {
            return;
        }
        let Self { panes, out, forgotten, noting, .. } = self;
        panes.retain(|end, (window, pane)| {
            if !pane.fired && watermark.0 >= window.max_timestamp().0 {
                pane.fired = true;
                out.at(window.max_timestamp().0, i64::MIN);
                for (key, acc) in pane.iter() {
                    tell(out, key, *window, spec.function.result(acc));
                }
            }
            let kept = watermark.0 < spec.options.forgotten(*window);
            if !kept && *noting {
                forgotten.push(*end);
            }
            kept
        });
        self.find_due(spec);
    }

    fn find_due<T, F>(&mut self, spec: &AlignedSpec<K, T, F>) {
        let due = |(window, pane): &(TimeWindow, Pane<K, A>)| {
            if pane.fired { spec.options.forgotten(*window) } else { window.max_timestamp().0 }
        };
        self.due = self.panes.values().map(due).min().unwrap_or(i64::MAX);
    }

    fn restore<T: Element, F: Accumulate<T, Acc = A, Out = R>>(
        &mut self,
        spec: &AlignedSpec<K, T, F>,
        state: State,
    ) -> Result<()> {
        let panes = &mut self.panes;
        let fired = snapshot::restore(state, |window, bytes, acc| {
            let key: K = decode_key(bytes)?;
            let (_, pane) = panes.entry(window.end).or_insert_with(|| (window, Pane::new(false)));
            pane.update(bytes, || key, acc, (|acc| acc, |_: &mut A, _| ()), false);
            Ok(())
        })?;
        for end in fired {
            if let Some((_, pane)) = panes.get_mut(&end) {
                pane.fired = true;
            }
        }
        self.find_due(spec);
        Ok(())
    }
}

fn tell<K: Clone, R>(out: &mut Collector<Windowed<K, R>>, key: &K, window: TimeWindow, value: Option<R>) {
    if let Some(value) = value {
        out.collect(Windowed { key: key.clone(), window, value });
    }
}

impl<K, T, F> Operator for AlignedOperator<K, T, F>
where
    K: Element + Serialize + DeserializeOwned,
    T: Element,
    F: Accumulate<T>,
{
    fn describe(&self) -> String {
        format!("window '{}': {}", self.spec.name, self.spec.words)
    }

    fn in_order(&mut self) {
        self.spec.one_partition = true;
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        let Batch { elements: Timed { values, times }, watermarks } = Batch::<T>::of(batch)?;
        self.work(out, |spec, run| {
            for (index, value) in values.into_iter().enumerate() {
                let time = times.get(index).copied().unwrap_or(i64::MIN);
                let row_watermark = watermarks.get(index).copied().unwrap_or(i64::MIN);
                if spec.one_partition && row_watermark > run.watermark.0 {
                    run.advance(spec, Watermark(row_watermark));
                }
                run.element(spec, value, (time, row_watermark))?;
            }
            Ok(())
        })
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<()> {
        self.work(out, |spec, run| {
            if watermark > run.watermark {
                run.advance(spec, watermark);
            }
            Ok(())
        })
    }

    fn snapshot(&mut self, changes: &mut StateChanges) -> Result<()> {
        let run = &mut self.run;
        for end in std::mem::take(&mut run.forgotten) {
            snapshot::forget(end, changes);
        }
        snapshot::tell(&mut run.panes, !run.noting, changes)?;
        run.noting = true;
        Ok(())
    }

    fn restore(&mut self, state: State) -> Result<()> {
        self.run.restore(&self.spec, state)?;
        // What was restored is known, and what changes is told from now on.
        self.run.noting = true;
        Ok(())
    }

    fn deal(&self, state: State, dealer: &Dealer) -> Result<Vec<State>> {
        snapshot::deal(state, dealer)
    }

    fn restore_all(&mut self, states: Vec<State>) -> Result<()> {
        states.into_iter().try_for_each(|state| self.run.restore(&self.spec, state))
    }
}
