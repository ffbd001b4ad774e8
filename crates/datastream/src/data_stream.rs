//! Streams of elements without a key.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::{Error, Result};
use tidemill_runtime::exchange::Partitioning;
use tidemill_runtime::graph::Stream;

use crate::WatermarkStrategy;
use crate::broadcast::{BroadcastStream, to_all};
use crate::environment::Environment;
use crate::keyed_stream::KeyedStream;
use crate::output_tag::{OutputTag, SideOutputs};
use crate::source::PendingSource;
use crate::step::{self, Step};
use crate::timed::Element;

/// A stream of elements. What is made of it takes it; to make two things of it, clone it: the elements go both ways.
///
/// `T` is any type that can be cloned and sent to another thread. Between the steps of a program it stays what it is.
pub struct DataStream<T> {
    env: Environment,
    origin: Mutex<Origin<T>>,
    /// Of the step that has made it, if that has any.
    side_outputs: Option<SideOutputs>,
}

/// Where elements come from.
enum Origin<T> {
    /// A source that nobody has put into the graph: steps can still be taken where it is read.
    Source(PendingSource<T>),
    Streams(Streams),
    /// It has been taken out, and is about to be put back.
    Taken,
}

/// Streams of the graph that are one to the program.
#[derive(Debug, Clone)]
pub(crate) struct Streams {
    pub(crate) streams: Vec<Stream>,
    /// Elements come in the order of one partition, so that their watermarks are a clock.
    pub(crate) one_partition: bool,
    /// Elements have event time.
    pub(crate) timed: bool,
}

impl<T: Element> DataStream<T> {
    pub(crate) fn from_source(env: Environment, source: PendingSource<T>) -> Self {
        Self { env, origin: Mutex::new(Origin::Source(source)), side_outputs: None }
    }

    pub(crate) fn from_streams(env: Environment, streams: Streams, side_outputs: Option<SideOutputs>) -> Self {
        Self { env, origin: Mutex::new(Origin::Streams(streams)), side_outputs }
    }

    /// Makes one element of each.
    #[must_use]
    pub fn map<U: Element>(self, f: impl Fn(T) -> U + Send + Sync + 'static) -> DataStream<U> {
        self.then("map", step::map(f))
    }

    /// As [`DataStream::map`], for what can fail: an error ends the run and names the step, as that of a
    /// [`KeyedProcessFunction`](crate::KeyedProcessFunction) does. In a batch the part is run again first, up to
    /// [`Settings::attempts`](crate::Settings::attempts) times.
    ///
    /// ```
    /// use tidemill_datastream::{Environment, Error};
    ///
    /// let env = Environment::new();
    /// let number = |text: &str| text.parse::<u32>().map_err(|e| Error::data(format!("'{text}': {e}")));
    /// env.from_iter(["7", "seven"]).try_map(number).for_each("numbers", |_| ());
    /// let error = env.execute_live().unwrap_err();
    /// assert!(error.message().ends_with("the step 'try map': 'seven': invalid digit found in string"), "{error}");
    /// ```
    #[must_use]
    pub fn try_map<U: Element>(self, f: impl Fn(T) -> Result<U> + Send + Sync + 'static) -> DataStream<U> {
        self.then("try map", step::try_map(f))
    }

    /// Keeps the elements for which `keep` is true.
    #[must_use]
    pub fn filter(self, keep: impl Fn(&T) -> bool + Send + Sync + 'static) -> Self {
        self.then("filter", step::filter(keep))
    }

    /// As [`DataStream::filter`], for what can fail: see [`DataStream::try_map`].
    #[must_use]
    pub fn try_filter(self, keep: impl Fn(&T) -> Result<bool> + Send + Sync + 'static) -> Self {
        self.then("try filter", step::try_filter(keep))
    }

    /// Makes any number of elements of each.
    #[must_use]
    pub fn flat_map<U: Element, I: IntoIterator<Item = U>>(
        self,
        f: impl Fn(T) -> I + Send + Sync + 'static,
    ) -> DataStream<U> {
        self.then("flat map", step::flat_map(f))
    }

    /// As [`DataStream::flat_map`], for what can fail: see [`DataStream::try_map`].
    #[must_use]
    pub fn try_flat_map<U: Element, I: IntoIterator<Item = U>>(
        self,
        f: impl Fn(T) -> Result<I> + Send + Sync + 'static,
    ) -> DataStream<U> {
        self.then("try flat map", step::try_flat_map(f))
    }

    /// Says when elements happened, and how late others may come. It is asked where the source is read, so it comes before
    /// the stream is cloned, keyed or united with another; steps without state may come before.
    #[must_use]
    pub fn assign_timestamps_and_watermarks(self, strategy: WatermarkStrategy<T>) -> Self {
        let Self { env, origin, side_outputs } = self;
        if let Err(error) = strategy.check() {
            env.plan(|plan| plan.fail(error));
        }
        let origin = match origin.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Origin::Source(source) => Origin::Streams(into_graph(&env, source, Some(strategy))),
            other => {
                env.plan(|plan| plan.fail(Error::invalid(
                    "assign_timestamps_and_watermarks comes too late: an element's watermark follows from those before it in its partition, which only the source knows",
                ).hint("call it on the stream of the source, before that is cloned, keyed, united or given timestamps")));
                other
            }
        };
        Self { env, origin: Mutex::new(origin), side_outputs }
    }

    /// The elements of all.
    #[must_use]
    pub fn union(self, others: impl IntoIterator<Item = Self>) -> Self {
        let (env, mut streams) = self.into_parts();
        for other in others {
            let (of, more) = other.into_parts();
            if !of.is(&env) {
                env.plan(|plan| plan.fail(foreign()));
            }
            streams.streams.extend(more.streams);
            streams.timed &= more.timed;
        }
        let one_partition = streams.one_partition && streams.streams.len() == 1;
        Self::from_streams(env, Streams { one_partition, ..streams }, None)
    }

    /// The same elements by key: all of a key go through one subtask, in the order of their partition.
    ///
    /// Keys are compared as serde writes them. Elements are of a serde type, too: a batch keeps them between its stages.
    #[must_use]
    pub fn key_by<K: Serialize + DeserializeOwned + 'static>(
        self,
        key: impl Fn(&T) -> K + Send + Sync + 'static,
    ) -> KeyedStream<K, T>
    where
        T: Serialize + DeserializeOwned,
    {
        let (env, streams) = self.into_parts();
        KeyedStream::new(env, streams, key)
    }

    /// The same elements for all subtasks of a step, each of which hears of them in the same order: what
    /// [`KeyedStream::connect_broadcast`] takes. For rules and settings, of which there are few: each is cloned for each
    /// subtask.
    #[must_use]
    pub fn broadcast(self) -> BroadcastStream<T> {
        let (env, streams) = self.into_parts();
        let make = to_all::<T>(streams.timed);
        let stream = env.plan(|plan| match streams.streams[..] {
            [stream] if streams.one_partition => plan.graph.chain(stream, make),
            // What comes from several subtasks would come to each in another order.
            _ => plan.graph.exchange(&streams.streams, &Partitioning::Gather, "broadcast", make),
        });
        BroadcastStream::new(env, stream)
    }

    /// What the step that has made this stream gives to a side output.
    #[must_use]
    pub fn side_output<S: Element>(&self, tag: &OutputTag<S>) -> DataStream<S> {
        let streams = self.streams();
        let none = || {
            Error::invalid(format!(
                "the stream has no side output '{}': no step with side outputs has made it",
                tag.id()
            ))
            .hint("call side_output on what process() or a window gives, before map, filter and the like")
        };
        let streams = match self.side_outputs.as_ref().ok_or_else(none).and_then(|outputs| outputs.port(tag)) {
            Ok(port) => Streams { streams: streams.streams.iter().map(|s| s.side(port)).collect(), ..streams },
            Err(error) => {
                self.env.plan(|plan| plan.fail(error));
                streams
            }
        };
        DataStream::from_streams(self.env.clone(), streams, None)
    }

    fn then<U: Element>(self, name: &'static str, step: Step<T, U>) -> DataStream<U> {
        let Self { env, origin, .. } = self;
        let origin = match origin.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Origin::Source(source) => Origin::Source(source.then(name, step)),
            Origin::Streams(Streams { streams, one_partition, timed }) => {
                let make = step::operator(name, step);
                let chain = |stream| env.plan(|plan| plan.graph.chain(stream, Arc::clone(&make)));
                Origin::Streams(Streams { streams: streams.into_iter().map(chain).collect(), one_partition, timed })
            }
            Origin::Taken => Origin::Taken,
        };
        DataStream { env, origin: Mutex::new(origin), side_outputs: None }
    }

    /// Where its elements come from in the graph, which the source becomes a part of if it is not yet.
    pub(crate) fn streams(&self) -> Streams {
        let mut origin = self.origin.lock().unwrap_or_else(PoisonError::into_inner);
        let streams = match std::mem::replace(&mut *origin, Origin::Taken) {
            Origin::Source(source) => into_graph(&self.env, source, None),
            Origin::Streams(streams) => streams,
            Origin::Taken => Streams { streams: vec![], one_partition: false, timed: false },
        };
        *origin = Origin::Streams(streams.clone());
        streams
    }

    pub(crate) fn env(&self) -> &Environment {
        &self.env
    }

    /// Of the step that has made it.
    pub(crate) fn step_side_outputs(&self) -> Option<SideOutputs> {
        self.side_outputs.clone()
    }

    pub(crate) fn into_parts(self) -> (Environment, Streams) {
        let streams = self.streams();
        (self.env, streams)
    }
}

impl<T: Element> Clone for DataStream<T> {
    fn clone(&self) -> Self {
        Self::from_streams(self.env.clone(), self.streams(), self.side_outputs.clone())
    }
}

pub(crate) fn foreign() -> Error {
    Error::invalid("streams of two environments meet").hint("make all streams of a program from one Environment")
}

fn into_graph<T: Element>(
    env: &Environment,
    source: PendingSource<T>,
    strategy: Option<WatermarkStrategy<T>>,
) -> Streams {
    let (one_partition, timed) = (source.one_partition(), strategy.is_some());
    let stream = env.plan(|plan| plan.graph.source(source.spec(strategy)));
    Streams { streams: vec![stream], one_partition, timed }
}
