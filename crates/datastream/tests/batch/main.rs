//! Programs as batches, against a recomputation in the test: whatever the cuts, what fails on the way, and what is lost.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

mod edges;
mod flaky_source;
mod sessions;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flaky_source::{FlakySource, number_column};
use proptest::prelude::*;
use sessions::{Event, Session, Sessions, expected_sessions};
use tidemill_datastream::{
    AsyncOptions, BroadcastContext, BroadcastState, BroadcastStates, Collector, Context, Environment, Error, ErrorKind,
    EventTime, KeyedBroadcastProcessFunction, Result, Settings, StragglerListener, WatermarkStrategy, WindowAssigner,
};

/// How a batch is cut, and what goes wrong.
#[derive(Debug, Clone)]
struct Cuts {
    batch_size: usize,
    parallelism: usize,
    shuffle_memory: u64,
    /// Of so many calls of a step one panics, but none twice at the same element.
    fails_of: u32,
}

fn cuts() -> impl Strategy<Value = Cuts> {
    (1usize..40, 1usize..5, prop_oneof![Just(0), Just(2_000), Just(1 << 20)], prop_oneof![Just(0), 20u32..200])
        .prop_map(|(batch_size, parallelism, shuffle_memory, fails_of)| Cuts {
            batch_size,
            parallelism,
            shuffle_memory,
            fails_of,
        })
}

impl Cuts {
    fn environment(&self) -> Environment {
        let Self { batch_size, parallelism, shuffle_memory, .. } = *self;
        // Each call fails at most once, so that this is enough for any.
        Environment::with(Settings { batch_size, parallelism, shuffle_memory, attempts: 10_000, ..Settings::default() })
    }

    /// Panics at some elements, the first time that it is called with them.
    fn faults(&self) -> impl Fn(usize) + Clone + Send + Sync + use<> {
        let (of, seen) = (self.fails_of, Arc::new(Mutex::new(BTreeSet::new())));
        move |element: usize| {
            let drawn = (element as u32).wrapping_mul(2_654_435_761);
            if of > 0 && drawn.is_multiple_of(of) && seen.lock().unwrap().insert(element) {
                panic!("drawn to fail");
            }
        }
    }
}

/// Key, time and number of each, in the order of the input; times may be far out of order.
fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = (0u8..6, -50i64..400);
    prop::collection::vec(event, 0..300).prop_map(|drawn| {
        drawn.into_iter().enumerate().map(|(n, (key, time))| Event { key, time, number: n }).collect()
    })
}

fn timed() -> WatermarkStrategy<Event> {
    WatermarkStrategy::for_monotonous_timestamps().with_timestamp_assigner(|event: &Event| EventTime(event.time))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.min(400), ..ProptestConfig::default() })]

    #[test]
    fn a_function_with_timers_sees_its_elements_in_order(events in events(), cuts in cuts()) {
        let env = cuts.environment();
        let (before, behind) = (cuts.faults(), cuts.faults());
        let sessions = env
            .from_iter(events.clone())
            .assign_timestamps_and_watermarks(timed())
            .map(move |event| {
                before(event.number);
                event
            })
            .key_by(|event| event.key)
            .process("sessions", Sessions::open)
            .map(move |session: Session| {
                behind(session.numbers[0]);
                session
            })
            .collect();
        let executed = env.execute_batch().unwrap();
        let mut told = sessions.take();
        told.sort();
        prop_assert_eq!(told, expected_sessions(&events));
        prop_assert!(executed.spilled_bytes > 0 || cuts.shuffle_memory > 0 || events.is_empty());
        prop_assert!(executed.spilled_bytes == 0 || cuts.shuffle_memory < 1 << 20);
    }

    #[test]
    fn windows_count_every_element_once_and_none_is_late(events in events(), cuts in cuts()) {
        let env = cuts.environment();
        let before = cuts.faults();
        let counts = env
            .from_iter(events.clone())
            .assign_timestamps_and_watermarks(timed())
            .map(move |event| {
                before(event.number);
                event
            })
            .key_by(|event| event.key)
            .window(WindowAssigner::tumbling(Duration::from_millis(50)))
            .reduce("first", |first, _| first)
            .map(|of| (of.key, of.window.start, of.value.number))
            .collect();
        let executed = env.execute_batch().unwrap();
        prop_assert_eq!(executed.late_elements.values().sum::<u64>(), 0);
        let mut told = counts.take();
        told.sort_unstable();
        let mut first: BTreeMap<(u8, i64), (i64, usize)> = BTreeMap::new();
        for Event { key, time, number } in events {
            let of_window = first.entry((key, time.div_euclid(50) * 50)).or_insert((time, number));
            *of_window = (*of_window).min((time, number));
        }
        let expected: Vec<_> = first.into_iter().map(|((key, start), (_, number))| (key, start, number)).collect();
        prop_assert_eq!(told, expected);
    }

    #[test]
    fn stages_follow_each_other_and_streams_meet(
        left in events(), right in events(), cuts in cuts()
    ) {
        let env = cuts.environment();
        let behind = cuts.faults();
        let of_key = |events: &[Event]| env.from_iter(events.to_vec()).assign_timestamps_and_watermarks(timed());
        let pairs = of_key(&left)
            .key_by(|event| event.key)
            .interval_join(of_key(&right).key_by(|event| event.key), -5..=10)
            .apply("pairs", |a, b| (a.key, a.number, b.number));
        let counts = pairs
            .map(move |pair| {
                behind(pair.1);
                (pair.0 % 2, 1u64)
            })
            .key_by(|pair| pair.0)
            .window(WindowAssigner::global())
            .reduce("counts", |a, b| (a.0, a.1 + b.1))
            .map(|of| of.value)
            .collect();
        env.execute_batch().unwrap();
        let mut told = counts.take();
        told.sort_unstable();
        let mut expected: BTreeMap<u8, u64> = BTreeMap::new();
        for a in &left {
            let meets = |b: &&Event| a.key == b.key && (-5..=10).contains(&(b.time - a.time));
            let met = right.iter().filter(meets).count() as u64;
            if met > 0 {
                *expected.entry(a.key % 2).or_default() += met;
            }
        }
        prop_assert_eq!(told, expected.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn elements_without_time_keep_the_order_of_the_input(count in 0usize..400, cuts in cuts()) {
        let env = cuts.environment();
        let lists = env
            .from_iter((0..count).map(|number| (number % 5, number)).collect::<Vec<_>>())
            .map(|(key, number)| (key, vec![number]))
            .key_by(|of| of.0)
            .window(WindowAssigner::global())
            .reduce("lists", |a, b| (a.0, [a.1, b.1].concat()))
            .map(|of| of.value)
            .collect();
        env.execute_batch().unwrap();
        let mut told = lists.take();
        told.sort();
        let of_key = |key| (key, (key..count).step_by(5).collect::<Vec<_>>());
        prop_assert_eq!(told, (0..count.min(5)).map(of_key).collect::<Vec<_>>());
    }

    #[test]
    fn a_source_that_fails_is_read_again_where_it_failed(
        partitions in prop::collection::vec(0i64..120, 1..5), cuts in cuts(), seed in any::<u64>()
    ) {
        let env = cuts.environment();
        let source = Arc::new(FlakySource::new(&partitions, 3, seed));
        let sum = env
            .from_source::<(i64,)>("numbers", source, number_column())
            .map(|(number,)| number)
            .collect();
        let executed = env.execute_batch().unwrap();
        let mut told = sum.take();
        told.sort_unstable();
        let mut expected: Vec<i64> =
            (0..).zip(&partitions).flat_map(|(p, rows)| (0..*rows).map(move |row| p * 1_000 + row)).collect();
        expected.sort_unstable();
        prop_assert_eq!(told, expected);
        prop_assert!(executed.re_executed.iter().all(|again| again.error.kind() == ErrorKind::Unavailable));
    }
}

/// The files that a batch has between its stages.
fn shuffle_files(data_dir: &Path) -> Vec<std::path::PathBuf> {
    let folders = fs::read_dir(data_dir.join("shuffle")).unwrap().map(|folder| folder.unwrap().path());
    folders.flat_map(|folder| fs::read_dir(folder).unwrap().map(|file| file.unwrap().path())).collect()
}

#[test]
fn what_is_lost_is_made_again_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let data_dir = folder.path().to_owned();
    let settings = Settings {
        data_dir: Some(data_dir.clone()),
        shuffle_memory: 0,
        batch_size: 100,
        parallelism: 2,
        ..Settings::default()
    };
    // A batch that was killed has left this.
    fs::create_dir_all(data_dir.join("shuffle/spill-old")).unwrap();
    fs::write(data_dir.join("shuffle/spill-old/0000000000"), "left").unwrap();
    let env = Environment::with(settings);
    let (mapped, lost) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counting, losing) = (Arc::clone(&mapped), Arc::clone(&lost));
    let sums = env
        .from_iter(0..10_000i64)
        .map(move |number| {
            counting.fetch_add(1, Ordering::Relaxed);
            number
        })
        .key_by(|number| number % 7)
        .window(WindowAssigner::global())
        .reduce("sums", |a, b| a + b)
        .map(move |of| {
            // When the first bucket is done, two of the splits lose what they had left.
            if losing.fetch_add(1, Ordering::Relaxed) == 0 {
                let mut files = shuffle_files(&data_dir);
                files.sort();
                fs::remove_file(&files[1]).unwrap();
                fs::write(&files[3], "damaged").unwrap();
            }
            of.value
        })
        .collect();
    let executed = env.execute_batch().unwrap();
    let mut sums = sums.take();
    sums.sort_unstable();
    let expected = |key: i64| (0..10_000i64).filter(|number| number % 7 == key).sum::<i64>();
    let mut all: Vec<i64> = (0..7).map(expected).collect();
    all.sort_unstable();
    assert_eq!(sums, all);
    let again: BTreeSet<usize> = executed.re_executed.iter().map(|again| again.part).collect();
    assert_eq!(executed.re_executed.len(), 2, "{:?}", executed.re_executed);
    assert_eq!(again.len(), 2, "each of the two is made again once");
    assert!(executed.re_executed.iter().all(|again| &*again.task == "source elements"), "{:?}", executed.re_executed);
    // A split is 8 chunks of 100 elements.
    assert_eq!(mapped.load(Ordering::Relaxed), 10_000 + 2 * 800);
    assert!(fs::read_dir(folder.path().join("shuffle")).unwrap().next().is_none(), "nothing is left behind");
}

#[test]
fn a_part_whose_step_gives_an_error_is_run_again() {
    let env = Environment::with(Settings { batch_size: 10, ..Settings::default() });
    let (before, behind) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let fails = |calls: &AtomicUsize| calls.fetch_add(1, Ordering::Relaxed) < 2;
    let sums = env
        .from_iter(0..100i64)
        .try_map(move |n| if n == 50 && fails(&before) { Err(Error::unavailable("no answer")) } else { Ok(n) })
        .key_by(|n| n % 3)
        .window(WindowAssigner::global())
        .reduce("sums", |a, b| a + b)
        .try_flat_map(move |of| if fails(&behind) { Err(Error::data("not yet")) } else { Ok([of.value]) })
        .collect();
    let executed = env.execute_batch().unwrap();
    let errors: Vec<_> = executed.re_executed.iter().map(|again| again.error.message()).collect();
    let (map, flat_map) = ("elements: the step 'try map': no answer", "the step 'try flat map': not yet");
    assert_eq!(errors, [map, map, flat_map, flat_map]);
    let mut sums = sums.take();
    sums.sort_unstable();
    assert_eq!(sums, [1617, 1650, 1683]);
}

#[test]
fn a_step_that_always_fails_ends_the_run_after_its_attempts() {
    let calls = Arc::new(AtomicUsize::new(0));
    let env = Environment::with(Settings { attempts: 3, parallelism: 1, ..Settings::default() });
    let counting = Arc::clone(&calls);
    let all = env
        .from_iter(0..10)
        .map(move |number| {
            if number == 7 {
                counting.fetch_add(1, Ordering::Relaxed);
                panic!("seven");
            }
            number
        })
        .collect();
    let error = env.execute_batch().unwrap_err();
    assert_eq!(error.message(), "in 3 attempts, the last time: elements: the step 'map' panicked: seven");
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    assert!(all.take().is_empty(), "the output is whole or absent");
}

#[test]
fn what_a_batch_cannot_do_is_refused() {
    let refused = |settings: Settings| {
        let env = Environment::with(settings);
        env.from_iter(0..3).for_each("numbers", |_| ());
        env.execute_batch().unwrap_err().message().to_owned()
    };
    let from_savepoint = Settings { from_savepoint: Some("there".to_owned()), ..Settings::default() };
    assert_eq!(refused(from_savepoint), "a batch can't begin from the savepoint 'there': it reads all of its input");
    assert_eq!(
        refused(Settings { attempts: 0, ..Settings::default() }),
        "0 attempts are not possible: give attempts a number from 1"
    );

    let env = Environment::new();
    let source = Arc::new(FlakySource::without_end());
    env.from_source::<(i64,)>("numbers", source, number_column()).for_each("all", |_| ());
    let error = env.execute_batch().unwrap_err();
    assert_eq!(error.message(), "the input of numbers has no end, so a batch never comes to one");
}

#[test]
fn a_batch_that_is_stopped_writes_nothing() {
    let env = Environment::with(Settings { batch_size: 1, ..Settings::default() });
    let all = env
        .from_iter(0..1_000_000)
        .map(|number| {
            std::thread::sleep(Duration::from_millis(1));
            number
        })
        .collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let executed =
        runtime.block_on(async { env.run_batch(tokio::time::sleep(Duration::from_millis(100))).await }).unwrap();
    assert!(executed.stopped);
    assert!(all.take().is_empty());
}

#[test]
fn a_part_that_takes_much_longer_is_told_while_it_runs() {
    let heard = Arc::new(Mutex::new(vec![]));
    let hears = Arc::clone(&heard);
    let listener = StragglerListener(Arc::new(move |straggler| hears.lock().unwrap().push(straggler.clone())));
    let heard_by_step = Arc::clone(&heard);
    let settings = Settings { parallelism: 2, on_straggler: Some(listener), ..Settings::default() };
    let env = Environment::with(settings);
    let sums = env
        .from_iter(0..100i64)
        .key_by(|number| *number)
        .window(WindowAssigner::global())
        .reduce("sums", |a, b| a + b)
        .map(move |of| {
            // One key of a hundred waits until somebody has noticed.
            while of.key == 42 && heard_by_step.lock().unwrap().is_empty() {
                std::thread::sleep(Duration::from_millis(10));
            }
            of.value
        })
        .collect();
    let executed = env.execute_batch().unwrap();
    assert_eq!(sums.take().len(), 100);
    assert_eq!(executed.stragglers.len(), 1);
    assert_eq!(&*executed.stragglers[0].task, "sums");
    assert_eq!(*heard.lock().unwrap(), executed.stragglers);
}

/// Whether an element is under the limit of its key, as far as that is known.
struct Limits {
    limits: BroadcastState<u8, i64>,
}

impl KeyedBroadcastProcessFunction<u8, (u8, i64), (u8, i64)> for Limits {
    type Out = (u8, i64, Option<i64>);

    fn process_element(
        &mut self,
        key: &u8,
        (_, number): (u8, i64),
        broadcast: &BroadcastStates,
        _: &mut Context<'_>,
        out: &mut Collector<Self::Out>,
    ) -> Result<()> {
        out.collect((*key, number, self.limits.get(broadcast, key)?.copied()));
        Ok(())
    }

    fn process_broadcast_element(
        &mut self,
        (key, limit): (u8, i64),
        broadcast: &mut BroadcastStates,
        _: &mut BroadcastContext<'_>,
        _: &mut Collector<Self::Out>,
    ) -> Result<()> {
        self.limits.put(broadcast, key, limit)
    }
}

#[test]
fn what_is_broadcast_comes_before_all_elements() {
    let env = Environment::with(Settings { batch_size: 10, shuffle_memory: 0, ..Settings::default() });
    let numbers = env.from_iter((0..200i64).map(|number| ((number % 7) as u8, number)).collect::<Vec<_>>());
    let limits = env.from_iter((0..7u8).map(|key| (key, i64::from(key) * 100)).collect::<Vec<_>>());
    let told = numbers
        .key_by(|of| of.0)
        .connect_broadcast(limits.broadcast())
        .process("limits", |_, broadcast| Ok(Limits { limits: broadcast.map_state("limits")? }))
        .collect();
    env.execute_batch().unwrap();
    let mut told = told.take();
    told.sort_unstable_by_key(|of| of.1);
    let expected = |number: i64| ((number % 7) as u8, number, Some(number % 7 * 100));
    assert_eq!(told, (0..200).map(expected).collect::<Vec<_>>());
}

#[test]
fn a_request_that_fails_is_asked_again_with_its_split() {
    let env = Environment::with(Settings { batch_size: 10, ..Settings::default() });
    let failed = Arc::new(AtomicUsize::new(0));
    let options = AsyncOptions::unordered(4, Duration::from_secs(10));
    let answers = env
        .from_iter(0..500i64)
        .async_map("ask", options, move |number| {
            let fails = number == 123 && failed.fetch_add(1, Ordering::Relaxed) < 2;
            async move {
                tokio::time::sleep(Duration::from_micros(number.unsigned_abs() % 5 * 100)).await;
                if fails { Err(Error::unavailable("no answer")) } else { Ok(number * 2) }
            }
        })
        .key_by(|number| number % 3)
        .window(WindowAssigner::global())
        .reduce("sums", |a, b| a + b)
        .map(|of| (of.key, of.value))
        .collect();
    let executed = env.execute_batch().unwrap();
    assert_eq!(executed.re_executed.len(), 2);
    let mut answers = answers.take();
    answers.sort_unstable();
    let sum = |key: i64| (0..500i64).map(|number| number * 2).filter(|double| double % 3 == key).sum::<i64>();
    assert_eq!(answers, (0..3).map(|key| (key, sum(key))).collect::<Vec<_>>());
}

#[test]
fn an_environment_is_run_once() {
    let env = Environment::new();
    let numbers = env.from_iter(0..3i64).map(|number| number + 1);
    let (kept, by_key) = (numbers.clone(), numbers.clone().key_by(|number| *number));
    numbers.for_each("numbers", |_| ());
    env.execute_batch().unwrap();
    // What is left of the program leads nowhere, and says so.
    kept.map(|number| number * 2).for_each("more", |_| ());
    by_key.window(WindowAssigner::global()).reduce("sums", |a, b| a + b).for_each("sums of these", |_| ());
    for error in [env.execute_batch().unwrap_err(), env.execute_live().unwrap_err()] {
        assert_eq!(error.message(), "the environment has been run");
    }
}
