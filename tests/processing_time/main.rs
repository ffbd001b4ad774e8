//! Windows over processing time, by a clock that the test holds: against a recomputation that shares no code with the
//! engine.
//!
//! With one subtask the moment of each chunk is known, so the answer is; with several it is not, but every row is still
//! in one window, and no window is told twice.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

mod engine;
mod held;
mod naive;

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use engine::{Total, run};
use held::{Arrival, Paced};
use naive::{Window, totals};

/// Rows that come together, and how long until the next may come.
fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let step_ms = prop_oneof![Just(0), 1..3_000i64, Just(1_000), Just(10_000), 1..100_000i64];
    let keys = vec(prop_oneof![Just('a'), Just('b'), Just('c')], 1..4);
    let arrival = (keys, step_ms, any::<bool>());
    vec(arrival.prop_map(|(keys, step_ms, waits)| Arrival { keys, step_ms, waits }), 0..12)
}

fn windows() -> impl Strategy<Value = Window> {
    prop_oneof![
        (1..20i64).prop_map(|n| Window::Tumble { size: n * 1_000 }),
        (1..5i64, 1..5i64).prop_map(|(slide, n)| Window::Hop { slide: slide * 1_000, size: n * slide * 1_000 }),
        (1..5i64, 1..5i64).prop_map(|(step, n)| Window::Cumulate { step: step * 1_000, size: n * step * 1_000 }),
        (1..20i64).prop_map(|n| Window::Session { gap: n * 1_000 }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_row_is_in_the_windows_of_its_moment(
        window in windows(),
        arrivals in arrivals(),
        batch_rows in prop_oneof![Just(1usize), Just(8_192)],
        form in 0..engine::FORMS,
    ) {
        let paced = Paced::new(arrivals.clone());
        let found = run(&paced, window, form, 1, batch_rows);
        prop_assert_eq!(found, totals(window, &arrivals), "{}", window.sql());
    }

    #[test]
    fn several_subtasks_lose_and_double_nothing(size in 1..20i64, arrivals in arrivals(), parallelism in 2..5usize) {
        let window = Window::Tumble { size: size * 1_000 };
        let found = run(&Paced::new(arrivals.clone()), window, 0, parallelism, 8_192);
        let mut windows: Vec<_> = found.iter().map(|total| (total.start_ms, total.end_ms, total.key.clone())).collect();
        windows.dedup();
        prop_assert_eq!(windows.len(), found.len(), "a window is told twice: {:?}", found);
        let mut rows: BTreeMap<String, i64> = BTreeMap::new();
        for Total { start_ms, end_ms, key, rows: count } in found {
            prop_assert_eq!(end_ms - start_ms, size * 1_000);
            *rows.entry(key).or_default() += count;
        }
        let mut expected: BTreeMap<String, i64> = BTreeMap::new();
        arrivals.iter().flat_map(|arrival| &arrival.keys).for_each(|key| *expected.entry(key.to_string()).or_default() += 1);
        prop_assert_eq!(rows, expected);
    }
}

/// The input ends only once the window's row has come.
#[test]
fn a_window_fires_while_nothing_comes() {
    for window in [
        Window::Tumble { size: 10_000 },
        Window::Hop { slide: 5_000, size: 10_000 },
        Window::Cumulate { step: 5_000, size: 10_000 },
        Window::Session { gap: 10_000 },
    ] {
        let arrivals = vec![Arrival { keys: vec!['a', 'a'], step_ms: 60_000, waits: true }];
        let found = run(&Paced::until_a_row_comes(arrivals.clone()), window, 0, 2, 8_192);
        assert_eq!(found, totals(window, &arrivals), "{}", window.sql());
    }
}
