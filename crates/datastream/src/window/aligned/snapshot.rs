//! What windows leave in a checkpoint: of each a section of keys with their values, and which have told their result.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::{Error, Result};
use tidemill_runtime::operator::Dealer;
use tidemill_state::backend::{Clocks, Entry};
use tidemill_state::key_group::{key_group, key_hash};
use tidemill_state::keyed::{Codec, Postcard};
use tidemill_state::upserts::{self, UpsertsBuilder};
use tidemill_state::{Section, State, StateChanges};

use super::pane::Pane;
use crate::window::TimeWindow;

/// Its number is the end of the window: no two windows of one step end together. A key is the start, then what serde writes.
const WINDOW: &str = "window";
const FIRED: &str = "fired";

const START_BYTES: usize = size_of::<i64>();

/// A batch of a section has about so many bytes at most.
const BATCH_BYTES: usize = 64 << 20;

/// By their ends, so that the first to be complete comes first.
pub(super) type Panes<K, A> = BTreeMap<i64, (TimeWindow, Pane<K, A>)>;

/// What has changed; `all`: nobody has heard of anything yet.
pub(super) fn tell<K, A: Serialize + DeserializeOwned>(
    panes: &mut Panes<K, A>,
    all: bool,
    changes: &mut StateChanges,
) -> Result<()> {
    for (end, (window, pane)) in panes.iter_mut() {
        let section = Section::new(WINDOW, *end);
        let (mut builder, mut outcome) = (UpsertsBuilder::default(), Ok(()));
        let mut key = window.start.to_be_bytes().to_vec();
        pane.take_changes(all, |bytes, acc| {
            if outcome.is_ok() {
                key.truncate(START_BYTES);
                key.extend_from_slice(bytes);
                outcome = push(&mut builder, &key, acc, &section, changes);
            }
        });
        outcome?;
        changes.upsert(section, builder.finish(Clocks::START)?);
    }
    let fired = panes.iter().filter(|(_, (_, pane))| pane.fired).map(|(end, _)| *end);
    changes.replace_numbers(FIRED, fired)
}

fn push<A: Serialize + DeserializeOwned>(
    builder: &mut UpsertsBuilder,
    key: &[u8],
    acc: &A,
    section: &Section,
    changes: &mut StateChanges,
) -> Result<()> {
    let mut value = vec![];
    Postcard.encode(acc, &mut value)?;
    builder.push(key, Some(&Entry::new(value)))?;
    if builder.bytes() > BATCH_BYTES {
        changes.upsert(section.clone(), builder.finish(Clocks::START)?);
    }
    Ok(())
}

/// A window is forgotten.
pub(super) fn forget(end: i64, changes: &mut StateChanges) {
    changes.remove(Section::new(WINDOW, end));
}

/// Takes up what another has left: each key's bytes with its value, by window.
pub(super) fn restore<A: Serialize + DeserializeOwned>(
    mut state: State,
    mut each: impl FnMut(TimeWindow, &[u8], A) -> Result<()>,
) -> Result<Vec<i64>> {
    for (end, batches) in state.take_all(WINDOW)? {
        // Of a key the last row counts.
        let mut last: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        for batch in &batches {
            for row in upserts::rows(batch)? {
                let (key, entry) = row?;
                last.insert(key.to_vec(), entry.ok_or_else(damaged)?.value);
            }
        }
        for (key, value) in last {
            let (start, bytes) = key.split_first_chunk::<START_BYTES>().ok_or_else(damaged)?;
            each(TimeWindow { start: i64::from_be_bytes(*start), end }, bytes, Postcard.decode(&value)?)?;
        }
    }
    let fired = state.take_numbers(FIRED)?;
    state.finish()?;
    Ok(fired)
}

pub(super) fn deal(mut state: State, dealer: &Dealer) -> Result<Vec<State>> {
    let mut dealt = vec![StateChanges::default(); dealer.parts()];
    for (end, batches) in state.take_all(WINDOW)? {
        for batch in &batches {
            let mut builders: Vec<UpsertsBuilder> = (0..dealer.parts()).map(|_| UpsertsBuilder::default()).collect();
            for row in upserts::rows(batch)? {
                let (key, entry) = row?;
                let bytes = key.get(START_BYTES..).ok_or_else(damaged)?;
                builders[dealer.part_of_group(key_group(key_hash(bytes)))].push(key, entry.as_ref())?;
            }
            for (changes, mut builder) in dealt.iter_mut().zip(builders) {
                changes.upsert(Section::new(WINDOW, end), builder.finish(Clocks::START)?);
            }
        }
    }
    let fired = state.take_numbers(FIRED)?;
    state.finish()?;
    let part = |mut changes: StateChanges| {
        changes.replace_numbers(FIRED, fired.iter().copied())?;
        let mut state = State::default();
        state.apply(changes);
        Ok(state)
    };
    dealt.into_iter().map(part).collect()
}

fn damaged() -> Error {
    Error::data("the state of a window has rows that are no keys with values")
}
