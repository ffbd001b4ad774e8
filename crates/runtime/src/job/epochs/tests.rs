//! The protocol under every order of events that a seed can draw: `world` is a job in miniature, killed and stopped at
//! any step, and each row must be visible once in the end.

mod world;

use super::*;
use world::{Fault, World};

#[test]
fn an_epoch_is_stored_when_every_subtask_has_passed_it_and_rests_until_sinks_have_committed() {
    let mut epochs = Epochs::new(&[false, true], true, Epoch(7));
    assert_eq!(epochs.on(Event::Tick), [Action::Begin(Epoch(8))]);
    assert_eq!(epochs.on(Event::Tick), [], "one at a time");
    assert_eq!(epochs.on(Event::Passed(1, Epoch(8))), []);
    let store = Action::Store { epoch: Epoch(8), finished: false, closing: false };
    assert_eq!(epochs.on(Event::Passed(0, Epoch(8))), [store]);
    assert_eq!(epochs.on(Event::Tick), []);
    assert_eq!(epochs.on(Event::Stored(Epoch(8))), [Action::Commit(Epoch(8))]);
    assert_eq!(epochs.on(Event::Tick), []);
    assert_eq!(epochs.on(Event::Committed(1, Epoch(8))), [Action::Complete(Epoch(8))]);
    assert_eq!(epochs.on(Event::Tick), [Action::Begin(Epoch(9))]);
}

#[test]
fn an_epoch_goes_on_where_some_have_ended() {
    let mut epochs = Epochs::new(&[false, false, true], true, Epoch(0));
    assert_eq!(epochs.on(Event::Ended(0)), []);
    assert_eq!(epochs.on(Event::Tick), [Action::Begin(Epoch(1))]);
    assert_eq!(epochs.on(Event::Passed(1, Epoch(1))), []);
    assert!(!epochs.is_behind(0) && epochs.is_behind(1));
    let store = Action::Store { epoch: Epoch(1), finished: false, closing: false };
    assert_eq!(epochs.on(Event::Passed(2, Epoch(1))), [store]);
}

#[test]
fn the_end_is_an_epoch_that_sinks_pass_by_command() {
    let mut epochs = Epochs::new(&[false, true], true, Epoch(0));
    epochs.on(Event::Ended(0));
    assert_eq!(epochs.on(Event::Ended(1)), [Action::Prepare(1, Epoch(1))]);
    let store = |epoch, closing| Action::Store { epoch: Epoch(epoch), finished: true, closing };
    assert_eq!(epochs.on(Event::Passed(1, Epoch(1))), [store(1, false)]);
    assert_eq!(epochs.on(Event::Stored(Epoch(1))), [Action::Commit(Epoch(1))]);
    assert_eq!(epochs.on(Event::Committed(1, Epoch(1))), [Action::Complete(Epoch(1)), store(2, true)]);
    assert_eq!(epochs.on(Event::Stored(Epoch(2))), [Action::Close]);
}

#[test]
fn a_stop_waits_for_the_epoch_under_way_and_then_for_one_of_its_own() {
    let mut epochs = Epochs::new(&[false, true], true, Epoch(0));
    epochs.on(Event::Tick);
    assert_eq!(epochs.on(Event::Stop), []);
    epochs.on(Event::Passed(0, Epoch(1)));
    epochs.on(Event::Passed(1, Epoch(1)));
    epochs.on(Event::Stored(Epoch(1)));
    let last = [Action::Complete(Epoch(1)), Action::BeginLast(Epoch(2))];
    assert_eq!(epochs.on(Event::Committed(1, Epoch(1))), last);
    // Without checkpoints nothing is there to be gone on from: all that was read is committed.
    assert_eq!(Epochs::new(&[false, true], false, Epoch(0)).on(Event::Stop), [Action::StopSources]);
}

#[test]
fn an_epoch_that_is_asked_for_begins_behind_the_one_under_way() {
    let mut epochs = Epochs::new(&[true], true, Epoch(0));
    assert_eq!(epochs.on(Event::Asked), [Action::Begin(Epoch(1))], "none is under way");
    assert_eq!(epochs.on(Event::Asked), []);
    epochs.on(Event::Passed(0, Epoch(1)));
    epochs.on(Event::Stored(Epoch(1)));
    let next = [Action::Complete(Epoch(1)), Action::Begin(Epoch(2))];
    assert_eq!(epochs.on(Event::Committed(0, Epoch(1))), next);
    epochs.on(Event::Passed(0, Epoch(2)));
    epochs.on(Event::Stored(Epoch(2)));
    assert_eq!(epochs.on(Event::Committed(0, Epoch(2))), [Action::Complete(Epoch(2))], "it was asked for once");
    // A run that ends, or is to stop, begins none for whoever asks.
    epochs.on(Event::Stop);
    assert_eq!(epochs.on(Event::Asked), []);
}

/// How many worlds each test draws.
const WORLDS: u64 = 3_000;

#[test]
fn no_schedule_loses_or_doubles_a_row() {
    let (mut kills, mut stops) = (0, 0);
    for seed in 0..WORLDS {
        let told = World::new(seed, None).run();
        assert_eq!(told.wrong, None, "seed {seed}");
        kills += told.kills;
        stops += told.stops;
    }
    assert!(kills > WORLDS && stops > WORLDS / 10, "{kills} kills, {stops} stops");
}

#[test]
fn a_seed_is_one_schedule() {
    for seed in 0..50 {
        assert_eq!(World::new(seed, None).run().trace, World::new(seed, None).run().trace);
    }
}

/// Each of these breaks the protocol, and some schedule must show it.
#[test]
fn what_breaks_the_protocol_is_found() {
    for fault in [Fault::CommitBeforeStored, Fault::SnapshotWithoutCut, Fault::ForgottenCommitment, Fault::NoAlignment]
    {
        let found = (0..WORLDS).any(|seed| World::new(seed, Some(fault)).run().wrong.is_some());
        assert!(found, "{fault:?} does no harm that is seen");
    }
}
