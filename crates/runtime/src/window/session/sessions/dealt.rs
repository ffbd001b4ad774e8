//! Sessions at rest, dealt out anew by their keys: keys and sessions have other numbers then.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::compute::concat_batches;
use arrow::datatypes::{UInt8Type, UInt32Type};
use tidemill_core::{Error, Result};
use tidemill_state::{Section, State as SavedState};

use super::snapshot::{KEYS, SESSIONS, code, damaged, schema};
use super::{SessionId, Sessions, State};
use crate::operator::fitting;
use crate::operator::hands::Hands;
use crate::operator::pages::last_rows;

/// A part, and the number there.
type Place = (usize, u32);

/// Where sessions are now, by the number that they had.
pub(in crate::window::session) struct Places(Vec<Option<Place>>);

impl Places {
    fn get(&self, id: SessionId) -> Option<Place> {
        self.0.get(id as usize).copied().flatten()
    }

    /// Deals rows whose first column is their session; they get its new number. `none` makes the error if there is none.
    pub(in crate::window::session) fn deal(
        &self,
        section: &Section,
        rows: &RecordBatch,
        hands: &mut Hands<'_>,
        none: impl Fn(SessionId) -> Error,
    ) -> Result<()> {
        let ids = rows.column(0).as_primitive::<UInt32Type>().values().iter();
        let places = ids.map(|&id| self.get(id).ok_or_else(|| none(id))).collect::<Result<Vec<_>>>()?;
        let (parts, numbers): (Vec<usize>, Vec<u32>) = places.into_iter().unzip();
        let numbers: ArrayRef = Arc::new(UInt32Array::from(numbers));
        let columns = std::iter::once(numbers).chain(rows.columns()[1..].iter().cloned()).collect();
        let rows = RecordBatch::try_new(rows.schema(), columns)?;
        hands.give(section, hands.dealer().split(&rows, &parts)?);
        Ok(())
    }
}

impl Sessions {
    /// Deals keys and sessions. Says where these are now.
    pub(in crate::window::session) fn deal(&self, state: &mut SavedState, hands: &mut Hands<'_>) -> Result<Places> {
        let keys = concat_batches(&self.key_schema, &fitting(KEYS, state.take(KEYS)?, &self.key_schema)?)?;
        let parts = hands.dealer().part_of(keys.columns(), keys.num_rows())?;
        hands.give(&KEYS.into(), hands.dealer().split(&keys, &parts)?);
        let keys = numbered(&parts, hands);
        let schema = schema();
        let mut pages = vec![];
        for (page, batches) in state.take_all(SESSIONS)? {
            let batches = fitting(SESSIONS, batches, &schema)?;
            let is_there =
                |batch: &RecordBatch, row| batch.column(4).as_primitive::<UInt8Type>().value(row) != code(State::Free);
            pages.push(last_rows(&Section::new(SESSIONS, page), &schema, &batches, is_there)?);
        }
        let rows = concat_batches(&schema, &pages)?;
        let of_keys = rows.column(1).as_primitive::<UInt32Type>().values();
        let key =
            |key: &u32| keys.get(*key as usize).ok_or_else(|| damaged(SESSIONS, "holds a session without its key"));
        let (parts, keys): (Vec<usize>, Vec<u32>) =
            of_keys.iter().map(|of| key(of).copied()).collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let places = places(&rows, numbered(&parts, hands));
        hands.give_tables(SESSIONS, hands.dealer().split(&renumbered(&rows, keys, &parts, &places)?, &parts)?);
        Ok(places)
    }
}

/// What has these parts, numbered in each from 0.
fn numbered(parts: &[usize], hands: &Hands<'_>) -> Vec<Place> {
    let mut next = vec![0..; hands.dealer().parts()];
    parts.iter().filter_map(|&part| Some((part, next[part].next()?))).collect()
}

fn places(rows: &RecordBatch, numbered: Vec<Place>) -> Places {
    let ids = rows.column(0).as_primitive::<UInt32Type>().values();
    let mut places = vec![None; ids.last().map_or(0, |&last| last as usize + 1)];
    for (&id, place) in ids.iter().zip(numbered) {
        places[id as usize] = Some(place);
    }
    Places(places)
}

/// Sessions with the numbers that they, their keys and those that they have become part of have now.
fn renumbered(rows: &RecordBatch, keys: Vec<u32>, parts: &[usize], places: &Places) -> Result<RecordBatch> {
    let numbers = |column: usize| rows.column(column).as_primitive::<UInt32Type>();
    let (ids, merged_into) = (numbers(0), numbers(5));
    let placed = |id: SessionId, part: usize| match places.get(id) {
        Some((its_part, number)) if its_part == part => Ok(number),
        _ => Err(damaged(SESSIONS, "holds a part of a session that is not there")),
    };
    let ids = ids.values().iter().zip(parts).map(|(&id, &part)| placed(id, part)).collect::<Result<Vec<_>>>()?;
    let merged_into =
        merged_into.iter().zip(parts).map(|(into, &part)| into.map(|into| placed(into, part)).transpose());
    let merged_into = merged_into.collect::<Result<UInt32Array>>()?;
    let mut columns = rows.columns().to_vec();
    columns[0] = Arc::new(UInt32Array::from(ids));
    columns[1] = Arc::new(UInt32Array::from(keys));
    columns[5] = Arc::new(merged_into);
    Ok(RecordBatch::try_new(rows.schema(), columns)?)
}
