//! Decides when an epoch may begin and when it is complete: a pure function of what subtasks report.

use tidemill_core::Epoch;

/// One epoch at a time is under way.
#[derive(Debug)]
pub(super) struct Epochs {
    begun: Epoch,
    under_way: bool,
    passed: Vec<bool>,
    ended: Vec<bool>,
}

impl Epochs {
    pub(super) fn new(subtasks: usize) -> Self {
        Self { begun: Epoch::default(), under_way: false, passed: vec![false; subtasks], ended: vec![false; subtasks] }
    }

    /// Begins the next epoch, unless one is under way or the input has begun to end: then the
    /// commit at the end of the run covers the rest.
    pub(super) fn begin(&mut self) -> Option<Epoch> {
        if self.under_way || self.ended.contains(&true) {
            return None;
        }
        self.begun = self.begun.next();
        self.under_way = true;
        self.passed.fill(false);
        Some(self.begun)
    }

    /// A subtask has passed the barrier. True when it was the last: the epoch is complete.
    ///
    /// A subtask that has ended without the barrier keeps the epoch from completing.
    pub(super) fn passed(&mut self, subtask: usize, epoch: Epoch) -> bool {
        debug_assert_eq!(epoch, self.begun, "one epoch is under way");
        self.passed[subtask] = true;
        let complete = self.passed.iter().all(|&passed| passed);
        self.under_way &= !complete;
        complete
    }

    /// A subtask has ended. True when it was the last: the run is complete.
    pub(super) fn ended(&mut self, subtask: usize) -> bool {
        self.ended[subtask] = true;
        self.ended.iter().all(|&ended| ended)
    }

    /// The number of the commit at the end of the run.
    pub(super) fn last(&self) -> Epoch {
        self.begun.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_is_complete_when_every_subtask_has_passed_it() {
        let mut epochs = Epochs::new(2);
        assert_eq!(epochs.begin(), Some(Epoch(1)));
        assert_eq!(epochs.begin(), None, "one at a time");
        assert!(!epochs.passed(1, Epoch(1)));
        assert!(epochs.passed(0, Epoch(1)));
        assert_eq!(epochs.begin(), Some(Epoch(2)));
    }

    #[test]
    fn no_epoch_begins_once_a_subtask_has_ended() {
        let mut epochs = Epochs::new(2);
        assert!(!epochs.ended(0));
        assert_eq!(epochs.begin(), None);
        assert!(epochs.ended(1));
        assert_eq!(epochs.last(), Epoch(1));
    }
}
