//! The states that one state is dealt into, while that is done.

use arrow::array::{ArrayRef, RecordBatch};
use tidemill_core::{Error, Result};
use tidemill_state::{Section, State, StateChanges};

use super::Dealer;
use super::pages::Pages;

/// What each part has got so far.
pub(crate) struct Hands<'a> {
    dealer: &'a Dealer,
    changes: Vec<StateChanges>,
}

impl<'a> Hands<'a> {
    /// Has `deal` deal the state of an operator, unless it is all for one part. `keyed`: whether there is a key to deal
    /// it by.
    ///
    /// # Errors
    /// `Data` if `deal` leaves something of it, `Internal` if there is no key.
    pub(crate) fn deal(
        mut state: State,
        dealer: &'a Dealer,
        keyed: bool,
        deal: impl FnOnce(&mut State, &mut Self) -> Result<()>,
    ) -> Result<Vec<State>> {
        if dealer.parts() == 1 {
            return Ok(vec![state]);
        }
        let mut hands = Self { dealer, changes: vec![StateChanges::default(); dealer.parts()] };
        if !state.is_empty() {
            if !keyed {
                return Err(Error::internal("the state of an operator without a key is dealt to more than one"));
            }
            deal(&mut state, &mut hands)?;
        }
        state.finish()?;
        Ok(hands.changes.into_iter().map(made_of).collect())
    }

    pub(crate) fn dealer(&self) -> &Dealer {
        self.dealer
    }

    /// Deals the rows of a section by their key. Says which parts have got some.
    pub(crate) fn by_key(&mut self, section: &Section, rows: &RecordBatch, key: &[ArrayRef]) -> Result<Vec<usize>> {
        let dealt = self.dealer.deal(rows, key)?;
        let with_rows = (0..).zip(&dealt).filter(|(_, rows)| rows.num_rows() > 0).map(|(part, _)| part).collect();
        self.give(section, dealt);
        Ok(with_rows)
    }

    /// Gives each part its rows of a section, if it has some.
    pub(crate) fn give(&mut self, section: &Section, rows: Vec<RecordBatch>) {
        for (changes, rows) in self.changes.iter_mut().zip(rows) {
            changes.append(section.clone(), rows);
        }
    }

    /// Gives each part its rows of a table: one a slot, from the first.
    pub(crate) fn give_tables(&mut self, name: &'static str, tables: Vec<RecordBatch>) {
        for (changes, rows) in self.changes.iter_mut().zip(tables) {
            for page in 0..Pages::count(rows.num_rows()) {
                let slots = Pages::slots(page, rows.num_rows());
                changes.append(Section::new(name, page as i64), rows.slice(slots.start, slots.len()));
            }
        }
    }

    /// Gives a part numbers, if there are some.
    pub(crate) fn give_numbers(
        &mut self,
        part: usize,
        section: &'static str,
        numbers: impl IntoIterator<Item = i64>,
    ) -> Result<()> {
        let mut numbers = numbers.into_iter().peekable();
        match numbers.peek() {
            Some(_) => self.changes[part].replace_numbers(section, numbers),
            None => Ok(()),
        }
    }
}

/// The state that these changes make of nothing.
fn made_of(changes: StateChanges) -> State {
    let mut state = State::default();
    state.apply(changes);
    state
}

/// States that one operator can take up: several, where there is a key by which they differ.
///
/// # Errors
/// `Data` if there is none, and several.
pub(crate) fn to_take_up(mut states: Vec<State>, keyed: bool) -> Result<Vec<State>> {
    states.retain(|state| !state.is_empty());
    match keyed || states.len() <= 1 {
        true => Ok(states),
        false => Err(Error::data("several operators have left a state where there is no key to tell them apart by")),
    }
}

#[cfg(test)]
mod tests;
