//! The operator of a subtask whose keyed state is in groups.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use tidemill_core::{Epoch, EventBatch, Result, Watermark};
use tidemill_state::{State, StateChanges};

use super::at_rest::{self, all_of, apart, prefix};
use super::deal::deal;
use super::key_group::KeyGroup;
use super::limit::Spill;
use super::together::put_together;
use crate::exchange::KEY_GROUPS;
use crate::graph::MakeOperator;
use crate::operator::{Dealer, Operator, Output};

/// So many rows are emitted before they are sent on.
const PIECE_ROWS: usize = 64 * 1024;

/// A spilled group's turn comes when so many bytes wait, or half as many as it has: then what is read and written is in
/// proportion to what came.
const TURN_BYTES: u64 = if cfg!(test) { 256 } else { 4 << 20 };

/// Such a part of the limit stays free where a spilled group comes back before its turn.
const SPARE: u64 = 8;

/// While rows keep coming, turns that nothing but time demands take at most a fifth of it.
const TURN_PAUSE: u32 = 4;

/// And come at most so often.
const SHORTEST_PAUSE: Duration = Duration::from_millis(500);

/// An operator for each key group.
pub(crate) struct ByKeyGroup {
    // Configuration.
    make: MakeOperator,
    /// The columns of the key, in the input.
    key: Vec<usize>,
    spill: Spill,
    /// Never given anything: what operators made alike say of themselves.
    sample: Box<dyn Operator>,
    // State.
    groups: Vec<KeyGroup>,
    watermark: Watermark,
    /// The last barrier's.
    epoch: Epoch,
    /// The groups in memory that have not finished with the watermark.
    behind: VecDeque<usize>,
    /// Whether snapshots are taken: then they are told what has changed.
    noted: bool,
    uses: u64,
    // Processing time: never part of a snapshot.
    turn_due: Option<Instant>,
}

impl ByKeyGroup {
    pub(crate) fn new(make: MakeOperator, key: Vec<usize>, spill: Spill) -> Result<Self> {
        Ok(Self {
            sample: make()?,
            make,
            key,
            spill,
            groups: (0..KEY_GROUPS).map(|_| KeyGroup::unused()).collect(),
            watermark: Watermark::MIN,
            epoch: Epoch::default(),
            behind: VecDeque::new(),
            noted: false,
            uses: 0,
            turn_due: None,
        })
    }

    /// Has a group in memory if it is there already, or if there is enough of it in `room`. A spilled group may not take
    /// all that there is: what comes next for the others would drive it out again, and it is read and written as a whole.
    fn bring_if_it_fits(&mut self, number: usize, room: &mut u64, out: &mut Output) -> Result<bool> {
        let group = &self.groups[number];
        if group.operator.is_some() {
            return Ok(true);
        }
        let needed = group.needed_bytes();
        let spare = if group.is_unused() { 1 } else { self.spill.limit.bytes() / SPARE };
        if *room < needed.saturating_add(spare) {
            return Ok(false);
        }
        *room -= needed;
        self.bring(number, out)?;
        Ok(true)
    }

    /// Rows for one group, where there are `room` bytes of memory.
    fn give(&mut self, number: usize, batch: EventBatch, room: &mut u64, out: &mut Output) -> Result<()> {
        if self.bring_if_it_fits(number, room, out)? {
            // One that was spilled may not have got all watermarks yet, which those behind are told once it is here.
            let group = &mut self.groups[number];
            group.reach(self.watermark, out)?;
            return group.take(batch, out);
        }
        let (before, with_source) = (self.watermark, self.sample.needs_source());
        let group = &mut self.groups[number];
        group.inbox.push(before, batch);
        let allowed = (self.spill.limit.bytes() / 1024).clamp(16 << 10, 1 << 20);
        group.inbox.spill(allowed, with_source, &self.spill.folder)?;
        match group.inbox.bytes() >= TURN_BYTES.max(group.state.bytes() / 2) {
            true => self.take_turn(number, out),
            false => Ok(()),
        }
    }

    /// Has a group in memory.
    fn bring(&mut self, number: usize, out: &mut Output) -> Result<()> {
        let group = &mut self.groups[number];
        if group.operator.is_none() {
            self.uses += 1;
            group.since = self.uses;
            group.load(&self.make, out)?;
        }
        Ok(())
    }

    /// Gives a spilled group all that waits for it.
    fn take_turn(&mut self, number: usize, out: &mut Output) -> Result<()> {
        let needed = self.groups[number].needed_bytes();
        while self.spill.limit.room() < needed && self.spill_one(out)? {}
        self.bring(number, out)?;
        self.groups[number].reach(self.watermark, out)?;
        self.relieve(out)
    }

    /// Spills groups until the limit holds, or one is left.
    fn relieve(&mut self, out: &mut Output) -> Result<()> {
        while self.spill.limit.is_passed() && self.in_memory().count() > 1 && self.spill_one(out)? {}
        Ok(())
    }

    fn in_memory(&self) -> impl Iterator<Item = usize> {
        (0..self.groups.len()).filter(|&number| self.groups[number].operator.is_some())
    }

    /// Spills the group that was the last to come: the others stay, and need never be read again.
    fn spill_one(&mut self, out: &mut Output) -> Result<bool> {
        let Some(number) = self.in_memory().max_by_key(|&number| self.groups[number].since) else { return Ok(false) };
        let Some(mut operator) = self.groups[number].operator.take() else { return Ok(false) };
        // What it holds back would not be in a snapshot.
        operator.on_barrier(self.epoch, out)?;
        let mut changes = StateChanges::default();
        operator.snapshot(&mut changes)?;
        drop(operator);
        self.keep(number, changes)?;
        Ok(true)
    }

    /// Writes what has changed in a group where the rest of it is.
    fn keep(&mut self, number: usize, changes: StateChanges) -> Result<()> {
        let (group, folder) = (&mut self.groups[number], &self.spill.folder);
        let changes = changes.spilled(folder)?;
        group.state.apply(changes.clone());
        group.state.compact(folder)?;
        if self.noted {
            group.untold.extend(changes);
        }
        Ok(())
    }

    /// The spilled group that is most behind.
    fn next_turn(&self) -> Option<usize> {
        let is_behind =
            |group: &KeyGroup| group.is_spilled() && (group.watermark < self.watermark || !group.inbox.is_empty());
        let behind = (0..self.groups.len()).filter(|&number| is_behind(&self.groups[number]));
        behind.min_by_key(|&number| (self.groups[number].watermark, self.groups[number].since))
    }

    /// Lets the group have its turn that is most behind, if one is.
    fn take_next_turn(&mut self, out: &mut Output) -> Result<()> {
        let Some(number) = self.next_turn() else { return Ok(()) };
        let begun = Instant::now();
        self.take_turn(number, out)?;
        let took = begun.elapsed();
        self.turn_due = Some(begun + took + (took * TURN_PAUSE).max(SHORTEST_PAUSE));
        Ok(())
    }

    /// A new watermark: groups in memory have it to finish, and those that were never used have nothing to do with it.
    fn begin(&mut self, watermark: Watermark) {
        self.watermark = watermark;
        for (number, group) in self.groups.iter_mut().enumerate() {
            match group.is_unused() {
                true => group.watermark = watermark,
                false => self.behind.push_back(number),
            }
        }
    }

    /// Lets a group emit a part of what the watermark completes, if it is in memory or has room there. Whether that is all.
    fn advance(&mut self, number: usize, room: &mut u64, out: &mut Output) -> Result<bool> {
        if !self.bring_if_it_fits(number, room, out)? {
            return Ok(true);
        }
        let group = &mut self.groups[number];
        if group.watermark < self.watermark {
            group.step(self.watermark, out)?;
        }
        Ok(group.watermark >= self.watermark)
    }

    /// Takes up the states of key groups.
    fn load(&mut self, groups: Vec<(usize, State)>) -> Result<()> {
        for (number, mut own) in groups {
            let group = &mut self.groups[number];
            group.inbox.load(&mut own)?;
            group.state = own.spilled(&self.spill.folder)?;
        }
        Ok(())
    }

    fn each_in_memory(&mut self, mut call: impl FnMut(&mut (dyn Operator + 'static)) -> Result<()>) -> Result<()> {
        self.groups.iter_mut().filter_map(|group| group.operator.as_deref_mut()).try_for_each(&mut call)
    }
}

/// Does something whose output leaves in few batches.
fn together(out: &mut Output, work: impl FnOnce(&mut Output) -> Result<()>) -> Result<()> {
    let mut emitted = Output::default();
    work(&mut emitted)?;
    put_together(emitted.take(), out)
}

impl Operator for ByKeyGroup {
    fn describe(&self) -> String {
        self.sample.describe()
    }

    fn unbounded_state(&self) -> Option<String> {
        self.sample.unbounded_state()
    }

    fn needs_source(&self) -> bool {
        self.sample.needs_source()
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        together(out, |out| {
            let mut room = self.spill.limit.room();
            for (number, rows) in deal(&batch, &self.key)? {
                self.give(number, rows, &mut room, out)?;
            }
            drop(batch);
            self.relieve(out)
        })
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<()> {
        together(out, |out| {
            if watermark > self.watermark {
                self.begin(watermark);
            }
            let mut room = self.spill.limit.room();
            while let Some(&number) = self.behind.front() {
                if self.advance(number, &mut room, out)? {
                    self.behind.pop_front();
                }
                if out.rows() >= PIECE_ROWS {
                    return Ok(());
                }
            }
            if watermark == Watermark::MAX {
                self.take_next_turn(out)?;
            }
            self.relieve(out)
        })
    }

    fn unfinished(&self) -> bool {
        !self.behind.is_empty() || (self.watermark == Watermark::MAX && self.next_turn().is_some())
    }

    fn reached(&self, watermark: Watermark) -> Watermark {
        let reached = self.groups.iter().filter(|group| !group.is_unused()).map(|group| group.watermark);
        self.sample.reached(reached.min().map_or(watermark, |reached| reached.min(watermark)))
    }

    fn on_pause(&mut self, out: &mut Output) -> Result<()> {
        together(out, |out| {
            self.each_in_memory(|operator| operator.on_pause(out))?;
            self.take_next_turn(out)
        })
    }

    fn timer(&self) -> Option<Instant> {
        let turn = self.next_turn().map(|_| self.turn_due.unwrap_or_else(Instant::now));
        self.groups.iter().filter_map(|group| group.operator.as_ref()?.timer()).chain(turn).min()
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) -> Result<()> {
        together(out, |out| {
            self.each_in_memory(|operator| match operator.timer() {
                Some(due) if due <= now => operator.on_timer(now, out),
                _ => Ok(()),
            })?;
            match self.turn_due {
                Some(due) if due > now => Ok(()),
                _ => self.take_next_turn(out),
            }
        })
    }

    fn on_barrier(&mut self, epoch: Epoch, out: &mut Output) -> Result<()> {
        self.epoch = epoch;
        together(out, |out| self.each_in_memory(|operator| operator.on_barrier(epoch, out)))
    }

    fn snapshot(&mut self, changes: &mut StateChanges) -> Result<()> {
        let with_source = self.sample.needs_source();
        let first = !std::mem::replace(&mut self.noted, true);
        for number in 0..self.groups.len() {
            let mut own = StateChanges::default();
            if let Some(operator) = &mut self.groups[number].operator {
                operator.snapshot(&mut own)?;
            }
            self.keep(number, own)?;
            let group = &mut self.groups[number];
            let mut told = std::mem::take(&mut group.untold);
            if first {
                told = group.state.changes();
            }
            group.inbox.save(with_source, &mut told)?;
            changes.extend(told.under(&prefix(number)));
        }
        Ok(())
    }

    fn restore(&mut self, state: State) -> Result<()> {
        self.noted = true;
        self.load(apart(state)?)
    }

    /// Key groups move as they are, with the rows that wait for them.
    fn deal(&self, state: State, dealer: &Dealer) -> Result<Vec<State>> {
        let mut parts = vec![vec![]; dealer.parts()];
        for (number, own) in apart(state)? {
            parts[dealer.part_of_group(number as u8)].push((number, own));
        }
        Ok(parts.into_iter().map(at_rest::together).collect())
    }

    fn restore_all(&mut self, states: Vec<State>) -> Result<()> {
        self.load(all_of(states)?)?;
        self.groups.iter_mut().for_each(|group| group.inbox.forget_saved());
        Ok(())
    }
}

#[cfg(test)]
mod tests;
