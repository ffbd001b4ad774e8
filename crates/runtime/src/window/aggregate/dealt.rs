//! The state of a window aggregate, dealt out anew by the groups of its rows.
//!
//! All that have left a state have had the same watermark, so a window that has fired for one has for all which had rows
//! in it: what is left to do for those where it has not is to tell what rows that came since would change. Only where
//! key groups wait for memory can one be behind.

use std::collections::{BTreeMap, BTreeSet};

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::Int64Type;
use tidemill_core::{Error, Result};
use tidemill_state::{Section, State};

use super::WindowAggregate;
use super::snapshot::{DIRTY, FIRED, PANE, TOLD, Unsaved, dirty};
use crate::operator::fitting;
use crate::operator::hands::{Hands, to_take_up};
use crate::window::{Window, WindowAssigner};

/// What one of several has left.
pub(super) struct Left {
    pub(super) fired_ms: i64,
    /// Its panes, each with the end of the first window that a row of it is in time for.
    pub(super) panes: BTreeMap<i64, i64>,
    /// The ends of windows of which it knows what they have told.
    pub(super) told: BTreeSet<i64>,
    /// Windows that have got rows since they last told something.
    pub(super) dirty: BTreeSet<Window>,
}

impl Left {
    pub(super) fn new(state: &mut State) -> Result<Self> {
        let fired_ms = state.take_numbers(FIRED)?.first().copied().unwrap_or(i64::MIN);
        Ok(Self { fired_ms, panes: BTreeMap::new(), told: BTreeSet::new(), dirty: BTreeSet::new() })
    }

    /// The windows up to that end that hold rows and have not fired.
    fn unfired(&self, assigner: WindowAssigner, last_ms: i64) -> impl Iterator<Item = Window> {
        let fired_ms = self.fired_ms;
        let next = move |pane_ms, after_ms| {
            assigner.next_window(pane_ms, after_ms).filter(|window: &Window| window.end_ms <= last_ms)
        };
        let of_pane = move |(&pane_ms, &first_end_ms): (&i64, &i64)| {
            let first = next(pane_ms, fired_ms.max(first_end_ms - 1));
            std::iter::successors(first, move |window| next(pane_ms, window.end_ms))
        };
        self.panes.iter().flat_map(of_pane)
    }

    /// Whether it holds rows of a window that has told results, which nobody knows any more. What is dirty and has told
    /// nothing has got its first rows only now.
    fn has_forgotten(&self, window: Window) -> bool {
        let mut panes = self.panes.range(window.start_ms..window.end_ms);
        window.end_ms <= self.fired_ms
            && !self.told.contains(&window.end_ms)
            && !self.dirty.contains(&window)
            && panes.any(|(_, &first_end_ms)| first_end_ms <= window.end_ms)
    }
}

impl WindowAggregate {
    pub(super) fn deal_panes(&self, state: &mut State, hands: &mut Hands<'_>) -> Result<()> {
        let groups = self.spec.aggregation.groups.len();
        let mut panes = vec![BTreeSet::new(); hands.dealer().parts()];
        for (pane_ms, parts) in state.take_all(PANE)? {
            let rows = concat_batches(&self.partials, &fitting(PANE, parts, &self.partials)?)?;
            let key = &rows.columns()[self.prefix..self.prefix + groups];
            for part in hands.by_key(&Section::new(PANE, pane_ms), &rows, key)? {
                panes[part].insert(pane_ms);
            }
        }
        for (end_ms, results) in state.take_all(TOLD)? {
            let rows = concat_batches(&self.schema, &fitting(TOLD, results, &self.schema)?)?;
            hands.by_key(&Section::new(TOLD, end_ms), &rows, &rows.columns()[3..3 + groups])?;
        }
        let (fired, dirty) = (state.take_numbers(FIRED)?, dirty(state)?);
        for (part, panes) in panes.iter().enumerate() {
            hands.give_numbers(part, FIRED, fired.iter().copied())?;
            let holds_rows = |window: &&Window| panes.range(window.start_ms..window.end_ms).next().is_some();
            let dirty = dirty.iter().filter(holds_rows).flat_map(|window| [window.start_ms, window.end_ms]);
            hands.give_numbers(part, DIRTY, dirty)?;
        }
        Ok(())
    }

    /// Takes up the states of several as a new one would have it: no snapshot has any of it.
    pub(super) fn load_anew(&mut self, states: Vec<State>) -> Result<()> {
        self.load_all(to_take_up(states, !self.spec.aggregation.groups.is_empty())?)?;
        self.unsaved = Unsaved::default();
        Ok(())
    }

    /// The end of the first window that a row of the pane is in time for.
    pub(super) fn first_end(&self, pane_ms: i64, parts: &[RecordBatch]) -> i64 {
        let first_end_ms = self.spec.assigner.pane_end(pane_ms);
        match self.spec.assigner.overlapping() {
            false => first_end_ms,
            true => {
                let opens_at = parts.iter().flat_map(|part| part.column(1).as_primitive::<Int64Type>().values());
                opens_at.copied().min().map_or(first_end_ms, |opens_at| opens_at.max(first_end_ms))
            }
        }
    }

    /// The windows that have fired, but not for all groups: they have something to tell of the others.
    ///
    /// # Errors
    /// `Data` if what they have told is not known, so what is new of it can't be.
    pub(super) fn unfired(&self, left: &[Left]) -> Result<BTreeSet<Window>> {
        let unfired = left.iter().flat_map(|left| left.unfired(self.spec.assigner, self.fired_ms));
        let unfired: BTreeSet<Window> = unfired.collect();
        let is_behind =
            |window: &&Window| self.spec.lateness_ms == 0 || left.iter().any(|left| left.has_forgotten(**window));
        match unfired.iter().find(is_behind) {
            None => Ok(unfired),
            Some(window) => Err(Error::data(format!(
                "the window that ends at {} ms has told its results for some keys, while others wait for memory",
                window.end_ms
            ))
            .hint("restore it with the memory limit that it had, or take it again once nothing waits for memory")),
        }
    }
}
