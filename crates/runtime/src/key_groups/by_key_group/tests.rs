//! An operator a key group tells in the end what one operator of all tells, whenever it spills and is restored.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{AsArray, Int64Array};
use arrow::datatypes::{DataType, TimeUnit, TimestampMillisecondType};
use proptest::prelude::*;
use tempfile::TempDir;
use tidemill_core::{EventTimes, Lineage, RowKind, SourceRows};
use tidemill_state::SpillFolder;

use super::*;
use crate::aggregate::sample::{self, Row};
use crate::aggregate::{GroupAggregate, PreGroup};
use crate::exchange::owner;
use crate::key_groups::{MemoryLimit, rows_wait};
use crate::operator::Port;
use crate::time_zone::TimeZone;
use crate::told::Told;
use crate::window::{LateOutput, SessionAggregate, SessionSpec, TimeColumn};

/// Where little is taken, a group that was spilled fits in again.
const LIMIT: u64 = 1 << 20;

const TIME: DataType = DataType::Timestamp(TimeUnit::Millisecond, None);

#[derive(Debug, Clone)]
enum Step {
    /// Rows, with their watermark's distance from the operator's.
    Rows(Vec<Row>, i64),
    Watermark(i64),
    Pause,
    Timer,
    /// From now on so much memory is taken, of [`LIMIT`].
    Memory(u64),
    Barrier,
    /// Restored after the barrier.
    Restore,
    /// Key groups go to so many others, and come together again.
    Move(usize),
    /// All are one operator for a moment, if no rows wait.
    ThroughOne,
}

fn step() -> impl Strategy<Value = Step> {
    let row = (-20i64..20, 0i64..12, prop::option::of(-9i64..9));
    let rows = (prop::collection::vec(row, 1..20), 0i64..8);
    prop_oneof![
        8 => rows.prop_map(|(rows, ahead)| Step::Rows(rows, ahead)),
        3 => (0i64..12).prop_map(Step::Watermark),
        1 => (60i64..200).prop_map(Step::Watermark),
        2 => Just(Step::Pause),
        1 => Just(Step::Timer),
        3 => prop_oneof![Just(0), Just(LIMIT - 100), Just(2 * LIMIT)].prop_map(Step::Memory),
        2 => Just(Step::Barrier),
        1 => Just(Step::Restore),
        1 => (1usize..6).prop_map(Step::Move),
        1 => Just(Step::ThroughOne),
    ]
}

struct Pair {
    make: MakeOperator,
    key: usize,
    plain: Box<dyn Operator>,
    apart: ByKeyGroup,
    of_plain: Told,
    of_apart: Told,
    used: Arc<AtomicU64>,
    folder: TempDir,
    state: State,
    /// What the output has reached, as those behind it know.
    reached: Watermark,
    /// Whether results come once, of a time that is their third column.
    results_once: bool,
}

impl Pair {
    fn new(make: MakeOperator, key: usize, results_once: bool) -> Self {
        let (used, folder) = (Arc::<AtomicU64>::default(), tempfile::tempdir().unwrap());
        let spill = spill(&used, &folder);
        Self {
            plain: make().unwrap(),
            apart: ByKeyGroup::new(Arc::clone(&make), vec![key], spill).unwrap(),
            make,
            key,
            of_plain: Told::default(),
            of_apart: Told::default(),
            used,
            folder,
            state: State::default(),
            reached: Watermark::MIN,
            results_once,
        }
    }

    fn both(&mut self, act: impl Fn(&mut dyn Operator, &mut Output) -> Result<()>) {
        let mut out = Output::default();
        act(self.plain.as_mut(), &mut out).unwrap();
        self.of_plain.add(&mut out);
        act(&mut self.apart, &mut out).unwrap();
        let emitted = out.take();
        for (_, batch) in emitted.iter().filter(|(port, _)| *port == Port::MAIN && self.results_once) {
            let times = batch.rows.column(2).as_primitive::<TimestampMillisecondType>();
            assert!(times.values().iter().all(|&time| time > self.reached.0), "a result comes behind its watermark");
        }
        emitted.into_iter().for_each(|(port, batch)| out.emit_to(port, batch));
        self.of_apart.add(&mut out);
        let reached = self.apart.reached(self.apart.watermark);
        assert!(reached >= self.reached, "a watermark went back");
        self.reached = reached;
    }

    fn watermark(&mut self, watermark: Watermark) {
        self.both(|operator, out| {
            operator.on_watermark(watermark, out)?;
            while operator.unfinished() {
                operator.on_watermark(watermark, out)?;
            }
            Ok(())
        });
    }

    fn barrier(&mut self) {
        self.both(|operator, out| operator.on_barrier(Epoch(1), out));
        let mut changes = StateChanges::default();
        self.apart.snapshot(&mut changes).unwrap();
        self.state.apply(changes);
    }

    fn renew(&mut self) {
        let spill = spill(&self.used, &self.folder);
        // What is behind it learns of watermarks anew.
        self.reached = Watermark::MIN;
        self.apart = ByKeyGroup::new(Arc::clone(&self.make), vec![self.key], spill).unwrap();
    }

    fn restore(&mut self) {
        self.renew();
        self.apart.restore(self.state.clone()).unwrap();
    }

    fn move_to(&mut self, subtasks: usize) {
        let parts = self.apart.deal(std::mem::take(&mut self.state), &Dealer::to_subtasks(subtasks)).unwrap();
        assert_eq!(parts.len(), subtasks);
        for (part, state) in parts.iter().enumerate() {
            let numbers = apart(state.clone()).unwrap().into_iter().map(|(number, _)| number as u8);
            assert!(numbers.into_iter().all(|number| owner(number, subtasks) == part));
        }
        self.renew();
        self.apart.restore_all(parts).unwrap();
    }

    fn through_one(&mut self) {
        let groups = apart(self.state.clone()).unwrap();
        if groups.iter().any(|(_, own)| rows_wait(own)) {
            return;
        }
        let mut one = (self.make)().unwrap();
        one.restore_all(groups.into_iter().map(|(_, own)| own).collect()).unwrap();
        let (mut changes, mut state) = (StateChanges::default(), State::default());
        one.snapshot(&mut changes).unwrap();
        state.apply(changes);
        let dealt = one.deal(state, &Dealer::to_key_groups()).unwrap();
        self.state = at_rest::together(dealt.into_iter().enumerate().collect());
        self.restore();
    }
}

fn spill(used: &Arc<AtomicU64>, folder: &TempDir) -> Spill {
    let used = Arc::clone(used);
    Spill {
        limit: MemoryLimit::new(LIMIT, move || used.load(Ordering::Relaxed)),
        folder: SpillFolder::within(folder.path()).unwrap(),
    }
}

fn sessions(lateness_ms: i64, late_output: bool) -> MakeOperator {
    let spec = SessionSpec {
        time: TimeColumn { index: 0, range: EventTimes::ALL },
        key_columns: vec![1],
        gap_ms: 5,
        zone: TimeZone::UTC,
        aggregation: sample::aggregation(true, true),
        never_late: false,
        lateness_ms,
        early_fire: None,
        late_fire: None,
        late: late_output.then(|| LateOutput::new(TIME)),
    };
    Arc::new(move || Ok(Box::new(SessionAggregate::new(spec.clone(), &sample::schema(), Arc::default())?)))
}

fn groups() -> MakeOperator {
    Arc::new(|| Ok(Box::new(GroupAggregate::new(sample::aggregation(true, true), sample::schema())?)))
}

fn batch(rows: &[Row], offset: i64, watermark: i64) -> EventBatch {
    let rows = sample::rows(rows);
    let offsets = Int64Array::from_iter_values((offset..).take(rows.num_rows()));
    let watermarks = Some(Int64Array::from(vec![watermark; rows.num_rows()]));
    let source = SourceRows { rows: rows.clone(), partition: "a".into(), offsets };
    let lineage = Some(Lineage { source: Arc::new(source), indices: None });
    EventBatch { watermarks, lineage, ..EventBatch::append(rows) }
}

/// What the first phase makes of rows: the groups and their partial states.
fn partials(rows: &[Row]) -> EventBatch {
    let mut out = Output::default();
    let mut fold = PreGroup::new(sample::aggregation(true, true)).unwrap();
    fold.on_batch(EventBatch::append(sample::rows(rows)), &mut out).unwrap();
    out.take().remove(0).1
}

fn play(pair: &mut Pair, steps: &[Step], rows_of: impl Fn(&[Row], i64, i64) -> EventBatch) {
    let (mut watermark, mut offset) = (0, 0);
    for step in steps {
        match step {
            Step::Rows(rows, ahead) => {
                let rows: Vec<Row> =
                    rows.iter().map(|(ahead, key, amount)| (watermark + ahead, *key, *amount)).collect();
                let batch = rows_of(&rows, offset, watermark + ahead);
                pair.both(|operator, out| operator.on_batch(batch.clone(), out));
                offset += rows.len() as i64;
            }
            Step::Watermark(further) => {
                watermark += further;
                pair.watermark(Watermark(watermark));
            }
            Step::Pause => pair.both(|operator, out| operator.on_pause(out)),
            Step::Timer => {
                let now = Instant::now() + Duration::from_secs(3600);
                pair.both(|operator, out| operator.on_timer(now, out));
            }
            Step::Memory(used) => pair.used.store(*used, Ordering::Relaxed),
            Step::Barrier => pair.barrier(),
            Step::Restore => {
                pair.barrier();
                pair.restore();
            }
            Step::Move(subtasks) => {
                pair.barrier();
                pair.move_to(*subtasks);
            }
            Step::ThroughOne => {
                pair.barrier();
                pair.through_one();
            }
        }
    }
    pair.watermark(Watermark::MAX);
    assert_eq!(pair.of_plain, pair.of_apart);
    assert!(pair.apart.next_turn().is_none());
}

proptest! {
    #[test]
    fn sessions_by_key_group_are_the_same(
        steps in prop::collection::vec(step(), 0..40),
        lateness_ms in prop_oneof![Just(0i64), Just(6)],
        late_output in any::<bool>(),
    ) {
        let mut pair = Pair::new(sessions(lateness_ms, late_output), 1, lateness_ms == 0);
        play(&mut pair, &steps, batch);
    }

    #[test]
    fn aggregates_by_key_group_are_the_same(steps in prop::collection::vec(step(), 0..40)) {
        // The group is the first column of partial states.
        let mut pair = Pair::new(groups(), 0, false);
        play(&mut pair, &steps, |rows, _, _| partials(rows));
    }
}

#[test]
fn where_memory_is_short_all_but_one_group_are_spilled() {
    let mut pair = Pair::new(sessions(0, false), 1, true);
    pair.used.store(2 * LIMIT, Ordering::Relaxed);
    let rows: Vec<Row> = (0..40).map(|key| (10, key, Some(1))).collect();
    pair.both(|operator, out| operator.on_batch(batch(&rows, 0, 0), out));
    let spilled = pair.apart.groups.iter().filter(|group| group.is_spilled()).count();
    assert!(pair.apart.in_memory().count() <= 1 && spilled >= 20, "{spilled} are spilled");
    assert!(pair.folder.path().read_dir().unwrap().count() > 0);

    // Watermarks wait with the groups that are not in memory, until they have had their turns.
    pair.watermark(Watermark(100));
    assert_eq!(pair.reached, Watermark::MIN);
    assert!(pair.apart.timer().is_some(), "their turns come, whatever else happens");
    for _ in 0..KEY_GROUPS {
        pair.both(|operator, out| operator.on_pause(out));
    }
    assert_eq!(pair.reached, Watermark(100));
    assert_eq!(pair.of_plain, pair.of_apart);
    assert_eq!(pair.of_apart.0.values().sum::<i64>(), 40);
}

#[test]
fn changes_and_results_leave_in_few_batches_and_in_their_order() {
    let bare = |n: i64| EventBatch::append(sample::rows(&[(n, n, Some(n))]));
    let changed = EventBatch { kinds: Some([RowKind::UpdateBefore].into()), ..bare(2) };
    let late = batch(&[(3, 3, None)], 0, 0);
    let mut out = Output::default();
    let emitted = vec![(Port::MAIN, bare(1)), (Port::LATE, late.clone()), (Port::MAIN, changed), (Port::LATE, late)];
    put_together(emitted, &mut out).unwrap();
    let batches = out.take();
    let shapes: Vec<_> = batches.iter().map(|(port, batch)| (*port, batch.num_rows())).collect();
    assert_eq!(shapes, [(Port::MAIN, 2), (Port::LATE, 1), (Port::LATE, 1)]);
    assert_eq!(batches[0].1.kinds.as_deref(), Some(&[RowKind::Insert, RowKind::UpdateBefore][..]));
}
