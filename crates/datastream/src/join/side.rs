//! What an interval join keeps of one of its sides: elements by time, and whether each has found another.

use std::ops::RangeInclusive;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tidemill_core::Result;
use tidemill_state::keyed::{KeyedState, MapState, MapStateDescriptor};

use crate::timed::Element;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Kept<T> {
    element: T,
    matched: bool,
}

/// The elements of the current key, by time.
pub(super) struct Side<T> {
    by_time: MapState<i64, Vec<Kept<T>>>,
    /// Whether somebody asks which have found none.
    matches: bool,
}

impl<T: Element + Serialize + DeserializeOwned> Side<T> {
    pub(super) fn new(state: &mut KeyedState, name: &'static str, matches: bool) -> Result<Self> {
        Ok(Self { by_time: state.map_state(MapStateDescriptor::new(name))?, matches })
    }

    pub(super) fn keep(&self, state: &mut KeyedState, time: i64, element: T, matched: bool) -> Result<()> {
        let mut kept = self.by_time.get(state, &time)?.unwrap_or_default();
        kept.push(Kept { element, matched });
        self.by_time.put(state, &time, &kept)
    }

    /// The elements of these times, with the time of each: they have found another now.
    pub(super) fn found(&self, state: &mut KeyedState, times: RangeInclusive<i64>) -> Result<Vec<(i64, T)>> {
        let mut found = vec![];
        let entries: Vec<(i64, Vec<Kept<T>>)> = self.by_time.range(state, times)?.collect::<Result<_>>()?;
        for (time, mut kept) in entries {
            if self.matches && kept.iter().any(|kept| !kept.matched) {
                kept.iter_mut().for_each(|kept| kept.matched = true);
                self.by_time.put(state, &time, &kept)?;
            }
            found.extend(kept.into_iter().map(|kept| (time, kept.element)));
        }
        Ok(found)
    }

    /// Forgets the elements up to a time, and gives those that have found none, with the time of each.
    pub(super) fn forget(&self, state: &mut KeyedState, until: i64) -> Result<Vec<(i64, T)>> {
        let entries: Vec<(i64, Vec<Kept<T>>)> = self.by_time.range(state, ..=until)?.collect::<Result<_>>()?;
        let mut alone = vec![];
        for (time, kept) in entries {
            self.by_time.remove(state, &time)?;
            alone.extend(kept.into_iter().filter(|kept| !kept.matched).map(|kept| (time, kept.element)));
        }
        Ok(alone)
    }
}
