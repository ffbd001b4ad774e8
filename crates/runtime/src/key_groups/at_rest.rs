//! State that is kept by key group, while no operator has it: key groups move from subtask to subtask as they are.

use tidemill_core::{Error, Result};
use tidemill_state::State;

use crate::exchange::KEY_GROUPS;

/// The state of each key group that has some, by number, out of one that is kept by key group.
///
/// # Errors
/// `Data` if it is kept otherwise.
pub fn apart(mut state: State) -> Result<Vec<(usize, State)>> {
    let groups = (0..KEY_GROUPS).map(|number| (number, state.take_under(&prefix(number))));
    let groups = groups.filter(|(_, own)| !own.is_empty()).collect();
    state.finish()?;
    Ok(groups)
}

/// The state that is kept by key group and has these, each of which comes once.
#[must_use]
pub fn together(groups: Vec<(usize, State)>) -> State {
    let mut state = State::default();
    for (number, own) in groups {
        state.apply(own.changes().under(&prefix(number)));
    }
    state
}

/// The key groups of states that are kept so, of which each has others.
///
/// # Errors
/// `Data` if two have the same, or a state is kept otherwise.
pub(super) fn all_of(states: Vec<State>) -> Result<Vec<(usize, State)>> {
    let mut groups = vec![];
    for state in states {
        groups.extend(apart(state)?);
    }
    groups.sort_by_key(|(number, _)| *number);
    match groups.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        None => Ok(groups),
        Some(pair) => Err(Error::data(format!("two states hold the key group {}", pair[0].0))),
    }
}

/// The name under which a group's state is told.
pub(super) fn prefix(number: usize) -> String {
    format!("{number:03}")
}

#[cfg(test)]
mod tests;
