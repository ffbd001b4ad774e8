//! How fast typed programs run: `speed WORKLOAD EVENTS KEYS`, on as many cores as it is given; prints events a second.
//!
//! The source counts in the process: an event is a number, its key a hash of it.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use tidemill_datastream::state::{KeyedState, StateDescriptor, ValueState};
use tidemill_datastream::{
    AggregateFunction, Collector, Context, DataStream, Environment, Error, EventTime, KeyedProcessFunction, Result,
    Settings, WatermarkStrategy, WindowAssigner,
};

/// Counts the events of each key, and tells every thousandth.
struct Counting {
    count: ValueState<u64>,
}

impl KeyedProcessFunction<u64, u64> for Counting {
    type Out = u64;

    fn process_element(&mut self, _: &u64, _: u64, context: &mut Context<'_>, out: &mut Collector<u64>) -> Result<()> {
        let count = self.count.update_with(context.state(), |count| {
            let next = count.unwrap_or(0) + 1;
            *count = Some(next);
            next
        })?;
        if count % 1000 == 0 {
            out.collect(count);
        }
        Ok(())
    }
}

#[derive(Clone)]
struct Count;

impl AggregateFunction for Count {
    type In = u64;
    type Acc = u64;
    type Out = u64;

    fn create_accumulator(&self) -> u64 {
        0
    }

    fn add(&self, count: &mut u64, _: u64) {
        *count += 1;
    }

    fn result(&self, count: &u64) -> u64 {
        *count
    }

    fn merge(&self, a: u64, b: u64) -> u64 {
        a + b
    }
}

fn key_of(event: u64, keys: u64) -> u64 {
    event.wrapping_mul(0x9e37_79b9_7f4a_7c15) % keys
}

fn run(workload: &str, events: u64, keys: u64) -> Result<Duration> {
    #[cfg_attr(not(feature = "rocksdb"), allow(unused_mut))]
    let mut settings = Settings { parallelism: 1, ..Settings::default() };
    #[cfg(feature = "rocksdb")]
    if workload == "rocksdb" {
        let folder = std::env::temp_dir().join(format!("tidemill-speed-{}", std::process::id()));
        settings.state_backend = tidemill_datastream::StateBackend::rocksdb(folder, 256 << 20);
    }
    let env = Environment::with(settings);
    let numbers = || -> DataStream<u64> { env.from_iter(0..events) };
    match workload {
        "process" | "rocksdb" => numbers()
            .key_by(move |event| key_of(*event, keys))
            .process("count", |states: &mut KeyedState| {
                Ok(Counting { count: states.value_state(StateDescriptor::new("count"))? })
            })
            .for_each("nowhere", |_| ()),
        "window" => numbers()
            .assign_timestamps_and_watermarks(
                // A million events an hour, in windows of an hour.
                WatermarkStrategy::for_monotonous_timestamps()
                    .with_timestamp_assigner(|event: &u64| EventTime((event * 36 / 10).cast_signed())),
            )
            .key_by(move |event| key_of(*event, keys))
            .window(WindowAssigner::tumbling(Duration::from_secs(3600)))
            .aggregate("count", Count)
            .for_each("nowhere", |_| ()),
        "join" => {
            // Two streams of half the events each, a thousand a second of event time, joined within ten minutes.
            let stream = |numbers: DataStream<u64>| {
                numbers
                    .assign_timestamps_and_watermarks(
                        WatermarkStrategy::for_monotonous_timestamps()
                            .with_timestamp_assigner(|event: &u64| EventTime(event.cast_signed())),
                    )
                    .key_by(move |event| key_of(*event, keys))
            };
            let (first, second) = (stream(env.from_iter(0..events / 2)), stream(env.from_iter(0..events / 2)));
            first.interval_join(second, 0..=600_000).apply("join", |a, b| a + b).for_each("nowhere", |_| ());
        }
        other => {
            return Err(Error::invalid(format!("there is no workload '{other}'"))
                .hint("it is process, rocksdb (with that build flag), window or join"));
        }
    }
    let started = Instant::now();
    env.execute_live()?;
    Ok(started.elapsed())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [workload, events, keys] = arguments.as_slice() else {
        eprintln!("usage: speed WORKLOAD EVENTS KEYS");
        return ExitCode::from(2);
    };
    let (Ok(events), Ok(keys)) = (events.parse(), keys.parse()) else {
        eprintln!("EVENTS and KEYS are numbers");
        return ExitCode::from(2);
    };
    match run(workload, events, keys) {
        Ok(took) => {
            println!("{:.0} events/s", events as f64 / took.as_secs_f64());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
