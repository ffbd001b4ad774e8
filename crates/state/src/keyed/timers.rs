//! Timers of one clock: which key wants to be called when.
//!
//! All are entries of the store, by key group in the order of their times. Of each group the next ones are at hand too:
//!
//! ```text
//! group 3   near: 10:00 a, 10:00 b, 10:05 a │ rest, in the store alone: 10:07 c ...
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

use tidemill_core::Result;

use super::layout::{self, HEAD_BYTES, StateId};
use super::store::Store;
use crate::backend::{Entry, KeyRange};

/// How many timers of a group are read at once.
const PAGE: usize = if cfg!(test) { 3 } else { 128 };

/// How many timers of a group are at hand at most.
const NEAR: usize = 4 * PAGE;

/// A time and a place, by which timers are in order.
type Position = (i64, Box<[u8]>);

/// A timer that has fired.
#[derive(Debug)]
pub(super) struct Fired {
    pub(super) place: Box<[u8]>,
    pub(super) time_ms: i64,
    /// The event time of the element that registered it, if that was later.
    pub(super) registered_ms: i64,
}

#[derive(Default)]
struct Group {
    /// The next timers, all up to the rest; and when they were registered.
    near: BTreeMap<Position, i64>,
    /// Where the timers begin that only the store has; `None`: there are none.
    rest: Option<Position>,
}

impl Group {
    fn next_ms(&self) -> Option<i64> {
        self.near.first_key_value().map(|(position, _)| position.0).or(self.rest.as_ref().map(|rest| rest.0))
    }
}

/// Whether there is no timer, and the time of the next one: so those that there are come first, at the last moment too.
type Next = (bool, i64);

const NONE: Next = (true, 0);

/// The timers of some key groups.
pub(super) struct Timers {
    state: StateId,
    first_group: usize,
    groups: Vec<Group>,
    /// By group, the time of its next timer: what is looked at most, side by side.
    next: Vec<Next>,
    /// The first of these.
    earliest: Next,
}

impl Timers {
    pub(super) fn new(state: StateId, groups: Range<usize>) -> Self {
        let first_group = groups.start;
        Self {
            state,
            first_group,
            next: vec![NONE; groups.len()],
            earliest: NONE,
            groups: groups.map(|_| Group::default()).collect(),
        }
    }

    pub(super) fn state(&self) -> StateId {
        self.state
    }

    /// The store may have timers of a group that nobody has told of.
    pub(super) fn restored(&mut self, group: u8) {
        let index = self.index(group);
        self.groups[index].near.clear();
        self.groups[index].rest = Some((i64::MIN, Box::default()));
        self.look(index);
    }

    fn index(&self, group: u8) -> usize {
        usize::from(group) - self.first_group
    }

    /// Registers a timer. One of the same key and time is the same timer.
    pub(super) fn register(
        &mut self,
        store: &mut Store,
        (group, place): (u8, &[u8]),
        time_ms: i64,
        registered_ms: i64,
    ) -> Result<()> {
        let late = registered_ms > time_ms;
        let value = if late { registered_ms.to_be_bytes().to_vec() } else { vec![] };
        store.put(layout::timer(group, self.state, time_ms, place), Some(Entry::new(value)))?;
        let index = self.index(group);
        let of_group = &mut self.groups[index];
        let position: Position = (time_ms, place.into());
        if of_group.rest.as_ref().is_none_or(|rest| position < *rest) {
            of_group.near.insert(position, if late { registered_ms } else { time_ms });
            if of_group.near.len() > NEAR {
                of_group.rest = of_group.near.pop_last().map(|(position, _)| position);
            }
        }
        self.look(index);
        Ok(())
    }

    /// Deletes a timer; nothing happens if there is none.
    pub(super) fn delete(&mut self, store: &mut Store, (group, place): (u8, &[u8]), time_ms: i64) -> Result<()> {
        store.put(layout::timer(group, self.state, time_ms, place), None)?;
        let index = self.index(group);
        self.groups[index].near.remove(&(time_ms, place.into()));
        self.look(index);
        Ok(())
    }

    /// When the next timer is due, at the earliest: one that was deleted since may have been meant. `None` if there is none.
    pub(super) fn next_ms(&self) -> Option<i64> {
        (self.earliest != NONE).then_some(self.earliest.1)
    }

    /// Takes out the first timer that is due at `now_ms`. In the order of their times, then of groups, then of places.
    pub(super) fn fire(&mut self, store: &mut Store, now_ms: i64) -> Result<Option<Fired>> {
        while self.earliest <= (false, now_ms) {
            let Some(index) = self.next.iter().position(|next| *next == self.earliest) else { break };
            let first = self.groups[index].near.pop_first();
            let Some(((time_ms, place), registered_ms)) = first else {
                self.read_on(store, index)?;
                continue;
            };
            self.look(index);
            let group = (self.first_group + index) as u8;
            store.put(layout::timer(group, self.state, time_ms, &place), None)?;
            return Ok(Some(Fired { place, time_ms, registered_ms }));
        }
        Ok(None)
    }

    /// Brings the next timers of a group to hand.
    fn read_on(&mut self, store: &mut Store, index: usize) -> Result<()> {
        let group = (self.first_group + index) as u8;
        let Some((time_ms, place)) = self.groups[index].rest.take() else { return Ok(()) };
        let end = KeyRange::prefix(&layout::head(group, self.state)).end;
        let range = KeyRange { start: layout::timer(group, self.state, time_ms, &place), end };
        let page = store.scan(&range, PAGE)?;
        for (key, entry) in &page.entries {
            let (time_ms, place) = layout::timer_of(&key[HEAD_BYTES..])?;
            let registered_ms = entry.value.as_slice().try_into().map_or(time_ms, i64::from_be_bytes);
            self.groups[index].near.insert((time_ms, place.into()), registered_ms);
        }
        if let Some(rest) = page.rest {
            let (time_ms, place) = layout::timer_of(&rest.start[HEAD_BYTES..])?;
            self.groups[index].rest = Some((time_ms, place.into()));
        }
        self.look(index);
        Ok(())
    }

    fn look(&mut self, index: usize) {
        let next = self.groups[index].next_ms().map_or(NONE, |time_ms| (false, time_ms));
        let before = std::mem::replace(&mut self.next[index], next);
        if next < self.earliest {
            self.earliest = next;
        } else if before == self.earliest {
            self.earliest = self.next.iter().copied().min().unwrap_or(NONE);
        }
    }
}

#[cfg(test)]
mod tests;
