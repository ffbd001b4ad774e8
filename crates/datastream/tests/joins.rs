//! Joins of two streams against nested loops in the test.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

mod on_disk;
mod pace;

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use on_disk::on_disk;
use pace::pace;
use proptest::prelude::*;
use tidemill_datastream::state::{KeyedState, StateDescriptor, ValueState};
use tidemill_datastream::{
    Collector, Context, DataStream, Either, Environment, EventTime, KeyedCoProcessFunction, KeyedStream, OutputTag,
    Result, Settings, StateBackend, TestHarness, Watermark, WatermarkStrategy, WindowAssigner,
};

/// Key, time, value.
type Event = (u8, i64, u32);

const FIRST_ALONE: OutputTag<Event> = OutputTag::new("first alone");
const SECOND_ALONE: OutputTag<Event> = OutputTag::new("second alone");
const LATE: OutputTag<Either<Event, Event>> = OutputTag::new("late");

#[derive(Debug, Clone)]
struct Case {
    first: Vec<Event>,
    second: Vec<Event>,
    bounds: RangeInclusive<i64>,
    delay: i64,
    parallelism: usize,
    batch_size: usize,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec((0..3_u8, 0..60_i64, 0..1000_u32), 0..40)
}

fn cases() -> impl Strategy<Value = Case> {
    (events(), events(), -20..20_i64, 0..20_i64, 0..30_i64, 1..4_usize, 1..20_usize).prop_map(
        |(first, second, from, length, delay, parallelism, batch_size)| Case {
            first,
            second,
            bounds: from..=from + length,
            delay,
            parallelism,
            batch_size,
        },
    )
}

impl Case {
    fn env(&self) -> Environment {
        let Self { parallelism, batch_size, .. } = *self;
        Environment::with(Settings { parallelism, batch_size, ..Settings::default() })
    }

    fn keyed(&self, env: &Environment, events: &[Event]) -> KeyedStream<u8, Event> {
        let delay = Duration::from_millis(self.delay.unsigned_abs());
        let strategy = WatermarkStrategy::for_bounded_out_of_orderness(delay);
        let timed: DataStream<Event> = env
            .from_iter(events.to_vec())
            .assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(|e: &Event| EventTime(e.1)));
        timed.key_by(|event| event.0)
    }

    /// Each element with its own watermark.
    fn with_watermarks(&self, events: &[Event]) -> Vec<(Event, i64)> {
        let mut highest = i64::MIN;
        let own = |event: &Event| {
            let before = highest;
            highest = highest.max(event.1 - self.delay - 1);
            (*event, before)
        };
        events.iter().map(own).collect()
    }

    /// The elements that are in time, and those that are not.
    fn in_time(&self, events: &[Event]) -> (Vec<Event>, Vec<Event>) {
        let (in_time, late): (Vec<_>, Vec<_>) =
            self.with_watermarks(events).into_iter().partition(|(event, watermark)| *watermark < event.1);
        let events = |events: Vec<(Event, i64)>| events.into_iter().map(|(event, _)| event).collect();
        (events(in_time), events(late))
    }
}

fn sorted<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort();
    all
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_interval_join_finds_all_pairs_within_its_bounds(case in cases(), tenth in 0..10) {
        // Databases are opened for each subtask: few cases do that.
        let (state_backend, _folder) = if tenth == 0 { on_disk() } else { (StateBackend::memory(), None) };
        let Case { parallelism, batch_size, .. } = case;
        let env = Environment::with(Settings { parallelism, batch_size, state_backend, ..Settings::default() });
        let joined = case
            .keyed(&env, &case.first)
            .interval_join(case.keyed(&env, &case.second), case.bounds.clone())
            .side_output_unmatched_first(&FIRST_ALONE)
            .side_output_unmatched_second(&SECOND_ALONE)
            .side_output_late_data(&LATE)
            .apply("pairs", |a, b| (*a, *b));
        let alone = (joined.side_output(&FIRST_ALONE).collect(), joined.side_output(&SECOND_ALONE).collect());
        let (late, pairs) = (joined.side_output(&LATE).collect(), joined.collect());
        let executed = env.execute_live().unwrap();

        let ((first, first_late), (second, second_late)) = (case.in_time(&case.first), case.in_time(&case.second));
        let meets = |a: &Event, b: &Event| a.0 == b.0 && case.bounds.contains(&(b.1 - a.1));
        let expected = first.iter().flat_map(|a| second.iter().filter(move |b| meets(a, b)).map(|b| (*a, *b)));
        prop_assert_eq!(sorted(pairs.take()), sorted(expected.collect()));
        let first_alone = first.iter().filter(|a| !second.iter().any(|b| meets(a, b))).copied();
        let second_alone = second.iter().filter(|b| !first.iter().any(|a| meets(a, b))).copied();
        prop_assert_eq!(sorted(alone.0.take()), sorted(first_alone.collect()));
        prop_assert_eq!(sorted(alone.1.take()), sorted(second_alone.collect()));
        let expected_late = first_late.into_iter().map(Either::First).chain(second_late.into_iter().map(Either::Second));
        let expected_late: Vec<_> = expected_late.collect();
        prop_assert_eq!(executed.late_elements["pairs"], expected_late.len() as u64);
        prop_assert_eq!(sorted(late.take()), sorted(expected_late));
    }

    #[test]
    fn a_join_in_a_harness_goes_on_from_any_snapshot(
        case in cases(), restored_before in prop::collection::btree_set(0..80_usize, 0..4)
    ) {
        let join = |first: KeyedStream<u8, Event>, second: KeyedStream<u8, Event>| {
            let joined = first.interval_join(second, case.bounds.clone()).side_output_unmatched_first(&FIRST_ALONE);
            joined.apply("pairs", |a, b| (*a, *b))
        };
        let key = |event: &Event| event.0;
        let mut harness = TestHarness::connected(key, key, join).unwrap();
        // Those of both come as their values say, with one clock.
        let mut elements: Vec<(Event, bool)> = case.first.iter().map(|event| (*event, true)).collect();
        elements.extend(case.second.iter().map(|event| (*event, false)));
        elements.sort_by_key(|(event, _)| event.2);
        let (mut watermark, mut first, mut second) = (i64::MIN, vec![], vec![]);
        let (mut pairs, mut alone) = (vec![], vec![]);
        for (number, (event, of_first)) in elements.into_iter().enumerate() {
            if restored_before.contains(&number) {
                let snapshot = harness.snapshot().unwrap();
                pairs.extend(harness.take());
                alone.extend(harness.take_side_output(&FIRST_ALONE).unwrap());
                harness = TestHarness::restored_connected(key, key, join, snapshot).unwrap();
                harness.advance_watermark(Watermark(watermark)).unwrap();
            }
            if watermark < event.1 {
                if of_first { first.push(event) } else { second.push(event) }
            }
            let element = if of_first { Either::First(event) } else { Either::Second(event) };
            harness.push(element, EventTime(event.1)).unwrap();
            watermark = watermark.max(event.1 - case.delay - 1);
            harness.advance_watermark(Watermark(watermark)).unwrap();
        }
        harness.advance_watermark(Watermark::MAX).unwrap();
        pairs.extend(harness.take());
        alone.extend(harness.take_side_output(&FIRST_ALONE).unwrap());

        let meets = |a: &Event, b: &Event| a.0 == b.0 && case.bounds.contains(&(b.1 - a.1));
        let expected = first.iter().flat_map(|a| second.iter().filter(move |b| meets(a, b)).map(|b| (*a, *b)));
        prop_assert_eq!(sorted(pairs), sorted(expected.collect()));
        let first_alone = first.iter().filter(|a| !second.iter().any(|b| meets(a, b))).copied();
        prop_assert_eq!(sorted(alone), sorted(first_alone.collect()));
    }

    #[test]
    fn a_window_join_finds_all_pairs_in_a_window(case in cases(), size in 1..25_i64) {
        let env = case.env();
        let window = WindowAssigner::tumbling(Duration::from_millis(size.unsigned_abs()));
        let joined = case.keyed(&env, &case.first).connect(case.keyed(&env, &case.second)).window(window);
        let pairs = joined.apply("pairs", |a, b| (*a, *b)).collect();
        env.execute_live().unwrap();

        let in_time = |events: &[Event]| -> Vec<Event> {
            let open = |(event, watermark): &(Event, i64)| *watermark < (event.1.div_euclid(size) + 1) * size - 1;
            case.with_watermarks(events).into_iter().filter(open).map(|(event, _)| event).collect()
        };
        let (first, second) = (in_time(&case.first), in_time(&case.second));
        let meets = |a: &Event, b: &Event| a.0 == b.0 && a.1.div_euclid(size) == b.1.div_euclid(size);
        let expected = first.iter().flat_map(|a| second.iter().filter(move |b| meets(a, b)).map(|b| (*a, *b)));
        prop_assert_eq!(sorted(pairs.take()), sorted(expected.collect()));
    }

    #[test]
    fn connected_streams_have_their_state_in_common(case in cases()) {
        /// Adds what the first has, and takes away what the second has.
        struct Balance(ValueState<i64>);

        impl Balance {
            fn change(&self, key: u8, by: i64, context: &mut Context<'_>, out: &mut Collector<(u8, i64)>) -> Result<()> {
                let balance = self.0.value(context.state())?.copied().unwrap_or(0) + by;
                self.0.update(context.state(), balance)?;
                out.collect((key, balance));
                Ok(())
            }
        }

        impl KeyedCoProcessFunction<u8, Event, Event> for Balance {
            type Out = (u8, i64);

            fn process_element1(
                &mut self, key: &u8, event: Event, context: &mut Context<'_>, out: &mut Collector<(u8, i64)>,
            ) -> Result<()> {
                self.change(*key, i64::from(event.2), context, out)
            }

            fn process_element2(
                &mut self, key: &u8, event: Event, context: &mut Context<'_>, out: &mut Collector<(u8, i64)>,
            ) -> Result<()> {
                self.change(*key, -i64::from(event.2), context, out)
            }
        }

        let env = case.env();
        let balances = case
            .keyed(&env, &case.first)
            .connect(case.keyed(&env, &case.second))
            .process("balance", |states: &mut KeyedState| Ok(Balance(states.value_state(StateDescriptor::new("balance"))?)))
            .collect();
        env.execute_live().unwrap();
        // In what order the two come is not said; what they come to is.
        let told = balances.take();
        prop_assert_eq!(told.len(), case.first.len() + case.second.len());
        for key in 0..3 {
            let of = |events: &[Event]| events.iter().filter(|e| e.0 == key).map(|e| i64::from(e.2)).sum::<i64>();
            let last = told.iter().rev().find(|(of, _)| *of == key).map_or(0, |(_, balance)| *balance);
            prop_assert_eq!(last, of(&case.first) - of(&case.second));
        }
    }
}

/// A join is stopped again and again; it goes on by itself, and from savepoints at other parallelisms.
#[test]
fn a_join_that_is_stopped_goes_on() {
    use tidemill_state::checkpoint::{Place, SavepointWriter};

    let dir = tempfile::tempdir().unwrap();
    // Keys come and go, and many elements meet none.
    let event = |step: i64| move |n: i64| ((n / 16) as u8, n / 4 + (n * step) % 30, n as u32);
    let events = |step: i64| -> Vec<Event> { (0..4_000).map(event(step)).collect() };
    let case = Case { first: events(7), second: events(11), bounds: 0..=2, delay: 31, parallelism: 1, batch_size: 7 };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (mut pairs, mut alone, mut stops, mut from) = (vec![], vec![], 0, None);
    for (job, parallelism) in [1, 3, 2].into_iter().enumerate() {
        let data_dir = dir.path().join(format!("job {job}"));
        // Each job is stopped, and goes on from its own checkpoint before it is handed over.
        for run in 0..2 {
            let env = Environment::with(Settings {
                parallelism,
                batch_size: 7,
                data_dir: Some(data_dir.clone()),
                from_savepoint: from.clone(),
                checkpoint_interval: Duration::from_millis(5),
                ..Settings::default()
            });
            let limit = if (job, run) == (2, 1) { usize::MAX } else { 800 };
            let seen = Arc::new(AtomicUsize::new(0));
            let slowly = |events: &[Event]| {
                let counted = Arc::clone(&seen);
                let strategy = WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_millis(31));
                env.from_iter(events.to_vec())
                    .filter(move |_| {
                        pace(&counted, limit);
                        true
                    })
                    .assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(|e: &Event| EventTime(e.1)))
                    .key_by(|event| event.0)
            };
            let joined = slowly(&case.first)
                .interval_join(slowly(&case.second), case.bounds.clone())
                .side_output_unmatched_first(&FIRST_ALONE)
                .apply("pairs", |a, b| (*a, *b));
            let (some_alone, some) = (joined.side_output(&FIRST_ALONE).collect(), joined.collect());
            let executed = runtime.block_on(env.run_live(async move {
                while seen.load(Ordering::Relaxed) < limit {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }));
            stops += usize::from(executed.unwrap().stopped);
            pairs.extend(some.take());
            alone.extend(some_alone.take());
        }
        if job < 2 {
            let to = dir.path().join(format!("savepoint {job}"));
            from = Some(to.to_string_lossy().into_owned());
            runtime.block_on(async {
                let last =
                    SavepointWriter::of_last(Place::Folder(tidemill_state::DataDir::checkpoints(&data_dir))).await;
                last.unwrap().write(&Place::Folder(to)).await.unwrap()
            });
        }
    }
    assert_eq!(stops, 5);
    let meets = |a: &Event, b: &Event| a.0 == b.0 && case.bounds.contains(&(b.1 - a.1));
    let ((first, _), (second, _)) = (case.in_time(&case.first), case.in_time(&case.second));
    let expected: Vec<(Event, Event)> =
        first.iter().flat_map(|a| second.iter().filter(move |b| meets(a, b)).map(|b| (*a, *b))).collect();
    assert!(!expected.is_empty());
    assert_eq!(sorted(pairs), sorted(expected));
    let expected = first.iter().filter(|a| !second.iter().any(|b| meets(a, b))).copied();
    assert_eq!(sorted(alone), sorted(expected.collect()));
}

#[test]
fn bounds_the_wrong_way_round_are_refused() {
    let env = Environment::new();
    let keyed = || env.from_iter([1_u8]).key_by(|n| *n);
    #[allow(clippy::reversed_empty_ranges, reason = "that is what is refused")]
    let joined = keyed().interval_join(keyed(), 5..=-5).apply("pairs", |a, b| (*a, *b));
    joined.for_each("nowhere", |_| ());
    let error = env.execute_live().unwrap_err();
    assert_eq!(error.message(), "no time lies between 5 ms and -5 ms");
}

fn by_minute(env: &Environment, minutes: i64) -> DataStream<i64> {
    env.from_iter(0..minutes).assign_timestamps_and_watermarks(
        WatermarkStrategy::for_monotonous_timestamps()
            .with_timestamp_assigner(|minute: &i64| EventTime(minute * 60_000)),
    )
}

const UNPAID: OutputTag<i64> = OutputTag::new("unpaid");

/// An hour after they came, orders without a payment are counted by the hour in which they came.
#[test]
fn what_has_met_none_is_in_time_for_windows_behind_the_join() {
    for (batch, on_rocksdb) in [(false, false), (false, true), (true, false)] {
        let (state_backend, _folder) = if on_rocksdb { on_disk() } else { (StateBackend::memory(), None) };
        let env = Environment::with(Settings { state_backend, batch_size: 7, ..Settings::default() });
        let orders = by_minute(&env, 90);
        let payments = orders.clone().filter(|minute| minute % 10 == 0).key_by(|minute| *minute);
        let joined = orders
            .key_by(|minute| *minute)
            .interval_join(payments, 0..=3_600_000)
            .side_output_unmatched_first(&UNPAID)
            .apply("payments", |order, _| *order);
        let unpaid = joined
            .side_output(&UNPAID)
            .map(|_| 1)
            .key_by(|_| 0u8)
            .window(WindowAssigner::tumbling(Duration::from_secs(3600)))
            .reduce("unpaid", |a, b| a + b)
            .map(|of| (of.window.start / 3_600_000, of.value))
            .collect();
        if batch {
            env.execute_batch().unwrap();
        } else {
            assert_eq!(env.execute_live().unwrap().late_elements["unpaid"], 0);
        }
        assert_eq!(sorted(unpaid.take()), [(0, 54), (1, 27)], "batch: {batch}, on RocksDB: {on_rocksdb}");
    }
}

#[test]
fn what_waits_to_the_end_of_the_input_is_told_there() {
    for on_rocksdb in [false, true] {
        let (state_backend, _folder) = if on_rocksdb { on_disk() } else { (StateBackend::memory(), None) };
        let env = Environment::with(Settings { state_backend, ..Settings::default() });
        let orders = by_minute(&env, 20);
        let payments = orders.clone().filter(|minute| minute % 5 == 0).key_by(|minute| *minute);
        let joined = orders
            .key_by(|minute| *minute)
            .interval_join(payments, 0..=i64::MAX)
            .side_output_unmatched_first(&UNPAID)
            .apply("payments", |order, _| *order);
        let (unpaid, paid) = (joined.side_output(&UNPAID).collect(), joined.collect());
        env.execute_live().unwrap();
        assert_eq!(sorted(paid.take()), [0, 5, 10, 15], "on RocksDB: {on_rocksdb}");
        assert_eq!(sorted(unpaid.take()), (0..20).filter(|minute| minute % 5 != 0).collect::<Vec<_>>());
    }
}
