//! A keyed stream by windows, of which something is about to be made.

use std::any::type_name;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::Result;
use tidemill_runtime::metrics::WindowMetrics;
use tidemill_state::backend::MemoryBackend;
use tidemill_state::key_group::KEY_GROUPS;
use tidemill_state::keyed::{AggregateFunction, KeyedState};

use super::accumulate::{Accumulate, ByAggregate, ByReduce};
use super::aligned::{AlignedOperator, AlignedSpec};
use super::contents::{Aggregated, Contents, Listed, ProcessWindowFunction, Reduced};
use super::operator::{WindowFunction, WindowOptions};
use super::trigger::MakeTrigger;
use super::{EventTimeTrigger, LateElement, Trigger, WindowAssigner, Windowed};
use crate::data_stream::DataStream;
use crate::guard::guarded;
use crate::keyed_stream::KeyedStream;
use crate::output_tag::{OutputTag, SideOutputs};
use crate::process::Pace;
use crate::timed::Element;

/// The elements of each key by windows of event time. A window is complete when the watermark has passed its end.
///
/// An element is late for a window that was complete, by the element's own watermark, and no lateness is allowed that
/// covers it. A sliding window's element can be late for one window, and in time for the next.
pub struct WindowedStream<K, T> {
    stream: KeyedStream<K, T>,
    options: WindowOptions<T>,
    /// `None`: windows tell their results when they are complete.
    trigger: Option<MakeTrigger<T>>,
}

impl<K, T> WindowedStream<K, T>
where
    K: Element + Serialize + DeserializeOwned,
    T: Element,
{
    pub(crate) fn new(stream: KeyedStream<K, T>, assigner: WindowAssigner) -> Self {
        Self { stream, options: WindowOptions { assigner, allowed_lateness_ms: 0, late: None }, trigger: None }
    }

    /// A window takes elements so long after it is complete: each makes it tell its result anew.
    #[must_use]
    pub fn allowed_lateness(mut self, lateness: Duration) -> Self {
        self.options.allowed_lateness_ms = i64::try_from(lateness.as_millis()).unwrap_or(i64::MAX);
        self
    }

    /// Late elements go to this side output of what is made here, once each, with the windows that they missed; so do those
    /// without a time. Otherwise they are only counted.
    #[must_use]
    pub fn side_output_late_data(mut self, tag: &OutputTag<LateElement<T>>) -> Self {
        self.options.late = Some(*tag);
        self
    }

    /// When windows tell what they have come to, instead of once when they are complete: as a [`Trigger`] says. `make` makes
    /// that of one subtask; there it registers the states that it has, by names that are not `contents` or `sessions`.
    ///
    /// A trigger of the program's own, which tells at once what large orders make of a window:
    ///
    /// ```
    /// use std::time::Duration;
    /// use tidemill_datastream::{
    ///     Environment, EventTime, Result, TimeWindow, Trigger, TriggerContext, TriggerResult, WatermarkStrategy, WindowAssigner,
    /// };
    ///
    /// /// What an order comes to, and when it was placed.
    /// type Order = (u64, i64);
    ///
    /// struct LargeOrdersAtOnce;
    ///
    /// impl Trigger<Order> for LargeOrdersAtOnce {
    ///     fn on_element(&mut self, order: &Order, window: TimeWindow, context: &mut TriggerContext<'_>) -> Result<TriggerResult> {
    ///         context.register_event_time_timer(window.max_timestamp())?;
    ///         Ok(if order.0 >= 1_000 { TriggerResult::Fire } else { TriggerResult::Continue })
    ///     }
    ///
    ///     fn on_event_time(&mut self, time: EventTime, window: TimeWindow, _: &mut TriggerContext<'_>) -> Result<TriggerResult> {
    ///         Ok(if time == window.max_timestamp() { TriggerResult::Fire } else { TriggerResult::Continue })
    ///     }
    ///
    ///     fn on_merge(&mut self, _: TimeWindow, _: &[TimeWindow], _: &mut TriggerContext<'_>) -> Result<()> {
    ///         Ok(())
    ///     }
    ///
    ///     fn clear(&mut self, window: TimeWindow, context: &mut TriggerContext<'_>) -> Result<()> {
    ///         context.delete_event_time_timer(window.max_timestamp())
    ///     }
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let env = Environment::new();
    /// let revenue = env
    ///     .from_iter([(20, 1_000), (3_000, 2_000), (5, 3_000), (7, 61_000)])
    ///     .assign_timestamps_and_watermarks(
    ///         WatermarkStrategy::for_monotonous_timestamps().with_timestamp_assigner(|order: &Order| EventTime(order.1)),
    ///     )
    ///     .key_by(|_| ())
    ///     .window(WindowAssigner::tumbling(Duration::from_secs(60)))
    ///     .trigger(|_| Ok(LargeOrdersAtOnce))
    ///     .reduce("revenue", |a, b| (a.0 + b.0, b.1))
    ///     .map(|of| (of.window.start, of.value.0))
    ///     .collect();
    /// env.execute_live()?;
    /// assert_eq!(revenue.take(), [(0, 3_020), (0, 3_025), (60_000, 7)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Every three elements, whatever their times:
    ///
    /// ```
    /// use tidemill_datastream::{CountTrigger, Environment, PurgingTrigger, WindowAssigner};
    ///
    /// # fn main() -> tidemill_datastream::Result<()> {
    /// let env = Environment::new();
    /// let sums = env
    ///     .from_iter(1..=7)
    ///     .key_by(|_| ())
    ///     .window(WindowAssigner::global())
    ///     .trigger(PurgingTrigger::of(CountTrigger::of(3)))
    ///     .reduce("sums", |a, b| a + b)
    ///     .map(|of| of.value)
    ///     .collect();
    /// env.execute_live()?;
    /// assert_eq!(sums.take(), [1 + 2 + 3, 4 + 5 + 6]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn trigger<G: Trigger<T>>(
        mut self,
        make: impl Fn(&mut KeyedState) -> Result<G> + Send + Sync + 'static,
    ) -> Self {
        self.trigger = Some(Arc::new(move |states| Ok(Box::new(make(states)?))));
        self
    }

    /// What the elements of each window come to. Only the accumulator is kept. `name` is what a checkpoint knows the state by.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tidemill_datastream::{AggregateFunction, Environment, EventTime, WatermarkStrategy, WindowAssigner};
    ///
    /// /// An average, in plain words: begin with no sum and no count; add a value to the sum and one to the count; the
    /// /// result is the sum by the count; two accumulators become one by adding both.
    /// #[derive(Clone)]
    /// struct Average;
    ///
    /// impl AggregateFunction for Average {
    ///     type In = (String, i64, f64);
    ///     type Acc = (f64, u32);
    ///     type Out = f64;
    ///
    ///     fn create_accumulator(&self) -> (f64, u32) {
    ///         (0.0, 0)
    ///     }
    ///
    ///     fn add(&self, (sum, count): &mut (f64, u32), (_, _, value): Self::In) {
    ///         *sum += value;
    ///         *count += 1;
    ///     }
    ///
    ///     fn result(&self, (sum, count): &(f64, u32)) -> f64 {
    ///         sum / f64::from(*count)
    ///     }
    ///
    ///     fn merge(&self, a: (f64, u32), b: (f64, u32)) -> (f64, u32) {
    ///         (a.0 + b.0, a.1 + b.1)
    ///     }
    /// }
    ///
    /// # fn main() -> tidemill_datastream::Result<()> {
    /// let readings = [("oven", 1_000, 180.0), ("oven", 2_000, 200.0), ("oven", 61_000, 210.0)];
    /// let env = Environment::new();
    /// let averages = env
    ///     .from_iter(readings)
    ///     .map(|(sensor, ms, degrees)| (sensor.to_owned(), ms, degrees))
    ///     .assign_timestamps_and_watermarks(
    ///         WatermarkStrategy::for_monotonous_timestamps()
    ///             .with_timestamp_assigner(|reading: &(String, i64, f64)| EventTime(reading.1)),
    ///     )
    ///     .key_by(|reading| reading.0.clone())
    ///     .window(WindowAssigner::tumbling(Duration::from_secs(60)))
    ///     .aggregate("average per minute", Average)
    ///     .map(|of| (of.key, of.window.start, of.value))
    ///     .collect();
    /// env.execute_live()?;
    /// assert_eq!(averages.take(), [("oven".to_owned(), 0, 190.0), ("oven".to_owned(), 60_000, 210.0)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// What is added is what the stream has:
    ///
    /// ```compile_fail,E0271
    /// # use std::time::Duration;
    /// # use tidemill_datastream::{AggregateFunction, Environment, WindowAssigner};
    /// #[derive(Clone)]
    /// struct Longest;
    ///
    /// impl AggregateFunction for Longest {
    ///     type In = String;
    ///     type Acc = usize;
    ///     type Out = usize;
    ///
    ///     fn create_accumulator(&self) -> usize {
    ///         0
    ///     }
    ///
    ///     fn add(&self, longest: &mut usize, text: String) {
    ///         *longest = text.len().max(*longest);
    ///     }
    ///
    ///     fn result(&self, longest: &usize) -> usize {
    ///         *longest
    ///     }
    ///
    ///     fn merge(&self, a: usize, b: usize) -> usize {
    ///         a.max(b)
    ///     }
    /// }
    ///
    /// let numbers = Environment::new().from_iter(0..3).key_by(|n| *n);
    /// numbers.window(WindowAssigner::tumbling(Duration::from_secs(60))).aggregate("longest", Longest);
    /// ```
    pub fn aggregate<A>(self, name: &str, function: A) -> DataStream<Windowed<K, A::Out>>
    where
        A: AggregateFunction<In = T, Acc: Serialize + DeserializeOwned, Out: Element> + Clone + Sync,
    {
        if self.is_table_a_window() {
            return self.aligned(name, ByAggregate(function));
        }
        self.with(name, move |state| Aggregated::new(state, function.clone()))
    }

    /// One element a window, of which each other becomes part.
    pub fn reduce(
        self,
        name: &str,
        reduce: impl Fn(T, T) -> T + Clone + Send + Sync + 'static,
    ) -> DataStream<Windowed<K, T>>
    where
        T: Serialize + DeserializeOwned,
    {
        if self.is_table_a_window() {
            return self.aligned(name, ByReduce(reduce));
        }
        self.with(name, move |state| Reduced::new(state, reduce.clone()))
    }

    /// A function sees all elements of a window at once. They are all kept until then: where an accumulator does, that takes
    /// less.
    pub fn process<P>(self, name: &str, function: P) -> DataStream<P::Out>
    where
        T: Serialize + DeserializeOwned,
        P: ProcessWindowFunction<K, T> + Clone + Sync,
    {
        self.with(name, move |state| Listed::new(state, function.clone()))
    }

    /// Whether all keys have the same windows, which tell their results together, and state is in memory.
    fn is_table_a_window(&self) -> bool {
        self.trigger.is_none()
            && !self.options.assigner.merges()
            && self.stream.env().settings().state_backend.is_memory()
    }

    fn aligned<F: Accumulate<T>>(self, name: &str, function: F) -> DataStream<Windowed<K, F::Out>> {
        let (words, metrics) = self.planned(name);
        let Self { stream, options, .. } = self;
        let side_outputs = SideOutputs::default();
        let spec = AlignedSpec {
            name: name.into(),
            words,
            key: stream.key.clone(),
            function,
            options,
            metrics,
            side_outputs: side_outputs.clone(),
            one_partition: stream.one_partition(),
        };
        stream.behind_exchange(name, side_outputs, Arc::new(move || Ok(Box::new(AlignedOperator::new(spec.clone())))))
    }

    /// What a state of the windows depends on, in words, and their counters.
    fn planned(&self, name: &str) -> (String, Arc<WindowMetrics>) {
        let Self { stream, options, trigger } = self;
        if options.assigner.needs_time() {
            stream.needs_time(name);
        }
        let tried = trigger.as_ref().map_or(Ok(()), |make| try_out(name, make));
        if let Err(error) = options.assigner.check().and(tried) {
            stream.env().plan(|plan| plan.fail(error.context(format!("the step '{name}'"))));
        }
        let metrics = Arc::<WindowMetrics>::default();
        stream.env().plan(|plan| plan.graph.metrics.windows.insert(name.into(), vec![Arc::clone(&metrics)]));
        let with_trigger = if trigger.is_some() { ", with a trigger" } else { "" };
        let lateness_ms = options.allowed_lateness_ms;
        (format!("{:?}, allowed lateness {lateness_ms} ms{with_trigger}", options.assigner), metrics)
    }

    fn with<C: Contents<K, T>>(
        self,
        name: &str,
        make: impl Fn(&mut KeyedState) -> Result<C> + Send + Sync + 'static,
    ) -> DataStream<C::Out> {
        let (words, metrics) = self.planned(name);
        let Self { stream, options, trigger } = self;
        let make = move |state: &mut KeyedState| {
            let contents = make(state)?;
            let trigger = match &trigger {
                Some(make) => make(state)?,
                None => Box::new(EventTimeTrigger),
            };
            WindowFunction::new(state, options, contents, trigger, Arc::clone(&metrics))
        };
        let pace = Pace { touching: options.assigner.merges(), ..Pace::default() };
        stream.process_as(name, words, pace, Arc::new(make))
    }
}

/// Makes a trigger that is not used: one that can't be made is told before anything runs.
fn try_out<T>(name: &str, make: &MakeTrigger<T>) -> Result<()> {
    let mut state = KeyedState::new(Box::new(MemoryBackend::new()), 0..KEY_GROUPS)?;
    guarded(name, || make(&mut state).map(drop))?
}

impl<K, T> fmt::Debug for WindowedStream<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WindowedStream of {} by {:?}", type_name::<T>(), self.options.assigner)
    }
}
