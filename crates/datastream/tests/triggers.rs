//! Triggers against a recomputation in the test: each window with its elements and the moments at which it tells them.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

mod on_disk;
mod pace;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use on_disk::on_disk;
use pace::pace;
use proptest::prelude::*;
use tidemill_datastream::state::{KeyedState, StateDescriptor, ValueState};
use tidemill_datastream::{
    Collector, ContinuousEventTimeTrigger, CountTrigger, DataStream, Environment, EventTime, EventTimeTrigger,
    KeyedStream, LateElement, NeverTrigger, OutputTag, ProcessWindowFunction, PurgingTrigger, Result, Settings,
    Snapshot, StateBackend, TestHarness, TimeWindow, Trigger, TriggerContext, TriggerResult, Watermark,
    WatermarkStrategy, WindowAssigner, WindowedStream,
};

/// Key, time, value.
type Event = (u8, i64, i64);

/// What a window has told: its key, itself, and the values of its elements.
type Told = (u8, TimeWindow, Vec<i64>);

/// Of each key and window what it has told, in order.
type ByWindow = BTreeMap<(u8, TimeWindow), Vec<Vec<i64>>>;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Windows {
    Tumbling(i64),
    Sliding(i64, i64),
    Session(i64),
    Global,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    EventTime,
    Count(u64),
    Continuous(i64),
    Never,
}

#[derive(Debug, Clone)]
struct Case {
    events: Vec<Event>,
    windows: Windows,
    kind: Kind,
    purging: bool,
    delay: i64,
    lateness: i64,
}

fn cases() -> impl Strategy<Value = Case> {
    let events = prop::collection::vec((0..4_u8, -60..60_i64, 1..100_i64), 0..80);
    let windows = prop_oneof![
        (1..40_i64).prop_map(Windows::Tumbling),
        (1..30_i64, 1..30_i64).prop_map(|(size, slide)| Windows::Sliding(size, slide)),
        (1..15_i64).prop_map(Windows::Session),
        Just(Windows::Global),
    ];
    let kind = prop_oneof![
        Just(Kind::EventTime),
        (1..6_u64).prop_map(Kind::Count),
        (1..15_i64).prop_map(Kind::Continuous),
        Just(Kind::Never),
    ];
    (events, windows, kind, any::<bool>(), 0..30_i64, prop_oneof![Just(0), 1..20_i64]).prop_map(
        |(events, windows, kind, purging, delay, lateness)| Case { events, windows, kind, purging, delay, lateness },
    )
}

fn ms(ms: i64) -> Duration {
    Duration::from_millis(ms.unsigned_abs())
}

/// A window that is not forgotten.
#[derive(Debug, Clone)]
struct Open {
    window: TimeWindow,
    values: Vec<i64>,
    /// Elements since it last told a result, where that counts.
    new: u64,
    /// The next multiple of the interval, where there is one.
    next: Option<i64>,
    /// The end has still to come.
    ends: bool,
}

/// The same, written plainly: one clock, which is each element's own watermark.
struct Oracle<'a> {
    case: &'a Case,
    clock: i64,
    open: BTreeMap<u8, Vec<Open>>,
    told: ByWindow,
    late: Vec<LateElement<Event>>,
}

impl Oracle<'_> {
    fn forgotten(&self, window: TimeWindow) -> i64 {
        (window.end - 1).saturating_add(self.case.lateness)
    }

    fn tell(&mut self, key: u8, open: &mut Open) {
        if !open.values.is_empty() {
            let mut values = open.values.clone();
            values.sort_unstable();
            self.told.entry((key, open.window)).or_default().push(values);
        }
        if self.case.purging {
            open.values.clear();
        }
    }

    /// All windows see what the clock passes, each for itself.
    fn advance(&mut self, to: i64) {
        self.clock = to;
        for (key, all) in std::mem::take(&mut self.open) {
            let mut kept = vec![];
            for mut open in all {
                if !self.pass(key, &mut open) {
                    kept.push(open);
                }
            }
            self.open.insert(key, kept);
        }
    }

    /// Whether it is forgotten.
    fn pass(&mut self, key: u8, open: &mut Open) -> bool {
        let (end, forgotten) = (open.window.end - 1, self.forgotten(open.window));
        loop {
            let next = open.next.filter(|next| *next < end);
            if let Some(next) = next
                && next <= self.clock
            {
                let Kind::Continuous(interval) = self.case.kind else { unreachable!() };
                self.tell(key, open);
                // The end of the input passes no multiples for ever.
                open.next = if self.case.windows == Windows::Global && self.clock == i64::MAX {
                    None
                } else {
                    Some(next + interval)
                };
            } else if open.ends && end <= self.clock {
                open.ends = false;
                if matches!(self.case.kind, Kind::EventTime | Kind::Continuous(_)) {
                    self.tell(key, open);
                }
            } else {
                return forgotten <= self.clock;
            }
        }
    }

    fn windows(&self, time: i64) -> Vec<TimeWindow> {
        let (size, slide) = match self.case.windows {
            Windows::Tumbling(size) => (size, size),
            Windows::Sliding(size, slide) => (size, slide),
            Windows::Session(gap) => return vec![TimeWindow { start: time, end: time + gap }],
            Windows::Global => return vec![TimeWindow::GLOBAL],
        };
        let windows = (-200..200).map(|n| TimeWindow { start: n * slide, end: n * slide + size });
        windows.filter(|window| window.start <= time && time < window.end).collect()
    }

    /// The window with all that it covers, which is not open any more.
    fn take(&mut self, key: u8, own: TimeWindow) -> Option<Open> {
        let all = self.open.entry(key).or_default();
        if !matches!(self.case.windows, Windows::Session(_)) {
            let at = all.iter().position(|open| open.window == own);
            return at.map(|at| all.remove(at));
        }
        let touches = |open: &mut Open| open.window.start <= own.end && own.start <= open.window.end;
        let joined: Vec<Open> = all.extract_if(.., touches).collect();
        let one = |a: Open, b: Open| Open {
            window: a.window.cover(&b.window),
            values: [a.values, b.values].concat(),
            new: a.new + b.new,
            next: a.next.into_iter().chain(b.next).min(),
            ends: false,
        };
        let mut joined = joined.into_iter().reduce(one)?;
        if joined.window.cover(&own) != joined.window {
            joined.window = joined.window.cover(&own);
        }
        joined.ends = self.clock < joined.window.end - 1;
        Some(joined)
    }

    fn element(&mut self, event: Event) {
        let (key, time, value) = event;
        let mut missed = vec![];
        for own in self.windows(time) {
            let found = self.take(key, own);
            let mut open = found.unwrap_or(Open { window: own, values: vec![], new: 0, next: None, ends: false });
            if self.clock >= self.forgotten(open.window) {
                missed.push(own);
                continue;
            }
            let complete = self.clock >= open.window.end - 1;
            open.ends |= !complete;
            open.values.push(value);
            open.new += 1;
            match self.case.kind {
                Kind::Count(count) if open.new >= count => {
                    open.new = 0;
                    self.tell(key, &mut open);
                }
                Kind::EventTime | Kind::Continuous(_) if complete => self.tell(key, &mut open),
                Kind::Continuous(interval) if open.next.is_none() => {
                    open.next = Some(time.div_euclid(interval) * interval + interval);
                }
                _ => {}
            }
            self.pass(key, &mut open);
            self.open.entry(key).or_default().push(open);
        }
        if !missed.is_empty() {
            self.late.push(LateElement { element: event, missed });
        }
    }
}

impl Case {
    fn assigner(&self) -> WindowAssigner {
        match self.windows {
            Windows::Tumbling(size) => WindowAssigner::tumbling(ms(size)),
            Windows::Sliding(size, slide) => WindowAssigner::sliding(ms(size), ms(slide)),
            Windows::Session(gap) => WindowAssigner::session(ms(gap)),
            Windows::Global => WindowAssigner::global(),
        }
    }

    fn step(&self, events: KeyedStream<u8, Event>) -> DataStream<Told> {
        let windows = events.window(self.assigner()).allowed_lateness(ms(self.lateness)).side_output_late_data(&LATE);
        self.with_trigger(windows).process("values", Values)
    }

    fn with_trigger(&self, windows: WindowedStream<u8, Event>) -> WindowedStream<u8, Event> {
        match (self.kind, self.purging) {
            (Kind::EventTime, false) => windows.trigger(EventTimeTrigger::of()),
            (Kind::EventTime, true) => windows.trigger(PurgingTrigger::of(EventTimeTrigger::of())),
            (Kind::Count(count), false) => windows.trigger(CountTrigger::of(count)),
            (Kind::Count(count), true) => windows.trigger(PurgingTrigger::of(CountTrigger::of(count))),
            (Kind::Continuous(every), false) => windows.trigger(ContinuousEventTimeTrigger::of(ms(every))),
            (Kind::Continuous(every), true) => {
                windows.trigger(PurgingTrigger::of(ContinuousEventTimeTrigger::of(ms(every))))
            }
            (Kind::Never, _) => windows.trigger(NeverTrigger::of()),
        }
    }

    fn expected(&self) -> (ByWindow, Vec<LateElement<Event>>) {
        let mut oracle =
            Oracle { case: self, clock: i64::MIN, open: BTreeMap::new(), told: BTreeMap::new(), late: vec![] };
        for event in &self.events {
            oracle.element(*event);
            let claim = event.1 - self.delay - 1;
            if claim > oracle.clock {
                oracle.advance(claim);
            }
        }
        oracle.advance(i64::MAX);
        oracle.late.sort();
        (oracle.told, oracle.late)
    }
}

#[derive(Clone)]
struct Values;

impl ProcessWindowFunction<u8, Event> for Values {
    type Out = Told;

    fn process(&mut self, key: &u8, window: TimeWindow, elements: Vec<Event>, out: &mut Collector<Told>) -> Result<()> {
        out.collect((*key, window, elements.into_iter().map(|(_, _, value)| value).collect()));
        Ok(())
    }
}

const LATE: OutputTag<LateElement<Event>> = OutputTag::new("late");

fn by_window(all: Vec<Told>) -> ByWindow {
    let mut told = ByWindow::new();
    for (key, window, mut values) in all {
        values.sort_unstable();
        told.entry((key, window)).or_default().push(values);
    }
    told
}

fn timed(env: &Environment, events: Vec<Event>, delay: i64) -> DataStream<Event> {
    let strategy = WatermarkStrategy::for_bounded_out_of_orderness(ms(delay));
    env.from_iter(events).assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(|e: &Event| EventTime(e.1)))
}

fn sums(told: &ByWindow) -> BTreeMap<(u8, TimeWindow), Vec<i64>> {
    told.iter().map(|(of, told)| (*of, told.iter().map(|values| values.iter().sum()).collect())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_window_tells_its_elements_when_its_trigger_says(
        case in cases(), parallelism in 1..4_usize, batch_size in 1..20_usize, tenth in 0..10,
    ) {
        // Databases are opened for each subtask of each step: few cases do that.
        let (state_backend, _folder) = if tenth == 0 { on_disk() } else { (StateBackend::memory(), None) };
        let env = Environment::with(Settings { parallelism, batch_size, state_backend, ..Settings::default() });
        let keyed = || timed(&env, case.events.clone(), case.delay).key_by(|event| event.0);
        let values = case.step(keyed());
        let reduced = case.with_trigger(keyed().window(case.assigner()).allowed_lateness(ms(case.lateness)));
        let reduced = reduced.reduce("sums", |a, b| (a.0, a.1, a.2 + b.2)).collect();
        let (late, values) = (values.side_output(&LATE).collect(), values.collect());
        let executed = env.execute_live().unwrap();

        let (told, missed) = case.expected();
        prop_assert_eq!(by_window(values.take()), told.clone());
        let mut reduced_by_window = BTreeMap::<_, Vec<i64>>::new();
        for of in reduced.take() {
            reduced_by_window.entry((of.key, of.window)).or_default().push(of.value.2);
        }
        prop_assert_eq!(reduced_by_window, sums(&told));
        let mut late = late.take();
        late.sort();
        prop_assert_eq!(executed.late_elements["values"], missed.len() as u64);
        prop_assert_eq!(late, missed);
    }

    #[test]
    fn triggers_in_a_harness_go_on_from_any_snapshot(case in cases(), every in 1..20_usize) {
        let make = |snapshot: Option<Snapshot>| match snapshot {
            None => TestHarness::new(|event: &Event| event.0, |events| case.step(events)).unwrap(),
            Some(snapshot) => {
                TestHarness::restored(|event: &Event| event.0, |events| case.step(events), snapshot).unwrap()
            }
        };
        let (mut harness, mut all, mut late) = (make(None), vec![], vec![]);
        let mut watermark = Watermark::MIN;
        for (number, event) in case.events.iter().enumerate() {
            harness.push(*event, EventTime(event.1)).unwrap();
            all.extend(harness.take());
            late.extend(harness.take_side_output(&LATE).unwrap());
            if number % every == 0 {
                harness = make(Some(harness.snapshot().unwrap()));
                // What is reached is no part of a snapshot.
                if watermark > Watermark::MIN {
                    harness.advance_watermark(watermark).unwrap();
                }
            }
            watermark = watermark.max(Watermark(event.1 - case.delay - 1));
            harness.advance_watermark(watermark).unwrap();
            all.extend(harness.take());
        }
        harness.advance_watermark(Watermark::MAX).unwrap();
        all.extend(harness.take());
        late.sort();
        let (told, missed) = case.expected();
        prop_assert_eq!(by_window(all), told);
        prop_assert_eq!(late, missed);
    }
}

/// A job with triggers, stopped and handed over to other parallelisms and backends.
#[test]
fn triggers_are_handed_over_to_another_parallelism_and_backend() {
    use tidemill_state::checkpoint::{Place, SavepointWriter};

    let dir = tempfile::tempdir().unwrap();
    let events: Vec<Event> = (0..6_000).map(|n| ((n % 50) as u8, n / 2 + (n * 7) % 40 + (n / 900) * 300, n)).collect();
    let case = Case {
        events: events.clone(),
        windows: Windows::Session(60),
        kind: Kind::Continuous(70),
        purging: true,
        delay: 50,
        lateness: 10,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (mut all, mut from, mut folders) = (vec![], None, vec![]);
    for (job, parallelism) in [1, 3, 2, 4].into_iter().enumerate() {
        let data_dir = dir.path().join(format!("job {job}"));
        let (state_backend, folder) = if job % 2 == 1 { on_disk() } else { (StateBackend::memory(), None) };
        folders.push(folder);
        let env = Environment::with(Settings {
            parallelism,
            batch_size: 7,
            data_dir: Some(data_dir.clone()),
            from_savepoint: from.take(),
            checkpoint_interval: Duration::from_millis(5),
            state_backend,
            ..Settings::default()
        });
        let limit = if job == 3 { usize::MAX } else { 1_500 };
        let seen = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&seen);
        let strategy = WatermarkStrategy::for_bounded_out_of_orderness(ms(case.delay));
        let paced = env.from_iter(events.clone()).filter(move |_| {
            pace(&counted, limit);
            true
        });
        let keyed = paced
            .assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(|e: &Event| EventTime(e.1)))
            .key_by(|event| event.0);
        let told = case.step(keyed).collect();
        let executed = runtime.block_on(env.run_live(async move {
            while seen.load(Ordering::Relaxed) < limit {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }));
        assert_eq!(executed.unwrap().stopped, job < 3, "job {job}");
        all.extend(told.take());
        if job < 3 {
            let to = dir.path().join(format!("savepoint {job}"));
            from = Some(to.to_string_lossy().into_owned());
            runtime.block_on(async {
                let last = Place::Folder(tidemill_state::DataDir::checkpoints(&data_dir));
                SavepointWriter::of_last(last).await.unwrap().write(&Place::Folder(to)).await.unwrap();
            });
        }
    }
    assert_eq!(by_window(all), case.expected().0);
}

/// Tells what a window has come to so many milliseconds after its first element, by the clock.
struct Delayed {
    due: ValueState<i64>,
}

impl Delayed {
    fn open(states: &mut KeyedState) -> Result<Self> {
        Ok(Self { due: states.value_state(StateDescriptor::new("due"))? })
    }

    /// Asks for a call if none is due.
    fn register(&self, context: &mut TriggerContext<'_>) -> Result<()> {
        if self.due.value(context.state())?.is_none() {
            let due = context.current_processing_time() + 100;
            self.due.update(context.state(), due)?;
            context.register_processing_time_timer(due)?;
        }
        Ok(())
    }
}

impl Trigger<Event> for Delayed {
    fn on_element(&mut self, event: &Event, _: TimeWindow, context: &mut TriggerContext<'_>) -> Result<TriggerResult> {
        self.register(context)?;
        Ok(if event.2 == 0 { TriggerResult::Purge } else { TriggerResult::Continue })
    }

    fn on_processing_time(
        &mut self,
        time_ms: i64,
        _: TimeWindow,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        assert_eq!(self.due.value(context.state())?, Some(&time_ms));
        self.due.clear(context.state())?;
        Ok(TriggerResult::Fire)
    }

    fn on_merge(&mut self, window: TimeWindow, merged: &[TimeWindow], context: &mut TriggerContext<'_>) -> Result<()> {
        assert!(merged.iter().all(|other| window.cover(other) == window && *other != window));
        self.register(context)
    }

    fn clear(&mut self, _: TimeWindow, context: &mut TriggerContext<'_>) -> Result<()> {
        if let Some(due) = self.due.value(context.state())?.copied() {
            context.delete_processing_time_timer(due)?;
        }
        self.due.clear(context.state())
    }
}

fn delayed(assigner: WindowAssigner) -> TestHarness<u8, Event, Told> {
    let step = |events: KeyedStream<u8, Event>| events.window(assigner).trigger(Delayed::open).process("d", Values);
    TestHarness::new(|event: &Event| event.0, step).unwrap()
}

#[test]
fn a_trigger_may_go_by_the_clock() {
    let mut harness = delayed(WindowAssigner::tumbling(ms(10)));
    let window = TimeWindow { start: 0, end: 10 };
    harness.set_processing_time(1_000).unwrap();
    harness.push((1, 1, 5), EventTime(1)).unwrap();
    harness.set_processing_time(1_060).unwrap();
    harness.push((1, 2, 6), EventTime(2)).unwrap();
    harness.set_processing_time(1_099).unwrap();
    assert!(harness.take().is_empty());
    harness.set_processing_time(1_100).unwrap();
    assert_eq!(harness.take(), [(1, window, vec![5, 6])]);
    // The elements are gone; there is nothing to tell.
    harness.push((1, 3, 0), EventTime(3)).unwrap();
    harness.set_processing_time(1_300).unwrap();
    assert!(harness.take().is_empty());
    // The window is forgotten, and so is its timer.
    harness.push((1, 4, 7), EventTime(4)).unwrap();
    harness.advance_watermark(Watermark(9)).unwrap();
    harness.set_processing_time(2_000).unwrap();
    assert!(harness.take().is_empty());
}

#[test]
fn sessions_that_become_one_have_one_timer() {
    let mut harness = delayed(WindowAssigner::session(ms(10)));
    harness.push((1, 0, 5), EventTime(0)).unwrap();
    harness.push((1, 20, 6), EventTime(20)).unwrap();
    harness.set_processing_time(50).unwrap();
    harness.push((1, 10, 7), EventTime(10)).unwrap();
    harness.set_processing_time(149).unwrap();
    assert!(harness.take().is_empty(), "the timers of the two are gone");
    harness.set_processing_time(150).unwrap();
    assert_eq!(by_window(harness.take()), by_window(vec![(1, TimeWindow { start: 0, end: 30 }, vec![5, 6, 7])]));
}

/// What a trigger was called for: the end of the window.
type Calls = Arc<Mutex<Vec<(&'static str, i64)>>>;

/// Notes its calls, leaves its timers, and would rather that its windows were never forgotten.
struct Careless(Calls);

impl Careless {
    fn note(&self, call: &'static str, window: TimeWindow) {
        self.0.lock().unwrap().push((call, window.end));
    }
}

impl Trigger<Event> for Careless {
    fn on_element(&mut self, _: &Event, window: TimeWindow, context: &mut TriggerContext<'_>) -> Result<TriggerResult> {
        context.register_event_time_timer(EventTime(5))?;
        context.register_event_time_timer(EventTime(90))?;
        context.delete_event_time_timer(window.max_timestamp())?;
        Ok(TriggerResult::Continue)
    }

    fn on_event_time(&mut self, _: EventTime, window: TimeWindow, _: &mut TriggerContext<'_>) -> Result<TriggerResult> {
        self.note("timer", window);
        Ok(TriggerResult::Continue)
    }

    fn on_merge(&mut self, window: TimeWindow, _: &[TimeWindow], _: &mut TriggerContext<'_>) -> Result<()> {
        self.note("merge", window);
        Ok(())
    }

    fn clear(&mut self, window: TimeWindow, _: &mut TriggerContext<'_>) -> Result<()> {
        self.note("clear", window);
        Ok(())
    }
}

#[test]
fn a_trigger_hears_of_no_timer_of_a_window_that_is_gone() {
    for assigner in [WindowAssigner::session(ms(10)), WindowAssigner::tumbling(ms(14))] {
        let calls = Calls::default();
        let noted = Arc::clone(&calls);
        let step = |events: KeyedStream<u8, Event>| {
            let windows = events.window(assigner).trigger(move |_| Ok(Careless(Arc::clone(&noted))));
            windows.process("values", Values)
        };
        let mut harness = TestHarness::new(|event: &Event| event.0, step).unwrap();
        harness.push((1, 0, 5), EventTime(0)).unwrap();
        harness.push((1, 4, 6), EventTime(4)).unwrap();
        harness.advance_watermark(Watermark(5)).unwrap();
        harness.advance_watermark(Watermark(100)).unwrap();
        let merged =
            if assigner == WindowAssigner::session(ms(10)) { vec![("merge", 14), ("clear", 10)] } else { vec![] };
        let forgotten = [("timer", 14), ("timer", 14), ("clear", 14)];
        assert_eq!(*calls.lock().unwrap(), [merged.as_slice(), &forgotten].concat());
        assert!(harness.take().is_empty());
    }
}

#[test]
fn elements_without_a_time_are_in_the_global_window() {
    let env = Environment::with(Settings { parallelism: 2, ..Settings::default() });
    let keyed = || env.from_iter(1..=10_i64).key_by(|n| n % 2 == 0);
    let pairs = keyed()
        .window(WindowAssigner::global())
        .trigger(PurgingTrigger::of(CountTrigger::of(2)))
        .reduce("pairs", |a, b| a + b)
        .map(|of| of.value)
        .collect();
    let all = keyed().window(WindowAssigner::global()).reduce("all", |a, b| a + b).map(|of| of.value).collect();
    env.execute_live().unwrap();
    let [mut pairs, mut all] = [pairs.take(), all.take()];
    pairs.sort_unstable();
    all.sort_unstable();
    assert_eq!((pairs, all), (vec![4, 6, 12, 14], vec![25, 30]));
}

#[test]
fn a_trigger_that_can_not_be_made_is_refused_before_anything_runs() {
    let env = Environment::new();
    timed(&env, vec![], 0)
        .key_by(|event| event.0)
        .window(WindowAssigner::tumbling(ms(10)))
        .trigger(ContinuousEventTimeTrigger::of(Duration::ZERO))
        .process("values", Values)
        .for_each("ignored", |_| ());
    let error = env.execute_live().unwrap_err().to_string();
    assert!(error.contains("the step 'values'") && error.contains("every 0 ms"), "{error}");
}
