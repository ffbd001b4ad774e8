//! A typed program is killed at drawn moments, again and again: its files have each row once in the end.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tidemill::state::{KeyedState, StateDescriptor, ValueState};
use tidemill::{
    Collector, Context, Environment, EventTime, KeyedProcessFunction, Result, Settings, Table, Timer,
    WatermarkStrategy, WindowAssigner,
};

/// Where the process that is to be killed works: the test starts itself with it.
const JOB: &str = "TIDEMILL_TYPED_JOB";

const EVENTS: i64 = 6_000;
const KEYS: i64 = 17;

/// A sum of a key, told by a timer 20 ms of event time after it began, or of its window.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Sum {
    key: i64,
    time: i64,
    sum: i64,
}

/// Key, time, value.
fn event(n: i64) -> (i64, i64, i64) {
    (n % KEYS, n / 3 + (n * 7) % 13, n)
}

struct Summing(ValueState<i64>);

impl KeyedProcessFunction<i64, (i64, i64, i64)> for Summing {
    type Out = Sum;

    fn process_element(
        &mut self,
        _: &i64,
        (_, time, value): (i64, i64, i64),
        context: &mut Context<'_>,
        _: &mut Collector<Sum>,
    ) -> Result<()> {
        if self.0.value(context.state())?.is_none() {
            context.register_event_time_timer(EventTime(time + 20))?;
        }
        self.0.update_with(context.state(), |sum| *sum = Some(sum.unwrap_or(0) + value))
    }

    fn on_timer(&mut self, key: &i64, timer: Timer, context: &mut Context<'_>, out: &mut Collector<Sum>) -> Result<()> {
        if let (Timer::EventTime(time), Some(sum)) = (timer, self.0.value(context.state())?.copied()) {
            out.collect(Sum { key: *key, time: time.0, sum });
            self.0.clear(context.state())?;
        }
        Ok(())
    }
}

/// The program, whose source takes a second.
fn run(folder: &Path) -> Result<()> {
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
                .with_timestamp_assigner(|event: &(i64, i64, i64)| EventTime(event.1)),
        );
    let by_timer = events
        .clone()
        .key_by(|event| event.0)
        .process("by timer", |states: &mut KeyedState| Ok(Summing(states.value_state(StateDescriptor::new("sum"))?)));
    let by_window = events
        .key_by(|event| event.0)
        .window(WindowAssigner::tumbling(Duration::from_millis(100)))
        .reduce("by window", |a, b| (a.0, a.1, a.2 + b.2))
        .map(|of| Sum { key: of.key, time: of.window.start, sum: of.value.2 });
    let table = |path: &str| Table::new("filesystem").with("path", path).with("format", "json").in_folder(folder);
    table("timers").write(by_timer, "timers")?;
    table("windows").write(by_window, "windows")?;
    env.execute_live().map(drop)
}

/// By timer: with each element's own watermark as the clock. By window: nothing is late.
fn expected() -> (Vec<Sum>, Vec<Sum>) {
    let (mut told, mut open, mut windows) = (vec![], BTreeMap::<i64, (i64, i64)>::new(), BTreeMap::new());
    let mut watermark = i64::MIN;
    let mut fire = |until: i64, open: &mut BTreeMap<i64, (i64, i64)>| {
        for (key, (due, sum)) in open.extract_if(.., |_, (due, _)| *due <= until) {
            told.push(Sum { key, time: due, sum });
        }
    };
    for (key, time, value) in (0..EVENTS).map(event) {
        fire(watermark, &mut open);
        open.entry(key).or_insert((time + 20, 0)).1 += value;
        *windows.entry((key, time.div_euclid(100) * 100)).or_insert(0) += value;
        watermark = watermark.max(time - 14);
    }
    fire(i64::MAX, &mut open);
    let windows = windows.into_iter().map(|((key, time), sum)| Sum { key, time, sum }).collect();
    (told, windows)
}

/// The process that is killed: of no use by itself.
#[test]
fn the_job() {
    if let Some(folder) = env::var_os(JOB) {
        run(&PathBuf::from(folder)).unwrap();
    }
}

/// Runs the program in a process of its own, and kills that after so long; `None`: it was.
fn run_for(folder: &Path, time: Duration) -> Option<ExitStatus> {
    let mut job = Command::new(env::current_exe().unwrap())
        .args(["--exact", "the_job"])
        .env(JOB, folder)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(time);
    match job.try_wait().unwrap() {
        Some(status) => Some(status),
        None => {
            job.kill().unwrap();
            job.wait().unwrap();
            None
        }
    }
}

fn sums(folder: &Path) -> Vec<Sum> {
    let env = Environment::new();
    let table = Table::new("filesystem").with("path", folder.to_string_lossy()).with("format", "json");
    let sums = table.read::<Sum>(&env, "sums").unwrap().collect();
    env.execute_live().unwrap();
    let mut sums = sums.take();
    sums.sort();
    sums
}

#[test]
fn a_program_that_is_killed_goes_on_as_if_nothing_had_happened() {
    let folder = tempfile::tempdir().unwrap();
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let seed = env::var("TIDEMILL_CRASH_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(now);
    println!("TIDEMILL_CRASH_SEED={seed}");
    let (mut drawn, mut kills) = (seed, 0);
    loop {
        drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // From before the first checkpoint to some of them behind; later runs have more time, on a slow machine too.
        let time = Duration::from_millis(30 + (drawn >> 33) % 300 + 20 * kills);
        match run_for(folder.path(), time) {
            None => kills += 1,
            Some(status) => {
                assert!(status.success());
                break;
            }
        }
        assert!(kills < 200, "no run gets on");
    }
    assert!(kills > 2, "only {kills} kills");
    let (mut timers, windows) = expected();
    timers.sort();
    assert_eq!(sums(&folder.path().join("timers")), timers);
    assert_eq!(sums(&folder.path().join("windows")), windows);
}
