//! Runs a step of a program element by element, for tests of the program: no threads, and both clocks are moved by hand.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::{Elements, Epoch, Error, EventTime, Result, Watermark};
use tidemill_runtime::clock::at;
use tidemill_runtime::graph::MakeOperator;
use tidemill_runtime::operator::{Operator, Output, Port};
use tidemill_state::{State, StateChanges};

use crate::broadcast::{BroadcastStream, ToAll};
use crate::connected::Either;
use crate::data_stream::DataStream;
use crate::environment::Environment;
use crate::keyed_stream::KeyedStream;
use crate::output_tag::{OutputTag, SideOutputs};
use crate::timed::{Batch, Element, Timed};
use crate::watermark_strategy::WatermarkStrategy;

/// Runs one step of a keyed stream, with all keys in one place; `B` are the elements of its broadcast stream, if it has one.
///
/// ```
/// use std::time::Duration;
/// use tidemill_datastream::{EventTime, TestHarness, Watermark, WindowAssigner};
///
/// # fn main() -> tidemill_datastream::Result<()> {
/// let step = |words: tidemill_datastream::KeyedStream<String, String>| {
///     words.window(WindowAssigner::tumbling(Duration::from_secs(60))).reduce("joined", |a, b| a + &b)
/// };
/// let mut harness = TestHarness::new(String::clone, step)?;
/// harness.push("ha".to_owned(), EventTime(1_000))?;
/// harness.push("ha".to_owned(), EventTime(59_000))?;
/// assert!(harness.take().is_empty(), "the minute is not over");
///
/// // What is left when the program fails now, and another goes on:
/// let snapshot = harness.snapshot()?;
/// let mut harness = TestHarness::restored(String::clone, step, snapshot)?;
/// harness.advance_watermark(Watermark(59_999))?;
/// assert_eq!(harness.take()[0].value, "haha");
/// # Ok(())
/// # }
/// ```
pub struct TestHarness<K, T, Out, B = Infallible> {
    operator: Box<dyn Operator>,
    side_outputs: SideOutputs,
    watermark: Watermark,
    processing_time: i64,
    emitted: Vec<(Out, Option<EventTime>)>,
    sides: BTreeMap<Port, Vec<Elements>>,
    state: State,
    of: PhantomData<fn(K, T, B)>,
}

/// What a step remembers.
#[derive(Debug, Clone)]
pub struct Snapshot(State);

impl<K, T, Out> TestHarness<K, T, Out>
where
    K: Serialize + DeserializeOwned + 'static,
    T: Element + Serialize + DeserializeOwned,
    Out: Element,
{
    /// Runs what `step` makes of a stream with this key: one step, with or without state.
    ///
    /// # Errors
    /// `Invalid` if it is not one step, and what the step says when it is made.
    pub fn new(
        key: impl Fn(&T) -> K + Send + Sync + 'static,
        step: impl FnOnce(KeyedStream<K, T>) -> DataStream<Out>,
    ) -> Result<Self> {
        let env = Environment::new();
        let stream = step(none(&env).key_by(key));
        let (make, side_outputs) = env.take_step(&stream)?;
        Self::of(&make, side_outputs)
    }

    /// The same, going on from what another has left.
    ///
    /// # Errors
    /// As [`TestHarness::new`]; `Data` or `Invalid` if the snapshot is of another step.
    pub fn restored(
        key: impl Fn(&T) -> K + Send + Sync + 'static,
        step: impl FnOnce(KeyedStream<K, T>) -> DataStream<Out>,
        snapshot: Snapshot,
    ) -> Result<Self> {
        Self::new(key, step)?.go_on_from(snapshot)
    }
}

impl<K, A, B, Out> TestHarness<K, Either<A, B>, Out>
where
    K: Serialize + DeserializeOwned + 'static,
    A: Element + Serialize + DeserializeOwned,
    B: Element + Serialize + DeserializeOwned,
    Out: Element,
{
    /// Runs what `step` makes of two streams with these keys: what connects them, or joins them. An element is pushed as
    /// [`Either`] of the two.
    ///
    /// ```
    /// use tidemill_datastream::{Either, EventTime, TestHarness};
    ///
    /// # fn main() -> tidemill_datastream::Result<()> {
    /// let mut harness = TestHarness::connected(
    ///     |order: &(u32, String)| order.0,
    ///     |payment: &(u32, u64)| payment.0,
    ///     |orders, payments| {
    ///         orders.interval_join(payments, 0..=1_000).apply("paid", |order, payment| (order.1.clone(), payment.1))
    ///     },
    /// )?;
    /// harness.push(Either::First((7, "tea".to_owned())), EventTime(100))?;
    /// harness.push(Either::Second((7, 250)), EventTime(900))?;
    /// assert_eq!(harness.take(), [("tea".to_owned(), 250)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`TestHarness::new`].
    pub fn connected(
        first_key: impl Fn(&A) -> K + Send + Sync + 'static,
        second_key: impl Fn(&B) -> K + Send + Sync + 'static,
        step: impl FnOnce(KeyedStream<K, A>, KeyedStream<K, B>) -> DataStream<Out>,
    ) -> Result<Self> {
        let env = Environment::new();
        let stream = step(none(&env).key_by(first_key), none(&env).key_by(second_key));
        let (make, side_outputs) = env.take_step(&stream)?;
        Self::of(&make, side_outputs)
    }

    /// As [`TestHarness::connected`], going on from what another has left.
    ///
    /// # Errors
    /// As [`TestHarness::restored`].
    pub fn restored_connected(
        first_key: impl Fn(&A) -> K + Send + Sync + 'static,
        second_key: impl Fn(&B) -> K + Send + Sync + 'static,
        step: impl FnOnce(KeyedStream<K, A>, KeyedStream<K, B>) -> DataStream<Out>,
        snapshot: Snapshot,
    ) -> Result<Self> {
        Self::connected(first_key, second_key, step)?.go_on_from(snapshot)
    }
}

impl<K, T, Out, B> TestHarness<K, T, Out, B>
where
    K: Serialize + DeserializeOwned + 'static,
    T: Element + Serialize + DeserializeOwned,
    B: Element,
    Out: Element,
{
    /// Runs what `step` makes of a stream with this key and a broadcast stream, as the one subtask that there is.
    ///
    /// # Errors
    /// As [`TestHarness::new`].
    pub fn with_broadcast(
        key: impl Fn(&T) -> K + Send + Sync + 'static,
        step: impl FnOnce(KeyedStream<K, T>, BroadcastStream<B>) -> DataStream<Out>,
    ) -> Result<Self> {
        let env = Environment::new();
        let stream = step(none(&env).key_by(key), none(&env).broadcast());
        let (make, side_outputs) = env.take_step(&stream)?;
        Self::of(&make, side_outputs)
    }

    /// As [`TestHarness::with_broadcast`], going on from what another has left.
    ///
    /// # Errors
    /// As [`TestHarness::restored`].
    pub fn restored_with_broadcast(
        key: impl Fn(&T) -> K + Send + Sync + 'static,
        step: impl FnOnce(KeyedStream<K, T>, BroadcastStream<B>) -> DataStream<Out>,
        snapshot: Snapshot,
    ) -> Result<Self> {
        Self::with_broadcast(key, step)?.go_on_from(snapshot)
    }

    /// A broadcast element comes. Its own watermark is the one that was reached last.
    ///
    /// # Errors
    /// What the step says.
    pub fn push_broadcast(&mut self, element: B, time: EventTime) -> Result<()> {
        self.element(ToAll(element), vec![time.0])
    }
}

impl<K, T, Out, B> TestHarness<K, T, Out, B>
where
    T: Element,
    Out: Element,
{
    fn go_on_from(mut self, snapshot: Snapshot) -> Result<Self> {
        self.operator.restore(snapshot.0.clone())?;
        self.state = snapshot.0;
        Ok(self)
    }

    fn of(make: &MakeOperator, side_outputs: SideOutputs) -> Result<Self> {
        side_outputs.keep_all();
        Ok(Self {
            operator: make()?,
            side_outputs,
            watermark: Watermark::MIN,
            processing_time: 0,
            emitted: vec![],
            sides: BTreeMap::new(),
            state: State::default(),
            of: PhantomData,
        })
    }

    /// An element comes. Its own watermark is the one that was reached last.
    ///
    /// # Errors
    /// What the step says; the same holds for all calls.
    pub fn push(&mut self, element: T, time: EventTime) -> Result<()> {
        self.element(element, vec![time.0])
    }

    /// An element comes that has no time.
    ///
    /// # Errors
    /// What the step says.
    pub fn push_without_time(&mut self, element: T) -> Result<()> {
        self.element(element, vec![])
    }

    fn element<E: Element>(&mut self, element: E, times: Vec<i64>) -> Result<()> {
        let watermarks = if self.watermark == Watermark::MIN { vec![] } else { vec![self.watermark.0] };
        let batch = Batch { elements: Timed { values: vec![element], times }, watermarks }.into_event_batch();
        self.call(|operator, out| operator.on_batch(batch, out))
    }

    /// Event time reaches this watermark, if it has not yet.
    ///
    /// # Errors
    /// What the step says.
    pub fn advance_watermark(&mut self, watermark: Watermark) -> Result<()> {
        if watermark <= self.watermark {
            return Ok(());
        }
        self.watermark = watermark;
        self.call(|operator, out| operator.on_watermark(watermark, out))?;
        while self.operator.unfinished() {
            self.call(|operator, out| operator.on_watermark(watermark, out))?;
        }
        Ok(())
    }

    /// The clock shows this time, in milliseconds since 1970; it begins at 0, and does not go back.
    ///
    /// # Errors
    /// What the step says.
    pub fn set_processing_time(&mut self, now_ms: i64) -> Result<()> {
        self.processing_time = self.processing_time.max(now_ms);
        self.call(|operator, out| operator.on_timer(std::time::Instant::now(), out))
    }

    /// What was emitted since it was last taken.
    pub fn take(&mut self) -> Vec<Out> {
        self.take_with_times().into_iter().map(|(element, _)| element).collect()
    }

    /// The same with the time of each.
    pub fn take_with_times(&mut self) -> Vec<(Out, Option<EventTime>)> {
        std::mem::take(&mut self.emitted)
    }

    /// What was given to a side output since it was last taken.
    ///
    /// # Errors
    /// `Invalid` if it is of another type.
    pub fn take_side_output<S: Element>(&mut self, tag: &OutputTag<S>) -> Result<Vec<S>> {
        let port = self.side_outputs.port(tag)?;
        let taken = self.sides.remove(&port).unwrap_or_default();
        let values = taken.into_iter().map(|elements| Ok(elements.downcast::<Timed<S>>()?.values));
        Ok(values.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    /// What the step remembers now, as a checkpoint would have it.
    ///
    /// # Errors
    /// What the step says.
    pub fn snapshot(&mut self) -> Result<Snapshot> {
        self.call(|operator, out| operator.on_barrier(Epoch::default().next(), out))?;
        let mut changes = StateChanges::default();
        self.operator.snapshot(&mut changes)?;
        self.state.apply(changes);
        Ok(Snapshot(self.state.clone()))
    }

    fn call(&mut self, call: impl FnOnce(&mut dyn Operator, &mut Output) -> Result<()>) -> Result<()> {
        let mut out = Output::default();
        at(self.processing_time, || call(self.operator.as_mut(), &mut out))?;
        for (port, batch) in out.take() {
            if port == Port::MAIN {
                let Timed { values, times } = Batch::<Out>::of(batch)?.elements;
                let time =
                    |index: usize| times.get(index).filter(|time| **time != i64::MIN).map(|time| EventTime(*time));
                self.emitted.extend(values.into_iter().enumerate().map(|(index, value)| (value, time(index))));
            } else if let Some(elements) = batch.elements {
                self.sides.entry(port).or_default().push(elements);
            }
        }
        Ok(())
    }
}

impl<K, T, Out, B> fmt::Debug for TestHarness<K, T, Out, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TestHarness of {}, at {:?}", self.operator.describe(), self.watermark)
    }
}

/// A stream of elements that the harness pushes: what their times are it says.
fn none<T: Element>(env: &Environment) -> DataStream<T> {
    let timed = WatermarkStrategy::for_monotonous_timestamps().with_timestamp_assigner(|_: &T| EventTime(0));
    env.from_iter(Vec::new()).assign_timestamps_and_watermarks(timed)
}

/// Not one step.
pub(crate) fn not_one_step(steps: usize) -> Error {
    Error::invalid(format!("a harness runs one step with a key, and this has {steps}"))
        .hint("give it process(), or a window with what is made of it, and nothing behind")
}
