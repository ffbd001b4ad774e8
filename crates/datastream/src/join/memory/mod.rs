//! The interval join with its state in memory: each key has its elements at hand, in the order of their times.

mod buffers;
mod due;
mod snapshot;

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::{EventBatch, Result, Watermark};
use tidemill_runtime::operator::{Dealer, Operator, Output, Port};
use tidemill_state::keyed::encode_key;
use tidemill_state::{State, StateChanges};

use self::buffers::{Buffers, Kept, forget, keep, within};
use self::due::Due;
use super::interval::{Join, Options};
use crate::collector::Collector;
use crate::connected::Either;
use crate::guard::in_step;
use crate::keyed_stream::KeyOf;
use crate::output_tag::{SideOutputs, Sides};
use crate::process::behind;
use crate::timed::{Batch, Element, Timed};

/// What to do, and with what.
pub(super) struct MemorySpec<K, A, B, Out> {
    pub(super) name: Arc<str>,
    pub(super) words: String,
    pub(super) key: KeyOf<Either<A, B>, K>,
    pub(super) options: Options<A, B>,
    pub(super) join: Join<A, B, Out>,
    pub(super) side_outputs: SideOutputs,
}

impl<K, A, B, Out> Clone for MemorySpec<K, A, B, Out> {
    fn clone(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            words: self.words.clone(),
            key: self.key.clone(),
            options: self.options.clone(),
            join: Arc::clone(&self.join),
            side_outputs: self.side_outputs.clone(),
        }
    }
}

pub(super) struct MemoryJoin<K, A, B, Out> {
    spec: MemorySpec<K, A, B, Out>,
    run: Run<A, B, Out>,
}

/// What is under way.
struct Run<A, B, Out> {
    buffers: Buffers<A, B>,
    /// When an element of a place is to be forgotten: of the first stream, and of the second.
    due: (Due, Due),
    watermark: Watermark,
    out: Collector<Out>,
    sides: Sides,
    /// The key of the present element, as it is written.
    bytes: Vec<u8>,
}

impl<K: Serialize, A: Element, B: Element, Out: Element> MemoryJoin<K, A, B, Out> {
    pub(super) fn new(spec: MemorySpec<K, A, B, Out>) -> Self {
        let run = Run {
            buffers: Buffers::new(),
            due: (Due::default(), Due::default()),
            watermark: Watermark::MIN,
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
        work: impl FnOnce(&MemorySpec<K, A, B, Out>, &mut Run<A, B, Out>) -> Result<()>,
    ) -> Result<()> {
        let Self { spec, run } = self;
        in_step(&spec.name, || work(spec, run))?;
        run.out.emit_to(Port::MAIN, out);
        run.sides.emit(out);
        Ok(())
    }
}

impl<A: Element, B: Element, Out: Element> Run<A, B, Out> {
    fn element<K: Serialize>(
        &mut self,
        spec: &MemorySpec<K, A, B, Out>,
        value: Either<A, B>,
        (time, row_watermark): (i64, i64),
    ) -> Result<()> {
        let Options { late, metrics, .. } = &spec.options;
        if row_watermark >= time {
            metrics.late_rows.add(1);
            return match late {
                Some(late) => self.sides.collect(late, value, time, row_watermark),
                None => Ok(()),
            };
        }
        encode_key(&(spec.key.0)(&value), &mut self.bytes)?;
        let place = self.buffers.place(&self.bytes);
        let of_key = self.buffers.change(place);
        let out = &mut self.out;
        let mut matched = false;
        let (kept_first, kept_second) = spec.options.kept();
        match value {
            Either::First(element) => {
                for other in within(&mut of_key.second, spec.options.times_of_second(time)) {
                    (other.matched, matched) = (true, true);
                    out.at(time.max(other.time), row_watermark);
                    out.collect((spec.join)(&element, &other.element));
                }
                keep(&mut of_key.first, Kept { time, element, matched });
                self.due.0.push(time.saturating_add(kept_first), place);
            }
            Either::Second(element) => {
                for other in within(&mut of_key.first, spec.options.times_of_first(time)) {
                    (other.matched, matched) = (true, true);
                    out.at(time.max(other.time), row_watermark);
                    out.collect((spec.join)(&other.element, &element));
                }
                keep(&mut of_key.second, Kept { time, element, matched });
                self.due.1.push(time.saturating_add(kept_second), place);
            }
        }
        self.forget_due(spec)
    }

    /// Forgets the elements that can meet no other, as event time has come so far.
    fn forget_due<K>(&mut self, spec: &MemorySpec<K, A, B, Out>) -> Result<()> {
        let (kept_first, kept_second) = spec.options.kept();
        let Self { buffers, sides, due, watermark, .. } = self;
        while let Some((time, place)) = due.0.pop(watermark.0) {
            for Kept { time, element, matched } in
                forget(&mut buffers.change(place).first, Options::<A, B>::forgotten(time, kept_first))
            {
                if let Some(alone) = spec.options.alone.0.as_ref().filter(|_| !matched) {
                    sides.collect(alone, element, time, i64::MIN)?;
                }
            }
            buffers.release_if_empty(place);
        }
        while let Some((time, place)) = due.1.pop(watermark.0) {
            for Kept { time, element, matched } in
                forget(&mut buffers.change(place).second, Options::<A, B>::forgotten(time, kept_second))
            {
                if let Some(alone) = spec.options.alone.1.as_ref().filter(|_| !matched) {
                    sides.collect(alone, element, time, i64::MIN)?;
                }
            }
            buffers.release_if_empty(place);
        }
        Ok(())
    }

    /// When the elements are to be forgotten that were restored.
    fn find_due<K>(&mut self, spec: &MemorySpec<K, A, B, Out>) {
        let (kept_first, kept_second) = spec.options.kept();
        let Self { buffers, due, .. } = self;
        *due = (Due::default(), Due::default());
        for (place, of_key) in buffers.places() {
            of_key.first.iter().for_each(|kept| due.0.push(kept.time.saturating_add(kept_first), place));
            of_key.second.iter().for_each(|kept| due.1.push(kept.time.saturating_add(kept_second), place));
        }
    }
}

impl<K, A, B, Out> Operator for MemoryJoin<K, A, B, Out>
where
    K: Serialize + DeserializeOwned + 'static,
    A: Element + Serialize + DeserializeOwned,
    B: Element + Serialize + DeserializeOwned,
    Out: Element,
{
    fn describe(&self) -> String {
        format!("join '{}': {}", self.spec.name, self.spec.words)
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        let Batch { elements: Timed { values, times }, watermarks } = Batch::<Either<A, B>>::of(batch)?;
        self.work(out, |spec, run| {
            for (index, value) in values.into_iter().enumerate() {
                let time = times.get(index).copied().unwrap_or(i64::MIN);
                let row_watermark = watermarks.get(index).copied().unwrap_or(i64::MIN);
                run.element(spec, value, (time, row_watermark))?;
            }
            Ok(())
        })
    }

    fn reached(&self, watermark: Watermark) -> Watermark {
        behind(watermark, self.spec.options.held_back_ms())
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<()> {
        self.work(out, |spec, run| {
            run.watermark = run.watermark.max(watermark);
            run.forget_due(spec)
        })
    }

    fn snapshot(&mut self, changes: &mut StateChanges) -> Result<()> {
        snapshot::tell(&mut self.run.buffers, changes)
    }

    fn restore(&mut self, state: State) -> Result<()> {
        snapshot::restore(state, &mut self.run.buffers)?;
        self.run.buffers.note_from_now_on();
        self.run.find_due(&self.spec);
        Ok(())
    }

    fn deal(&self, state: State, dealer: &Dealer) -> Result<Vec<State>> {
        snapshot::deal(state, dealer)
    }

    fn restore_all(&mut self, states: Vec<State>) -> Result<()> {
        states.into_iter().try_for_each(|state| snapshot::restore(state, &mut self.run.buffers))?;
        self.run.find_due(&self.spec);
        Ok(())
    }
}
