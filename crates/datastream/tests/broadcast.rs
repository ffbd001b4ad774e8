//! Broadcast state against a recomputation in the test, whatever the cuts, the subtasks and the restarts.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

mod on_disk;
mod pace;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use on_disk::on_disk;
use pace::pace;
use proptest::prelude::*;
use tidemill_datastream::state::{KeyedState, ListState, StateDescriptor};
use tidemill_datastream::{
    BroadcastContext, BroadcastState, BroadcastStates, BroadcastStream, Collector, Context, DataStream, Environment,
    ErrorKind, EventTime, KeyedBroadcastProcessFunction, KeyedStream, OutputTag, Result, Settings, Snapshot,
    StateBackend, TestHarness, Timer, Watermark, WatermarkStrategy,
};

/// Key, time, value.
type Event = (u8, i64, i64);

/// A name, a time, and what it stands for from now on; nothing: it is gone. A name of 0 takes all away.
type Rule = (u8, i64, Option<i64>);

/// The key, an element's value or -1, the names of the rules, and what each stands for.
type Told = (u8, i64, Vec<(u8, i64)>);

const HEARD: OutputTag<Rule> = OutputTag::new("heard");

/// Tells of each element the rules that there are, and when all has come, of all elements of the key.
struct Looks {
    rules: BroadcastState<u8, i64>,
    /// How often each name has come.
    counts: BroadcastState<String, u32>,
    values: ListState<i64>,
    at_once: bool,
}

impl Looks {
    fn open(at_once: bool) -> impl Fn(&mut KeyedState, &mut BroadcastStates) -> Result<Self> + Send + Sync + 'static {
        move |states, broadcast| {
            Ok(Self {
                rules: broadcast.map_state("rules")?,
                counts: broadcast.map_state("counts")?,
                values: states.list_state(StateDescriptor::new("values"))?,
                at_once,
            })
        }
    }

    fn there_are(&self, broadcast: &BroadcastStates) -> Result<Vec<(u8, i64)>> {
        let rules = self.rules.entries(broadcast)?;
        let count = |name: &u8| -> Result<i64> {
            Ok(self.counts.get(broadcast, &name.to_string())?.copied().unwrap_or_default().into())
        };
        rules.iter().map(|(name, value)| Ok((*name, value * 1_000 + count(name)?))).collect()
    }
}

impl KeyedBroadcastProcessFunction<u8, Event, Rule> for Looks {
    type Out = Told;

    fn process_element(
        &mut self,
        key: &u8,
        (_, time, value): Event,
        broadcast: &BroadcastStates,
        context: &mut Context<'_>,
        out: &mut Collector<Told>,
    ) -> Result<()> {
        assert_eq!(context.timestamp(), Some(EventTime(time)));
        self.values.add(context.state(), &value)?;
        context.register_event_time_timer(EventTime(i64::MAX - 1))?;
        if self.at_once {
            out.collect((*key, value, self.there_are(broadcast)?));
        }
        Ok(())
    }

    fn process_broadcast_element(
        &mut self,
        rule: Rule,
        broadcast: &mut BroadcastStates,
        context: &mut BroadcastContext<'_>,
        _: &mut Collector<Told>,
    ) -> Result<()> {
        let (name, time, value) = rule;
        assert_eq!(context.timestamp(), Some(EventTime(time)));
        context.output(&HEARD, rule)?;
        let count = self.counts.get(broadcast, &name.to_string())?.unwrap_or(&0) + 1;
        self.counts.put(broadcast, name.to_string(), count)?;
        match value {
            _ if name == 0 => self.rules.clear(broadcast),
            Some(value) => self.rules.put(broadcast, name, value),
            None => self.rules.remove(broadcast, &name),
        }
    }

    fn on_timer(
        &mut self,
        key: &u8,
        _: Timer,
        broadcast: &BroadcastStates,
        context: &mut Context<'_>,
        out: &mut Collector<Told>,
    ) -> Result<()> {
        let values = self.values.get(context.state())?;
        out.collect((*key, -1 - values.iter().sum::<i64>(), self.there_are(broadcast)?));
        Ok(())
    }
}

fn step(at_once: bool) -> impl Fn(KeyedStream<u8, Event>, BroadcastStream<Rule>) -> DataStream<Told> {
    move |events, rules| events.connect_broadcast(rules).process("looks", Looks::open(at_once))
}

/// The rules that there are behind these, written plainly.
fn there_are(rules: &[Rule]) -> Vec<(u8, i64)> {
    let from = rules.iter().rposition(|rule| rule.0 == 0).map_or(0, |at| at + 1);
    let mut there: Vec<(u8, i64)> = vec![];
    for (name, _, value) in &rules[from..] {
        there.retain(|(other, _)| other != name);
        let count = rules.iter().filter(|rule| rule.0 == *name).count() as i64;
        there.extend(value.map(|value| (*name, value * 1_000 + count)));
    }
    there.sort_unstable();
    there
}

/// What is told when all has come.
fn at_the_end(events: &[Event], rules: &[Rule]) -> Vec<Told> {
    let mut sums = BTreeMap::<u8, i64>::new();
    events.iter().for_each(|(key, _, value)| *sums.entry(*key).or_default() += value);
    sums.into_iter().map(|(key, sum)| (key, -1 - sum, there_are(rules))).collect()
}

fn timed<T: Clone + Send + Sync + 'static>(stream: DataStream<T>, time: fn(&T) -> i64) -> DataStream<T> {
    let strategy = WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_millis(20));
    stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(move |element| EventTime(time(element))))
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec((0..8_u8, 0..100_i64, 0..50_i64), 0..60)
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec((0..12_u8, 0..100_i64, prop::option::weighted(0.7, 0..50_i64)), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_subtask_hears_of_all_rules_in_their_order(
        events in events(), rules in rules(), parallelism in 1..5_usize, batch_size in 1..30_usize, tenth in 0..10,
        by_subtasks: bool,
    ) {
        // Databases are opened for each subtask of each step: few cases do that.
        let (state_backend, _folder) = if tenth == 0 { on_disk() } else { (StateBackend::memory(), None) };
        let env = Environment::with(Settings { parallelism, batch_size, state_backend, ..Settings::default() });
        let mut of_rules = timed(env.from_iter(rules.clone()), |rule| rule.1);
        if by_subtasks {
            // Each name's rules come from one of several subtasks.
            of_rules = of_rules.key_by(|rule| rule.0).reduce("last", |_, rule| rule);
        }
        let keyed = timed(env.from_iter(events.clone()), |event| event.1).key_by(|event| event.0);
        let told = step(false)(keyed, of_rules.broadcast());
        let (heard, told) = (told.side_output(&HEARD).collect(), told.collect());
        env.execute_live().unwrap();

        let mut heard = heard.take();
        let mut told = told.take();
        told.sort_unstable();
        let one_order = |told: &[Told]| told.iter().all(|of_key| of_key.2 == told[0].2);
        prop_assert!(one_order(&told), "subtasks disagree: {:?}", told);
        // Where rules come from several subtasks, which are behind the last that takes all away is not determined.
        if !by_subtasks || rules.iter().all(|rule| rule.0 != 0) {
            prop_assert_eq!(told, at_the_end(&events, &rules));
        }
        let mut expected: Vec<Rule> = (0..parallelism).flat_map(|_| rules.clone()).collect();
        heard.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(heard, expected);
    }

    #[test]
    fn a_step_with_broadcast_state_goes_on_from_any_snapshot(
        events in events(), rules in rules(), order in prop::collection::vec(any::<bool>(), 100), every in 1..20_usize,
    ) {
        let key = |event: &Event| event.0;
        let make = |snapshot: Option<Snapshot>| match snapshot {
            None => TestHarness::with_broadcast(key, step(true)).unwrap(),
            Some(snapshot) => TestHarness::restored_with_broadcast(key, step(true), snapshot).unwrap(),
        };
        let (mut harness, mut told, mut expected) = (make(None), vec![], vec![]);
        let (mut events_left, mut rules_come) = (events.iter(), 0);
        for (number, first) in order.into_iter().enumerate() {
            if first {
                let Some(event) = events_left.next() else { continue };
                harness.push(*event, EventTime(event.1)).unwrap();
                expected.push((event.0, event.2, there_are(&rules[..rules_come])));
            } else {
                let Some(rule) = rules.get(rules_come) else { continue };
                harness.push_broadcast(*rule, EventTime(rule.1)).unwrap();
                rules_come += 1;
            }
            if number % every == 0 {
                told.extend(harness.take());
                harness = make(Some(harness.snapshot().unwrap()));
            }
        }
        harness.advance_watermark(Watermark::MAX).unwrap();
        told.extend(harness.take());
        let seen = events.len() - events_left.len();
        let at_the_end = at_the_end(&events[..seen], &rules[..rules_come]);
        let ending = told.split_off(told.len() - at_the_end.len());
        prop_assert_eq!(told, expected);
        prop_assert_eq!(ending.into_iter().collect::<std::collections::BTreeSet<_>>(), at_the_end.into_iter().collect());
    }
}

/// A job with broadcast state, stopped and handed over to other parallelisms and backends.
#[test]
fn broadcast_state_is_handed_over_to_another_parallelism_and_backend() {
    use tidemill_state::checkpoint::{Place, SavepointWriter};

    let dir = tempfile::tempdir().unwrap();
    let events: Vec<Event> = (0..4_000).map(|n| ((n % 40) as u8, n, n)).collect();
    let rules: Vec<Rule> = (0..4_000).map(|n| ((n * 7 % 90) as u8, n, (n % 5 > 0).then_some(n))).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (mut all, mut from, mut folders) = (vec![], None, vec![]);
    for (job, parallelism) in [1, 3, 2, 5, 4].into_iter().enumerate() {
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
        let limit = if job == 4 { usize::MAX } else { 700 };
        let seen = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
        let [of_events, of_rules] = seen.clone();
        let paced = env.from_iter(events.clone()).filter(move |_| {
            pace(&of_events, limit);
            true
        });
        let paced_rules = env.from_iter(rules.clone()).filter(move |_| {
            pace(&of_rules, limit);
            true
        });
        let keyed = timed(paced, |event| event.1).key_by(|event| event.0);
        let told = step(false)(keyed, timed(paced_rules, |rule| rule.1).broadcast()).collect();
        let executed = runtime.block_on(env.run_live(async move {
            while seen.iter().any(|seen| seen.load(Ordering::Relaxed) < limit) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }));
        assert_eq!(executed.unwrap().stopped, job < 4, "job {job}");
        all.extend(told.take());
        if job < 4 {
            let to = dir.path().join(format!("savepoint {job}"));
            from = Some(to.to_string_lossy().into_owned());
            runtime.block_on(async {
                let last = Place::Folder(tidemill_state::DataDir::checkpoints(&data_dir));
                SavepointWriter::of_last(last).await.unwrap().write(&Place::Folder(to)).await.unwrap();
            });
        }
    }
    all.sort_unstable();
    assert_eq!(all, at_the_end(&events, &rules));
}

/// Tells a key's timer, and what the rules are then.
struct Waits;

impl KeyedBroadcastProcessFunction<u8, Event, u8> for Waits {
    type Out = i64;

    fn process_element(
        &mut self,
        _: &u8,
        event: Event,
        _: &BroadcastStates,
        context: &mut Context<'_>,
        _: &mut Collector<i64>,
    ) -> Result<()> {
        context.register_event_time_timer(EventTime(event.1 + 1))
    }

    fn process_broadcast_element(
        &mut self,
        _: u8,
        _: &mut BroadcastStates,
        context: &mut BroadcastContext<'_>,
        _: &mut Collector<i64>,
    ) -> Result<()> {
        assert_eq!(context.timestamp(), None);
        Ok(())
    }

    fn on_timer(
        &mut self,
        _: &u8,
        timer: Timer,
        _: &BroadcastStates,
        _: &mut Context<'_>,
        out: &mut Collector<i64>,
    ) -> Result<()> {
        let Timer::EventTime(time) = timer else { return Ok(()) };
        out.collect(time.0);
        Ok(())
    }
}

#[test]
fn a_broadcast_stream_without_event_time_is_not_waited_for() {
    let env = Environment::with(Settings { parallelism: 2, batch_size: 1, ..Settings::default() });
    let (told, counted) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let fired = Arc::clone(&told);
    // Rules come for as long as no timer has.
    let rules = env.from_iter(0..u64::MAX).flat_map(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        assert!(counted.load(Ordering::Relaxed) < 20_000, "the timer waits for the rules");
        std::thread::sleep(Duration::from_millis(1));
        Some(1_u8)
    });
    let events = timed(env.from_iter((0..100).map(|n| (1, n, n)).collect::<Vec<Event>>()), |event| event.1);
    events.key_by(|event| event.0).connect_broadcast(rules.broadcast()).process("waits", |_, _| Ok(Waits)).for_each(
        "told",
        move |_| {
            fired.fetch_add(1, Ordering::Relaxed);
        },
    );
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let executed = runtime.block_on(env.run_live(async move {
        while told.load(Ordering::Relaxed) < 100 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }));
    assert!(executed.unwrap().stopped);
    runtime.shutdown_background();
}

#[test]
fn what_can_not_be_is_refused() {
    let env = Environment::new();
    let foreign = Environment::new().from_iter(Vec::<u8>::new()).broadcast();
    let keyed = env.from_iter(Vec::<Event>::new()).key_by(|event| event.0);
    keyed.connect_broadcast(foreign).process("waits", |_, _| Ok(Waits)).for_each("told", |_| ());
    let error = env.execute_live().unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Invalid, "streams of two environments meet"));

    let mut harness = TestHarness::with_broadcast(
        |event: &Event| event.0,
        |events, rules: BroadcastStream<Rule>| {
            events.connect_broadcast(rules).process("twice", |states, broadcast| {
                broadcast.map_state::<u8, u8>("rules")?;
                Looks::open(true)(states, broadcast)
            })
        },
    )
    .unwrap();
    let error = harness.push((1, 1, 1), EventTime(1)).unwrap_err();
    assert!(error.message().contains("the broadcast state 'rules' is registered twice"), "{error}");
}
