//! Which parts of a stage take much longer than the others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A part of a stage that takes much longer than the others did: it may have most of the data, or a slow place to read
/// from. It is told once, and left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Straggler {
    /// What the stage does.
    pub task: Arc<str>,
    /// The part, from 0.
    pub part: usize,
    /// How long it had been running when that was told.
    pub running: Duration,
    /// How long the parts that are done took, in the middle.
    pub median: Duration,
}

/// How many times as long as the median one has run that is told.
const TIMES: u32 = 3;

/// What is over sooner is of no interest.
const LEAST: Duration = Duration::from_secs(1);

/// The parts of one stage.
#[derive(Debug, Default)]
pub(super) struct Stragglers {
    running: BTreeMap<usize, Instant>,
    took: Vec<Duration>,
    told: BTreeSet<usize>,
}

impl Stragglers {
    pub(super) fn begun(&mut self, part: usize, now: Instant) {
        self.running.insert(part, now);
    }

    /// The part is done, or has failed.
    pub(super) fn ended(&mut self, part: usize, well: bool, now: Instant) {
        if let Some(begun) = self.running.remove(&part)
            && well
        {
            self.took.push(now - begun);
        }
    }

    /// Those that are new. Of `parts` three quarters must be done, so that there is something to compare with.
    pub(super) fn look(&mut self, task: &Arc<str>, parts: usize, now: Instant) -> Vec<Straggler> {
        if self.took.is_empty() || self.took.len() * 4 < parts * 3 {
            return vec![];
        }
        self.took.sort_unstable();
        let median = self.took[self.took.len() / 2];
        let limit = (median * TIMES).max(LEAST);
        let slow = self.running.iter().map(|(&part, &begun)| (part, now - begun));
        let slow: Vec<_> = slow.filter(|(part, running)| *running > limit && !self.told.contains(part)).collect();
        self.told.extend(slow.iter().map(|(part, _)| *part));
        slow.into_iter().map(|(part, running)| Straggler { task: Arc::clone(task), part, running, median }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_takes_three_times_as_long_is_told_once() {
        let (task, begun) = (Arc::from("count"), Instant::now());
        let after = |seconds| begun + Duration::from_secs(seconds);
        let mut stragglers = Stragglers::default();
        (0..4).for_each(|part| stragglers.begun(part, begun));
        stragglers.ended(0, true, after(2));
        stragglers.ended(1, true, after(2));
        assert_eq!(stragglers.look(&task, 4, after(100)), [], "half of them is too few to compare with");
        stragglers.ended(2, true, after(2));
        assert_eq!(stragglers.look(&task, 4, after(6)), [], "it has run three times as long, and not longer");
        let (running, median) = (Duration::from_secs(7), Duration::from_secs(2));
        let told = Straggler { task: Arc::clone(&task), part: 3, running, median };
        assert_eq!(stragglers.look(&task, 4, after(7)), [told]);
        assert_eq!(stragglers.look(&task, 4, after(9)), []);
    }

    #[test]
    fn one_that_failed_is_no_measure_and_short_ones_are_not_told() {
        let (task, begun) = (Arc::from("count"), Instant::now());
        let mut stragglers = Stragglers::default();
        (0..2).for_each(|part| stragglers.begun(part, begun));
        stragglers.ended(0, false, begun);
        assert_eq!(stragglers.look(&task, 1, begun + Duration::from_secs(50)), []);
        stragglers.begun(0, begun);
        stragglers.ended(0, true, begun + Duration::from_millis(1));
        assert_eq!(stragglers.look(&task, 1, begun + Duration::from_millis(900)), []);
    }
}
