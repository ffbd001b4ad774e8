//! What key groups have left comes apart, and together again.

use tidemill_core::ErrorKind;
use tidemill_state::StateChanges;

use super::*;

fn state(section: &'static str, value: i64) -> State {
    let mut changes = StateChanges::default();
    changes.replace_numbers(section, [value]).unwrap();
    let mut state = State::default();
    state.apply(changes);
    state
}

#[test]
fn key_groups_come_apart_and_together() {
    let groups = vec![(0, state("rows", 1)), (7, state("waiting since", 2)), (127, state("rows", 3))];
    let whole = together(groups.clone());
    assert_eq!(apart(whole).unwrap(), groups);
    let waiting: Vec<bool> = groups.iter().map(|(_, own)| crate::key_groups::rows_wait(own)).collect();
    assert_eq!(waiting, [false, true, false]);
}

#[test]
fn what_is_not_by_key_group_is_refused() {
    let error = apart(state("rows", 1)).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Data, "the section 'rows 0' of the state is not known here")
    );
    let group = |number| together(vec![(number, state("rows", 1))]);
    assert_eq!(all_of(vec![group(3), group(4)]).unwrap().len(), 2);
    let error = all_of(vec![group(3), group(4), group(3)]).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Data, "two states hold the key group 3"));
}
