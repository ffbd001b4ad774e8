//! What a join leaves in a checkpoint: keys with their elements.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::{Error, Result};
use tidemill_runtime::operator::Dealer;
use tidemill_state::backend::{Clocks, Entry};
use tidemill_state::key_group::{key_group, key_hash};
use tidemill_state::keyed::{Codec, Postcard};
use tidemill_state::upserts::{self, UpsertsBuilder};
use tidemill_state::{State, StateChanges};

use super::buffers::{Buffer, Buffers};

const KEPT: &str = "kept";

/// A batch of the section has about so many bytes at most.
const BATCH_BYTES: usize = 64 << 20;

pub(super) trait Stored: Serialize + DeserializeOwned {}

impl<T: Serialize + DeserializeOwned> Stored for T {}

/// What has changed since it last said so; all, the first time.
pub(super) fn tell<A: Stored, B: Stored>(buffers: &mut Buffers<A, B>, changes: &mut StateChanges) -> Result<()> {
    let (mut builder, mut outcome) = (UpsertsBuilder::default(), Ok(()));
    buffers.take_changes(|bytes, of_key| {
        if outcome.is_ok() {
            outcome = push(&mut builder, bytes, of_key, changes);
        }
    });
    outcome?;
    changes.upsert(KEPT, builder.finish(Clocks::START)?);
    Ok(())
}

fn push<A: Stored, B: Stored>(
    builder: &mut UpsertsBuilder,
    bytes: &[u8],
    of_key: Option<(&Buffer<A>, &Buffer<B>)>,
    changes: &mut StateChanges,
) -> Result<()> {
    let entry = match of_key {
        Some((first, second)) => {
            let mut value = vec![];
            Postcard.encode(first, &mut value)?;
            let length = value.len() as u64;
            Postcard.encode(second, &mut value)?;
            value.extend_from_slice(&length.to_be_bytes());
            Some(Entry::new(value))
        }
        None => None,
    };
    builder.push(bytes, entry.as_ref())?;
    if builder.bytes() > BATCH_BYTES {
        changes.upsert(KEPT, builder.finish(Clocks::START)?);
    }
    Ok(())
}

/// Takes up what another has left.
pub(super) fn restore<A: Stored, B: Stored>(mut state: State, buffers: &mut Buffers<A, B>) -> Result<()> {
    // Of a key the last row counts.
    let mut last: BTreeMap<Vec<u8>, Option<Vec<u8>>> = BTreeMap::new();
    for batch in state.take(KEPT)? {
        for row in upserts::rows(&batch)? {
            let (key, entry) = row?;
            last.insert(key.to_vec(), entry.map(|entry| entry.value));
        }
    }
    state.finish()?;
    for (key, value) in last {
        let Some(value) = value else { continue };
        let (both, length) = value.split_last_chunk().ok_or_else(damaged)?;
        let length = usize::try_from(u64::from_be_bytes(*length)).map_err(|_| damaged())?;
        let (first, second) = both.split_at_checked(length).ok_or_else(damaged)?;
        let place = buffers.place(&key);
        let of_key = buffers.change(place);
        of_key.first = Postcard.decode(first)?;
        of_key.second = Postcard.decode(second)?;
        buffers.release_if_empty(place);
    }
    Ok(())
}

pub(super) fn deal(mut state: State, dealer: &Dealer) -> Result<Vec<State>> {
    let mut dealt = vec![StateChanges::default(); dealer.parts()];
    for batch in state.take(KEPT)? {
        let mut builders: Vec<UpsertsBuilder> = (0..dealer.parts()).map(|_| UpsertsBuilder::default()).collect();
        for row in upserts::rows(&batch)? {
            let (key, entry) = row?;
            builders[dealer.part_of_group(key_group(key_hash(key)))].push(key, entry.as_ref())?;
        }
        for (changes, mut builder) in dealt.iter_mut().zip(builders) {
            changes.upsert(KEPT, builder.finish(Clocks::START)?);
        }
    }
    state.finish()?;
    let part = |changes: StateChanges| {
        let mut state = State::default();
        state.apply(changes);
        state
    };
    Ok(dealt.into_iter().map(part).collect())
}

fn damaged() -> Error {
    Error::data("the state of a join has rows that are no keys with elements")
}
