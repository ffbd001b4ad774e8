//! Asynchronous steps against what a plain loop over the input gives, whatever the delays, the cuts and the crashes.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

mod pace;
mod trickle;

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pace::pace;
use proptest::prelude::*;
use tidemill_datastream::state::{KeyedState, StateDescriptor, ValueState};
use tidemill_datastream::{
    AsyncOptions, AsyncRetryStrategy, Collector, Context, DataStream, Environment, Error, ErrorKind, EventTime,
    Executed, KeyedProcessFunction, LateElement, OutputTag, Result, Settings, Watermark, WatermarkStrategy,
    WindowAssigner,
};
use tokio::sync::{Barrier, Semaphore};
use tokio::time::sleep;
use trickle::{Number, trickle};

/// Key, time, milliseconds that its request takes.
type Event = (u8, i64, u64);

const PATIENT: Duration = Duration::from_secs(60);

fn env(parallelism: usize, batch_size: usize) -> Environment {
    Environment::with(Settings { parallelism, batch_size, ..Settings::default() })
}

fn options<T, U>(ordered: bool, capacity: usize) -> AsyncOptions<T, U> {
    if ordered { AsyncOptions::ordered(capacity, PATIENT) } else { AsyncOptions::unordered(capacity, PATIENT) }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn timed(env: &Environment, events: &[Event], delay: i64) -> DataStream<Event> {
    let strategy = WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_millis(delay.unsigned_abs()));
    env.from_iter(events.to_vec())
        .assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(|e: &Event| EventTime(e.1)))
}

fn waits(stream: DataStream<Event>, name: &str, ordered: bool, capacity: usize) -> DataStream<Event> {
    stream.async_map(name, options(ordered, capacity), |event| async move {
        match event.2 {
            0 => {}
            delay => sleep(ms(delay)).await,
        }
        Ok(event)
    })
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let delays = prop_oneof![3 => Just(0), 2 => 0..4_u64, 1 => 4..9_u64];
    prop::collection::vec((0..4_u8, 0..100_i64, delays), 0..50)
}

fn sorted<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort_unstable();
    all
}

/// Notes the watermark that is reached where each event comes.
struct Reached;

impl KeyedProcessFunction<u8, Event> for Reached {
    type Out = (Event, Watermark);

    fn process_element(
        &mut self,
        _: &u8,
        event: Event,
        context: &mut Context<'_>,
        out: &mut Collector<(Event, Watermark)>,
    ) -> Result<()> {
        assert_eq!(context.timestamp(), Some(EventTime(event.1)), "a result has the time of its element");
        out.collect((event, context.current_watermark()));
        Ok(())
    }
}

/// Windows of ten milliseconds, how many elements of each key are in each, and the late ones.
fn windows(stream: DataStream<Event>) -> impl FnOnce() -> (Vec<(i64, u8, u64)>, Vec<Event>) {
    const LATE: OutputTag<LateElement<Event>> = OutputTag::new("late");
    let counts = stream
        .key_by(|event| event.0)
        .window(WindowAssigner::tumbling(ms(10)))
        .side_output_late_data(&LATE)
        .reduce("delays", |a, b| (a.0, a.1, a.2 + b.2 + 1));
    let late = counts.side_output(&LATE).map(|late| late.element).collect();
    let counts = counts.map(|of| (of.window.start, of.key, of.value.2)).collect();
    move || (sorted(counts.take()), sorted(late.take()))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn in_order_results_come_as_their_elements_did(
        events in events(), capacity in 1..12_usize, batch_size in 1..30_usize,
    ) {
        let env = env(2, batch_size);
        let results = env.from_iter(events.clone()).async_flat_map("waits", options(true, capacity), |event: Event| async move {
            sleep(ms(event.2)).await;
            Ok(vec![event; usize::from(event.0)])
        });
        let results = results.collect();
        env.execute_live().unwrap();
        let expected: Vec<Event> = events.into_iter().flat_map(|event| vec![event; usize::from(event.0)]).collect();
        prop_assert_eq!(results.take(), expected);
    }

    #[test]
    fn no_result_passes_a_watermark(
        events in events(), ordered in any::<bool>(), capacity in 1..12_usize, delay in 0..30_i64,
    ) {
        // A watermark follows each element, as far as there is a higher one.
        let env = env(1, 1);
        let results = waits(timed(&env, &events, delay), "waits", ordered, capacity)
            .key_by(|_| 0_u8).process("reached", |_: &mut KeyedState| Ok(Reached)).collect();
        env.execute_live().unwrap();
        let mut reached = i64::MIN;
        let expected = events.into_iter().map(|event| {
            let before = reached;
            reached = before.max(event.1 - delay - 1);
            (event, Watermark(before))
        });
        prop_assert_eq!(sorted(results.take()), sorted(expected.collect()));
    }

    #[test]
    fn windows_behind_are_those_without(
        events in events(), ordered in any::<bool>(), capacity in 1..12_usize, delay in 0..30_i64,
        batch_size in 1..20_usize, parallelism in 1..4_usize,
    ) {
        let with = env(parallelism, batch_size);
        let of_with = windows(waits(timed(&with, &events, delay), "waits", ordered, capacity));
        let executed = with.execute_live().unwrap();
        let without = env(parallelism, batch_size);
        let of_without = windows(timed(&without, &events, delay));
        prop_assert_eq!(executed.late_elements, without.execute_live().unwrap().late_elements);
        prop_assert_eq!(of_with(), of_without());
    }

    #[test]
    fn steps_follow_each_other_in_any_task(
        events in events(), first in any::<bool>(), second in any::<bool>(), capacity in 1..5_usize,
        parallelism in 1..4_usize,
    ) {
        let env = env(parallelism, 7);
        let results = waits(timed(&env, &events, 5), "first", first, capacity);
        let results = waits(results, "second", second, capacity + 1);
        let results = results.key_by(|event| event.0).process("reached", |_: &mut KeyedState| Ok(Reached));
        let results = waits(results.map(|(event, _)| event), "behind the exchange", first, capacity);
        let results = waits(results, "at the end", second, 2).collect();
        env.execute_live().unwrap();
        prop_assert_eq!(sorted(results.take()), sorted(events));
    }
}

/// Counts what is under way at the same time.
#[derive(Default)]
struct Counted {
    now: AtomicUsize,
    most: AtomicUsize,
}

#[test]
fn so_many_requests_are_under_way_as_may_be() {
    for (ordered, batch_size, capacity) in [(true, 1, 5), (false, 1, 5), (true, 1000, 8), (false, 7, 1)] {
        let counted = Arc::new(Counted::default());
        // Nobody gets an answer before all of them ask.
        let all = Arc::new(Barrier::new(capacity));
        let env = env(2, batch_size);
        let counts = Arc::clone(&counted);
        let results = env.from_iter(0..20 * capacity).async_map("ask", options(ordered, capacity), move |n| {
            let (counted, all) = (Arc::clone(&counts), Arc::clone(&all));
            async move {
                counted.most.fetch_max(counted.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                all.wait().await;
                counted.now.fetch_sub(1, Ordering::SeqCst);
                Ok(n)
            }
        });
        let results = results.collect();
        env.execute_live().unwrap();
        assert_eq!(sorted(results.take()), (0..20 * capacity).collect::<Vec<_>>());
        assert_eq!(counted.most.load(Ordering::SeqCst), capacity);
    }
}

#[test]
fn a_result_leaves_when_it_is_there() {
    for ordered in [true, false] {
        // The next element comes when the result of the one before has been seen.
        let released = Arc::new(Semaphore::new(1));
        let env = env(2, 100);
        let release = Arc::clone(&released);
        let numbers = trickle(&env, "trickle", 30, released);
        let results = numbers.async_map("ask", options(ordered, 4), |Number { n }| async move {
            sleep(ms(1)).await;
            Ok(n)
        });
        let seen = Arc::new(Mutex::new(vec![]));
        let by_sink = Arc::clone(&seen);
        results.for_each("seen", move |n| {
            by_sink.lock().unwrap().push(*n);
            release.add_permits(1);
        });
        env.execute_live().unwrap();
        assert_eq!(*seen.lock().unwrap(), (0..30).collect::<Vec<i64>>());
    }
}

#[test]
fn what_waits_for_nobody_overtakes_what_waits() {
    let env = env(1, 10);
    let others = Arc::new(Barrier::new(2));
    let results = env.from_iter(0..10).async_map("ask", options(false, 10), move |n| {
        let others = Arc::clone(&others);
        async move {
            // The first waits until the last has begun.
            if n == 0 || n == 9 {
                others.wait().await;
            }
            if n == 0 {
                sleep(ms(20)).await;
            }
            Ok(n)
        }
    });
    let results = results.collect();
    env.execute_live().unwrap();
    let results = results.take();
    assert_eq!(results.last(), Some(&0), "{results:?}");
}

/// What a program of one asynchronous step comes to.
fn outcome(
    elements: Vec<i64>,
    options: AsyncOptions<i64, i64>,
    f: impl Fn(i64) -> Result<i64> + Clone + Send + Sync + 'static,
) -> Result<Vec<i64>> {
    let env = env(2, 3);
    let results = env.from_iter(elements).async_map("ask", options, move |n| {
        let f = f.clone();
        async move {
            match n {
                99 => pending().await,
                n => f(n),
            }
        }
    });
    let results = results.collect();
    env.execute_live()?;
    Ok(results.take())
}

#[test]
fn what_fails_names_its_step() {
    let quick = || AsyncOptions::ordered(4, ms(30));
    let error = outcome(vec![1, 2, 99, 3], quick(), Ok).unwrap_err();
    assert_eq!(error.message(), "the step 'ask': a request was not answered within 0.03 s");
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.hint_text().is_some());
    let refuses = |n| if n == 2 { Err(Error::data("two is refused")) } else { Ok(n) };
    let error = outcome(vec![1, 2, 99], quick(), refuses).unwrap_err();
    assert_eq!((error.message(), error.kind()), ("the step 'ask': two is refused", ErrorKind::Data));
    let error = outcome(vec![1, 0], quick(), |n| Ok(10 / n)).unwrap_err();
    assert_eq!(error.message(), "the step 'ask' panicked: attempt to divide by zero");
    let env = env(1, 10);
    let panics = |n: i64| {
        let quotient = 10 / n;
        async move { Ok(quotient) }
    };
    env.from_iter(vec![1, 0]).async_map("at once", quick(), panics).for_each("nowhere", |_| ());
    let error = env.execute_live().unwrap_err();
    assert_eq!(error.message(), "the step 'at once' panicked: attempt to divide by zero");
}

#[test]
fn a_program_says_what_becomes_of_what_takes_too_long() {
    let options = || AsyncOptions::ordered(4, ms(30));
    let results = outcome(vec![1, 99, 2, 99, 3], options().on_timeout(|n: i64| Ok([-n, n])), Ok);
    assert_eq!(results.unwrap(), [1, -99, 99, 2, -99, 99, 3]);
    let refuses = |_| Err::<[i64; 0], _>(Error::data("it took too long"));
    let error = outcome(vec![1, 99], options().on_timeout(refuses), Ok).unwrap_err();
    assert_eq!(error.message(), "the step 'ask': it took too long");
    let panics = |n: i64| Ok([10 / (n - 99)]);
    let error = outcome(vec![1, 99], options().on_timeout(panics), Ok).unwrap_err();
    assert_eq!(error.message(), "the step 'ask' panicked: attempt to divide by zero");
}

/// Fails the first so many times for each element.
fn fails_first(times: usize, kind: ErrorKind) -> impl Fn(i64) -> Result<i64> + Clone + Send + Sync {
    let attempts = Arc::new(Mutex::new(BTreeMap::<i64, usize>::new()));
    move |n| {
        let mut attempts = attempts.lock().unwrap();
        let attempt = attempts.entry(n).or_default();
        *attempt += 1;
        if *attempt <= times { Err(Error::new(kind, "not now")) } else { Ok(n * 100 + *attempt as i64) }
    }
}

#[test]
fn what_fails_is_tried_again_as_the_strategy_says() {
    let retried = |strategy| AsyncOptions::ordered(4, PATIENT).retry(strategy);
    let strategy = || AsyncRetryStrategy::fixed_delay(2, ms(5));
    let begun = Instant::now();
    let results = outcome(vec![1, 2], retried(strategy()), fails_first(2, ErrorKind::Unavailable));
    assert_eq!(results.unwrap(), [103, 203], "two retries after the first attempt");
    assert!(begun.elapsed() >= ms(10), "each after its delay");
    let error = outcome(vec![1], retried(strategy()), fails_first(3, ErrorKind::Unavailable)).unwrap_err();
    assert_eq!(error.message(), "the step 'ask', at the last of 3 attempts: not now");
    let unavailable = || strategy().if_error(|error| error.kind() == ErrorKind::Unavailable);
    let results = outcome(vec![1], retried(unavailable()), fails_first(1, ErrorKind::Unavailable));
    assert_eq!(results.unwrap(), [102]);
    let error = outcome(vec![1], retried(unavailable()), fails_first(1, ErrorKind::Data)).unwrap_err();
    assert_eq!(error.message(), "the step 'ask': not now");
    let error = outcome(vec![1, 0], retried(strategy()), |n| Ok(10 / n)).unwrap_err();
    assert_eq!(error.message(), "the step 'ask' panicked: attempt to divide by zero", "a panic is a bug");
    // The timeout is for all attempts.
    let often = AsyncRetryStrategy::exponential_backoff(1_000_000, ms(1), ms(10), 2.0);
    let options = AsyncOptions::ordered(4, ms(60)).retry(often);
    let error = outcome(vec![1], options, fails_first(usize::MAX, ErrorKind::Unavailable)).unwrap_err();
    assert_eq!(error.message(), "the step 'ask': a request was not answered within 0.06 s");
}

#[test]
fn options_that_can_not_work_are_refused() {
    let refused = |options: AsyncOptions<i64, i64>| {
        let error = outcome(vec![1], options, Ok).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.hint_text().is_some());
        error.message().to_owned()
    };
    let message = refused(AsyncOptions::ordered(0, PATIENT));
    assert_eq!(message, "the step 'ask': a capacity of 0 is not possible: no request could be made");
    let message = refused(AsyncOptions::unordered(1, Duration::ZERO));
    assert_eq!(message, "the step 'ask': a timeout of 0 is not possible: no request could be answered");
    let shrinking = AsyncRetryStrategy::exponential_backoff(2, ms(10), ms(10), 0.5);
    let message = refused(AsyncOptions::ordered(1, PATIENT).retry(shrinking));
    assert_eq!(message, "the step 'ask': a delay between retries can't be multiplied by 0.5");
    let env = env(1, 1);
    waits(waits(timed(&env, &[], 0), "it", true, 1), "it", true, 1).for_each("nowhere", |_| ());
    assert_eq!(env.execute_live().unwrap_err().message(), "two steps are called 'it'");
}

/// Runs until the given number of requests hang, and is then told to stop. How long it took to do so.
fn stopped_while_requests_hang(settings: Settings, ordered: bool) -> (Result<Executed>, Duration, Vec<i64>) {
    let env = Environment::with(settings);
    let hanging = Arc::new(Semaphore::new(0));
    let hang = Arc::clone(&hanging);
    let results = env.from_iter(0..1000_i64).async_map("ask", options(ordered, 3), move |n| {
        let hanging = Arc::clone(&hang);
        async move {
            if n >= 10 {
                hanging.add_permits(1);
                pending::<()>().await;
            }
            Ok(n)
        }
    });
    let results = results.collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let asked = Arc::new(Mutex::new(Instant::now()));
    let at_stop = Arc::clone(&asked);
    let executed = runtime.block_on(env.run_live(async move {
        hanging.acquire_many(3).await.unwrap().forget();
        // Meanwhile the others have come to their end, and a checkpoint is under way.
        sleep(ms(100)).await;
        *at_stop.lock().unwrap() = Instant::now();
    }));
    let took = asked.lock().unwrap().elapsed();
    (executed, took, results.take())
}

#[test]
fn a_stop_does_not_wait_for_what_nobody_goes_on_with() {
    for (ordered, batch_size, checkpoint_interval) in [(true, 7, ms(10)), (false, 1, ms(10)), (false, 1000, PATIENT)] {
        let settings = Settings { batch_size, checkpoint_interval, ..Settings::default() };
        let (executed, took, results) = stopped_while_requests_hang(settings, ordered);
        assert!(executed.unwrap().stopped);
        assert!(took < Duration::from_secs(3), "{took:?}");
        assert_eq!(sorted(results), (0..10).collect::<Vec<_>>());
    }
}

#[test]
fn a_stop_gives_up_its_last_checkpoint_where_nothing_answers() {
    for checkpoint_interval in [ms(10), PATIENT] {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = Some(dir.path().to_owned());
        let settings = Settings { batch_size: 5, data_dir, checkpoint_interval, ..Settings::default() };
        let (executed, took, _) = stopped_while_requests_hang(settings, false);
        let error = executed.unwrap_err();
        let message = "the run is stopped without its last checkpoint: async 'ask' has had no answer for 5 s";
        assert_eq!((error.message(), error.kind()), (message, ErrorKind::Unavailable));
        assert!(error.hint_text().unwrap().contains("nothing is lost"), "{error}");
        assert!(took >= Duration::from_secs(5) && took < Duration::from_secs(9), "{took:?}");
    }
}

#[test]
fn a_run_that_fails_waits_for_no_request() {
    for durable in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = durable.then(|| dir.path().to_owned());
        let env = Environment::with(Settings { data_dir, ..Settings::default() });
        let hangs = Arc::new(Semaphore::new(0));
        let hanging = Arc::clone(&hangs);
        env.from_iter(0..100)
            .async_map("hangs", options(true, 2), move |n: i64| {
                hanging.add_permits(1);
                async move {
                    pending::<()>().await;
                    Ok(n)
                }
            })
            .for_each("nowhere", |_| ());
        env.from_iter(0..100)
            .async_map("fails", options(false, 1), move |_| {
                let hangs = Arc::clone(&hangs);
                async move {
                    hangs.acquire_many(2).await.unwrap().forget();
                    Err::<i64, _>(Error::data("enough"))
                }
            })
            .for_each("nowhere either", |_| ());
        let begun = Instant::now();
        assert_eq!(env.execute_live().unwrap_err().message(), "the step 'fails': enough");
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }
}

/// Numbers the events of each key, and sums up their delays.
struct Numbers {
    seen: ValueState<(u64, u64)>,
}

impl Numbers {
    fn open(states: &mut KeyedState) -> Result<Self> {
        Ok(Self { seen: states.value_state(StateDescriptor::new("seen"))? })
    }
}

/// The key, how many there were, the sum of their delays, and the last.
type Numbered = (u8, u64, u64, i64);

impl KeyedProcessFunction<u8, Event> for Numbers {
    type Out = Numbered;

    fn process_element(
        &mut self,
        key: &u8,
        event: Event,
        context: &mut Context<'_>,
        out: &mut Collector<Numbered>,
    ) -> Result<()> {
        let (count, sum) = self.seen.update_with(context.state(), |seen| {
            let (count, sum) = seen.unwrap_or_default();
            *seen.insert((count + 1, sum + event.2))
        })?;
        out.collect((*key, count, sum, event.1));
        Ok(())
    }
}

/// By key, what is told of it in order.
fn numbered(events: &[Event]) -> BTreeSet<Numbered> {
    let mut seen = BTreeMap::<u8, (u64, u64)>::new();
    let number = |&(key, time, delay): &Event| {
        let (count, sum) = seen.entry(key).or_default();
        (*count, *sum) = (*count + 1, *sum + delay);
        (key, *count, *sum, time)
    };
    events.iter().map(number).collect()
}

/// The last that is told of each key.
fn totals(told: &BTreeSet<Numbered>) -> BTreeMap<u8, (u64, u64)> {
    told.iter().map(|&(key, count, sum, _)| (key, (count, sum))).collect()
}

fn some_events(count: i64) -> Vec<Event> {
    (0..count).map(|n| ((n % 7) as u8, n / 3 + (n * 7) % 13, (n * 31) as u64 % 4)).collect()
}

/// Goes on from the last checkpoint in the directory, until a request has failed that comes behind `limit` others.
fn run_until_failure(events: &[Event], ordered: bool, limit: usize, data_dir: &Path) -> (bool, BTreeSet<Numbered>) {
    let env = Environment::with(Settings {
        parallelism: 2,
        batch_size: 5,
        data_dir: Some(data_dir.to_owned()),
        checkpoint_interval: ms(5),
        ..Settings::default()
    });
    let asked = AtomicUsize::new(0);
    let asked_for = timed(&env, events, 5).async_map("ask", options(ordered, 6), move |event| {
        let fails = asked.fetch_add(1, Ordering::Relaxed) == limit;
        async move {
            sleep(ms(event.2)).await;
            if fails { Err(Error::unavailable("gone")) } else { Ok(event) }
        }
    });
    let told = Arc::new(Mutex::new(BTreeSet::new()));
    let tell = Arc::clone(&told);
    let numbered = asked_for.key_by(|event| event.0).process("numbers", Numbers::open);
    numbered.for_each("told", move |numbered| {
        tell.lock().unwrap().insert(*numbered);
    });
    let failed = match env.execute_live() {
        Ok(executed) => {
            assert!(!executed.stopped);
            false
        }
        Err(error) => {
            assert_eq!(error.message(), "the step 'ask': gone");
            true
        }
    };
    (failed, std::mem::take(&mut *told.lock().unwrap()))
}

#[test]
fn a_run_that_fails_goes_on_from_its_checkpoint() {
    let events = some_events(600);
    for ordered in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let (mut told, mut failures) = (BTreeSet::new(), 0);
        loop {
            let (failed, some) = run_until_failure(&events, ordered, 60 + failures * 37, dir.path());
            // For each is called at least once: what comes again is the same, where the order is.
            told.extend(some);
            if !failed {
                break;
            }
            failures += 1;
            assert!(failures < 100, "no run gets on");
        }
        assert!(failures > 1, "no run failed");
        if ordered {
            assert_eq!(told, numbered(&events));
        }
        assert_eq!(totals(&told), totals(&numbered(&events)));
    }
}

/// Runs until `limit` elements have been read, or to the end, from the last checkpoint in the directory.
fn run_some(events: &[Event], ordered: bool, limit: usize, data_dir: &Path) -> (bool, Vec<Numbered>) {
    let env = Environment::with(Settings {
        parallelism: 2,
        batch_size: 7,
        data_dir: Some(data_dir.to_owned()),
        checkpoint_interval: ms(5),
        ..Settings::default()
    });
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    let read = timed(&env, events, 5).filter(move |_| {
        pace(&counted, limit);
        true
    });
    let told = waits(read, "waits", ordered, 20).key_by(|event| event.0).process("numbers", Numbers::open).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let executed = runtime.block_on(env.run_live(async move {
        while seen.load(Ordering::Relaxed) < limit {
            sleep(ms(1)).await;
        }
    }));
    (executed.unwrap().stopped, told.take())
}

#[test]
fn a_run_that_is_stopped_goes_on_from_its_checkpoint() {
    let events = some_events(1_500);
    for ordered in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let (mut told, mut stops) = (vec![], 0);
        loop {
            let (stopped, some) = run_some(&events, ordered, 400, dir.path());
            told.extend(some);
            if !stopped {
                break;
            }
            stops += 1;
            assert!(stops < 100, "no run gets on");
        }
        assert!(stops > 0, "no run was stopped");
        assert_eq!(told.len(), events.len(), "each element is shown once");
        let told: BTreeSet<Numbered> = told.into_iter().collect();
        if ordered {
            assert_eq!(told, numbered(&events));
        }
        assert_eq!(totals(&told), totals(&numbered(&events)));
    }
}

#[test]
fn timers_of_the_clock_come_while_requests_are_waited_for() {
    /// Registers a timer, which tells that it has come.
    struct Alarm;
    impl KeyedProcessFunction<u8, u8> for Alarm {
        type Out = u8;

        fn process_element(
            &mut self,
            key: &u8,
            _: u8,
            context: &mut Context<'_>,
            out: &mut Collector<u8>,
        ) -> Result<()> {
            context.register_processing_time_timer(context.current_processing_time() + 20)?;
            out.collect(*key);
            Ok(())
        }

        fn on_timer(
            &mut self,
            _: &u8,
            _: tidemill_datastream::Timer,
            _: &mut Context<'_>,
            out: &mut Collector<u8>,
        ) -> Result<()> {
            out.collect(100);
            Ok(())
        }
    }
    let env = env(1, 10);
    let alarm = env.from_iter(vec![1_u8]).key_by(|n| *n).process("alarm", |_: &mut KeyedState| Ok(Alarm));
    let rung = Arc::new(AtomicBool::new(false));
    let ring = Arc::clone(&rung);
    // The task ends when the request is answered, which is when the timer has come.
    let results = alarm.async_map("ask", options(false, 2), move |n| {
        let rung = Arc::clone(&ring);
        async move {
            if n == 100 {
                rung.store(true, Ordering::SeqCst);
            }
            while !rung.load(Ordering::SeqCst) {
                sleep(ms(1)).await;
            }
            Ok(n)
        }
    });
    let results = results.collect();
    env.execute_live().unwrap();
    assert_eq!(sorted(results.take()), [1, 100]);
    assert!(rung.load(Ordering::SeqCst));
}
