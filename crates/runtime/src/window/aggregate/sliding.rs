//! Overlapping windows that fire one after the other, each at the cost of its groups, not of its panes.
//!
//! ```text
//! panes      a   b   c   d │ e   f            window [b, f]: suffix bcd + prefix ef
//! suffixes  abcd bcd cd  d │
//! prefix                   │ ef
//! ```
//!
//! Two stacks: the suffixes up to a boundary are merged once, the panes behind it are merged into one
//! prefix as they come, and a window is one suffix and the prefix. When a window starts behind the
//! boundary, its panes become the suffixes. So a pane is merged three times, however many windows
//! hold it. Rows that are late for some windows are no part of this: they are merged apart.

use std::collections::BTreeMap;

use arrow::array::ArrayRef;
use tidemill_core::Result;

use super::{Pane, WindowAggregate};
use crate::aggregate::Table;
use crate::window::Window;

/// Suffixes are made where they spare at least so many merges for one.
const MIN_SPARED: usize = 6;

/// How many rows of partial states all suffixes may have: more would cost memory for time.
const MAX_SUFFIX_ROWS: usize = 1 << 20;

/// Merged partial states: group columns, then states.
#[derive(Debug, Clone, Default)]
pub(super) struct States {
    columns: Vec<ArrayRef>,
    rows: usize,
}

/// Panes that are merged already.
#[derive(Debug, Default)]
pub(super) struct Sliding {
    /// By their first pane, the shortest first.
    suffixes: Vec<(i64, States)>,
    /// The suffixes end here, and the prefix begins; `None` before there were any.
    boundary_ms: Option<i64>,
    prefix: States,
    prefix_end_ms: i64,
}

impl Sliding {
    /// Whether the window's panes up to the boundary are a suffix.
    fn covers(&self, window: Window) -> bool {
        self.boundary_ms.is_some_and(|boundary_ms| window.start_ms <= boundary_ms)
    }
}

impl WindowAggregate {
    /// The window's results, when it fires: no row that is in time for its first window follows.
    pub(super) fn final_results(&mut self, window: Window) -> Result<Table> {
        let mut sliding = match self.sliding.take() {
            Some(sliding) if sliding.covers(window) => sliding,
            _ if self.spares_merges(window) => self.suffixes(window)?,
            _ => {
                let table = self.merged(window)?;
                self.last_groups = table.len();
                return Ok(table);
            }
        };
        self.slide(&mut sliding, window)?;
        let mut table = self.table()?;
        self.merge(&mut table, &sliding.prefix)?;
        if let Some((_, suffix)) = sliding.suffixes.last() {
            self.merge(&mut table, suffix)?;
        }
        for (pane_ms, pane) in self.stragglers.range(window.start_ms..window.end_ms).filter_map(|p| self.pane(*p)) {
            let first_end_ms = self.spec.assigner.pane_end(pane_ms);
            self.merge_parts(&mut table, pane, |opens_at| opens_at > first_end_ms && opens_at <= window.end_ms)?;
        }
        self.last_groups = table.len();
        self.sliding = Some(sliding);
        Ok(table)
    }

    /// Whether the window's panes have many times the rows that it has groups, going by the last window.
    fn spares_merges(&self, window: Window) -> bool {
        if !self.spec.assigner.overlapping() || self.spec.lateness_ms > 0 || self.last_groups == 0 {
            return false;
        }
        let panes = self.panes.range(window.start_ms..window.end_ms);
        let (count, rows) = panes.fold((0, 0), |(count, rows), (_, pane)| (count + 1, rows + pane.rows));
        rows >= MIN_SPARED * self.last_groups && count * self.last_groups <= MAX_SUFFIX_ROWS
    }

    /// The suffixes of the window's panes.
    fn suffixes(&self, window: Window) -> Result<Sliding> {
        let mut sliding =
            Sliding { boundary_ms: Some(window.end_ms), prefix_end_ms: window.end_ms, ..Sliding::default() };
        let mut suffix = States::default();
        for (&pane_ms, pane) in self.panes.range(window.start_ms..window.end_ms).rev() {
            let mut table = self.table()?;
            self.merge(&mut table, &suffix)?;
            self.merge_on_time(&mut table, pane_ms, pane)?;
            suffix = states(&mut table)?;
            sliding.suffixes.push((pane_ms, suffix.clone()));
        }
        Ok(sliding)
    }

    /// Drops suffixes with panes before the window, and takes the panes that it has new into the prefix.
    fn slide(&self, sliding: &mut Sliding, window: Window) -> Result<()> {
        while sliding.suffixes.last().is_some_and(|(pane_ms, _)| *pane_ms < window.start_ms) {
            sliding.suffixes.pop();
        }
        let new: &BTreeMap<i64, Pane> = &self.panes;
        let mut new = new.range(sliding.prefix_end_ms..window.end_ms).peekable();
        sliding.prefix_end_ms = window.end_ms;
        if new.peek().is_none() {
            return Ok(());
        }
        let mut table = self.table()?;
        self.merge(&mut table, &sliding.prefix)?;
        for (&pane_ms, pane) in new {
            self.merge_on_time(&mut table, pane_ms, pane)?;
        }
        sliding.prefix = states(&mut table)?;
        Ok(())
    }

    fn merge_on_time(&self, table: &mut Table, pane_ms: i64, pane: &Pane) -> Result<()> {
        let first_end_ms = self.spec.assigner.pane_end(pane_ms);
        self.merge_parts(table, pane, |opens_at| opens_at <= first_end_ms)
    }

    fn merge(&self, table: &mut Table, states: &States) -> Result<()> {
        if states.rows == 0 {
            return Ok(());
        }
        let (key, states_of) = states.columns.split_at(self.spec.aggregation.groups.len());
        table.merge(key, states_of, states.rows)
    }

    fn pane(&self, pane_ms: i64) -> Option<(i64, &Pane)> {
        self.panes.get(&pane_ms).map(|pane| (pane_ms, pane))
    }
}

fn states(table: &mut Table) -> Result<States> {
    let rows = table.len();
    Ok(States { rows, columns: if rows > 0 { table.states()? } else { vec![] } })
}
