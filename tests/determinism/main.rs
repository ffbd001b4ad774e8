//! Promises 2 and 3 as properties: what a live run makes final, and what it calls late, is a function of
//! the log alone. The oracle is a naive recomputation ([`naive`]) that shares no code with the engine.
//!
//! `PROPTEST_CASES=10000` looks longer; what fails once stays in `proptest-regressions/`.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

mod engine;
mod given;
mod log;
mod naive;
mod window;
mod zone;

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use engine::{Setting, run_batch, run_live, settings};
use log::{Log, MINUTE_FOR_SECOND, clock_changes, logs};
use naive::{batch_rows, live_rows};
use window::{Window, cumulating, hopping, sessions, tumbling};

/// How many logs are tried for each kind of window where `PROPTEST_CASES` says nothing.
const CASES: u32 = 64;

fn config() -> ProptestConfig {
    let asked_for = std::env::var_os("PROPTEST_CASES").is_some();
    let default = ProptestConfig::default();
    let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/determinism.txt");
    ProptestConfig {
        cases: if asked_for { default.cases } else { CASES },
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(seeds))),
        ..default
    }
}

/// One log, run under two settings and as a batch.
fn check(window: Window, log: &Log, settings: &[Setting; 2]) -> Result<(), TestCaseError> {
    let (rows, late) = live_rows(window, log);
    let history = batch_rows(window, log);
    for setting in settings {
        let (found_rows, found_late) = run_live(window, log, setting);
        prop_assert_eq!(&found_rows, &rows, "final rows under {:?}", setting);
        prop_assert_eq!(&found_late, &late, "late rows under {:?}", setting);
        prop_assert_eq!(&run_batch(window, log, setting), &history, "batch under {:?}", setting);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn tumbling_windows(window in tumbling(), log in logs(), settings in [settings(), settings()]) {
        check(window, &log, &settings)?;
    }

    #[test]
    fn hopping_windows(window in hopping(), log in logs(), settings in [settings(), settings()]) {
        check(window, &log, &settings)?;
    }

    #[test]
    fn cumulating_windows(window in cumulating(), log in logs(), settings in [settings(), settings()]) {
        check(window, &log, &settings)?;
    }

    #[test]
    fn windows_on_the_clocks_of_a_zone(
        window in prop_oneof![tumbling(), hopping(), cumulating(), sessions()],
        (zone, moment_ms) in clock_changes(),
        log in logs(),
        settings in [settings(), settings()],
    ) {
        check(window.times(MINUTE_FOR_SECOND), &log.around(zone, moment_ms), &settings)?;
    }

    #[test]
    fn rows_that_are_too_far_ahead(
        window in prop_oneof![tumbling(), hopping(), cumulating(), sessions()],
        log in logs(),
        latest_ms in -60_000..120_000i64,
        settings in [settings(), settings()],
    ) {
        check(window, &Log { latest_ms: Some(latest_ms), ..log }, &settings)?;
    }

    #[test]
    fn session_windows(window in sessions(), log in logs(), settings in [settings(), settings()]) {
        check(window, &log, &settings)?;
    }
}
