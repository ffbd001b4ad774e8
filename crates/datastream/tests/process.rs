//! Functions with state and timers against a recomputation in the test, whatever the cuts and the crashes.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

mod pace;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pace::pace;
use proptest::prelude::*;
use tidemill_datastream::state::{KeyedState, ListState, MapState, MapStateDescriptor, StateDescriptor, ValueState};
use tidemill_datastream::{
    Collector, Context, DataStream, Environment, EventTime, KeyedProcessFunction, KeyedStream, OutputTag, Result,
    Settings, Snapshot, TestHarness, Timer, Watermark, WatermarkStrategy,
};

/// Key, time, value.
type Event = (u8, i64, i64);

const ODD: OutputTag<Event> = OutputTag::new("odd");

/// What the function tells: the key, the time that it was called for, and what it remembers then.
type Told = (u8, i64, String);

/// Remembers all it sees of a key, and tells and forgets it 10 ms after an element that is divisible by three; a value that
/// is divisible by seven takes that back.
struct Remembers {
    sum: ValueState<i64>,
    values: ListState<i64>,
    counts: MapState<i64, u32>,
    due: ValueState<i64>,
}

impl Remembers {
    fn open(states: &mut KeyedState) -> Result<Self> {
        Ok(Self {
            sum: states.value_state(StateDescriptor::new("sum"))?,
            values: states.list_state(StateDescriptor::new("values"))?,
            counts: states.map_state(MapStateDescriptor::new("counts"))?,
            due: states.value_state(StateDescriptor::new("due"))?,
        })
    }
}

impl KeyedProcessFunction<u8, Event> for Remembers {
    type Out = Told;

    fn process_element(
        &mut self,
        key: &u8,
        event: Event,
        context: &mut Context<'_>,
        out: &mut Collector<Told>,
    ) -> Result<()> {
        let (_, time, value) = event;
        assert_eq!(context.timestamp(), Some(EventTime(time)));
        if value % 2 == 1 {
            context.output(&ODD, event)?;
        }
        let sum = self.sum.update_with(context.state(), |sum| {
            *sum = Some(sum.unwrap_or(0) + value);
            *sum
        })?;
        self.values.add(context.state(), &value)?;
        let count = self.counts.get(context.state(), &(value % 5))?.unwrap_or(0);
        self.counts.put(context.state(), &(value % 5), &(count + 1))?;
        if value % 3 == 0 {
            self.due.update(context.state(), time + 10)?;
            context.register_event_time_timer(EventTime(time + 10))?;
        }
        if value % 7 == 0
            && let Some(due) = self.due.value(context.state())?.copied()
        {
            context.delete_event_time_timer(EventTime(due))?;
        }
        out.collect((*key, time, format!("sum {}", sum.unwrap_or_default())));
        Ok(())
    }

    fn on_timer(&mut self, key: &u8, timer: Timer, context: &mut Context<'_>, out: &mut Collector<Told>) -> Result<()> {
        let Timer::EventTime(time) = timer else { return Ok(()) };
        let values = self.values.get(context.state())?;
        let counts: Vec<(i64, u32)> = self.counts.entries(context.state())?.collect::<Result<_>>()?;
        out.collect((*key, time.0, format!("values {values:?} counts {counts:?}")));
        self.values.clear(context.state())?;
        self.counts.clear(context.state())?;
        Ok(())
    }
}

fn remembers(stream: KeyedStream<u8, Event>) -> DataStream<Told> {
    stream.process("remembers", Remembers::open)
}

/// The same, written plainly: one clock, which is each element's own watermark.
fn expected(events: &[Event], delay: i64) -> Vec<Told> {
    let mut told = vec![];
    let mut sums = BTreeMap::<u8, i64>::new();
    let mut values = BTreeMap::<u8, Vec<i64>>::new();
    let mut due = BTreeMap::<u8, i64>::new();
    let mut timers = BTreeSet::<(i64, u8)>::new();
    let mut watermark = i64::MIN;
    let fire =
        |until: i64, timers: &mut BTreeSet<(i64, u8)>, values: &mut BTreeMap<u8, Vec<i64>>, told: &mut Vec<Told>| {
            while let Some(&(time, key)) = timers.first().filter(|timer| timer.0 <= until) {
                timers.remove(&(time, key));
                let values = values.remove(&key).unwrap_or_default();
                let mut counts = BTreeMap::<i64, u32>::new();
                values.iter().for_each(|value| *counts.entry(value % 5).or_default() += 1);
                let counts: Vec<(i64, u32)> = counts.into_iter().collect();
                told.push((key, time, format!("values {values:?} counts {counts:?}")));
            }
        };
    for &(key, time, value) in events {
        fire(watermark, &mut timers, &mut values, &mut told);
        let sum = sums.entry(key).or_default();
        *sum += value;
        values.entry(key).or_default().push(value);
        if value % 3 == 0 {
            due.insert(key, time + 10);
            timers.insert((time + 10, key));
        }
        if value % 7 == 0
            && let Some(due) = due.get(&key)
        {
            timers.remove(&(*due, key));
        }
        told.push((key, time, format!("sum {sum}")));
        watermark = watermark.max(time - delay - 1);
    }
    fire(i64::MAX, &mut timers, &mut values, &mut told);
    told
}

/// What is told of each key, in its order: keys of several subtasks are in none.
fn by_key(told: Vec<Told>) -> BTreeMap<u8, Vec<(i64, String)>> {
    let mut by_key = BTreeMap::<u8, Vec<_>>::new();
    told.into_iter().for_each(|(key, time, what)| by_key.entry(key).or_default().push((time, what)));
    by_key
}

fn timed(env: &Environment, events: Vec<Event>, delay: i64) -> DataStream<Event> {
    let strategy = WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_millis(delay.unsigned_abs()));
    env.from_iter(events).assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(|e: &Event| EventTime(e.1)))
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec((0..6_u8, 0..100_i64, 0..50_i64), 0..100)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_key_has_its_state_and_its_timers(
        events in events(), delay in 0..20_i64, parallelism in 1..4_usize, batch_size in 1..30_usize,
    ) {
        let env = Environment::with(Settings { parallelism, batch_size, ..Settings::default() });
        let told = remembers(timed(&env, events.clone(), delay).key_by(|event| event.0));
        let (odd, told) = (told.side_output(&ODD).collect(), told.collect());
        env.execute_live().unwrap();
        prop_assert_eq!(by_key(told.take()), by_key(expected(&events, delay)));
        let mut odd = odd.take();
        let mut expected_odd: Vec<Event> = events.into_iter().filter(|event| event.2 % 2 == 1).collect();
        odd.sort_unstable();
        expected_odd.sort_unstable();
        prop_assert_eq!(odd, expected_odd);
    }

    #[test]
    fn a_step_in_a_harness_goes_on_from_any_snapshot(events in events(), delay in 0..20_i64, every in 1..20_usize) {
        let make = |snapshot: Option<Snapshot>| match snapshot {
            None => TestHarness::new(|event: &Event| event.0, remembers).unwrap(),
            Some(snapshot) => TestHarness::restored(|event: &Event| event.0, remembers, snapshot).unwrap(),
        };
        let mut harness = make(None);
        let (mut told, mut watermark) = (vec![], Watermark::MIN);
        for (number, &event) in events.iter().enumerate() {
            harness.push(event, EventTime(event.1)).unwrap();
            told.extend(harness.take());
            if number % every == 0 {
                harness = make(Some(harness.snapshot().unwrap()));
            }
            watermark = watermark.max(Watermark(event.1 - delay - 1));
            harness.advance_watermark(watermark).unwrap();
            told.extend(harness.take());
        }
        harness.advance_watermark(Watermark::MAX).unwrap();
        told.extend(harness.take());
        prop_assert_eq!(by_key(told), by_key(expected(&events, delay)));
    }
}

/// What the elements of each key have come to, one after the other: the first time, and the sum of the values.
fn reduced(events: &[Event]) -> BTreeMap<u8, Vec<Event>> {
    let mut told = BTreeMap::<u8, Vec<Event>>::new();
    for (number, &(key, ..)) in events.iter().enumerate() {
        let of_key = || events[..=number].iter().filter(|event| event.0 == key);
        let first = of_key().map(|event| event.1).min().unwrap();
        told.entry(key).or_default().push((key, first, of_key().map(|event| event.2).sum()));
    }
    told
}

fn running(stream: KeyedStream<u8, Event>) -> DataStream<Event> {
    stream.reduce("running", |a, b| (a.0, a.1.min(b.1), a.2 + b.2))
}

fn in_order(told: Vec<Event>) -> BTreeMap<u8, Vec<Event>> {
    let mut by_key = BTreeMap::<u8, Vec<Event>>::new();
    told.into_iter().for_each(|event| by_key.entry(event.0).or_default().push(event));
    by_key
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_element_tells_what_its_key_has_come_to(
        events in events(), parallelism in 1..4_usize, batch_size in 1..30_usize, every in 1..20_usize,
    ) {
        let env = Environment::with(Settings { parallelism, batch_size, ..Settings::default() });
        let told = running(env.from_iter(events.clone()).key_by(|event| event.0)).collect();
        env.execute_live().unwrap();
        prop_assert_eq!(in_order(told.take()), reduced(&events));

        let mut harness = TestHarness::new(|event: &Event| event.0, running).unwrap();
        let mut told = vec![];
        for (number, &event) in events.iter().enumerate() {
            harness.push(event, EventTime(event.1)).unwrap();
            let [(one, time)] = harness.take_with_times()[..] else { panic!("not one element of each") };
            prop_assert_eq!(time, Some(EventTime(event.1)));
            told.push(one);
            if number % every == 0 {
                let snapshot = harness.snapshot().unwrap();
                harness = TestHarness::restored(|event: &Event| event.0, running, snapshot).unwrap();
            }
        }
        prop_assert_eq!(in_order(told), reduced(&events));
    }
}

/// Runs until `limit` elements have been read, or to the end, from the last checkpoint in the directory.
fn run_some(events: &[Event], limit: usize, settings: Settings) -> Result<(bool, Vec<Told>)> {
    let env = Environment::with(Settings { batch_size: 7, checkpoint_interval: Duration::from_millis(5), ..settings });
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    let told = timed(&env, events.to_vec(), 5)
        .filter(move |_| {
            pace(&counted, limit);
            true
        })
        .key_by(|event| event.0)
        .process("remembers", Remembers::open)
        .collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|e| tidemill_datastream::Error::internal(e.to_string()))?;
    let executed = runtime.block_on(env.run_live(async move {
        while seen.load(Ordering::Relaxed) < limit {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }));
    Ok((executed?.stopped, told.take()))
}

#[test]
fn a_run_that_is_stopped_goes_on_from_its_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let events: Vec<Event> = (0..3_000).map(|n| ((n % 11) as u8, n / 3 + (n * 7) % 13, (n * 31) % 101)).collect();
    let (mut told, mut stops) = (vec![], 0);
    loop {
        let settings = Settings { parallelism: 2, data_dir: Some(dir.path().to_owned()), ..Settings::default() };
        let (stopped, some) = run_some(&events, 700, settings).unwrap();
        told.extend(some);
        if !stopped {
            break;
        }
        stops += 1;
        assert!(stops < 100, "no run gets on");
    }
    assert!(stops > 0, "no run was stopped");
    assert_eq!(by_key(told), by_key(expected(&events, 5)));
}

/// What it goes on from comes through files in the data directory, of which none is left; nor of those of a killed run.
#[cfg(feature = "rocksdb")]
#[test]
fn a_run_with_state_on_a_disk_that_is_stopped_goes_on_from_its_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let (data_dir, spill) = (dir.path().join("job"), dir.path().join("job/spill"));
    let events: Vec<Event> = (0..3_000).map(|n| ((n % 11) as u8, n / 3 + (n * 7) % 13, (n * 31) % 101)).collect();
    let (mut told, mut stops) = (vec![], 0);
    loop {
        std::fs::create_dir_all(spill.join("spill-of-a-killed-run")).unwrap();
        let state_backend = tidemill_datastream::StateBackend::rocksdb(dir.path().join("rocksdb"), 16 << 20);
        let settings =
            Settings { parallelism: 2, data_dir: Some(data_dir.clone()), state_backend, ..Settings::default() };
        let (stopped, some) = run_some(&events, 700, settings).unwrap();
        told.extend(some);
        assert_eq!(std::fs::read_dir(&spill).unwrap().count(), 0);
        if !stopped {
            break;
        }
        stops += 1;
        assert!(stops < 100, "no run gets on");
    }
    assert!(stops > 0, "no run was stopped");
    assert_eq!(by_key(told), by_key(expected(&events, 5)));
}

/// A savepoint of what a stopped job has come to.
fn savepoint(of: &Path, to: &Path) -> Result<()> {
    use tidemill_state::checkpoint::{Place, SavepointWriter};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| tidemill_datastream::Error::internal(e.to_string()))?;
    runtime.block_on(async {
        let writer = SavepointWriter::of_last(Place::Folder(tidemill_state::DataDir::checkpoints(of))).await?;
        writer.write(&Place::Folder(to.to_owned())).await.map(drop)
    })
}

#[test]
fn a_job_is_handed_over_to_another_parallelism_and_backend() {
    let dir = tempfile::tempdir().unwrap();
    let events: Vec<Event> = (0..4_000).map(|n| ((n % 13) as u8, n / 3 + (n * 7) % 13, (n * 31) % 101)).collect();
    let (mut told, mut from) = (vec![], None);
    for (job, parallelism) in [1, 3, 2, 5, 1].into_iter().enumerate() {
        let data_dir = dir.path().join(format!("job {job}"));
        let on_disk = job % 2 == 1;
        let state_backend = match on_disk {
            #[cfg(feature = "rocksdb")]
            true => tidemill_datastream::StateBackend::rocksdb(dir.path().join(format!("rocksdb {job}")), 16 << 20),
            _ => tidemill_datastream::StateBackend::memory(),
        };
        let settings = Settings {
            parallelism,
            data_dir: Some(data_dir.clone()),
            from_savepoint: from,
            state_backend,
            ..Settings::default()
        };
        let limit = if job == 4 { usize::MAX } else { 800 };
        let (stopped, some) = run_some(&events, limit, settings).unwrap();
        assert_eq!(stopped, job < 4, "job {job}");
        told.extend(some);
        let to = dir.path().join(format!("savepoint {job}"));
        if stopped {
            savepoint(&data_dir, &to).unwrap();
        }
        from = Some(to.to_string_lossy().into_owned());
    }
    assert_eq!(by_key(told), by_key(expected(&events, 5)));
}

#[test]
fn timers_of_the_clock_come_when_it_shows_their_time() {
    struct Reminder;
    impl KeyedProcessFunction<u8, u8> for Reminder {
        type Out = i64;

        fn process_element(&mut self, _: &u8, _: u8, context: &mut Context<'_>, _: &mut Collector<i64>) -> Result<()> {
            let now = context.current_processing_time();
            context.register_processing_time_timer(now + 100)?;
            context.register_processing_time_timer(now + 200)?;
            context.delete_processing_time_timer(now + 200)
        }

        fn on_timer(&mut self, _: &u8, timer: Timer, _: &mut Context<'_>, out: &mut Collector<i64>) -> Result<()> {
            let Timer::ProcessingTime(time) = timer else { return Ok(()) };
            out.collect(time);
            Ok(())
        }
    }
    let mut harness = TestHarness::new(|key: &u8| *key, |stream| stream.process("reminder", |_| Ok(Reminder))).unwrap();
    harness.set_processing_time(1_000).unwrap();
    harness.push_without_time(1).unwrap();
    harness.set_processing_time(1_099).unwrap();
    assert!(harness.take().is_empty());
    harness.set_processing_time(1_100).unwrap();
    assert_eq!(harness.take_with_times(), [(1_100, None)]);
    harness.set_processing_time(5_000).unwrap();
    assert!(harness.take().is_empty());
}

#[test]
fn an_element_is_late_whose_own_watermark_has_reached_its_time() {
    struct Late;
    impl KeyedProcessFunction<u8, u8> for Late {
        type Out = bool;

        fn process_element(
            &mut self,
            _: &u8,
            _: u8,
            context: &mut Context<'_>,
            out: &mut Collector<bool>,
        ) -> Result<()> {
            out.collect(context.late());
            context.register_event_time_timer(EventTime(8))
        }

        fn on_timer(&mut self, _: &u8, _: Timer, context: &mut Context<'_>, out: &mut Collector<bool>) -> Result<()> {
            out.collect(context.late());
            Ok(())
        }
    }
    let mut harness = TestHarness::new(|key: &u8| *key, |stream| stream.process("late", |_| Ok(Late))).unwrap();
    harness.push(1, EventTime(5)).unwrap();
    harness.advance_watermark(Watermark(6)).unwrap();
    harness.push(1, EventTime(7)).unwrap();
    assert_eq!(harness.take(), [false, false]);
    harness.push(1, EventTime(6)).unwrap();
    harness.push_without_time(1).unwrap();
    assert_eq!(harness.take(), [true, true]);
    harness.advance_watermark(Watermark::MAX).unwrap();
    assert_eq!(harness.take(), [false], "a timer is never late");
}

#[test]
fn a_timer_of_the_clock_is_not_late_and_may_set_one_for_an_event_time_that_is_past() {
    struct Chain;
    impl KeyedProcessFunction<u8, u8> for Chain {
        type Out = (Option<EventTime>, bool, Watermark);

        fn process_element(
            &mut self,
            _: &u8,
            _: u8,
            context: &mut Context<'_>,
            _: &mut Collector<Self::Out>,
        ) -> Result<()> {
            context.register_processing_time_timer(1_000)
        }

        fn on_timer(
            &mut self,
            _: &u8,
            timer: Timer,
            context: &mut Context<'_>,
            out: &mut Collector<Self::Out>,
        ) -> Result<()> {
            out.collect((context.timestamp(), context.late(), context.element_watermark()));
            match timer {
                Timer::ProcessingTime(_) => context.register_event_time_timer(EventTime(50)),
                Timer::EventTime(_) => Ok(()),
            }
        }
    }
    let mut harness = TestHarness::new(|key: &u8| *key, |stream| stream.process("chain", |_| Ok(Chain))).unwrap();
    harness.push(1, EventTime(70)).unwrap();
    harness.advance_watermark(Watermark(100)).unwrap();
    assert!(harness.take().is_empty());
    harness.set_processing_time(1_000).unwrap();
    let at = |time| (Some(EventTime(time)), false, Watermark::MIN);
    assert_eq!(harness.take(), [at(1_000), at(50)]);
}
