//! What the snapshots of groups hold: the partial states of each, in pages. A result is made again of them when its group
//! changes: most of a large state does not for long, and a job is to go on at once.

use std::sync::Arc;

use arrow::compute::concat_batches;
use tidemill_core::{Error, Result};
use tidemill_state::{Section, State, StateChanges};

use super::GroupAggregate;
use crate::operator::fitting;
use crate::operator::hands::{Hands, to_take_up};
use crate::operator::pages::{PageChange, Pages};

/// By page: groups with their partial states.
const GROUPS: &str = "groups";
/// Is there if the result of no rows was told.
const NONE: &str = "none";

/// What has changed since the last snapshot.
#[derive(Debug, Default)]
pub(super) struct Unsaved {
    pages: Pages,
    /// Whether the last snapshot has the result of no rows.
    none: bool,
}

impl Unsaved {
    pub(super) fn touch(&mut self, groups: &[usize]) {
        groups.iter().for_each(|&group| self.pages.touch(group));
    }
}

impl GroupAggregate {
    pub(super) fn save(&mut self, changes: &mut StateChanges) -> Result<()> {
        let count = self.states.len();
        let pages = self.unsaved.pages.take(count, |groups| groups.len());
        let groups_of = |(page, change): (&usize, &PageChange)| match change {
            PageChange::Append(groups) => groups.clone(),
            PageChange::Anew => Pages::slots(*page, count).collect(),
        };
        let groups: Vec<Vec<usize>> = pages.iter().map(groups_of).collect();
        // All at once: to take rows out of many batches costs a look at each.
        let rows = self.states.get(&groups.concat())?;
        let mut start = 0;
        for ((page, change), groups) in pages.into_iter().zip(groups) {
            let section = Section::new(GROUPS, page as i64);
            let of_page = rows.slice(start, groups.len());
            start += groups.len();
            match change {
                PageChange::Append(_) => changes.append(section, of_page),
                PageChange::Anew => changes.replace(section, vec![of_page]),
            }
        }
        let none = count == 0 && self.results.is_set(0);
        if none && !self.unsaved.none {
            changes.replace_numbers(NONE, [0])?;
            self.unsaved.none = true;
        }
        if count > 0 && self.unsaved.none {
            changes.remove(NONE);
            self.unsaved.none = false;
        }
        Ok(())
    }

    pub(super) fn load(&mut self, mut state: State) -> Result<()> {
        self.load_groups(&mut state)?;
        if !state.take_numbers(NONE)?.is_empty() {
            self.unsaved.none = true;
            // Earlier versions did not take it away when rows had come.
            if !self.states.is_set(0) {
                self.results.set(&[0], self.results_of_none()?)?;
            }
        }
        state.finish()
    }

    /// Takes up groups that come behind those that there are.
    fn load_groups(&mut self, state: &mut State) -> Result<()> {
        let first = self.states.len();
        for (number, batches) in state.take_all(GROUPS)? {
            // Groups are numbered as they come, here as before; the last row of each counts.
            let rows = concat_batches(&self.partials, &fitting(GROUPS, batches, &self.partials)?)?;
            let groups = self.groups_of(&rows)?;
            for &group in &groups {
                if group.checked_sub(first).is_none_or(|own| Pages::page_of(own) as i64 != number) {
                    let section = Section::new(GROUPS, number);
                    return Err(Error::data(format!("the section '{section}' of the state holds group {group}")));
                }
            }
            self.unsaved.pages.restore(number as usize, groups.len());
            self.states.set(&groups, rows)?;
        }
        Ok(())
    }

    /// Takes up the states of several as a new one would have it: no snapshot has any of it.
    pub(super) fn load_anew(&mut self, states: Vec<State>) -> Result<()> {
        let mut states = to_take_up(states, self.keys.is_some())?;
        match self.keys {
            None => states.into_iter().try_for_each(|state| self.load(state))?,
            Some(_) => {
                states.iter_mut().try_for_each(|state| self.load_groups(state))?;
                states.into_iter().try_for_each(State::finish)?;
            }
        }
        self.unsaved = Unsaved::default();
        Ok(())
    }

    pub(super) fn deal_groups(&self, state: &mut State, hands: &mut Hands<'_>) -> Result<()> {
        // The number of a group is nowhere but in a table that they come to in their order.
        let mut table = Self::new(self.aggregation.clone(), Arc::clone(&self.input))?;
        table.load_groups(state)?;
        let rows = table.states.get(&(0..table.states.len()).collect::<Vec<_>>())?;
        let key = &rows.columns()[..self.aggregation.groups.len()];
        hands.give_tables(GROUPS, hands.dealer().deal(&rows, key)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
