//! Runs a function over the keyed elements of one subtask, and over all broadcast elements.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::{EventBatch, Result, Watermark};
use tidemill_runtime::graph::MakeOperator;
use tidemill_runtime::operator::{Dealer, Operator, Output};
use tidemill_state::{State, StateChanges};

use super::{BroadcastContext, BroadcastStates, KeyedBroadcastProcessFunction};
use crate::collector::Collector;
use crate::process::{Context, KeyedProcessFunction, ProcessOperator, ProcessSpec, Timer};
use crate::timed::{Batch, Element, Timed};

/// A broadcast element: by its type it is told from keyed ones.
#[derive(Clone)]
pub(crate) struct ToAll<B>(pub(crate) B);

/// Makes elements those that go to all. Where they have no time, nobody waits for theirs.
pub(crate) fn to_all<B: Element>(timed: bool) -> MakeOperator {
    Arc::new(move || Ok(Box::new(ToAllOperator::<B> { timed, of: PhantomData })))
}

struct ToAllOperator<B> {
    timed: bool,
    of: PhantomData<fn() -> B>,
}

impl<B: Element> Operator for ToAllOperator<B> {
    fn describe(&self) -> String {
        "broadcast".to_owned()
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        let Batch { elements: Timed { values, times }, watermarks } = Batch::<B>::of(batch)?;
        let values = values.into_iter().map(ToAll).collect();
        out.emit(Batch { elements: Timed { values, times }, watermarks }.into_event_batch());
        Ok(())
    }

    fn reached(&self, watermark: Watermark) -> Watermark {
        if self.timed { watermark } else { Watermark::MAX }
    }
}

/// The function of a program with its broadcast states, as one of keyed elements.
pub(super) struct Broadcasting<F, B> {
    function: F,
    states: BroadcastStates,
    of: PhantomData<fn(B)>,
}

impl<F, B> Broadcasting<F, B> {
    pub(super) fn new(function: F, states: BroadcastStates) -> Self {
        Self { function, states, of: PhantomData }
    }
}

impl<K, T, B, F> KeyedProcessFunction<K, T> for Broadcasting<F, B>
where
    B: 'static,
    F: KeyedBroadcastProcessFunction<K, T, B>,
{
    type Out = F::Out;

    fn process_element(
        &mut self,
        key: &K,
        value: T,
        context: &mut Context<'_>,
        out: &mut Collector<F::Out>,
    ) -> Result<()> {
        self.function.process_element(key, value, &self.states, context, out)
    }

    fn on_timer(
        &mut self,
        key: &K,
        timer: Timer,
        context: &mut Context<'_>,
        out: &mut Collector<F::Out>,
    ) -> Result<()> {
        self.function.on_timer(key, timer, &self.states, context, out)
    }
}

/// Keyed elements are the business of the operator within, and so is all that has to do with keys and timers.
pub(super) struct BroadcastOperator<K, T, B: 'static, F: KeyedBroadcastProcessFunction<K, T, B>> {
    keyed: ProcessOperator<K, T, Broadcasting<F, B>>,
}

impl<K, T, B, F> BroadcastOperator<K, T, B, F>
where
    K: Serialize + DeserializeOwned + 'static,
    T: Element,
    B: Element,
    F: KeyedBroadcastProcessFunction<K, T, B>,
{
    pub(super) fn new(spec: ProcessSpec<K, T, Broadcasting<F, B>>) -> Self {
        Self { keyed: ProcessOperator::new(spec) }
    }

    fn on_broadcast(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        let Batch { elements: Timed { values, times }, watermarks } = Batch::<ToAll<B>>::of(batch)?;
        self.keyed.work(out, |made, run, _| {
            for (index, ToAll(value)) in values.into_iter().enumerate() {
                let time = times.get(index).copied().unwrap_or(i64::MIN);
                let row_watermark = watermarks.get(index).copied().unwrap_or(i64::MIN);
                run.out.at(time, row_watermark);
                let (sides, watermark) = (&mut run.sides, run.watermark);
                let mut context = BroadcastContext { sides, time, row_watermark, watermark };
                let Broadcasting { function, states, .. } = &mut made.function;
                function.process_broadcast_element(value, states, &mut context, &mut run.out)?;
            }
            Ok(())
        })
    }

    fn states(&mut self) -> Result<&mut BroadcastStates> {
        Ok(&mut self.keyed.function()?.states)
    }
}

impl<K, T, B, F> Operator for BroadcastOperator<K, T, B, F>
where
    K: Serialize + DeserializeOwned + 'static,
    T: Element,
    B: Element,
    F: KeyedBroadcastProcessFunction<K, T, B>,
{
    fn describe(&self) -> String {
        self.keyed.describe()
    }

    fn reached(&self, watermark: Watermark) -> Watermark {
        self.keyed.reached(watermark)
    }

    fn in_order(&mut self) {
        self.keyed.in_order();
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        match &batch.elements {
            Some(elements) if elements.downcast_ref::<Timed<T>>().is_err() => self.on_broadcast(batch, out),
            _ => self.keyed.on_batch(batch, out),
        }
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<()> {
        self.keyed.on_watermark(watermark, out)
    }

    fn timer(&self) -> Option<Instant> {
        self.keyed.timer()
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) -> Result<()> {
        self.keyed.on_timer(now, out)
    }

    fn snapshot(&mut self, changes: &mut StateChanges) -> Result<()> {
        self.keyed.snapshot(changes)?;
        self.states()?.snapshot(changes)
    }

    fn restore(&mut self, mut state: State) -> Result<()> {
        let broadcast = BroadcastStates::take(&mut state);
        self.keyed.restore(state)?;
        let states = self.states()?;
        states.restore(broadcast)?;
        states.note_from_now_on();
        Ok(())
    }

    fn deal(&self, mut state: State, dealer: &Dealer) -> Result<Vec<State>> {
        let broadcast = BroadcastStates::take(&mut state);
        let mut parts = self.keyed.deal(state, dealer)?;
        parts.iter_mut().for_each(|part| BroadcastStates::put(&broadcast, part));
        Ok(parts)
    }

    fn restore_all(&mut self, mut states: Vec<State>) -> Result<()> {
        // Each had all.
        let mut broadcast = states.iter_mut().map(BroadcastStates::take).collect::<Vec<_>>().into_iter();
        let broadcast = broadcast.find(|state| !state.is_empty()).unwrap_or_default();
        self.keyed.restore_all(states)?;
        self.states()?.restore(broadcast)
    }
}
