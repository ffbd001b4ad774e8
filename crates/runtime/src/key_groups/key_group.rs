//! One key group's operator, in memory or spilled.

use tidemill_core::{Error, EventBatch, Result, Watermark};
use tidemill_state::{State, StateChanges};

use super::inbox::Inbox;
use crate::graph::MakeOperator;
use crate::operator::{Operator, Output};

/// What a key group has.
pub(super) struct KeyGroup {
    /// `None` if it is spilled, or was never used.
    pub(super) operator: Option<Box<dyn Operator>>,
    /// What of it is spilled. While it is in memory, what was when it was last spilled or snapshot.
    pub(super) state: State,
    /// Rows that wait.
    pub(super) inbox: Inbox,
    /// The watermark that it has got.
    pub(super) watermark: Watermark,
    /// What has been spilled since the last snapshot.
    pub(super) untold: StateChanges,
    /// When it came into memory, or had its last turn: a number that grows.
    pub(super) since: u64,
}

impl KeyGroup {
    pub(super) fn unused() -> Self {
        Self {
            operator: None,
            state: State::default(),
            inbox: Inbox::default(),
            watermark: Watermark::MIN,
            untold: StateChanges::default(),
            since: 0,
        }
    }

    pub(super) fn is_spilled(&self) -> bool {
        self.operator.is_none() && !(self.state.is_empty() && self.inbox.is_empty())
    }

    /// Whether it was never given anything, or nothing is left of that.
    pub(super) fn is_unused(&self) -> bool {
        self.operator.is_none() && self.state.is_empty() && self.inbox.is_empty()
    }

    /// How much memory it will take, as far as one can tell: tables have slack, and are read before they are filled.
    pub(super) fn needed_bytes(&self) -> u64 {
        3 * (self.state.bytes() + self.inbox.bytes())
    }

    /// Brings it into memory, and lets it have what waits.
    pub(super) fn load(&mut self, make: &MakeOperator, out: &mut Output) -> Result<()> {
        let mut operator = make()?;
        match self.state.is_empty() {
            false => operator.restore(self.state.clone()).map_err(|e| e.context(operator.describe()))?,
            // As one that was there all the time.
            true if self.watermark > Watermark::MIN => operator.on_watermark(self.watermark, out)?,
            true => {}
        }
        self.operator = Some(operator);
        loop {
            let batches = self.inbox.pop()?;
            if batches.is_empty() {
                return Ok(());
            }
            for (before, batch) in batches {
                self.reach(before, out)?;
                self.take(batch, out)?;
            }
        }
    }

    /// Gives it rows; it is in memory.
    pub(super) fn take(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        let operator = self.operator.as_mut().ok_or_else(|| Error::internal("a key group is not in memory"))?;
        operator.on_batch(batch, out)
    }

    /// Gives it a watermark, if that is news, and lets it finish; it is in memory.
    pub(super) fn reach(&mut self, watermark: Watermark, out: &mut Output) -> Result<()> {
        while self.watermark < watermark {
            self.step(watermark, out)?;
        }
        Ok(())
    }

    /// Lets it emit a part of what a watermark completes. Then either all is, and it has the watermark, or it has not.
    pub(super) fn step(&mut self, watermark: Watermark, out: &mut Output) -> Result<()> {
        let operator = self.operator.as_mut().ok_or_else(|| Error::internal("a key group is not in memory"))?;
        operator.on_watermark(watermark, out)?;
        if !operator.unfinished() {
            self.watermark = watermark;
        }
        Ok(())
    }
}
