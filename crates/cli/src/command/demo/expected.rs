//! How much of an open minute is still to come, judged by how the minutes before it filled up.
//!
//! While a minute is open, how many orders it has is noted with how far the watermark is in it. When it is complete
//! those numbers become shares of its final number. An open minute is taken to be as full as those were at the same
//! point: the mean, and the least and the most that was seen. No knowledge of the generator is in it.

use std::collections::{BTreeMap, VecDeque};

/// How many complete minutes are remembered.
const REMEMBERED: usize = 20;

/// With fewer than these nothing is said.
const ENOUGH: usize = 3;

/// The share of a minute's orders that has been seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Seen {
    pub(super) mean: f64,
    pub(super) least: f64,
    pub(super) most: f64,
    /// How many minutes say so.
    pub(super) minutes: usize,
}

/// The minutes that are open, and those that were.
#[derive(Debug, Clone, Default)]
pub(super) struct Expected {
    /// By end: how far the watermark was in the minute (milliseconds), and the orders.
    open: BTreeMap<i64, Vec<(i64, i64)>>,
    /// The same as shares, the latest last.
    complete: VecDeque<Vec<(i64, f64)>>,
}

impl Expected {
    /// An open minute has so many orders when the watermark is so far in it.
    pub(super) fn observe(&mut self, end_ms: i64, position_ms: i64, orders: i64) {
        let minute = self.open.entry(end_ms).or_default();
        if minute.last() != Some(&(position_ms, orders)) {
            minute.push((position_ms, orders));
        }
    }

    /// Every minute that ends by then is complete, with the orders that `orders` knows.
    pub(super) fn finish(&mut self, complete_ms: i64, orders: impl Fn(i64) -> Option<i64>) {
        while let Some(minute) = self.open.first_entry().filter(|minute| *minute.key() <= complete_ms) {
            let (end_ms, noted) = minute.remove_entry();
            // Of a minute without an order there are no shares.
            let Some(total) = orders(end_ms).filter(|&total| total > 0) else { continue };
            let shares = noted.into_iter().map(|(position_ms, orders)| (position_ms, orders as f64 / total as f64));
            self.complete.push_back(shares.collect());
            if self.complete.len() > REMEMBERED {
                self.complete.pop_front();
            }
        }
    }

    /// What share of its orders a minute has when the watermark is so far in it; `None`: too little is known.
    pub(super) fn seen_at(&self, position_ms: i64) -> Option<Seen> {
        let at = |minute: &Vec<(i64, f64)>| {
            let until = minute.partition_point(|&(position, _)| position <= position_ms);
            minute[..until].last().map(|&(_, share)| share)
        };
        let shares: Vec<f64> = self.complete.iter().filter_map(at).collect();
        let minutes = shares.len();
        (minutes >= ENOUGH).then(|| Seen {
            mean: shares.iter().sum::<f64>() / minutes as f64,
            least: shares.iter().copied().fold(f64::INFINITY, f64::min),
            most: shares.iter().copied().fold(0.0, f64::max),
            minutes,
        })
    }
}

#[cfg(test)]
mod tests;
