//! Functions that make a map, or take one apart.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray, UInt64Array};
use arrow::buffer::NullBuffer;
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Fields};
use arrow::row::Row;
use datafusion::common::{Result, internal_err};

use super::pool::{Pool, encoded, offsets};
use super::{arguments, array_of, data_error, element_of, entry_types, same_map};
use crate::function::scalar::{Evaluate as E, Function, Parameter as P, Returns};
use crate::types::map_type;

pub(super) static FUNCTIONS: [Function; 5] = [
    Function::new(
        &["map_keys"],
        "MAP_KEYS(map)",
        "its keys as an array",
        &[P::Map],
        E::Arrays(|given, _| keys(&arguments::<1>(given)?[0])),
    )
    .returns(Returns::Of(|types| array_of(&entry(types).0))),
    Function::new(
        &["map_values"],
        "MAP_VALUES(map)",
        "its values as an array",
        &[P::Map],
        E::Arrays(|given, _| values(&arguments::<1>(given)?[0])),
    )
    .returns(Returns::Of(|types| array_of(&entry(types).1))),
    Function::new(
        &["map_entries"],
        "MAP_ENTRIES(map)",
        "its entries as an array of ROW<key, value>",
        &[P::Map],
        E::Arrays(|given, _| entries(&arguments::<1>(given)?[0])),
    )
    .returns(Returns::Of(|types| array_of(&entry_row(&types[0])))),
    Function::new(
        &["map_from_arrays"],
        "MAP_FROM_ARRAYS(keys, values)",
        "a map of two arrays of one length",
        &[P::Array, P::Array],
        E::Arrays(from_arrays),
    )
    .returns(Returns::Of(|types| map_type(element_of(&types[0]), element_of(&types[1])))),
    Function::new(
        &["map_union"],
        "MAP_UNION(map, ...)",
        "the entries of all; of a key that is there twice, the last value",
        &[P::Map],
        E::Arrays(union),
    )
    .repeats()
    .returns(Returns::Of(|types| same_map(&types[0]))),
];

fn entry(types: &[DataType]) -> (DataType, DataType) {
    let (key, value) = entry_types(&types[0]).unwrap_or((&DataType::Null, &DataType::Null));
    (key.clone(), value.clone())
}

/// The type of an entry as a row.
fn entry_row(map: &DataType) -> DataType {
    let (key, value) = entry(std::slice::from_ref(map));
    DataType::Struct(Fields::from(vec![Field::new("key", key, true), Field::new("value", value, true)]))
}

/// The keys of each map, as an array.
pub(super) fn keys(maps: &ArrayRef) -> Result<ArrayRef> {
    let maps = maps.as_map();
    listed(maps, Arc::clone(maps.keys()))
}

/// The values of each map, as an array.
pub(super) fn values(maps: &ArrayRef) -> Result<ArrayRef> {
    let maps = maps.as_map();
    listed(maps, Arc::clone(maps.values()))
}

/// The entries of each map, as an array of rows.
pub(super) fn entries(maps: &ArrayRef) -> Result<ArrayRef> {
    let DataType::Struct(fields) = entry_row(maps.data_type()) else { return internal_err!("an entry is a row") };
    let maps = maps.as_map();
    let columns = vec![Arc::clone(maps.keys()), Arc::clone(maps.values())];
    listed(maps, Arc::new(StructArray::try_new(fields, columns, None)?))
}

fn listed(maps: &MapArray, elements: ArrayRef) -> Result<ArrayRef> {
    let field = Arc::new(Field::new("item", elements.data_type().clone(), true));
    Ok(Arc::new(ListArray::try_new(field, maps.offsets().clone(), elements, maps.nulls().cloned())?))
}

/// A map for each row, of the keys and values that are picked for it by their indices; NULL where `pick` gives `None`.
pub(super) fn maps(
    keys: &ArrayRef,
    values: &ArrayRef,
    output: &DataType,
    rows: usize,
    mut pick: impl FnMut(usize, &mut Vec<(usize, usize)>) -> Option<()>,
) -> Result<ArrayRef> {
    let encoded = encoded(keys)?;
    let (mut picked_keys, mut picked_values, mut lengths, mut valid) = (vec![], vec![], vec![], vec![]);
    let mut pairs = vec![];
    for row in 0..rows {
        pairs.clear();
        valid.push(pick(row, &mut pairs).is_some());
        if !valid[row] {
            pairs.clear();
        }
        if pairs.iter().any(|(key, _)| keys.is_null(*key)) {
            return Err(data_error("a key of a MAP is NULL", "give it a value with COALESCE, or filter such rows out"));
        }
        let before = picked_keys.len();
        let mut places: HashMap<Row<'_>, usize> = HashMap::new();
        for (key, value) in &pairs {
            match places.get(&encoded.row(*key)) {
                Some(place) => picked_values[*place] = *value as u64,
                None => {
                    places.insert(encoded.row(*key), picked_keys.len());
                    picked_keys.push(*key as u64);
                    picked_values.push(*value as u64);
                }
            }
        }
        lengths.push(picked_keys.len() - before);
    }
    let (keys, values) =
        (take(keys, &UInt64Array::from(picked_keys), None)?, take(values, &UInt64Array::from(picked_values), None)?);
    assembled(output, &lengths, vec![keys, values], valid)
}

fn assembled(output: &DataType, lengths: &[usize], entries: Vec<ArrayRef>, valid: Vec<bool>) -> Result<ArrayRef> {
    let DataType::Map(field, sorted) = output else { return internal_err!("a map of type {output}") };
    let DataType::Struct(fields) = field.data_type() else { return internal_err!("a map of type {output}") };
    let entries = StructArray::try_new(fields.clone(), entries, None)?;
    let nulls = Some(NullBuffer::from(valid));
    Ok(Arc::new(MapArray::try_new(Arc::clone(field), offsets(lengths)?, entries, nulls, *sorted)?))
}

fn from_arrays(given: &[ArrayRef], output: &DataType) -> Result<ArrayRef> {
    let [keys, values] = arguments(given)?;
    let of = |array: &ArrayRef| Pool::of_arrays(std::slice::from_ref(array));
    let (key_pool, value_pool) = (of(keys)?, of(values)?);
    let pair = |row: usize| key_pool.elements(0, row).zip(value_pool.elements(0, row));
    for (keys, values) in (0..keys.len()).filter_map(pair) {
        if keys.len() != values.len() {
            return Err(data_error(
                format!("MAP_FROM_ARRAYS of {} keys and {} values", keys.len(), values.len()),
                "the arrays have one length",
            ));
        }
    }
    maps(&key_pool.values, &value_pool.values, output, keys.len(), |row, picked| {
        let (keys, values) = pair(row)?;
        picked.extend(keys.zip(values));
        Some(())
    })
}

fn union(given: &[ArrayRef], output: &DataType) -> Result<ArrayRef> {
    let key_pool = Pool::of_arrays(&given.iter().map(keys).collect::<Result<Vec<_>>>()?)?;
    let value_pool = Pool::of_arrays(&given.iter().map(values).collect::<Result<Vec<_>>>()?)?;
    maps(&key_pool.values, &value_pool.values, output, given[0].len(), |row, picked| {
        for argument in 0..given.len() {
            picked.extend(key_pool.elements(argument, row)?.zip(value_pool.elements(argument, row)?));
        }
        Some(())
    })
}
