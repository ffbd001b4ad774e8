//! Streams without a key, and what is refused.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::{Arc, Mutex};

use tidemill_datastream::state::KeyedState;
use tidemill_datastream::{
    Collector, Context, Environment, ErrorKind, EventTime, KeyedProcessFunction, OutputTag, Result, Settings,
    WatermarkStrategy, WindowAssigner,
};

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
            3 => Err(tidemill_datastream::Error::data("three is too many")),
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
        let window = WindowAssigner::tumbling(std::time::Duration::ZERO);
        keyed.window(window).reduce("nothing", |a, _| a).for_each("nowhere", |_| ());
    });
    assert_eq!(message, "the step 'nothing': a window of 0 ms is not possible");
    let message = refused(|env| {
        let keyed = env.from_iter(vec![1_i64]).key_by(|n| *n);
        let window = WindowAssigner::tumbling(std::time::Duration::from_secs(1));
        keyed.window(window).reduce("sums", |a, b| a + b).for_each("nowhere", |_| ());
    });
    assert_eq!(message, "the step 'sums' goes by event time, and its elements have none");
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
