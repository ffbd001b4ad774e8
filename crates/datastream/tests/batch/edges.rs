//! Where a batch and a live run could part: what touches, what comes at the end of time, and sources that are slow or panic.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use tidemill_datastream::state::{KeyedState, StateDescriptor, ValueState};
use tidemill_datastream::{
    Collector, Context, Environment, ErrorKind, EventTime, KeyedProcessFunction, Result, Settings, Timer,
    WatermarkStrategy, WindowAssigner,
};

use crate::flaky_source::{FlakySource, number_column};
use crate::shuffle_files;

const GAP: i64 = 10;

/// Key, start, end, how many: an event that is exactly the gap behind the last one is in its session.
fn sessions(events: &[(u8, i64)]) -> Vec<(u8, i64, i64, usize)> {
    let mut sorted = events.to_vec();
    sorted.sort_unstable();
    let mut sessions: Vec<(u8, i64, i64, usize)> = vec![];
    for (key, time) in sorted {
        match sessions.last_mut().filter(|last| last.0 == key && time <= last.2) {
            Some(last) => *last = (key, last.1, time + GAP, last.3 + 1),
            None => sessions.push((key, time, time + GAP, 1)),
        }
    }
    sessions
}

proptest! {
    #[test]
    fn events_that_are_exactly_a_gap_apart_are_in_one_session(
        events in prop::collection::vec((0..3u8, (0..60i64).prop_map(|time| time * 5)), 0..60),
        lateness_ms in prop_oneof![Just(0), 0..30u64],
        batch_size in 1..20usize,
    ) {
        let env = Environment::with(Settings { batch_size, ..Settings::default() });
        let told = env
            .from_iter(events.clone())
            .assign_timestamps_and_watermarks(
                WatermarkStrategy::for_monotonous_timestamps().with_timestamp_assigner(|e: &(u8, i64)| EventTime(e.1)),
            )
            .map(|(key, _)| (key, 1))
            .key_by(|event| event.0)
            .window(WindowAssigner::session(Duration::from_millis(10)))
            .allowed_lateness(Duration::from_millis(lateness_ms))
            .reduce("sessions", |a, b| (a.0, a.1 + b.1))
            .map(|of| (of.key, of.window.start, of.window.end, of.value.1))
            .collect();
        let executed = env.execute_batch().unwrap();
        let mut told = told.take();
        told.sort_unstable();
        prop_assert_eq!(told, sessions(&events));
        prop_assert_eq!(executed.late_elements["sessions"], 0);
    }
}

/// A sum of each key, told at the end of the input.
struct AtTheEnd(ValueState<i64>);

impl KeyedProcessFunction<i64, i64> for AtTheEnd {
    type Out = i64;

    fn process_element(
        &mut self,
        _: &i64,
        value: i64,
        context: &mut Context<'_>,
        _: &mut Collector<i64>,
    ) -> Result<()> {
        context.register_event_time_timer(EventTime(i64::MAX))?;
        self.0.update_with(context.state(), |sum| *sum = Some(sum.unwrap_or(0) + value))
    }

    fn on_timer(&mut self, _: &i64, _: Timer, context: &mut Context<'_>, out: &mut Collector<i64>) -> Result<()> {
        out.collect(self.0.value(context.state())?.copied().unwrap_or(0));
        Ok(())
    }
}

#[test]
fn what_comes_at_the_end_of_time_is_not_late_for_what_comes_behind() {
    let run = |batch: bool| {
        let env = Environment::new();
        let total = env
            .from_iter(0..100i64)
            .key_by(|number| number % 7)
            .process("sums", |states: &mut KeyedState| Ok(AtTheEnd(states.value_state(StateDescriptor::new("sum"))?)))
            .key_by(|_| 0u8)
            .window(WindowAssigner::global())
            .reduce("total", |a, b| a + b)
            .map(|of| of.value)
            .collect();
        let late = match batch {
            true => env.execute_batch().unwrap().late_elements,
            false => env.execute_live().unwrap().late_elements,
        };
        (total.take(), late)
    };
    let expected = (vec![4_950], BTreeMap::from([("total".to_owned(), 0)]));
    assert_eq!(run(false), expected);
    assert_eq!(run(true), expected);
}

/// Key and time of a hundred events; forty have no time, eight of each key.
fn some_without_time() -> Vec<(u8, i64)> {
    (0..100i64).map(|number| ((number % 5) as u8, if number % 30 < 10 { i64::MAX } else { number })).collect()
}

fn timed() -> WatermarkStrategy<(u8, i64)> {
    WatermarkStrategy::for_monotonous_timestamps().with_timestamp_assigner(|event: &(u8, i64)| EventTime(event.1))
}

#[test]
fn what_failed_attempts_have_counted_does_not_count() {
    let env = Environment::with(Settings { batch_size: 4, ..Settings::default() });
    let calls = Arc::new(AtomicUsize::new(0));
    let last = env
        .from_iter(some_without_time())
        .assign_timestamps_and_watermarks(timed())
        .key_by(|event| event.0)
        .window(WindowAssigner::tumbling(Duration::from_millis(10)))
        .reduce("last", move |a, b| {
            // Those of the key that have no time have come by then.
            assert!(calls.fetch_add(1, Ordering::Relaxed) >= 3, "drawn to fail");
            (a.0, a.1.max(b.1))
        })
        .collect();
    let executed = env.execute_batch().unwrap();
    assert_eq!(executed.re_executed.len(), 3);
    assert_eq!(last.take().len(), 30);
    assert_eq!(executed.late_elements["last"], 40);
}

#[test]
fn what_is_made_again_is_not_counted_again() {
    let folder = tempfile::tempdir().unwrap();
    let data_dir = folder.path().to_owned();
    let settings =
        Settings { data_dir: Some(data_dir.clone()), shuffle_memory: 0, parallelism: 1, ..Settings::default() };
    let env = Environment::with(settings);
    let calls = AtomicUsize::new(0);
    let counts = env
        .from_iter(some_without_time())
        .assign_timestamps_and_watermarks(timed())
        .key_by(|event| event.0)
        .window(WindowAssigner::tumbling(Duration::from_millis(10)))
        .reduce("first", |first, _| first)
        .map(|of| (of.key, 1))
        .key_by(|of| of.0)
        .window(WindowAssigner::global())
        .reduce("counts", |a, b| (a.0, a.1 + b.1))
        .map(move |of| {
            // When the first bucket is done, all is lost that the others would read.
            if calls.fetch_add(1, Ordering::Relaxed) == 0 {
                shuffle_files(&data_dir).iter().for_each(|file| fs::remove_file(file).unwrap());
            }
            of.value
        })
        .collect();
    let executed = env.execute_batch().unwrap();
    let mut counts = counts.take();
    counts.sort_unstable();
    assert_eq!(counts, (0..5u8).map(|key| (key, 6)).collect::<Vec<_>>());
    assert!(executed.re_executed.iter().any(|again| &*again.task == "first"), "{:?}", executed.re_executed);
    assert_eq!(executed.late_elements, BTreeMap::from([("counts".to_owned(), 0), ("first".to_owned(), 40)]));
}

#[test]
fn an_iterator_that_panics_is_an_error_of_the_program() {
    let numbers = || (0..100i64).map(|number| if number == 50 { panic!("no number") } else { number });
    for batch in [false, true] {
        let env = Environment::with(Settings { attempts: 2, batch_size: 8, ..Settings::default() });
        let read = env.from_iter(numbers()).collect();
        let error = match batch {
            true => env.execute_batch().unwrap_err(),
            false => env.execute_live().unwrap_err(),
        };
        assert_eq!(error.kind(), ErrorKind::Data, "{error}");
        assert!(error.message().contains("the iterator of from_iter panicked: no number"), "{error}");
        assert!(read.take().is_empty());
    }
}

#[test]
fn a_source_that_takes_long_to_open_is_waited_for() {
    let env = Environment::new();
    let source = Arc::new(FlakySource::new(&[5], 2, 0).slow(Duration::from_millis(700)));
    let read = env.from_source::<(i64,)>("numbers", source, number_column()).collect();
    env.execute_batch().unwrap();
    assert_eq!(read.take().len(), 5);
}
