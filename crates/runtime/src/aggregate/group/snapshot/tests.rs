//! Groups that are restored go on as ones that never stopped.

use proptest::prelude::*;
use tidemill_core::{Epoch, ErrorKind, EventBatch, Watermark};

use super::*;
use crate::aggregate::PreGroup;
use crate::aggregate::sample::{self, Row};
use crate::fleet::{fleets, forms};
use crate::operator::{Operator, Output};
use crate::twins::Twins;

#[derive(Debug, Clone)]
enum Step {
    Rows(Vec<Row>),
    Pause,
    Watermark,
    /// The input has ended; a later run may find more of it.
    End,
    Barrier,
    Restore,
}

fn step() -> impl Strategy<Value = Step> {
    let row = (Just(0i64), 0i64..60, prop::option::of(-9i64..9));
    prop_oneof![
        5 => prop::collection::vec(row, 1..20).prop_map(Step::Rows),
        2 => Just(Step::Pause),
        1 => Just(Step::Watermark),
        1 => Just(Step::End),
        2 => Just(Step::Barrier),
        1 => Just(Step::Restore),
    ]
}

/// What the first phase makes of rows.
fn partials(keyed: bool, rows: &[Row]) -> EventBatch {
    let mut out = Output::default();
    let mut fold = PreGroup::new(sample::aggregation(keyed, true)).unwrap();
    fold.on_batch(EventBatch::append(sample::rows(rows)), &mut out).unwrap();
    out.take().remove(0).1
}

fn group(keyed: bool) -> GroupAggregate {
    GroupAggregate::new(sample::aggregation(keyed, true), sample::schema()).unwrap()
}

/// `held` counts the groups of the twin.
fn play<O: Operator>(keyed: bool, mut twins: Twins<O>, steps: &[Step], held: impl Fn(&Twins<O>) -> usize) {
    for step in steps {
        match step {
            Step::Rows(rows) => twins.batch(&partials(keyed, rows)),
            Step::Pause => twins.pause(),
            Step::Watermark => twins.watermark(Watermark(0)),
            Step::End => twins.watermark(Watermark::MAX),
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
    twins.watermark(Watermark::MAX);
    twins.barrier();
    twins.restore();
    // The end may be told again to one that is restored.
    twins.watermark(Watermark::MAX);
}

proptest! {
    #[test]
    fn restored_ones_go_on_as_ones_that_never_stopped(
        steps in prop::collection::vec(step(), 0..60),
        keyed in prop::bool::weighted(0.8),
        on_disk in prop::bool::weighted(0.1),
    ) {
        play(keyed, Twins::new(on_disk, move || group(keyed)), &steps, |twins| {
            // Twice the groups, a slack for each of four pages, and what was appended last.
            let groups = twins.twin.states.len();
            assert!(twins.saved_rows() <= 2 * groups + 4 * 4 + 60, "{} rows for {groups}", twins.saved_rows());
            groups
        });
    }

    #[test]
    fn others_in_number_go_on_as_those_before(
        steps in prop::collection::vec(step(), 0..60),
        forms in forms(),
        on_disk in prop::bool::weighted(0.1),
    ) {
        let make = || Ok(Box::new(group(true)) as Box<dyn Operator>);
        play(true, Twins::new(on_disk, fleets(Arc::new(make), vec![0], forms)), &steps, |_| 0);
    }
}

#[test]
fn a_snapshot_tells_the_groups_that_have_changed() {
    let mut twins = Twins::new(false, || group(true));
    let rows: Vec<Row> = (1..=1000).map(|key| (0, key, Some(1))).collect();
    twins.batch(&partials(true, &rows));
    assert_eq!(twins.barrier(), 1000);
    for _ in 0..3 {
        twins.batch(&partials(true, &rows[40..47]));
        twins.pause();
    }
    assert_eq!(twins.barrier(), 7);
    assert_eq!(twins.barrier(), 0);
    twins.restore();
    assert_eq!(twins.barrier(), 0, "what was restored is not told again");
}

#[test]
fn groups_of_others_are_refused() {
    let mut twins = Twins::new(false, || group(true));
    twins.batch(&partials(true, &[(0, 1, Some(1)), (0, 2, Some(1))]));
    twins.barrier();
    let error = group(false).restore(twins.state()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.message().starts_with("the section 'groups' of the state does not fit: "), "{error}");

    let mut elsewhere = StateChanges::default();
    elsewhere.replace(Section::new(GROUPS, 1), twins.state().take(Section::new(GROUPS, 0)).unwrap());
    let mut state = State::default();
    state.apply(elsewhere);
    let error = group(true).restore(state).unwrap_err();
    assert_eq!(error.message(), "the section 'groups 1' of the state holds group 0");
}

#[test]
fn a_barrier_leaves_nothing_waiting() {
    let mut operator = group(true);
    let mut out = Output::default();
    operator.on_batch(partials(true, &[(0, 1, Some(1))]), &mut out).unwrap();
    operator.on_barrier(Epoch(1), &mut out).unwrap();
    assert!(operator.waiting.is_empty());
}
