//! The program that is killed: what a job does in one source's order, by event time, and in answers that it waits for.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tidemill::state::{KeyedState, StateDescriptor, ValueState};
use tidemill::{
    AsyncOptions, Collector, Context, DataStream, Environment, EventTime, KeyedProcessFunction, OutputTag, Result,
    Settings, Table, Timer, WatermarkStrategy, WindowAssigner,
};

pub const EVENTS: i64 = 6_000;
const KEYS: i64 = 17;

/// The even numbers are joined with the odd ones whose times are at most so far away, in milliseconds.
pub const JOINED_WITHIN: i64 = 7;

/// Key, time, value.
pub type Event = (i64, i64, i64);

/// Something of a key, at a time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Told {
    pub key: i64,
    pub time: i64,
    pub value: i64,
}

pub fn event(n: i64) -> Event {
    (n % KEYS, n / 3 + (n * 7) % 13, n)
}

/// Sums a key's values for 20 ms of event time.
struct Summing(ValueState<i64>);

impl KeyedProcessFunction<i64, Event> for Summing {
    type Out = Told;

    fn process_element(
        &mut self,
        _: &i64,
        (_, time, value): Event,
        context: &mut Context<'_>,
        _: &mut Collector<Told>,
    ) -> Result<()> {
        if self.0.value(context.state())?.is_none() {
            context.register_event_time_timer(EventTime(time + 20))?;
        }
        self.0.update_with(context.state(), |sum| *sum = Some(sum.unwrap_or(0) + value))
    }

    fn on_timer(
        &mut self,
        key: &i64,
        timer: Timer,
        context: &mut Context<'_>,
        out: &mut Collector<Told>,
    ) -> Result<()> {
        if let (Timer::EventTime(time), Some(value)) = (timer, self.0.value(context.state())?.copied()) {
            out.collect(Told { key: *key, time: time.0, value });
            self.0.clear(context.state())?;
        }
        Ok(())
    }
}

/// Numbers a key's elements as they come: the number stands where others have a time.
struct Numbering(ValueState<i64>);

impl KeyedProcessFunction<i64, Event> for Numbering {
    type Out = Told;

    fn process_element(
        &mut self,
        key: &i64,
        (_, _, value): Event,
        context: &mut Context<'_>,
        out: &mut Collector<Told>,
    ) -> Result<()> {
        let number = self.0.update_with(context.state(), |count| {
            let number = count.unwrap_or(0);
            *count = Some(number + 1);
            number
        })?;
        out.collect(Told { key: *key, time: number, value });
        Ok(())
    }
}

const ALONE: OutputTag<Event> = OutputTag::new("alone");

/// Runs it, with its files and checkpoints in a folder. Its source takes a second.
pub fn run(folder: &Path) -> Result<()> {
    let env = Environment::with(Settings {
        parallelism: 2,
        batch_size: 16,
        data_dir: Some(folder.join("job")),
        checkpoint_interval: Duration::from_millis(20),
        ..Settings::default()
    });
    let events = env
        .from_iter(0..EVENTS)
        .map(|n| {
            if n % 16 == 0 {
                std::thread::sleep(Duration::from_millis(3));
            }
            event(n)
        })
        .assign_timestamps_and_watermarks(
            WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_millis(13))
                .with_timestamp_assigner(|event: &Event| EventTime(event.1)),
        );
    let write = |stream: DataStream<Told>, name: &str| {
        let table = Table::new("filesystem").with("path", name).with("format", "json");
        table.in_folder(folder).write(stream, name)
    };
    write(by_timer(&events), "timers")?;
    write(by_window(&events), "windows")?;
    let [pairs, alone] = joined(&events);
    write(pairs, "pairs")?;
    write(alone, "alone")?;
    write(answered(&events), "answers")?;
    env.execute_live().map(drop)
}

fn by_timer(events: &DataStream<Event>) -> DataStream<Told> {
    let summing = |states: &mut KeyedState| Ok(Summing(states.value_state(StateDescriptor::new("sum"))?));
    events.clone().key_by(|event| event.0).process("by timer", summing)
}

fn by_window(events: &DataStream<Event>) -> DataStream<Told> {
    let windows = events.clone().key_by(|event| event.0).window(WindowAssigner::tumbling(Duration::from_millis(100)));
    let sums = windows.reduce("by window", |a, b| (a.0, a.1, a.2 + b.2));
    sums.map(|of| Told { key: of.key, time: of.window.start, value: of.value.2 })
}

/// The pairs, each with the product of its values, and the even numbers that meet no odd one.
fn joined(events: &DataStream<Event>) -> [DataStream<Told>; 2] {
    let [even, odd] =
        [0, 1].map(|rest| events.clone().filter(move |event| event.2 % 2 == rest).key_by(|event| event.0));
    let pairs = even
        .interval_join(odd, -JOINED_WITHIN..=JOINED_WITHIN)
        .side_output_unmatched_first(&ALONE)
        .apply("joined", |a, b| Told { key: a.0, time: a.1, value: a.2 * b.2 });
    let alone = pairs.side_output(&ALONE).map(|(key, time, value)| Told { key, time, value });
    [pairs, alone]
}

/// Each value is doubled by a service that takes up to two milliseconds; the answers keep the order of the questions.
fn answered(events: &DataStream<Event>) -> DataStream<Told> {
    let asked = AsyncOptions::ordered(8, Duration::from_secs(60));
    let answers = events.clone().async_map("doubled", asked, |(key, time, value)| async move {
        tokio::time::sleep(Duration::from_millis(value.unsigned_abs() * 5 % 3)).await;
        Ok((key, time, 2 * value))
    });
    let numbering = |states: &mut KeyedState| Ok(Numbering(states.value_state(StateDescriptor::new("count"))?));
    answers.key_by(|event| event.0).process("numbered", numbering)
}
