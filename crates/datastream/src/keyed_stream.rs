//! Streams of elements by key.

use std::any::type_name;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::{Elements, Error, Result};
use tidemill_runtime::exchange::{ElementKeys, Partitioning};
use tidemill_runtime::graph::{MakeOperator, Stream};
use tidemill_state::keyed::{KeyedState, key_group};

use crate::broadcast::{BroadcastConnectedStream, BroadcastStream};
use crate::codec::{OfEither, ValueCodec, by_serde};
use crate::connected::{ConnectedStreams, Either};
use crate::data_stream::{DataStream, Streams, foreign};
use crate::environment::Environment;
use crate::guard::guarded;
use crate::join::IntervalJoin;
use crate::output_tag::SideOutputs;
use crate::process::{KeyedProcessFunction, Make, Pace, ProcessOperator, ProcessSpec};
use crate::reduce::RunningReduce;
use crate::step;
use crate::timed::{Element, Timed};
use crate::window::{WindowAssigner, WindowedStream};

/// A stream of elements by key: what follows has state and timers, each of one key.
///
/// Only here are there windows and functions with state; a stream without a key has neither:
///
/// ```compile_fail,E0599
/// use std::time::Duration;
/// use tidemill_datastream::{Environment, WindowAssigner};
///
/// Environment::new().from_iter(0..3).window(WindowAssigner::tumbling(Duration::from_secs(60)));
/// ```
///
/// A key is written by serde:
///
/// ```compile_fail,E0277
/// use tidemill_datastream::Environment;
///
/// struct Customer(u64); // no Serialize
///
/// Environment::new().from_iter(0..3).key_by(|n| Customer(*n));
/// ```
///
/// So is an element, where a batch keeps it between two stages:
///
/// ```compile_fail,E0277
/// use tidemill_datastream::Environment;
///
/// #[derive(Clone)]
/// struct Order(u64); // no Serialize
///
/// Environment::new().from_iter(0..3).map(Order).key_by(|order| order.0);
/// ```
pub struct KeyedStream<K, T> {
    env: Environment,
    streams: Streams,
    pub(crate) key: KeyOf<T, K>,
}

impl<K: Serialize + DeserializeOwned + 'static, T: Element> KeyedStream<K, T> {
    pub(crate) fn new(env: Environment, streams: Streams, key: impl Fn(&T) -> K + Send + Sync + 'static) -> Self
    where
        T: Serialize + DeserializeOwned,
    {
        Self { env, streams, key: KeyOf(Arc::new(key), by_serde()) }
    }

    /// Each element, and each timer that one has registered, goes through a function with state of its key.
    ///
    /// `name` is what a checkpoint knows the state by, and errors speak of. `make` makes the function of one subtask; there it
    /// registers the states that it has.
    ///
    /// ```
    /// use tidemill_datastream::state::{KeyedState, StateDescriptor, ValueState};
    /// use tidemill_datastream::{Collector, Context, Environment, KeyedProcessFunction, Result};
    ///
    /// struct Numbered {
    ///     seen: ValueState<u64>,
    /// }
    ///
    /// impl KeyedProcessFunction<String, String> for Numbered {
    ///     type Out = String;
    ///
    ///     fn process_element(
    ///         &mut self,
    ///         key: &String,
    ///         _: String,
    ///         context: &mut Context<'_>,
    ///         out: &mut Collector<String>,
    ///     ) -> Result<()> {
    ///         let seen = self.seen.value(context.state())?.copied().unwrap_or(0) + 1;
    ///         self.seen.update(context.state(), seen)?;
    ///         out.collect(format!("{key} {seen}"));
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let env = Environment::new();
    /// let words = ["to", "be", "or", "not", "to", "be"].map(str::to_owned);
    /// let numbered = env
    ///     .from_iter(words)
    ///     .key_by(String::clone)
    ///     .process("numbered", |states: &mut KeyedState| {
    ///         Ok(Numbered { seen: states.value_state(StateDescriptor::new("seen"))? })
    ///     })
    ///     .collect();
    /// env.execute_live()?;
    /// let mut numbered = numbered.take();
    /// numbered.sort();
    /// assert_eq!(numbered, ["be 1", "be 2", "not 1", "or 1", "to 1", "to 2"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn process<F: KeyedProcessFunction<K, T>>(
        self,
        name: &str,
        make: impl Fn(&mut KeyedState) -> Result<F> + Send + Sync + 'static,
    ) -> DataStream<F::Out> {
        self.process_as(name, String::new(), Pace::default(), Arc::new(make))
    }

    /// `words`: what the function does, as far as a state depends on it.
    pub(crate) fn process_as<F: KeyedProcessFunction<K, T>>(
        self,
        name: &str,
        words: String,
        pace: Pace,
        make: Make<F>,
    ) -> DataStream<F::Out> {
        let (spec, side_outputs) = self.spec(name, words, make);
        let spec = ProcessSpec { pace, ..spec };
        self.behind_exchange(name, side_outputs, Arc::new(move || Ok(Box::new(ProcessOperator::new(spec.clone())))))
    }

    /// What to run, with its side outputs.
    pub(crate) fn spec<F>(&self, name: &str, words: String, make: Make<F>) -> (ProcessSpec<K, T, F>, SideOutputs) {
        let side_outputs = SideOutputs::default();
        let spec = ProcessSpec {
            name: name.into(),
            words,
            key: self.key.clone(),
            make,
            side_outputs: side_outputs.clone(),
            backend: self.env.settings().state_backend.clone(),
            one_partition: self.streams.one_partition,
            pace: Pace::default(),
        };
        (spec, side_outputs)
    }

    /// What the elements of each key have come to, told anew with each element. `name` is what a checkpoint knows the state by.
    ///
    /// ```
    /// use tidemill_datastream::Environment;
    ///
    /// # fn main() -> tidemill_datastream::Result<()> {
    /// let env = Environment::new();
    /// let totals = env
    ///     .from_iter([("ann", 5), ("bob", 1), ("ann", 7)])
    ///     .map(|(name, points)| (name.to_owned(), points))
    ///     .key_by(|(name, _)| name.clone())
    ///     .reduce("totals", |a, b| (a.0, a.1 + b.1))
    ///     .collect();
    /// env.execute_live()?;
    /// let mut totals = totals.take();
    /// totals.sort();
    /// assert_eq!(totals, [("ann".to_owned(), 5), ("ann".to_owned(), 12), ("bob".to_owned(), 1)]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn reduce(self, name: &str, reduce: impl Fn(T, T) -> T + Clone + Send + Sync + 'static) -> DataStream<T>
    where
        T: Serialize + DeserializeOwned,
    {
        let make = move |states: &mut KeyedState| RunningReduce::new(states, reduce.clone());
        self.process_as(name, "reduce".to_owned(), Pace::default(), Arc::new(make))
    }

    /// The elements of each key by windows of event time.
    #[must_use]
    pub fn window(self, assigner: WindowAssigner) -> WindowedStream<K, T>
    where
        K: Element,
    {
        WindowedStream::new(self, assigner)
    }

    /// The elements of both, with state in common.
    #[must_use]
    pub fn connect<B: Element>(self, other: KeyedStream<K, B>) -> ConnectedStreams<K, T, B> {
        ConnectedStreams::new(self, other)
    }

    /// The elements of both: those of a key are in one subtask, and those of `broadcast` in all of them.
    ///
    /// ```
    /// use tidemill_datastream::{
    ///     BroadcastContext, BroadcastState, BroadcastStates, Collector, Context, Environment, EventTime,
    ///     KeyedBroadcastProcessFunction, Result, TestHarness,
    /// };
    ///
    /// /// A customer, and what an order of theirs comes to.
    /// type Order = (String, u64);
    ///
    /// /// The name of a rule, and from which amount on an order is to be looked at.
    /// type Rule = (String, u64);
    ///
    /// struct Alerts {
    ///     rules: BroadcastState<String, u64>,
    /// }
    ///
    /// impl KeyedBroadcastProcessFunction<String, Order, Rule> for Alerts {
    ///     type Out = String;
    ///
    ///     fn process_element(
    ///         &mut self,
    ///         customer: &String,
    ///         order: Order,
    ///         broadcast: &BroadcastStates,
    ///         _: &mut Context<'_>,
    ///         out: &mut Collector<String>,
    ///     ) -> Result<()> {
    ///         for (rule, limit) in self.rules.entries(broadcast)? {
    ///             if order.1 >= *limit {
    ///                 out.collect(format!("{customer}: {rule}"));
    ///             }
    ///         }
    ///         Ok(())
    ///     }
    ///
    ///     fn process_broadcast_element(
    ///         &mut self,
    ///         (rule, limit): Rule,
    ///         broadcast: &mut BroadcastStates,
    ///         _: &mut BroadcastContext<'_>,
    ///         _: &mut Collector<String>,
    ///     ) -> Result<()> {
    ///         self.rules.put(broadcast, rule, limit)
    ///     }
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let mut harness = TestHarness::with_broadcast(
    ///     |order: &Order| order.0.clone(),
    ///     |orders, rules| {
    ///         orders
    ///             .connect_broadcast(rules)
    ///             .process("alerts", |_, broadcast| Ok(Alerts { rules: broadcast.map_state("rules")? }))
    ///     },
    /// )?;
    /// harness.push_broadcast(("large".to_owned(), 1_000), EventTime(0))?;
    /// harness.push(("ann".to_owned(), 2_000), EventTime(1))?;
    /// harness.push_broadcast(("huge".to_owned(), 2_000), EventTime(2))?;
    /// harness.push(("ann".to_owned(), 2_000), EventTime(3))?;
    /// assert_eq!(harness.take(), ["ann: large", "ann: huge", "ann: large"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// In what order the two streams meet is not determined in a run: [`KeyedBroadcastProcessFunction`](crate::KeyedBroadcastProcessFunction) says what is. Only
    /// broadcast elements write broadcast state:
    ///
    /// ```compile_fail,E0308
    /// # use tidemill_datastream::{BroadcastState, BroadcastStates, Result};
    /// fn of_a_keyed_element(rules: &BroadcastState<String, u64>, broadcast: &BroadcastStates) -> Result<()> {
    ///     rules.put(broadcast, "large".to_owned(), 1_000)
    /// }
    /// ```
    #[must_use]
    pub fn connect_broadcast<B: Element>(self, broadcast: BroadcastStream<B>) -> BroadcastConnectedStream<K, T, B> {
        BroadcastConnectedStream::new(self, broadcast)
    }

    /// Pairs of an element and one of the other stream whose time lies so many milliseconds behind (or, where the bound is
    /// negative, before) its own: both bounds are in.
    #[must_use]
    pub fn interval_join<B>(self, other: KeyedStream<K, B>, bounds_ms: RangeInclusive<i64>) -> IntervalJoin<K, T, B>
    where
        T: Serialize + DeserializeOwned,
        B: Element + Serialize + DeserializeOwned,
    {
        IntervalJoin::new(self, other, bounds_ms)
    }

    /// Puts an operator behind the exchange by key.
    pub(crate) fn behind_exchange<Out: Element>(
        self,
        name: &str,
        side_outputs: SideOutputs,
        make: MakeOperator,
    ) -> DataStream<Out> {
        self.behind_exchange_and_broadcast(&[], name, side_outputs, make)
    }

    /// The same; each subtask also gets all elements of the streams `broadcast`.
    pub(crate) fn behind_exchange_and_broadcast<Out: Element>(
        self,
        broadcast: &[Stream],
        name: &str,
        side_outputs: SideOutputs,
        make: MakeOperator,
    ) -> DataStream<Out> {
        let Self { env, streams: Streams { streams, timed, .. }, key } = self;
        let stream = env.plan(|plan| {
            plan.name(name);
            plan.has_step(&make);
            let by_key = Partitioning::Elements(Arc::new(key));
            plan.graph.exchange_and_broadcast(&streams, &by_key, broadcast, name, make)
        });
        // What several subtasks make is in no order.
        let streams = Streams { streams: vec![stream], one_partition: false, timed };
        DataStream::from_streams(env, streams, Some(side_outputs))
    }

    /// Refuses the step if elements have no event time.
    pub(crate) fn needs_time(&self, step: &str) {
        if !self.streams.timed {
            let error = Error::invalid(format!("the step '{step}' goes by event time, and its elements have none"));
            let hint = "call assign_timestamps_and_watermarks on the stream of the source";
            self.env.plan(|plan| plan.fail(error.hint(hint)));
        }
    }

    pub(crate) fn one_partition(&self) -> bool {
        self.streams.one_partition
    }

    pub(crate) fn env(&self) -> &Environment {
        &self.env
    }
}

impl<K: 'static, A: Element, B: Element> KeyedStream<K, Either<A, B>> {
    /// The elements of two streams.
    pub(crate) fn connected(first: KeyedStream<K, A>, second: KeyedStream<K, B>) -> Self {
        let env = first.env;
        let same = second.env.is(&env);
        let timed = first.streams.timed && second.streams.timed;
        let (firsts, seconds) = (
            step::operator("first", step::map(Either::<A, B>::First)),
            step::operator("second", step::map(Either::<A, B>::Second)),
        );
        let mut streams = vec![];
        env.plan(|plan| {
            streams.extend(first.streams.streams.iter().map(|stream| plan.graph.chain(*stream, Arc::clone(&firsts))));
            if same {
                streams.extend(
                    second.streams.streams.iter().map(|stream| plan.graph.chain(*stream, Arc::clone(&seconds))),
                );
            } else {
                plan.fail(foreign());
            }
        });
        let (of_first, of_second) = (first.key, second.key);
        let codec = OfEither(Arc::clone(&of_first.1), Arc::clone(&of_second.1));
        let key = move |element: &Either<A, B>| match element {
            Either::First(element) => (of_first.0)(element),
            Either::Second(element) => (of_second.0)(element),
        };
        Self {
            env,
            streams: Streams { streams, one_partition: false, timed },
            key: KeyOf(Arc::new(key), Arc::new(codec)),
        }
    }
}

/// The key of an element, and how it is written.
pub(crate) struct KeyOf<T, K>(pub(crate) Arc<dyn Fn(&T) -> K + Send + Sync>, pub(crate) Arc<dyn ValueCodec<T>>);

impl<T, K> Clone for KeyOf<T, K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0), Arc::clone(&self.1))
    }
}

impl<T, K> fmt::Debug for KeyOf<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the key of {}, of type {}", type_name::<T>(), type_name::<K>())
    }
}

impl<T: Element, K: Serialize + 'static> ElementKeys for KeyOf<T, K> {
    fn key_groups(&self, elements: &Elements) -> Result<Vec<u8>> {
        let elements: &Timed<T> = elements.downcast_ref()?;
        let mut bytes = vec![];
        let mut group = |value: &T| key_group(&(self.0)(value), &mut bytes);
        guarded("key_by", || elements.values.iter().map(&mut group).collect())?
    }

    fn deal(&self, elements: Elements, parts: &[usize], count: usize) -> Result<Vec<Elements>> {
        let Timed { values, times } = elements.downcast::<Timed<T>>()?;
        let mut dealt: Vec<Timed<T>> = (0..count).map(|_| Timed::new()).collect();
        for (index, (value, part)) in values.into_iter().zip(parts).enumerate() {
            dealt[*part].values.push(value);
            dealt[*part].times.extend(times.get(index));
        }
        Ok(dealt.into_iter().map(Elements::new).collect())
    }
}

impl<K, T> fmt::Debug for KeyedStream<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyedStream by {:?}", self.key)
    }
}
