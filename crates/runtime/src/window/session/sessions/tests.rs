//! Forgetting changes no verdict.

use super::*;
use arrow::array::Int64Array;
use arrow::datatypes::{DataType, Field};
use proptest::prelude::*;

const GAP_MS: i64 = 5;

/// What became of each row, and the sessions in the order of their ends. Session numbers are reused,
/// so rows that are in tell only that.
fn play(
    lateness_ms: i64,
    rows: &[(i64, i64, i64)],
    forget: impl Fn(usize) -> bool,
) -> (Vec<Option<(Window, LateReason)>>, Vec<Window>) {
    let mut sessions =
        Sessions::new(GAP_MS, lateness_ms, false, vec![Arc::new(Field::new("key", DataType::Int64, false))]).unwrap();
    let (mut late, mut closed) = (vec![], vec![]);
    for (index, &(key, time_ms, watermark)) in rows.iter().enumerate() {
        let key: ArrayRef = Arc::new(Int64Array::from(vec![key]));
        let verdict = sessions.assign(&[key], &[time_ms], &[watermark]).unwrap()[0];
        late.push(match verdict {
            Verdict::In(_) => None,
            Verdict::Late(window, reason) => Some((window, reason)),
        });
        if forget(index) {
            // The operator's watermark passes a row's before the row is judged, and closes first.
            let due = sessions.close(Watermark(watermark));
            closed.extend(due.iter().map(|&id| sessions.window(id)));
            sessions.forget(Watermark(watermark)).unwrap();
        }
    }
    let due = sessions.close(Watermark::MAX);
    closed.extend(due.iter().map(|&id| sessions.window(id)));
    closed.sort();
    (late, closed)
}

proptest! {
    #[test]
    fn forgetting_changes_no_verdict(
        steps in proptest::collection::vec((0i64..2, 0i64..8, 0i64..150), 1..200),
        every in 1usize..5,
        lateness_ms in 0i64..30,
    ) {
        // Watermarks rise; most rows are near theirs, some far behind: up to the reach and beyond.
        let mut watermark = 0;
        let rows: Vec<(i64, i64, i64)> = steps
            .into_iter()
            .map(|(key, step, behind)| {
                watermark += step;
                let behind = if behind < 110 { behind % 12 - 6 } else { behind - 40 };
                (key, watermark - behind, watermark)
            })
            .collect();
        let (late, closed) = play(lateness_ms, &rows, |index| index % every == 0);
        let (expected_late, expected_closed) = play(lateness_ms, &rows, |_| false);
        prop_assert_eq!(late, expected_late);
        // With an allowed lateness a session can be complete more than once: how often is a matter of pace.
        if lateness_ms == 0 {
            prop_assert_eq!(closed, expected_closed);
        }
    }
}
