//! When elements are to be forgotten.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Times with places, to be taken out in the order of the times. Most come in that order: they wait in a queue, which costs
/// little, and only the others in a heap.
#[derive(Default)]
pub(super) struct Due {
    in_order: VecDeque<(i64, u32)>,
    others: BinaryHeap<Reverse<(i64, u32)>>,
}

impl Due {
    pub(super) fn push(&mut self, time: i64, place: u32) {
        match self.in_order.back() {
            Some((last, _)) if *last > time => self.others.push(Reverse((time, place))),
            _ => self.in_order.push_back((time, place)),
        }
    }

    /// Takes out the first, if its time is not after `until`.
    pub(super) fn pop(&mut self, until: i64) -> Option<(i64, u32)> {
        let in_order = self.in_order.front().copied().filter(|(time, _)| *time <= until);
        let other = self.others.peek().map(|Reverse(other)| *other).filter(|(time, _)| *time <= until);
        match (in_order, other) {
            (Some(in_order), Some(other)) if other.0 < in_order.0 => {
                self.others.pop();
                Some(other)
            }
            (Some(in_order), _) => {
                self.in_order.pop_front();
                Some(in_order)
            }
            (None, other) => {
                if other.is_some() {
                    self.others.pop();
                }
                other
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_out_in_order_and_no_sooner_than_they_are_due() {
        let mut due = Due::default();
        let times: Vec<i64> = (0..500).map(|n| (n * 7919) % 101 + n / 5).collect();
        times.iter().enumerate().for_each(|(place, time)| due.push(*time, place as u32));
        let mut found = vec![];
        for until in [-1, 20, 20, 90, i64::MAX] {
            while let Some((time, place)) = due.pop(until) {
                assert!(time <= until);
                assert_eq!(times[place as usize], time);
                found.push(time);
            }
            let left = times.iter().filter(|time| **time > until).count();
            assert_eq!(found.len(), times.len() - left);
        }
        assert!(found.is_sorted());
    }
}
