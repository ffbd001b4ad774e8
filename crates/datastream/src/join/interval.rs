//! The join of elements whose times are close to each other.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::{Error, EventTime, Result};
use tidemill_runtime::metrics::WindowMetrics;
use tidemill_state::keyed::KeyedState;

use super::memory::{MemoryJoin, MemorySpec};
use super::side::Side;
use crate::collector::Collector;
use crate::connected::{ConnectedStreams, Either};
use crate::data_stream::DataStream;
use crate::keyed_stream::KeyedStream;
use crate::output_tag::{OutputTag, SideOutputs};
use crate::process::{Context, KeyedProcessFunction, Pace, Timer};
use crate::timed::Element;

/// Pairs of elements of two streams with the same key, where the second's time lies within bounds around the first's.
///
/// An element is kept until no other can come that it would meet: until the watermark has passed the bounds. One that is late,
/// as its own watermark has reached its time, joins none.
pub struct IntervalJoin<K, A, B> {
    both: KeyedStream<K, Either<A, B>>,
    options: Options<A, B>,
}

/// How a pair becomes one element.
pub(super) type Join<A, B, Out> = Arc<dyn Fn(&A, &B) -> Out + Send + Sync>;

pub(super) struct Options<A, B> {
    /// The second's time less the first's, in milliseconds.
    bounds: RangeInclusive<i64>,
    pub(super) alone: (Option<OutputTag<A>>, Option<OutputTag<B>>),
    pub(super) late: Option<OutputTag<Either<A, B>>>,
    pub(super) metrics: Arc<WindowMetrics>,
}

impl<A, B> Options<A, B> {
    /// How long an element of the first stream is kept, and one of the second, in milliseconds behind its time.
    pub(super) fn kept(&self) -> (i64, i64) {
        (0.max(*self.bounds.end()), 0.max(self.bounds.start().saturating_neg()))
    }

    /// Up to which time elements are forgotten that are kept for `kept_ms`, when the watermark has reached `due`.
    pub(super) fn forgotten(due: i64, kept_ms: i64) -> i64 {
        // No time is later: then nothing is kept, whatever the bounds.
        if due == i64::MAX { due } else { due.saturating_sub(kept_ms) }
    }

    /// How much older than the watermark is what leaves when it is forgotten, in milliseconds.
    pub(super) fn held_back_ms(&self) -> i64 {
        let (kept_first, kept_second) = self.kept();
        let of = |alone: bool, kept_ms: i64| if alone { kept_ms } else { 0 };
        of(self.alone.0.is_some(), kept_first).max(of(self.alone.1.is_some(), kept_second))
    }

    /// The times of elements of the second stream that one of the first meets.
    pub(super) fn times_of_second(&self, first: i64) -> RangeInclusive<i64> {
        first.saturating_add(*self.bounds.start())..=first.saturating_add(*self.bounds.end())
    }

    /// The times of elements of the first stream that one of the second meets.
    pub(super) fn times_of_first(&self, second: i64) -> RangeInclusive<i64> {
        second.saturating_sub(*self.bounds.end())..=second.saturating_sub(*self.bounds.start())
    }
}

impl<A, B> Clone for Options<A, B> {
    fn clone(&self) -> Self {
        let Self { bounds, alone, late, metrics } = self;
        Self { bounds: bounds.clone(), alone: *alone, late: *late, metrics: Arc::clone(metrics) }
    }
}

impl<K, A, B> IntervalJoin<K, A, B>
where
    K: Serialize + DeserializeOwned + 'static,
    A: Element + Serialize + DeserializeOwned,
    B: Element + Serialize + DeserializeOwned,
{
    pub(crate) fn new(first: KeyedStream<K, A>, second: KeyedStream<K, B>, bounds: RangeInclusive<i64>) -> Self {
        let ConnectedStreams { both } = ConnectedStreams::new(first, second);
        if bounds.is_empty() {
            let (from, to) = (bounds.start(), bounds.end());
            both.env().plan(|plan| {
                plan.fail(
                    Error::invalid(format!("no time lies between {from} ms and {to} ms"))
                        .hint("give an interval join its lower bound first"),
                );
            });
        }
        Self { both, options: Options { bounds, alone: (None, None), late: None, metrics: Arc::default() } }
    }

    /// Elements of the first stream that have met none when they are forgotten go to this side output of the join. They are in
    /// time for what is behind it: the join's watermark is held back by as long as they are kept.
    #[must_use]
    pub fn side_output_unmatched_first(mut self, tag: &OutputTag<A>) -> Self {
        self.options.alone.0 = Some(*tag);
        self
    }

    /// Elements of the second stream that have met none when they are forgotten go to this side output of the join.
    #[must_use]
    pub fn side_output_unmatched_second(mut self, tag: &OutputTag<B>) -> Self {
        self.options.alone.1 = Some(*tag);
        self
    }

    /// Late elements of both go to this side output of the join. Otherwise they are only counted.
    #[must_use]
    pub fn side_output_late_data(mut self, tag: &OutputTag<Either<A, B>>) -> Self {
        self.options.late = Some(*tag);
        self
    }

    /// Makes one element of each pair; its time is the later of the two. `name` is what a checkpoint knows the state by.
    pub fn apply<Out: Element>(
        self,
        name: &str,
        join: impl Fn(&A, &B) -> Out + Send + Sync + 'static,
    ) -> DataStream<Out> {
        let Self { both, options } = self;
        both.needs_time(name);
        let metrics = vec![Arc::clone(&options.metrics)];
        both.env().plan(|plan| plan.graph.metrics.windows.insert(name.into(), metrics));
        let words = format!("interval join within {:?} ms", options.bounds);
        let join: Join<A, B, Out> = Arc::new(join);
        if both.env().settings().state_backend.is_memory() {
            let side_outputs = SideOutputs::default();
            let (name_of_spec, key) = (name.into(), both.key.clone());
            let spec = MemorySpec { name: name_of_spec, words, key, options, join, side_outputs: side_outputs.clone() };
            return both.behind_exchange(
                name,
                side_outputs,
                Arc::new(move || Ok(Box::new(MemoryJoin::new(spec.clone())))),
            );
        }
        let pace = Pace { held_back_ms: options.held_back_ms(), ..Pace::default() };
        let make = move |states: &mut KeyedState| {
            Ok(Joining {
                first: Side::new(states, "first", options.alone.0.is_some())?,
                second: Side::new(states, "second", options.alone.1.is_some())?,
                options: options.clone(),
                join: Arc::clone(&join),
            })
        };
        both.process_as(name, words, pace, Arc::new(make))
    }
}

impl<K, A, B> fmt::Debug for IntervalJoin<K, A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IntervalJoin of {:?} within {:?} ms", self.both, self.options.bounds)
    }
}

struct Joining<A, B, Out> {
    options: Options<A, B>,
    first: Side<A>,
    second: Side<B>,
    join: Join<A, B, Out>,
}

impl<K, A, B, Out> KeyedProcessFunction<K, Either<A, B>> for Joining<A, B, Out>
where
    A: Element + Serialize + DeserializeOwned,
    B: Element + Serialize + DeserializeOwned,
    Out: Element,
{
    type Out = Out;

    fn process_element(
        &mut self,
        _: &K,
        value: Either<A, B>,
        context: &mut Context<'_>,
        out: &mut Collector<Out>,
    ) -> Result<()> {
        let (time, row_watermark) = (context.time, context.row_watermark);
        if row_watermark >= time {
            self.options.metrics.late_rows.add(1);
            return match &self.options.late {
                Some(late) => context.output(late, value),
                None => Ok(()),
            };
        }
        let (kept_first, kept_second) = self.options.kept();
        let kept = match value {
            Either::First(first) => {
                let found = self.second.found(context.state(), self.options.times_of_second(time))?;
                for (other, second) in &found {
                    out.at(time.max(*other), row_watermark);
                    out.collect((self.join)(&first, second));
                }
                self.first.keep(context.state(), time, first, !found.is_empty())?;
                kept_first
            }
            Either::Second(second) => {
                let found = self.first.found(context.state(), self.options.times_of_first(time))?;
                for (other, first) in &found {
                    out.at(time.max(*other), row_watermark);
                    out.collect((self.join)(first, &second));
                }
                self.second.keep(context.state(), time, second, !found.is_empty())?;
                kept_second
            }
        };
        context.register_event_time_timer(EventTime(time.saturating_add(kept)))
    }

    fn on_timer(&mut self, _: &K, timer: Timer, context: &mut Context<'_>, _: &mut Collector<Out>) -> Result<()> {
        let Timer::EventTime(EventTime(now)) = timer else { return Ok(()) };
        let (kept_first, kept_second) = self.options.kept();
        for (time, element) in self.first.forget(context.state(), Options::<A, B>::forgotten(now, kept_first))? {
            if let Some(alone) = &self.options.alone.0 {
                context.time = time;
                context.output(alone, element)?;
            }
        }
        for (time, element) in self.second.forget(context.state(), Options::<A, B>::forgotten(now, kept_second))? {
            if let Some(alone) = &self.options.alone.1 {
                context.time = time;
                context.output(alone, element)?;
            }
        }
        Ok(())
    }
}
