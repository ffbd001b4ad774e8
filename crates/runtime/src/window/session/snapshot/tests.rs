//! A session aggregate that is restored goes on as one that never stopped.

use std::fmt::Debug;
use std::time::Duration;

use arrow::array::Int64Array;
use arrow::datatypes::TimeUnit;
use proptest::prelude::*;
use tidemill_core::{ErrorKind, EventBatch, EventTimes, Lineage, SourceRows, Watermark};

use super::super::SessionSpec;
use super::*;
use crate::aggregate::sample::{self, Row};
use crate::fleet::{fleets, forms};
use crate::operator::Operator;
use crate::time_zone::TimeZone;
use crate::twins::Twins;
use crate::window::{LateOutput, TimeColumn};

const TIME: DataType = DataType::Timestamp(TimeUnit::Millisecond, None);

#[derive(Debug, Clone)]
enum Step {
    /// Rows of one of two partitions, with their watermark's distance from the operator's.
    Rows(Vec<Row>, bool, i64),
    Watermark(i64),
    Timer,
    Barrier,
    Restore,
}

fn step() -> impl Strategy<Value = Step> {
    let row = (-40i64..20, 0i64..12, prop::option::of(-9i64..9));
    let rows = (prop::collection::vec(row, 1..10), any::<bool>(), 0i64..8);
    prop_oneof![
        6 => rows.prop_map(|(rows, partition, ahead)| Step::Rows(rows, partition, ahead)),
        3 => (0i64..12).prop_map(Step::Watermark),
        1 => (60i64..200).prop_map(Step::Watermark),
        1 => Just(Step::Timer),
        2 => Just(Step::Barrier),
        2 => Just(Step::Restore),
    ]
}

#[derive(Debug, Clone, Copy)]
struct Case {
    keyed: bool,
    never_late: bool,
    lateness_ms: i64,
    early: bool,
    late_fire: bool,
    late_output: bool,
}

const PLAIN: Case =
    Case { keyed: true, never_late: false, lateness_ms: 0, early: false, late_fire: false, late_output: false };

fn operator(case: Case) -> SessionAggregate {
    let second = Duration::from_secs(1);
    let spec = SessionSpec {
        time: TimeColumn { index: 0, range: EventTimes::ALL },
        key_columns: if case.keyed { vec![1] } else { vec![] },
        gap_ms: 5,
        zone: TimeZone::UTC,
        aggregation: sample::aggregation(case.keyed, true),
        never_late: case.never_late,
        lateness_ms: case.lateness_ms,
        early_fire: case.early.then_some(second),
        late_fire: case.late_fire.then_some(second),
        late: case.late_output.then(|| LateOutput::new(TIME)),
    };
    SessionAggregate::new(spec, &sample::schema(), std::sync::Arc::default()).unwrap()
}

/// Rows with this watermark; `offset` is that of the first.
fn batch(rows: &[Row], partition: &str, offset: i64, watermark: i64) -> EventBatch {
    let rows = sample::rows(rows);
    let offsets = Int64Array::from_iter_values((offset..).take(rows.num_rows()));
    let watermarks = Some(Int64Array::from(vec![watermark; rows.num_rows()]));
    let source = SourceRows { rows: rows.clone(), partition: partition.into(), offsets };
    let lineage = Some(Lineage { source: Arc::new(source), indices: None });
    EventBatch { watermarks, lineage, ..EventBatch::append(rows) }
}

/// The rows that a snapshot of it should have, and how many more it may: of sessions, twice as many and some.
fn held_rows(twins: &Twins<SessionAggregate>) -> (usize, usize) {
    let operator = &twins.twin;
    let (keys, sessions, _) = operator.sessions.held();
    let rows: usize = operator.buffer.rows.iter().map(|(ids, _)| ids.len()).sum();
    let states: usize = operator.buffer.states.iter().map(RecordBatch::num_rows).sum();
    let told: usize = operator.told.rows.values().map(|(ids, _)| ids.len()).sum();
    (operator.pending.held_rows() + keys + sessions + rows + states + told, sessions + 100)
}

/// `held` tells what the twin holds.
fn play<O: Operator, H: PartialEq + Debug>(
    case: Case,
    mut twins: Twins<O>,
    steps: &[Step],
    held: impl Fn(&Twins<O>) -> H,
) {
    let (mut watermark, mut offset) = (0, 0);
    for step in steps {
        match step {
            Step::Rows(rows, partition, ahead) => {
                // Results of windows come before their time has passed.
                let time = |ahead: i64| if case.never_late { watermark + 1 + ahead.abs() } else { watermark + ahead };
                let rows: Vec<Row> = rows.iter().map(|(ahead, key, amount)| (time(*ahead), *key, *amount)).collect();
                let partition = if *partition { "a" } else { "b" };
                twins.batch(&batch(&rows, partition, offset, watermark + ahead));
                offset += rows.len() as i64;
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
}

proptest! {
    #[test]
    fn a_restored_one_goes_on_as_one_that_never_stopped(
        steps in prop::collection::vec(step(), 1..70),
        keyed in prop::bool::weighted(0.8),
        never_late in prop::bool::weighted(0.2),
        lateness_ms in prop_oneof![Just(0i64), Just(12)],
        early: bool,
        late_fire: bool,
        late_output: bool,
        on_disk in prop::bool::weighted(0.1),
    ) {
        let late_output = late_output && !never_late;
        let case = Case { keyed, never_late, lateness_ms, early, late_fire, late_output };
        play(case, Twins::new(on_disk, move || operator(case)), &steps, |twins| {
            let (held, more) = held_rows(twins);
            let saved = twins.saved_rows();
            assert!((held..=held + more).contains(&saved), "{saved} rows for {held}");
            (held, twins.twin.sessions.held())
        });
    }

    #[test]
    fn others_in_number_go_on_as_those_before(
        steps in prop::collection::vec(step(), 1..70),
        forms in forms(),
        never_late in prop::bool::weighted(0.2),
        lateness_ms in prop_oneof![Just(0i64), Just(12)],
        early: bool,
        late_fire: bool,
        late_output: bool,
        on_disk in prop::bool::weighted(0.1),
    ) {
        let late_output = late_output && !never_late;
        let case = Case { keyed: true, never_late, lateness_ms, early, late_fire, late_output };
        let make = move || Ok(Box::new(operator(case)) as Box<dyn Operator>);
        play(case, Twins::new(on_disk, fleets(Arc::new(make), vec![1], forms)), &steps, |_| ());
    }
}

#[test]
fn a_snapshot_tells_what_has_changed() {
    let mut twins = Twins::new(false, || operator(PLAIN));
    let rows: Vec<Row> = (1..=1000).map(|key| (100, key, Some(1))).collect();
    twins.batch(&batch(&rows, "a", 0, 0));
    assert_eq!(twins.barrier(), 1000, "they wait");
    twins.watermark(Watermark(1));
    twins.barrier();
    twins.batch(&batch(&rows[..7], "a", 1000, 1));
    twins.watermark(Watermark(2));
    // The sessions of these rows have not become longer.
    assert_eq!(twins.barrier(), 7);
    assert_eq!(twins.barrier(), 0);
    twins.restore();
    assert_eq!(twins.barrier(), 0, "what was restored is not told again");
}

#[test]
fn a_state_that_does_not_fit_is_refused() {
    let mut twins = Twins::new(false, || operator(PLAIN));
    twins.batch(&batch(&[(100, 1, Some(1))], "a", 0, 0));
    twins.barrier();
    let with_late = Case { late_output: true, ..PLAIN };
    let error = operator(with_late).restore(twins.state()).unwrap_err();
    assert_eq!(error.message(), "the section 'pending' of the state has no source rows for the late output");
    assert_eq!(error.kind(), ErrorKind::Data);

    twins.watermark(Watermark(1));
    twins.barrier();
    let mut state = twins.state();
    state.take(Section::new("sessions", 0)).unwrap();
    let error = operator(PLAIN).restore(state).unwrap_err();
    let section = if twins.twin.buffer.rows.is_empty() { "states" } else { "rows" };
    assert_eq!(error.message(), format!("the section '{section}' of the state speaks of session 0, which is none"));

    let error = operator(Case { keyed: false, ..PLAIN }).restore(twins.state()).unwrap_err();
    assert_eq!(
        error.message(),
        "the section 'keys' of the state does not fit: Invalid argument error: number of columns(1) must match number of fields(0) in schema"
    );
}
