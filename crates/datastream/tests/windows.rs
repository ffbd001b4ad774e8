//! Windows against a recomputation in the test: of each element its own watermark, of each window its elements.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

mod on_disk;
mod pace;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use on_disk::on_disk;
use pace::pace;
use proptest::prelude::*;
use tidemill_datastream::{
    AggregateFunction, Collector, Environment, ErrorKind, EventTime, KeyedStream, LateElement, OutputTag,
    ProcessWindowFunction, Result, Settings, Snapshot, StateBackend, TestHarness, TimeWindow, Watermark,
    WatermarkStrategy, WindowAssigner, Windowed,
};

/// Key, time, value.
type Event = (u8, i64, i64);

/// The values of each key and window.
type Contents = BTreeMap<(u8, TimeWindow), Vec<i64>>;

#[derive(Debug, Clone, Copy)]
enum Kind {
    Tumbling(i64),
    Sliding(i64, i64),
    Cumulating(i64, i64),
    Session(i64),
    Global,
}

#[derive(Debug, Clone)]
struct Case {
    events: Vec<Event>,
    kind: Kind,
    offset: i64,
    delay: i64,
    lateness: i64,
    parallelism: usize,
    batch_size: usize,
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![
        (1..20_i64).prop_map(Kind::Tumbling),
        (1..30_i64, 1..30_i64).prop_map(|(size, slide)| Kind::Sliding(size, slide)),
        (1..6_i64, 1..6_i64).prop_map(|(step, times)| Kind::Cumulating(step * times, step)),
        (1..15_i64).prop_map(Kind::Session),
        Just(Kind::Global),
    ]
}

fn cases() -> impl Strategy<Value = Case> {
    let events = prop::collection::vec((0..4_u8, -60..60_i64, 1..100_i64), 0..80);
    (events, kinds(), 0..25_i64, 0..30_i64, prop_oneof![Just(0), 1..20_i64], 1..4_usize, 1..20_usize).prop_map(
        |(events, kind, offset, delay, lateness, parallelism, batch_size)| Case {
            events,
            kind,
            offset,
            delay,
            lateness,
            parallelism,
            batch_size,
        },
    )
}

fn ms(ms: i64) -> Duration {
    Duration::from_millis(ms.unsigned_abs())
}

impl Case {
    fn assigner(&self) -> WindowAssigner {
        let assigner = match self.kind {
            Kind::Tumbling(size) => WindowAssigner::tumbling(ms(size)),
            Kind::Sliding(size, slide) => WindowAssigner::sliding(ms(size), ms(slide)),
            Kind::Cumulating(max_size, step) => WindowAssigner::cumulating(ms(max_size), ms(step)),
            Kind::Session(gap) => WindowAssigner::session(ms(gap)),
            Kind::Global => WindowAssigner::global(),
        };
        assigner.with_offset(ms(self.offset))
    }

    /// All aligned windows that an element can be in, found by trying.
    fn windows(&self, time: i64) -> Vec<TimeWindow> {
        let offset = self.offset;
        let windows: Vec<(i64, i64)> = match self.kind {
            Kind::Tumbling(size) => (-200..200).map(|n| (n * size + offset, n * size + offset + size)).collect(),
            Kind::Sliding(size, slide) => {
                (-200..200).map(|n| (n * slide + offset, n * slide + offset + size)).collect()
            }
            Kind::Cumulating(max_size, step) => (-200..200)
                .flat_map(|n| {
                    (1..=max_size / step).map(move |k| (n * max_size + offset, n * max_size + offset + k * step))
                })
                .collect(),
            Kind::Global => vec![(i64::MIN, i64::MAX)],
            Kind::Session(_) => unreachable!("sessions are not aligned"),
        };
        let windows = windows.into_iter().map(|(start, end)| TimeWindow { start, end });
        windows.filter(|window| window.start <= time && time < window.end).collect()
    }

    /// Each element's own watermark.
    fn watermarks(&self) -> Vec<i64> {
        let claims = self.events.iter().map(|(_, time, _)| time - self.delay - 1);
        let mut highest = i64::MIN;
        let own = |claim: i64| {
            let before = highest;
            highest = highest.max(claim);
            before
        };
        claims.map(own).collect()
    }

    fn forgotten(&self, end: i64) -> i64 {
        (end - 1).saturating_add(self.lateness)
    }

    /// The elements of each window, and those that missed some.
    fn expected(&self) -> (Contents, Vec<LateElement<Event>>) {
        let (mut windows, mut late) = (BTreeMap::<_, Vec<i64>>::new(), vec![]);
        let mut open: BTreeMap<u8, Vec<(TimeWindow, Vec<i64>)>> = BTreeMap::new();
        for (event, watermark) in self.events.iter().zip(self.watermarks()) {
            let (key, time, value) = *event;
            if let Kind::Session(gap) = self.kind {
                let sessions = open.entry(key).or_default();
                for closed in sessions.extract_if(.., |(window, _)| watermark >= self.forgotten(window.end)) {
                    windows.insert((key, closed.0), closed.1);
                }
                let own = TimeWindow { start: time, end: time + gap };
                let touching =
                    |(window, _): &mut (TimeWindow, Vec<i64>)| window.start <= own.end && own.start <= window.end;
                let joined: Vec<_> = sessions.extract_if(.., touching).collect();
                let start = joined.iter().map(|(window, _)| window.start).fold(own.start, i64::min);
                let end = joined.iter().map(|(window, _)| window.end).fold(own.end, i64::max);
                if joined.is_empty() && watermark >= self.forgotten(end) {
                    late.push(LateElement { element: *event, missed: vec![own] });
                    continue;
                }
                let values = joined.into_iter().flat_map(|(_, values)| values).chain([value]).collect();
                sessions.push((TimeWindow { start, end }, values));
                continue;
            }
            let is_late = |window: &TimeWindow| watermark >= self.forgotten(window.end);
            let (missed, hit): (Vec<_>, Vec<_>) = self.windows(time).into_iter().partition(is_late);
            hit.into_iter().for_each(|window| windows.entry((key, window)).or_default().push(value));
            if !missed.is_empty() {
                late.push(LateElement { element: *event, missed });
            }
        }
        for (key, sessions) in open {
            windows.extend(sessions.into_iter().map(|(window, values)| ((key, window), values)));
        }
        (windows, late)
    }
}

#[derive(Clone)]
struct Sum;

impl AggregateFunction for Sum {
    type In = Event;
    type Acc = i64;
    type Out = i64;

    fn create_accumulator(&self) -> i64 {
        0
    }

    fn add(&self, sum: &mut i64, (_, _, value): Event) {
        *sum += value;
    }

    fn result(&self, sum: &i64) -> i64 {
        *sum
    }

    fn merge(&self, a: i64, b: i64) -> i64 {
        a + b
    }
}

#[derive(Clone)]
struct Values;

impl ProcessWindowFunction<u8, Event> for Values {
    type Out = (u8, TimeWindow, Vec<i64>);

    fn process(
        &mut self,
        key: &u8,
        window: TimeWindow,
        elements: Vec<Event>,
        out: &mut Collector<Self::Out>,
    ) -> Result<()> {
        out.collect((*key, window, elements.into_iter().map(|(_, _, value)| value).collect()));
        Ok(())
    }
}

const LATE: OutputTag<LateElement<Event>> = OutputTag::new("late");

/// What a window told last.
fn last<R>(told: impl IntoIterator<Item = (u8, TimeWindow, R)>) -> BTreeMap<(u8, TimeWindow), R> {
    told.into_iter().map(|(key, window, value)| ((key, window), value)).collect()
}

fn told<R>(all: Vec<Windowed<u8, R>>) -> Vec<(u8, TimeWindow, R)> {
    all.into_iter().map(|of| (of.key, of.window, of.value)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_window_tells_what_its_elements_come_to(case in cases(), tenth in 0..10) {
        // Databases are opened for each subtask of each step: few cases do that.
        let (state_backend, _folder) = if tenth == 0 { on_disk() } else { (StateBackend::memory(), None) };
        let settings =
            Settings { parallelism: case.parallelism, batch_size: case.batch_size, state_backend, ..Settings::default() };
        let env = Environment::with(settings);
        let strategy = WatermarkStrategy::for_bounded_out_of_orderness(ms(case.delay));
        let keyed = || {
            let events = env.from_iter(case.events.clone());
            let timed = events.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(|e: &Event| EventTime(e.1)));
            timed.key_by(|event| event.0).window(case.assigner()).allowed_lateness(ms(case.lateness))
        };
        let sums = keyed().side_output_late_data(&LATE).aggregate("sums", Sum);
        let late = sums.side_output(&LATE).collect();
        let (sums, products, lists) = (
            sums.collect(),
            keyed().reduce("last", |a, b| (a.0, a.1.min(b.1), a.2.max(b.2))).collect(),
            keyed().process("values", Values).collect(),
        );
        let executed = env.execute_live().unwrap();

        let (windows, missed) = case.expected();
        let all = sums.take();
        if case.lateness == 0 && !matches!(case.kind, Kind::Session(_)) {
            prop_assert_eq!(all.len(), windows.len(), "each window tells its result once");
        }
        let expected: BTreeMap<_, i64> = windows.iter().map(|(of, values)| (*of, values.iter().sum())).collect();
        prop_assert_eq!(&forget_grown(&case, last(told(all)), &expected), &expected);
        let expected_lists: BTreeMap<_, Vec<i64>> = windows.into_iter().map(|(of, mut values)| {
            values.sort_unstable();
            (of, values)
        }).collect();
        let told_lists = lists.take().into_iter().map(|(key, window, mut values)| {
            values.sort_unstable();
            (key, window, values)
        });
        prop_assert_eq!(&forget_grown(&case, last(told_lists), &expected_lists), &expected_lists);
        let highest: BTreeMap<_, i64> = expected_lists.iter().map(|(of, values)| (*of, *values.iter().max().unwrap())).collect();
        let products = products.take().into_iter().map(|of| (of.key, of.window, of.value.2));
        prop_assert_eq!(&forget_grown(&case, last(products), &highest), &highest);

        let mut late = late.take();
        late.sort();
        let mut missed = missed;
        missed.sort();
        prop_assert_eq!(executed.late_elements["sums"], missed.len() as u64);
        prop_assert_eq!(late, missed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn windows_in_a_harness_go_on_from_any_snapshot(case in cases(), every in 1..20_usize) {
        let assigner = case.assigner();
        let step = |events: KeyedStream<u8, Event>| {
            let windows = events.window(assigner).allowed_lateness(ms(case.lateness)).side_output_late_data(&LATE);
            windows.aggregate("sums", Sum)
        };
        let make = |snapshot: Option<Snapshot>| match snapshot {
            None => TestHarness::new(|event: &Event| event.0, step).unwrap(),
            Some(snapshot) => TestHarness::restored(|event: &Event| event.0, step, snapshot).unwrap(),
        };
        let (mut harness, mut all, mut late) = (make(None), vec![], vec![]);
        for (number, (event, watermark)) in case.events.iter().zip(case.watermarks()).enumerate() {
            harness.advance_watermark(Watermark(watermark)).unwrap();
            harness.push(*event, EventTime(event.1)).unwrap();
            all.extend(harness.take());
            late.extend(harness.take_side_output(&LATE).unwrap());
            if number % every == 0 {
                harness = make(Some(harness.snapshot().unwrap()));
            }
        }
        harness.advance_watermark(Watermark::MAX).unwrap();
        all.extend(harness.take());
        let (windows, mut missed) = case.expected();
        if case.lateness == 0 && !matches!(case.kind, Kind::Session(_)) {
            prop_assert_eq!(all.len(), windows.len(), "each window tells its result once");
        }
        let expected: BTreeMap<_, i64> = windows.iter().map(|(of, values)| (*of, values.iter().sum())).collect();
        prop_assert_eq!(&forget_grown(&case, last(told(all)), &expected), &expected);
        late.sort();
        missed.sort();
        prop_assert_eq!(late, missed);
    }
}

/// A job with windows, stopped and handed over to other parallelisms.
#[test]
fn windows_are_handed_over_to_another_parallelism() {
    use tidemill_state::checkpoint::{Place, SavepointWriter};

    let dir = tempfile::tempdir().unwrap();
    let events: Vec<Event> = (0..6_000).map(|n| ((n % 50) as u8, n / 2 + (n * 7) % 40, n)).collect();
    let case = Case {
        events: events.clone(),
        kind: Kind::Sliding(500, 250),
        offset: 0,
        delay: 50,
        lateness: 0,
        parallelism: 1,
        batch_size: 7,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (mut all, mut from) = (vec![], None);
    for (job, parallelism) in [1, 3, 2, 4].into_iter().enumerate() {
        let data_dir = dir.path().join(format!("job {job}"));
        let settings = Settings {
            parallelism,
            batch_size: 7,
            data_dir: Some(data_dir.clone()),
            from_savepoint: from.take(),
            checkpoint_interval: Duration::from_millis(5),
            ..Settings::default()
        };
        #[cfg(feature = "rocksdb")]
        if job == 1 {
            refused_on_disk(&settings, &dir.path().join("refused"), case.assigner());
        }
        let env = Environment::with(settings);
        let limit = if job == 3 { usize::MAX } else { 1_500 };
        let seen = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&seen);
        let sums = env
            .from_iter(events.clone())
            .filter(move |_| {
                pace(&counted, limit);
                true
            })
            .assign_timestamps_and_watermarks(
                WatermarkStrategy::for_bounded_out_of_orderness(ms(50))
                    .with_timestamp_assigner(|e: &Event| EventTime(e.1)),
            )
            .key_by(|event| event.0)
            .window(case.assigner())
            .aggregate("sums", Sum)
            .collect();
        let executed = runtime.block_on(env.run_live(async move {
            while seen.load(Ordering::Relaxed) < limit {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }));
        assert_eq!(executed.unwrap().stopped, job < 3, "job {job}");
        all.extend(told(sums.take()));
        if job < 3 {
            let to = dir.path().join(format!("savepoint {job}"));
            from = Some(to.to_string_lossy().into_owned());
            runtime.block_on(async {
                let last =
                    SavepointWriter::of_last(Place::Folder(tidemill_state::DataDir::checkpoints(&data_dir))).await;
                last.unwrap().write(&Place::Folder(to)).await.unwrap()
            });
        }
    }
    let (windows, _) = case.expected();
    assert_eq!(all.len(), windows.len(), "each window tells its result once");
    let expected: BTreeMap<_, i64> = windows.iter().map(|(of, values)| (*of, values.iter().sum())).collect();
    assert_eq!(last(all), expected);
}

/// The tables of windows in memory have another form than their state in RocksDB: who would take up the one as the other is
/// told so, with the name of the step.
#[cfg(feature = "rocksdb")]
fn refused_on_disk(settings: &Settings, data_dir: &std::path::Path, assigner: WindowAssigner) {
    let (state_backend, _folder) = on_disk();
    let env = Environment::with(Settings { state_backend, data_dir: Some(data_dir.to_owned()), ..settings.clone() });
    env.from_iter(Vec::<Event>::new())
        .assign_timestamps_and_watermarks(
            WatermarkStrategy::for_bounded_out_of_orderness(ms(50)).with_timestamp_assigner(|e: &Event| EventTime(e.1)),
        )
        .key_by(|event| event.0)
        .window(assigner)
        .aggregate("sums", Sum)
        .for_each("nowhere", |_| ());
    let error = env.execute_live().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(error.message().contains("'sums'"), "{error}");
}

/// A session that an allowed late element makes longer has told its result under its earlier bounds.
fn forget_grown<R>(
    case: &Case,
    told: BTreeMap<(u8, TimeWindow), R>,
    expected: &BTreeMap<(u8, TimeWindow), R>,
) -> BTreeMap<(u8, TimeWindow), R> {
    if !matches!(case.kind, Kind::Session(_)) || case.lateness == 0 {
        return told;
    }
    let of_key: BTreeSet<&(u8, TimeWindow)> = expected.keys().collect();
    let grown = |(key, window): &(u8, TimeWindow)| {
        let covers = |other: &TimeWindow| other != window && other.start <= window.start && window.end <= other.end;
        of_key.iter().any(|(other_key, other)| other_key == key && covers(other))
    };
    told.into_iter().filter(|(of, _)| of_key.contains(of) || !grown(of)).collect()
}

#[test]
fn elements_without_a_time_are_in_no_window() {
    let env = Environment::new();
    let sums = env
        .from_iter([(1_u8, i64::MAX, 5_i64), (1, 10, 7)])
        .assign_timestamps_and_watermarks(
            WatermarkStrategy::for_monotonous_timestamps().with_timestamp_assigner(|e: &Event| EventTime(e.1)),
        )
        .key_by(|event| event.0)
        .window(WindowAssigner::tumbling(ms(100)))
        .side_output_late_data(&LATE)
        .aggregate("sums", Sum);
    let (late, sums) = (sums.side_output(&LATE).collect(), sums.collect());
    let executed = env.execute_live().unwrap();
    assert_eq!(told(sums.take()), [(1, TimeWindow { start: 0, end: 100 }, 7)]);
    assert_eq!(late.take(), [LateElement { element: (1, i64::MAX, 5), missed: vec![] }]);
    assert_eq!(executed.late_elements["sums"], 1);
}

/// What a late element changes in a window is as late as the element.
#[test]
fn what_is_told_again_is_late_for_a_window_that_is_over() {
    for by_table in [true, false] {
        let env = Environment::with(Settings { batch_size: 1, ..Settings::default() });
        let minute = 60_000;
        let minutes = env
            .from_iter([0, 120 * minute, minute / 2])
            .assign_timestamps_and_watermarks(
                WatermarkStrategy::for_monotonous_timestamps().with_timestamp_assigner(|time: &i64| EventTime(*time)),
            )
            .map(|_| 1)
            .key_by(|_| 0u8)
            .window(if by_table {
                WindowAssigner::tumbling(Duration::from_secs(60))
            } else {
                WindowAssigner::session(Duration::from_secs(60))
            })
            .allowed_lateness(Duration::from_secs(4 * 3_600))
            .reduce("minutes", |a, b| a + b);
        let told = minutes.clone().map(|of| of.value).collect();
        let hours = minutes
            .map(|of| of.value)
            .key_by(|_| 0u8)
            .window(WindowAssigner::tumbling(Duration::from_secs(3_600)))
            .reduce("hours", |a, b| a + b)
            .map(|of| (of.window.start / 3_600_000, of.value))
            .collect();
        let executed = env.execute_live().unwrap();
        assert_eq!(told.take(), [1, 2, 1], "by table: {by_table}");
        assert_eq!(hours.take(), [(0, 1), (2, 1)], "by table: {by_table}");
        assert_eq!(executed.late_elements, BTreeMap::from([("hours".to_owned(), 1), ("minutes".to_owned(), 0)]));
    }
}
