//! What can't be dealt by a key.

use tidemill_core::ErrorKind;

use super::*;

fn state() -> State {
    let mut changes = StateChanges::default();
    changes.replace_numbers("numbers", [1]).unwrap();
    made_of(changes)
}

#[test]
fn without_a_key_a_state_stays_whole() {
    let never = |_: &mut State, _: &mut Hands<'_>| -> Result<()> { unreachable!("there is nothing to deal") };
    assert_eq!(Hands::deal(state(), &Dealer::to_subtasks(1), false, never).unwrap(), [state()]);
    let three = Dealer::to_subtasks(3);
    assert_eq!(Hands::deal(State::default(), &three, false, never).unwrap(), vec![State::default(); 3]);
    assert_eq!(Hands::deal(state(), &three, false, never).unwrap_err().kind(), ErrorKind::Internal);
    assert_eq!(to_take_up(vec![State::default(), state()], false).unwrap(), [state()]);
    assert_eq!(to_take_up(vec![state(), state()], false).unwrap_err().kind(), ErrorKind::Data);
    assert_eq!(to_take_up(vec![state(), state()], true).unwrap().len(), 2);
}

#[test]
fn what_nobody_deals_is_refused() {
    let error = Hands::deal(state(), &Dealer::to_key_groups(), true, |_, _| Ok(())).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Data, "the section 'numbers 0' of the state is not known here")
    );
}
