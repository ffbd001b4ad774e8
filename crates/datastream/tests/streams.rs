//! Streams without a key, and what is refused.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

mod trickle;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tidemill_datastream::state::KeyedState;
use tidemill_datastream::{
    Collector, Context, DataStream, Environment, Error, ErrorKind, EventTime, KeyedProcessFunction, LateElement,
    OutputTag, Result, Settings, WatermarkStrategy, WindowAssigner,
};
use tokio::sync::Semaphore;
use tokio::time::sleep;
use trickle::trickle;

fn env(batch_size: usize) -> Environment {
    Environment::with(Settings { parallelism: 2, batch_size, ..Settings::default() })
}

#[test]
fn elements_pass_in_their_order() {
    for batch_size in [1, 3, 1000] {
        let env = env(batch_size);
        let numbers = env.from_iter(0..100);
        let (even, odd) = (numbers.clone().filter(|n| n % 2 == 0), numbers.filter(|n| n % 2 == 1));
        let (even, doubled) = (even.collect(), odd.flat_map(|n| [n, n]).map(|n| n.to_string()).collect());
        env.execute_live().unwrap();
        assert_eq!(even.take(), (0..100).filter(|n| n % 2 == 0).collect::<Vec<_>>());
        let expected: Vec<String> =
            (0..100).filter(|n| n % 2 == 1).flat_map(|n| [n, n]).map(|n| n.to_string()).collect();
        assert_eq!(doubled.take(), expected);
    }
}

#[test]
fn a_union_has_the_elements_of_all() {
    let env = env(2);
    let all = env.from_iter(0..5).union([env.from_iter(10..15).map(|n| n + 1), env.from_iter(vec![100])]).collect();
    env.execute_live().unwrap();
    let mut all = all.take();
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3, 4, 11, 12, 13, 14, 15, 100]);
}

#[test]
fn each_element_is_given_to_a_function_once() {
    let env = env(3);
    let seen = Arc::new(Mutex::new(vec![]));
    let by_function = Arc::clone(&seen);
    env.from_iter(["a", "b", "c", "d"]).for_each("note", move |word| by_function.lock().unwrap().push(*word));
    env.execute_live().unwrap();
    assert_eq!(*seen.lock().unwrap(), ["a", "b", "c", "d"]);
}

/// Refuses what is told it.
struct Refuses;

impl KeyedProcessFunction<u32, u32> for Refuses {
    type Out = u32;

    fn process_element(&mut self, key: &u32, _: u32, _: &mut Context<'_>, _: &mut Collector<u32>) -> Result<()> {
        match key {
            3 => Err(Error::data("three is too many")),
            5 => panic!("five is right out"),
            _ => Ok(()),
        }
    }
}

#[test]
fn a_step_that_fails_is_named() {
    for (element, message) in
        [(3, "the step 'refuses': three is too many"), (5, "the step 'refuses' panicked: five is right out")]
    {
        let env = env(10);
        env.from_iter(vec![1, element])
            .key_by(|n| *n)
            .process("refuses", |_: &mut KeyedState| Ok(Refuses))
            .for_each("nowhere", |_| ());
        let error = env.execute_live().unwrap_err();
        assert_eq!((error.message(), error.kind()), (message, ErrorKind::Data));
        // What a main function prints that returns it.
        assert_eq!(format!("{error:?}"), error.to_string());
    }
    let env = env(10);
    env.from_iter(vec![1, 0]).map(|n| 10 / n).for_each("nowhere", |_| ());
    let error = env.execute_live().unwrap_err();
    assert!(error.message().contains("the step 'map' panicked: attempt to divide by zero"), "{error}");
}

/// Refuses seven.
fn not_seven<T>(number: i64, or: T) -> Result<T> {
    if number == 7 { Err(Error::unavailable("seven is out")) } else { Ok(or) }
}

#[test]
fn steps_that_can_fail_do_what_the_others_do() {
    for batch_size in [1, 3, 1000] {
        let env = env(batch_size);
        let numbers = env
            .from_iter(0..7i64)
            .try_map(|n| not_seven(n, n * 10))
            .assign_timestamps_and_watermarks(strategy())
            .try_filter(|n| not_seven(*n, n % 20 == 0))
            .try_flat_map(|n| not_seven(n, [n, n + 21]))
            .key_by(|n| n % 2)
            .window(WindowAssigner::tumbling(Duration::from_millis(20)))
            .reduce("sums", |a, b| a + b)
            .map(|of| (of.window.start, of.value))
            .collect();
        env.execute_live().unwrap();
        let mut numbers = numbers.take();
        numbers.sort_unstable();
        let expected = [0, 20, 40, 60].iter().flat_map(|&n| [(n, n), (n, n + 21)]);
        assert_eq!(numbers, expected.collect::<Vec<_>>(), "each has the time of what it was made of");
    }
}

#[test]
fn an_error_of_a_step_without_state_ends_the_run_and_names_the_step() {
    type Program = fn(DataStream<i64>) -> DataStream<i64>;
    let programs: [(&str, Program); 3] = [
        ("try map", |numbers| numbers.try_map(|n| not_seven(n, n))),
        ("try filter", |numbers| numbers.try_filter(|n| not_seven(*n, true))),
        ("try flat map", |numbers| numbers.try_flat_map(|n| not_seven(n, Some(n)))),
    ];
    for (name, program) in programs {
        for behind_a_key in [false, true] {
            let env = env(3);
            let mut numbers = env.from_iter(0..10i64);
            if behind_a_key {
                numbers = numbers.key_by(|n| n % 3).reduce("latest", |_, n| n);
            }
            program(numbers).for_each("nowhere", |_| ());
            let error = env.execute_live().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
            assert!(error.message().ends_with(&format!("the step '{name}': seven is out")), "{error}");
        }
    }
}

#[test]
fn a_key_that_can_not_be_made_is_an_error_of_the_program() {
    let env = env(10);
    env.from_iter(vec![1, 0])
        .key_by(|n| 10 / n)
        .process("refuses", |_: &mut KeyedState| Ok(Refuses))
        .for_each("nowhere", |_| ());
    let error = env.execute_live().unwrap_err();
    assert_eq!(error.message(), "the step 'key_by' panicked: attempt to divide by zero");
}

fn refused(program: impl FnOnce(&Environment)) -> String {
    let env = env(10);
    program(&env);
    let error = env.execute_live().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.hint_text().is_some(), "{error}");
    error.message().to_owned()
}

fn strategy() -> WatermarkStrategy<i64> {
    WatermarkStrategy::for_monotonous_timestamps().with_timestamp_assigner(|n: &i64| EventTime(*n))
}

#[test]
fn what_can_not_be_run_is_refused_before_it_runs() {
    assert_eq!(refused(|env| drop(env.from_iter(vec![1]))), "the program has no sink, so nothing would come of it");
    let message = refused(|env| {
        let stream = env.from_iter(vec![1_i64]);
        stream.clone().for_each("all", |_| ());
        stream.assign_timestamps_and_watermarks(strategy()).for_each("timed", |_| ());
    });
    assert!(message.starts_with("assign_timestamps_and_watermarks comes too late"), "{message}");
    let message = refused(|env| {
        env.from_iter(vec![1_i64]).for_each("it", |_| ());
        env.from_iter(vec![1_i64]).for_each("it", |_| ());
    });
    assert_eq!(message, "two steps are called 'it'");
    let message = refused(|env| {
        let stream = env.from_iter(vec![1_i64]).map(|n| n);
        stream.side_output(&OutputTag::<i64>::new("none")).for_each("none", |_| ());
    });
    assert!(message.starts_with("the stream has no side output 'none'"), "{message}");
    let message = refused(|env| {
        let other = Environment::new();
        env.from_iter(vec![1_i64]).union([other.from_iter(vec![2])]).for_each("both", |_| ());
    });
    assert_eq!(message, "streams of two environments meet");
    let message = refused(|env| {
        let keyed = env.from_iter(vec![1_i64]).assign_timestamps_and_watermarks(strategy()).key_by(|n| *n);
        let window = WindowAssigner::tumbling(Duration::ZERO);
        keyed.window(window).reduce("nothing", |a, _| a).for_each("nowhere", |_| ());
    });
    assert_eq!(message, "the step 'nothing': a window of 0 ms is not possible");
    let message = refused(|env| {
        let keyed = env.from_iter(vec![1_i64]).key_by(|n| *n);
        let window = WindowAssigner::tumbling(Duration::from_secs(1));
        keyed.window(window).reduce("sums", |a, b| a + b).for_each("nowhere", |_| ());
    });
    assert_eq!(message, "the step 'sums' goes by event time, and its elements have none");
    let message = refused(|env| {
        let strategy = strategy().with_idleness(Duration::ZERO);
        env.from_iter(vec![1_i64]).assign_timestamps_and_watermarks(strategy).for_each("nowhere", |_| ());
    });
    assert_eq!(message, "a source that is idle after no time at all is not possible");
    let message = refused(|env| {
        let (timed, untimed) =
            (env.from_iter(vec![1_i64]).assign_timestamps_and_watermarks(strategy()), env.from_iter(vec![2]));
        let joined = timed.key_by(|n| *n).interval_join(untimed.key_by(|n| *n), 0..=1);
        joined.apply("pairs", |a, b| a + b).for_each("nowhere", |_| ());
    });
    assert_eq!(message, "the step 'pairs' goes by event time, and its elements have none");
    let message = refused(|env| {
        let tag = (OutputTag::<i64>::new("it"), OutputTag::<String>::new("it"));
        let stream = env.from_iter(vec![1_u32]).key_by(|n| *n).process("refuses", |_: &mut KeyedState| Ok(Refuses));
        stream.side_output(&tag.0).for_each("numbers", |_| ());
        stream.side_output(&tag.1).for_each("texts", |_| ());
    });
    assert_eq!(message, "the side output 'it' has elements of two types");
    let env = Environment::with(Settings { parallelism: 0, ..Settings::default() });
    env.from_iter(vec![1]).for_each("it", |_| ());
    assert_eq!(env.execute_live().unwrap_err().message(), "a parallelism of 0 is not possible: it is 1 to 128");
}

#[tokio::test]
async fn within_an_async_function_a_run_is_awaited() {
    let env = env(10);
    let all = env.from_iter(0..3).collect();
    assert_eq!(env.execute_live().unwrap_err().hint_text(), Some("await run_live there"));
    env.run_live(std::future::pending()).await.unwrap();
    assert_eq!(all.take(), [0, 1, 2]);
}

/// What a function is called with, and the function.
fn noted<T: Clone + Send + 'static>() -> (Arc<Mutex<Vec<T>>>, impl FnMut(&T) + Send + 'static) {
    let seen = Arc::new(Mutex::new(vec![]));
    let by_function = Arc::clone(&seen);
    (seen, move |element: &T| by_function.lock().unwrap().push(element.clone()))
}

async fn until_seen<T>(seen: &Mutex<Vec<T>>) {
    while seen.lock().unwrap().is_empty() {
        sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_source_that_is_idle_holds_no_window_up_and_is_late_for_it_when_it_wakes() {
    const LATE: OutputTag<LateElement<i64>> = OutputTag::new("late");
    let env = env(10);
    let numbers = |name, count, released: &Arc<Semaphore>, strategy| {
        let numbers = trickle(&env, name, count, Arc::clone(released));
        numbers.map(|number| number.n).assign_timestamps_and_watermarks(strategy)
    };
    // The last number of the steady source waits until all else is done: it is not at its end before.
    let (steady, silent) = (Arc::new(Semaphore::new(4)), Arc::new(Semaphore::new(0)));
    let idle = numbers("silent", 1, &silent, strategy().with_idleness(Duration::from_millis(20)));
    let sums = numbers("steady", 5, &steady, strategy())
        .union([idle])
        .key_by(|_| 0u8)
        .window(WindowAssigner::tumbling(Duration::from_millis(2)))
        .side_output_late_data(&LATE)
        .reduce("sums", |a, b| a + b);
    let ((late, note_late), (told, note_told)) = (noted(), noted());
    sums.side_output(&LATE).map(|late| late.element).for_each("late", note_late);
    sums.map(|of| (of.window.start, of.value)).for_each("told", note_told);

    let wakes_and_ends = async {
        until_seen(&told).await;
        silent.add_permits(1);
        until_seen(&late).await;
        steady.add_permits(1);
    };
    let (executed, ()) = tokio::join!(env.run_live(std::future::pending()), wakes_and_ends);
    assert_eq!(executed.unwrap().late_elements["sums"], 1);
    assert_eq!(*told.lock().unwrap(), [(0, 1), (2, 5), (4, 4)]);
    assert_eq!(*late.lock().unwrap(), [0]);
}
