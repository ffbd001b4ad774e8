//! A Top-N that is restored goes on as one that never stopped.

use arrow::array::TimestampMillisecondArray;
use arrow::compute::SortOptions;
use arrow::datatypes::TimeUnit;
use proptest::prelude::*;
use tidemill_core::{ErrorKind, EventBatch, RowKind, Watermark};

use super::super::TopNSpec;
use super::*;
use crate::fleet::{fleets, forms};
use crate::operator::Operator;
use crate::time_zone::TimeZone;
use crate::twins::Twins;

/// Columns: the window's end, the partition, what is ordered by.
type Row = (i64, i64, i64);

#[derive(Debug, Clone)]
enum Step {
    /// How far ahead of the watermark the window is; the partition; the value; which of the rows that are there is
    /// taken away instead, if rows can be.
    Rows(Vec<(i64, i64, i64, Option<prop::sample::Index>)>),
    Pause,
    Watermark(i64),
    Barrier,
    Restore,
}

fn step() -> impl Strategy<Value = Step> {
    let row = (0i64..3, 0i64..9, 0i64..30, prop::option::weighted(0.4, any::<prop::sample::Index>()));
    prop_oneof![
        5 => prop::collection::vec(row, 1..20).prop_map(Step::Rows),
        1 => Just(Step::Pause),
        1 => (0i64..12).prop_map(Step::Watermark),
        2 => Just(Step::Barrier),
        2 => Just(Step::Restore),
    ]
}

#[derive(Debug, Clone, Copy)]
struct Case {
    append_only: bool,
    windowed: bool,
    keyed: bool,
}

fn operator(case: Case) -> TopN {
    let column = |name| Field::new(name, DataType::Int64, true);
    let end = Field::new("window_end", DataType::Timestamp(TimeUnit::Millisecond, None), false);
    let rank = Field::new("rank", DataType::UInt64, false);
    let mut partition = vec![];
    partition.extend(case.windowed.then_some(0));
    partition.extend(case.keyed.then_some(1));
    let spec = TopNSpec {
        partition,
        order: vec![(2, SortOptions { descending: true, nulls_first: true })],
        limit: 3,
        append_only: case.append_only,
        window_end: case.windowed.then_some(0),
        zone: TimeZone::UTC,
        schema: Arc::new(Schema::new(vec![end, column("p"), column("v"), rank])),
    };
    TopN::new(spec).unwrap()
}

fn batch(rows: &[(Row, RowKind)]) -> EventBatch {
    let ends = TimestampMillisecondArray::from_iter_values(rows.iter().map(|(row, _)| row.0));
    let numbers = |of: &dyn Fn(&Row) -> i64| Int64Array::from_iter_values(rows.iter().map(|(row, _)| of(row)));
    let columns: Vec<ArrayRef> = vec![Arc::new(ends), Arc::new(numbers(&|row| row.1)), Arc::new(numbers(&|row| row.2))];
    let schema = operator(Case { append_only: true, windowed: true, keyed: true }).spec.schema;
    let schema = Arc::new(Schema::new(schema.fields()[..3].to_vec()));
    let kinds = Some(rows.iter().map(|(_, kind)| *kind).collect());
    EventBatch { kinds, ..EventBatch::append(RecordBatch::try_new(schema, columns).unwrap()) }
}

/// How many different rows it holds.
fn held_rows(operator: &mut TopN) -> usize {
    operator.partitions.all_mut().map(|partition| partition.rows.len()).sum()
}

/// `held` counts the rows that the twin holds.
fn play<O: Operator>(case: Case, mut twins: Twins<O>, steps: Vec<Step>, held: impl Fn(&mut Twins<O>) -> usize) {
    let mut watermark = 0;
    let mut present: Vec<Row> = vec![];
    for step in steps {
        match step {
            Step::Rows(rows) => {
                let mut changes = vec![];
                for (ahead, partition, value, taken) in rows {
                    let end_ms = (watermark / 10 + 1 + ahead) * 10;
                    match taken.filter(|_| !case.append_only && !present.is_empty()) {
                        Some(index) => changes.push((present.swap_remove(index.index(present.len())), RowKind::Delete)),
                        None => {
                            present.push((end_ms, partition, value));
                            changes.push(((end_ms, partition, value), RowKind::Insert));
                        }
                    }
                }
                twins.batch(&batch(&changes));
            }
            Step::Pause => twins.pause(),
            Step::Watermark(further) => {
                watermark += further;
                twins.watermark(Watermark(watermark));
                present.retain(|row| !case.windowed || !Watermark(watermark).closes(row.0));
            }
            Step::Barrier | Step::Restore => {
                twins.barrier();
                let before = held(&mut twins);
                if matches!(step, Step::Restore) {
                    twins.restore();
                    assert_eq!(held(&mut twins), before);
                }
            }
        }
    }
    twins.watermark(Watermark::MAX);
}

proptest! {
    #[test]
    fn a_restored_one_goes_on_as_one_that_never_stopped(
        steps in prop::collection::vec(step(), 0..60),
        append_only: bool,
        windowed: bool,
        keyed: bool,
        on_disk in prop::bool::weighted(0.1),
    ) {
        // A window's answer is given once, over rows that come once.
        let case = Case { append_only: append_only || windowed, windowed, keyed };
        play(case, Twins::new(on_disk, move || operator(case)), steps, |twins| {
            let held = held_rows(&mut twins.twin);
            let bound = 2 * held + 4 * (SHARDS + 3) + 40;
            assert!(twins.saved_rows() <= bound, "{} rows for {held}", twins.saved_rows());
            held
        });
    }

    #[test]
    fn others_in_number_go_on_as_those_before(
        steps in prop::collection::vec(step(), 0..60),
        forms in forms(),
        append_only: bool,
        windowed: bool,
        keyed: bool,
        on_disk in prop::bool::weighted(0.1),
    ) {
        let case = Case { append_only: append_only || windowed, windowed, keyed: keyed || !windowed };
        let make = move || Ok(Box::new(operator(case)) as Box<dyn Operator>);
        let key = operator(case).spec.partition;
        play(case, Twins::new(on_disk, fleets(Arc::new(make), key, forms)), steps, |_| 0);
    }
}

#[test]
fn a_snapshot_tells_the_rows_that_have_changed() {
    let mut twins = Twins::new(false, || operator(Case { append_only: true, windowed: false, keyed: true }));
    let rows: Vec<(Row, RowKind)> = (0..3000).map(|i| ((0, i % 1000, i), RowKind::Insert)).collect();
    twins.batch(&batch(&rows));
    assert_eq!(twins.barrier(), 3000);
    // One enters and pushes another out; one is behind the first three.
    twins.batch(&batch(&[((0, 5, 9999), RowKind::Insert), ((0, 6, -1), RowKind::Insert)]));
    assert_eq!(twins.barrier(), 1);
    assert_eq!(twins.barrier(), 0);
    twins.restore();
    assert_eq!(twins.barrier(), 0, "what was restored is not told again");
}

#[test]
fn a_log_that_does_not_add_up_is_refused() {
    let case = Case { append_only: false, windowed: true, keyed: true };
    let refused = |part: i64, count: i64| {
        let operator = operator(case);
        let converted = operator.converted(batch(&[((10, 1, 1), RowKind::Insert)]).rows.columns()).unwrap();
        let (_, (_, row)) = converted.row(0);
        let mut changes = StateChanges::default();
        changes.append(Section::new(ROWS, part), operator.log([(&row, count)].into_iter()).unwrap());
        let mut state = State::default();
        state.apply(changes);
        super::tests::operator(case).restore(state).unwrap_err()
    };
    assert_eq!(refused(10, -1).message(), "the section 'rows 10' of the state takes away a row that it has not got");
    assert_eq!(refused(11, 1).message(), "the section 'rows 11' of the state holds a row of another");
    assert_eq!(refused(11, 1).kind(), ErrorKind::Data);
}
