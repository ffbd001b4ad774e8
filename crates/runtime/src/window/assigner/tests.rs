//! Panes and windows against their definition: every window on the grid that holds the time.

use super::*;
use proptest::prelude::*;

#[test]
fn a_window_holds_its_start_and_not_its_end() {
    let minutes = WindowAssigner::tumble(60_000, 0).unwrap();
    assert_eq!(minutes.pane(59_999), 0);
    assert_eq!(minutes.pane(60_000), 60_000);
    assert_eq!(minutes.pane(-1), -60_000);
}

#[test]
fn sizes_that_make_no_windows_are_refused() {
    assert!(WindowAssigner::tumble(0, 0).is_err());
    assert!(WindowAssigner::hop(2, 3, 0).is_err());
    assert!(WindowAssigner::cumulate(2, 3, 0).is_err());
    assert!(WindowAssigner::tumble(i64::MAX, 0).is_err());
}

fn assigners() -> impl Strategy<Value = (WindowAssigner, &'static str, i64, i64, i64)> {
    (1i64..50, 1i64..8, -200i64..200).prop_flat_map(|(step, n, offset)| {
        let size = step * n;
        prop_oneof![
            Just((WindowAssigner::tumble(size, offset).unwrap(), "tumble", size, size, offset)),
            Just((WindowAssigner::hop(step, size, offset).unwrap(), "hop", step, size, offset)),
            Just((WindowAssigner::cumulate(step, size, offset).unwrap(), "cumulate", step, size, offset)),
        ]
    })
}

/// Every window of the kind that holds `time`, found by looking at all that start near it.
fn defined(kind: &str, step: i64, size: i64, offset: i64, time: i64) -> Vec<Window> {
    let mut windows = vec![];
    for start in time - 2 * size..=time {
        let aligned = (start - offset).rem_euclid(if kind == "hop" { step } else { size }) == 0;
        if aligned {
            let ends = if kind == "cumulate" {
                (1..=size / step).map(|i| start + i * step).collect()
            } else {
                vec![start + size]
            };
            windows.extend(ends.into_iter().map(|end_ms| Window { start_ms: start, end_ms }));
        }
    }
    windows.retain(|w| w.start_ms <= time && time < w.end_ms);
    windows.sort_by_key(|w| w.end_ms);
    windows
}

proptest! {
    #[test]
    fn a_panes_windows_are_those_of_every_time_in_it((assigner, kind, step, size, offset) in assigners(), time in -1000i64..1000) {
        let expected = defined(kind, step, size, offset, time);
        let pane = assigner.pane(time);
        prop_assert!(pane <= time && time < assigner.pane_end(pane));
        prop_assert_eq!(assigner.windows(pane).collect::<Vec<_>>(), expected.clone());
        prop_assert_eq!(assigner.last_end(pane), expected.last().unwrap().end_ms);
        for after in time - 10..time + size + 10 {
            let next = expected.iter().find(|w| w.end_ms > after).copied();
            prop_assert_eq!(assigner.next_window(pane, after), next);
        }
    }
}
