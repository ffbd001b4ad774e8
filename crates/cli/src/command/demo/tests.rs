//! A demo whose batch does not agree, which none does by itself.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn a_minute_that_was_shown_otherwise_is_named_and_the_exit_code_says_so() {
    let arguments = Arguments { events: Some(3_000), seed: 7, rate: Some(0), output: Output::Text };
    let runtime = runtime().unwrap();
    runtime.block_on(async {
        let mut played = played(&arguments).await.unwrap();
        let (found, code) = compared(&played, Output::Text).await.unwrap().unwrap();
        assert!(found.contains("balanced: revenue "), "{found}");
        assert_eq!(code, ExitCode::SUCCESS);

        let revenue = &mut played.live.statements.get_mut(REVENUE).unwrap().rows;
        let batch = revenue.iter_mut().find(|batch| batch.num_rows() > 0).unwrap();
        batch.rows = batch.rows.slice(1, batch.rows.num_rows() - 1);
        batch.kinds = None;
        let (found, code) = compared(&played, Output::Text).await.unwrap().unwrap();
        assert!(found.contains("DIFFERENT"), "{found}");
        assert_eq!(code, ExitCode::from(3));
    });
}
