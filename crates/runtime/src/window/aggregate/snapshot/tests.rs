//! A window aggregate that is restored goes on as one that never stopped.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, TimeUnit};
use proptest::prelude::*;
use tidemill_core::{ErrorKind, EventBatch, EventTimes, Watermark};

use super::*;
use crate::aggregate::sample::{self, Row};
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

fn play(spec: &WindowSpec, on_disk: bool, steps: &[Step]) {
    let of_twins = spec.clone();
    let mut twins = Twins::new(on_disk, move || WindowAggregate::new(of_twins.clone(), &TIME).unwrap());
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
                assert_eq!(twins.saved_rows(), held_rows(&twins.twin));
                if matches!(step, Step::Restore) {
                    twins.restore();
                    assert_eq!(held_rows(&twins.twin), twins.saved_rows());
                }
            }
        }
    }
    twins.timer();
    twins.watermark(Watermark::MAX);
    twins.barrier();
    assert_eq!(twins.saved_rows(), 1, "only that all windows have fired is left");
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
        play(&spec(kind, keyed, lateness_ms, early, late), on_disk, &steps);
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
