//! A window aggregate that is restored goes on as one that never stopped.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, TimeUnit};
use proptest::prelude::*;
use tidemill_core::{ErrorKind, EventBatch, EventTimes, Watermark};

use super::*;
use crate::aggregate::sample::{self, Row};
use crate::fleet::{fleets, forms};
use crate::operator::{Operator, Output};
use crate::twins::Twins;
use crate::window::{PreAggregate, TimeColumn, WindowAssigner, WindowSpec};

const TIME: DataType = DataType::Timestamp(TimeUnit::Millisecond, None);

#[derive(Debug, Clone)]
enum Step {
    Rows(Vec<Row>),
    Watermark(i64),
    Timer,
    Barrier,
    Restore,
}

fn step() -> impl Strategy<Value = Step> {
    let row = (-30i64..40, 0i64..12, prop::option::of(-9i64..9));
    prop_oneof![
        6 => prop::collection::vec(row, 1..12).prop_map(Step::Rows),
        3 => (0i64..15).prop_map(Step::Watermark),
        1 => Just(Step::Timer),
        2 => Just(Step::Barrier),
        2 => Just(Step::Restore),
    ]
}

fn spec(kind: u8, keyed: bool, lateness_ms: i64, early: bool, late: bool) -> WindowSpec {
    let assigner = match kind {
        0 => WindowAssigner::tumble(10, 3),
        1 => WindowAssigner::hop(5, 20, 0),
        _ => WindowAssigner::cumulate(5, 20, 0),
    };
    let second = Duration::from_secs(1);
    WindowSpec {
        assigner: assigner.unwrap(),
        lateness_ms,
        aggregation: sample::aggregation(keyed, true),
        early_fire: early.then_some(second),
        late_fire: late.then_some(second),
    }
}

/// What the first phase makes of rows, all of which have come at a watermark.
fn partials(spec: &WindowSpec, watermark: i64, rows: &[Row]) -> Vec<EventBatch> {
    let time = TimeColumn { index: 0, range: EventTimes::ALL };
    let mut fold = PreAggregate::new(time, spec.clone(), None, Arc::default()).unwrap();
    let mut out = Output::default();
    let watermarks = Some(Int64Array::from(vec![watermark; rows.len()]));
    fold.on_batch(EventBatch { watermarks, ..EventBatch::append(sample::rows(rows)) }, &mut out).unwrap();
    fold.on_barrier(tidemill_core::Epoch(1), &mut out).unwrap();
    out.take().into_iter().map(|(_, batch)| batch).collect()
}

/// The rows that the operator holds, as its snapshots count them.
fn held_rows(operator: &WindowAggregate) -> usize {
    let panes = operator.panes.values().flat_map(|pane| &pane.parts).map(RecordBatch::num_rows).sum::<usize>();
    let told = operator.told.values().map(RecordBatch::num_rows).sum::<usize>();
    panes + told + 2 * operator.dirty.len() + 1
}

/// `held` counts what the twin holds.
fn play<O: Operator>(spec: &WindowSpec, mut twins: Twins<O>, steps: &[Step], held: impl Fn(&Twins<O>) -> usize) {
    let mut watermark = 0;
    for step in steps {
        match step {
            Step::Rows(rows) => {
                let rows: Vec<Row> =
                    rows.iter().map(|(ahead, key, amount)| (watermark + ahead, *key, *amount)).collect();
                partials(spec, watermark, &rows).iter().for_each(|batch| twins.batch(batch));
            }
            Step::Watermark(further) => {
                watermark += further;
                twins.watermark(Watermark(watermark));
            }
            Step::Timer => twins.timer(),
            Step::Barrier | Step::Restore => {
                twins.barrier();
                let before = held(&twins);
                if matches!(step, Step::Restore) {
                    twins.restore();
                    assert_eq!(held(&twins), before);
                }
            }
        }
    }
    twins.end();
    twins.barrier();
    held(&twins);
}

proptest! {
    #[test]
    fn a_restored_one_goes_on_as_one_that_never_stopped(
        steps in prop::collection::vec(step(), 1..60),
        kind in 0u8..3,
        keyed: bool,
        lateness_ms in prop_oneof![Just(0i64), Just(12)],
        early: bool,
        late: bool,
        on_disk in prop::bool::weighted(0.1),
    ) {
        let spec = spec(kind, keyed, lateness_ms, early, late);
        let of_twins = spec.clone();
        let twins = Twins::new(on_disk, move || WindowAggregate::new(of_twins.clone(), &TIME).unwrap());
        play(&spec, twins, &steps, |twins| {
            let held = held_rows(&twins.twin);
            assert_eq!(twins.saved_rows(), held);
            held
        });
    }

    #[test]
    fn others_in_number_go_on_as_those_before(
        steps in prop::collection::vec(step(), 1..60),
        forms in forms(),
        kind in 0u8..3,
        lateness_ms in prop_oneof![Just(0i64), Just(12)],
        early: bool,
        late: bool,
        on_disk in prop::bool::weighted(0.1),
    ) {
        let spec = spec(kind, true, lateness_ms, early, late);
        let key = PreAggregate::group_columns(&spec.assigner, &spec.aggregation);
        let of_twins = spec.clone();
        let make = move || Ok(Box::new(WindowAggregate::new(of_twins.clone(), &TIME)?) as Box<dyn Operator>);
        // When a window tells what late rows change depends on whether it has fired in a subtask.
        play(&spec, Twins::new(on_disk, fleets(Arc::new(make), key, forms)).in_the_end(), &steps, |_| 0);
    }
}

#[test]
fn a_snapshot_tells_the_panes_that_have_changed() {
    let spec = spec(0, true, 0, false, false);
    let of_twins = spec.clone();
    let mut twins = Twins::new(false, move || WindowAggregate::new(of_twins.clone(), &TIME).unwrap());
    let rows: Vec<Row> = (0..1000).map(|i| (10 * i, 1, Some(i))).collect();
    partials(&spec, 0, &rows).iter().for_each(|batch| twins.batch(batch));
    assert_eq!(twins.barrier(), 1000 + 1, "a row a pane, and what has fired");
    partials(&spec, 0, &rows[500..507]).iter().for_each(|batch| twins.batch(batch));
    assert_eq!(twins.barrier(), 7);
    assert_eq!(twins.barrier(), 0);
    twins.restore();
    assert_eq!(twins.barrier(), 0, "what was restored is not told again");
}

#[test]
fn a_state_of_others_is_refused() {
    let mut sum = spec(0, true, 0, false, false);
    let mut twins = Twins::new(false, {
        let sum = sum.clone();
        move || WindowAggregate::new(sum.clone(), &TIME).unwrap()
    });
    partials(&sum, 0, &[(1, 1, Some(1))]).iter().for_each(|batch| twins.batch(batch));
    twins.barrier();
    sum.aggregation.groups.clear();
    let error = WindowAggregate::new(sum, &TIME).unwrap().restore(twins.state()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.message().starts_with("the section 'pane' of the state does not fit: "), "{error}");

    let refused = |name: &'static str, column: ArrayRef| {
        let mut changes = StateChanges::default();
        changes.replace(name, vec![RecordBatch::try_from_iter([("number", column)]).unwrap()]);
        let mut state = State::default();
        state.apply(changes);
        let mut operator = WindowAggregate::new(spec(1, true, 0, false, false), &TIME).unwrap();
        operator.restore(state).unwrap_err().message().to_owned()
    };
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    assert_eq!(refused("dirty", Arc::clone(&numbers)), "the section 'dirty' of the state holds a start without an end");
    assert_eq!(refused("pages", numbers), "the section 'pages 0' of the state is not known here");
}

/// What an operator leaves that has got a row that came at a watermark, and then another watermark if any.
fn left(spec: &WindowSpec, row: Row, came_ms: i64, watermark: Option<i64>) -> State {
    let mut operator = WindowAggregate::new(spec.clone(), &TIME).unwrap();
    let mut out = Output::default();
    partials(spec, came_ms, &[row]).into_iter().for_each(|batch| operator.on_batch(batch, &mut out).unwrap());
    watermark.into_iter().for_each(|ms| operator.on_watermark(Watermark(ms), &mut out).unwrap());
    let mut changes = StateChanges::default();
    operator.snapshot(&mut changes).unwrap();
    let mut state = State::default();
    state.apply(changes);
    state
}

#[test]
fn a_window_that_has_fired_elsewhere_is_told_or_refused() {
    let taken_up = |spec: &WindowSpec, time_ms: i64, watermark: i64, came_ms: i64| {
        let ahead = left(spec, (time_ms, 1, Some(1)), 0, Some(watermark));
        let behind = left(spec, (time_ms, 2, Some(1)), came_ms, None);
        let mut operator = WindowAggregate::new(spec.clone(), &TIME).unwrap();
        operator.restore_all(vec![ahead, State::default(), behind]).map(|()| operator)
    };
    let mut late = taken_up(&spec(0, true, 12, false, false), 5, 20, 0).unwrap();
    for rows in [1, 0] {
        let mut out = Output::default();
        late.on_watermark(Watermark(20), &mut out).unwrap();
        assert_eq!(out.rows(), rows, "what is new is told once");
    }
    let refused = |lateness_ms: i64, kind: u8, time_ms: i64, watermark: i64| {
        let error = taken_up(&spec(kind, true, lateness_ms, false, false), time_ms, watermark, 0).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Data);
        error.message().to_owned()
    };
    let message = |end_ms: i64| {
        format!("the window that ends at {end_ms} ms has told its results for some keys, while others wait for memory")
    };
    assert_eq!(refused(0, 0, 5, 20), message(13));
    // What the first window has told is forgotten, while the others still need the rows.
    assert_eq!(refused(12, 1, 17, 33), message(20));
    // Where there is no row that is in time for it, a window is not behind.
    assert_eq!(refused(0, 1, 17, 19), message(20));
    assert!(taken_up(&spec(1, true, 0, false, false), 17, 19, 19).is_ok());
}
