//! What a window aggregate's snapshots hold: the parts of each pane, and what was told.
//!
//! A pane is a section that grows as the pane does, by parts that are shared, not copied. Where the pane is compacted,
//! its section is written anew, which by then saves as much as it costs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use tidemill_core::{Error, Result};
use tidemill_state::{Section, State, StateChanges};

use super::dealt::Left;
use super::{Pane, WindowAggregate, weight};
use crate::operator::fitting;
use crate::operator::noted::Noted;
use crate::window::Window;

/// By its start: the partial states of a pane.
pub(super) const PANE: &str = "pane";
/// By its end: what a window has told last.
pub(super) const TOLD: &str = "told";
/// Windows that end at this or earlier have fired.
pub(super) const FIRED: &str = "fired";
/// Starts and ends of windows that have something to tell.
pub(super) const DIRTY: &str = "dirty";

/// What has changed since the last snapshot.
#[derive(Debug, Default)]
pub(super) struct Unsaved {
    /// Panes that have got parts, or are gone.
    pub(super) panes: Noted<i64>,
    /// Windows whose last results have changed, or are gone.
    pub(super) told: Noted<i64>,
    /// As the last snapshot has them.
    fired_ms: Option<i64>,
    dirty: BTreeSet<Window>,
}

impl WindowAggregate {
    pub(super) fn save(&mut self, changes: &mut StateChanges) -> Result<()> {
        for pane_ms in self.unsaved.panes.take(self.panes.keys().copied()) {
            self.save_pane(pane_ms, changes);
        }
        for end_ms in self.unsaved.told.take(self.told.keys().copied()) {
            let section = Section::new(TOLD, end_ms);
            match self.told.get(&end_ms) {
                Some(results) => changes.replace(section, vec![results.clone()]),
                None => changes.remove(section),
            }
        }
        if self.unsaved.fired_ms != Some(self.fired_ms) {
            changes.replace_numbers(FIRED, [self.fired_ms])?;
            self.unsaved.fired_ms = Some(self.fired_ms);
        }
        if self.unsaved.dirty != self.dirty {
            changes.replace_numbers(DIRTY, self.dirty.iter().flat_map(|window| [window.start_ms, window.end_ms]))?;
            self.unsaved.dirty.clone_from(&self.dirty);
        }
        Ok(())
    }

    fn save_pane(&mut self, pane_ms: i64, changes: &mut StateChanges) {
        let section = Section::new(PANE, pane_ms);
        match self.panes.get_mut(&pane_ms) {
            None => changes.remove(section),
            Some(Pane { parts, saved_parts: saved @ 0, .. }) => {
                changes.replace(section, parts.clone());
                *saved = parts.len();
            }
            Some(Pane { parts, saved_parts: saved, .. }) => {
                parts[*saved..].iter().for_each(|part| changes.append(section.clone(), part.clone()));
                *saved = parts.len();
            }
        }
    }

    pub(super) fn load(&mut self, state: State) -> Result<()> {
        self.load_all(vec![state])?;
        self.panes.values_mut().for_each(|pane| pane.saved_parts = pane.parts.len());
        self.unsaved.panes.begin();
        self.unsaved.told.begin();
        self.unsaved.fired_ms = Some(self.fired_ms);
        self.unsaved.dirty.clone_from(&self.dirty);
        Ok(())
    }

    /// Takes up states of different groups. Nothing is noted of what snapshots have.
    pub(super) fn load_all(&mut self, states: Vec<State>) -> Result<()> {
        let mut left = vec![];
        let mut told: BTreeMap<i64, Vec<RecordBatch>> = BTreeMap::new();
        for mut state in states {
            let mut own = Left::new(&mut state)?;
            self.load_panes(&mut state, &mut own)?;
            for (end_ms, results) in state.take_all(TOLD)? {
                own.told.insert(end_ms);
                told.entry(end_ms).or_default().extend(fitting(TOLD, results, &self.schema)?);
            }
            own.dirty = dirty(&mut state)?;
            self.dirty.extend(&own.dirty);
            state.finish()?;
            left.push(own);
        }
        for (end_ms, results) in told {
            self.told.insert(end_ms, concat_batches(&self.schema, &results)?);
        }
        self.fired_ms = left.iter().map(|left| left.fired_ms).max().unwrap_or(self.fired_ms);
        self.dirty.extend(self.unfired(&left)?);
        let now = Instant::now();
        for window in self.dirty.clone() {
            self.arm(window, now);
        }
        Ok(())
    }

    fn load_panes(&mut self, state: &mut State, left: &mut Left) -> Result<()> {
        for (pane_ms, parts) in state.take_all(PANE)? {
            let parts = fitting(PANE, parts, &self.partials)?;
            parts.iter().for_each(|part| self.mark_stragglers(pane_ms, part));
            left.panes.insert(pane_ms, self.first_end(pane_ms, &parts));
            let pane = self.panes.entry(pane_ms).or_default();
            pane.rows += parts.iter().map(|part| part.num_rows()).sum::<usize>();
            pane.weight += parts.iter().map(weight).sum::<usize>();
            // What of it compacting would leave is not known.
            pane.compacted_weight = pane.weight / 2;
            pane.parts.extend(parts);
        }
        Ok(())
    }
}

/// The windows that have something to tell.
pub(super) fn dirty(state: &mut State) -> Result<BTreeSet<Window>> {
    let dirty = state.take_numbers(DIRTY)?;
    let (bounds, &[]) = dirty.as_chunks() else {
        return Err(Error::data(format!("the section '{DIRTY}' of the state holds a start without an end")));
    };
    Ok(bounds.iter().map(|&[start_ms, end_ms]| Window { start_ms, end_ms }).collect())
}

#[cfg(test)]
mod tests;
