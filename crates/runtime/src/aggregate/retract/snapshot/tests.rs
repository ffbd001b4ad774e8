//! Groups that take rows back go on, when they are restored, as ones that never stopped.

use arrow::datatypes::SchemaRef;
use proptest::prelude::*;
use tidemill_core::{ErrorKind, EventBatch, RowKind, Watermark};

use super::*;
use crate::aggregate::sample::{self, Row};
use crate::fleet::{fleets, forms};
use crate::operator::Operator;
use crate::twins::Twins;

#[derive(Debug, Clone)]
enum Step {
    /// Rows, and which of those that are there is taken back instead.
    Rows(Vec<(i64, Option<i64>, Option<prop::sample::Index>)>),
    /// All rows that are there are taken back.
    Clear,
    Pause,
    Barrier,
    Restore,
}

fn step() -> impl Strategy<Value = Step> {
    let row = (0i64..60, prop::option::of(-9i64..9), prop::option::weighted(0.45, any::<prop::sample::Index>()));
    prop_oneof![
        6 => prop::collection::vec(row, 1..20).prop_map(Step::Rows),
        1 => Just(Step::Clear),
        2 => Just(Step::Pause),
        2 => Just(Step::Barrier),
        2 => Just(Step::Restore),
    ]
}

fn operator(keyed: bool) -> RetractGroup {
    RetractGroup::new(sample::aggregation(keyed, false), sample::schema()).unwrap()
}

/// The group, then the rows.
fn batch(keyed: bool, rows: &[(Row, RowKind)]) -> EventBatch {
    let values = sample::rows(&rows.iter().map(|(row, _)| *row).collect::<Vec<_>>());
    let group = keyed.then(|| Field::new("group0", DataType::Utf8View, true));
    let fields: Vec<Field> =
        group.into_iter().chain(sample::schema().fields().iter().map(|f| f.as_ref().clone())).collect();
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    let columns = keyed.then(|| Arc::clone(values.column(1))).into_iter().chain(values.columns().iter().cloned());
    let kinds = Some(rows.iter().map(|(_, kind)| *kind).collect());
    EventBatch { kinds, ..EventBatch::append(RecordBatch::try_new(schema, columns.collect()).unwrap()) }
}

/// `held` counts the groups of the twin.
fn play<O: Operator>(keyed: bool, mut twins: Twins<O>, steps: Vec<Step>, held: impl Fn(&Twins<O>) -> usize) {
    let mut present: Vec<Row> = vec![];
    for step in steps {
        match step {
            Step::Rows(rows) => {
                let mut changes = vec![];
                for (key, amount, taken) in rows {
                    match taken.filter(|_| !present.is_empty()) {
                        Some(index) => changes.push((present.swap_remove(index.index(present.len())), RowKind::Delete)),
                        None => {
                            present.push((0, key, amount));
                            changes.push(((0, key, amount), RowKind::Insert));
                        }
                    }
                }
                twins.batch(&batch(keyed, &changes));
            }
            Step::Clear => {
                let changes: Vec<_> = present.drain(..).map(|row| (row, RowKind::Delete)).collect();
                twins.batch(&batch(keyed, &changes));
            }
            Step::Pause => twins.pause(),
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
        play(keyed, Twins::new(on_disk, move || operator(keyed)), steps, |twins| {
            let groups = twins.twin.unsaved.groups.iter().flatten().count();
            assert!(twins.saved_rows() <= 2 * groups + 4 * 4 + 70, "{} rows for {groups}", twins.saved_rows());
            groups
        });
    }

    #[test]
    fn others_in_number_go_on_as_those_before(
        steps in prop::collection::vec(step(), 0..60),
        forms in forms(),
        on_disk in prop::bool::weighted(0.1),
    ) {
        let make = || Ok(Box::new(operator(true)) as Box<dyn Operator>);
        play(true, Twins::new(on_disk, fleets(Arc::new(make), vec![0], forms)), steps, |_| 0);
    }
}

#[test]
fn a_snapshot_tells_the_groups_that_have_changed() {
    let mut twins = Twins::new(false, || operator(true));
    let rows = |keys: std::ops::Range<i64>, kind| keys.map(|key| ((0, key, Some(1)), kind)).collect::<Vec<_>>();
    twins.batch(&batch(true, &rows(1..1001, RowKind::Insert)));
    assert_eq!(twins.barrier(), 1000);
    twins.batch(&batch(true, &rows(5..12, RowKind::Insert)));
    assert_eq!(twins.barrier(), 7);
    twins.batch(&batch(true, &rows(100..103, RowKind::Delete)));
    assert_eq!(twins.barrier(), 3, "that they are gone");
    twins.batch(&batch(true, &rows(2000..2003, RowKind::Insert)));
    assert_eq!(twins.barrier(), 3);
    assert_eq!(twins.twin.unsaved.groups.len(), 1000, "their numbers are used again");
    twins.batch(&batch(true, &rows(2000..2003, RowKind::Delete)));
    twins.barrier();
    twins.restore();
    assert_eq!(twins.barrier(), 0, "what was restored is not told again");
    assert_eq!(twins.twin.unsaved.free.len(), 3, "their numbers can be used again, also then");
}

#[test]
fn groups_of_others_are_refused() {
    let mut twins = Twins::new(false, || operator(true));
    twins.batch(&batch(true, &[((0, 1, Some(1)), RowKind::Insert)]));
    twins.barrier();
    let error = operator(false).restore(twins.state()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.message().starts_with("the section 'groups' of the state does not fit: "), "{error}");

    let groups = twins.state().take(Section::new(GROUPS, 0)).unwrap();
    let twice = RecordBatch::try_new(
        groups[0].schema(),
        std::iter::once(Arc::new(UInt32Array::from(vec![1])) as ArrayRef)
            .chain(groups[0].columns()[1..].iter().cloned())
            .collect(),
    );
    let mut changes = StateChanges::default();
    changes.append(Section::new(GROUPS, 0), twice.unwrap());
    let mut state = twins.state();
    state.apply(changes);
    let error = operator(true).restore(state).unwrap_err();
    assert_eq!(error.message(), "the section 'groups' of the state holds a group twice");
}
