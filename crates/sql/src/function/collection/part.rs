//! What reads a part of a collection: `array[index]`, `map[key]`, `ELEMENT`, `CARDINALITY`, and what looks for an element.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int32Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use arrow::row::Rows;
use datafusion::common::Result;

use super::map::{keys, values};
use super::pool::Pool;
use super::{arguments, data_error, element_of, entry_types};
use crate::function::scalar::{Evaluate as E, Function, Parameter as P, Returns};

/// What `array[index]` and `map[key]` call; nobody can write it, for it has a space.
pub(crate) const ITEM: &str = "item of";

pub(super) static FUNCTIONS: [Function; 7] = [
    Function::new(
        &[ITEM],
        "array[index], map[key]",
        "an element, counted from 1, or the value of a key; NULL where there is none",
        &[P::Collection, P::Any],
        E::Arrays(item),
    )
    .returns(Returns::Of(item_type)),
    Function::new(
        &["cardinality"],
        "CARDINALITY(array), CARDINALITY(map)",
        "the number of elements or entries",
        &[P::Collection],
        E::Arrays(cardinality),
    )
    .returns(Returns::Type(|| DataType::Int32)),
    Function::new(
        &["element"],
        "ELEMENT(array)",
        "the only element; NULL where the array is empty, an error where it has several",
        &[P::Array],
        E::Arrays(element),
    )
    .returns(Returns::Of(|types| element_of(&types[0]))),
    Function::new(
        &["array_contains"],
        "ARRAY_CONTAINS(array, element)",
        "whether the element is in it; NULL is an element like others",
        &[P::Array, P::Any],
        E::Arrays(contains),
    )
    .returns(Returns::Type(|| DataType::Boolean)),
    Function::new(
        &["array_position"],
        "ARRAY_POSITION(array, element)",
        "where the element stands first, counted from 1; 0 where it is not in it",
        &[P::Array, P::Any],
        E::Arrays(position),
    )
    .returns(Returns::Type(|| DataType::Int32)),
    Function::new(
        &["array_max"],
        "ARRAY_MAX(array)",
        "the greatest element; NULLs are skipped",
        &[P::Ordered],
        E::Arrays(|arguments, _| extreme(arguments, Ordering::Greater)),
    )
    .returns(Returns::Of(|types| element_of(&types[0]))),
    Function::new(
        &["array_min"],
        "ARRAY_MIN(array)",
        "the least element; NULLs are skipped",
        &[P::Ordered],
        E::Arrays(|arguments, _| extreme(arguments, Ordering::Less)),
    )
    .returns(Returns::Of(|types| element_of(&types[0]))),
];

fn item_type(types: &[DataType]) -> DataType {
    match entry_types(&types[0]) {
        Some((_, value)) => value.clone(),
        None => element_of(&types[0]),
    }
}

fn item(given: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let [collection, wanted] = arguments(given)?;
    if let DataType::Map(..) = collection.data_type() {
        let keys = Pool::with_element(&keys(collection)?, wanted)?;
        let (encoded, values) = (keys.encoded()?, Pool::of_arrays(&[values(collection)?])?);
        return values.picked(collection.len(), |row| {
            let found = first(&keys, &encoded, row)?;
            wanted.is_valid(row).then(|| Some(values.elements(0, row)?.start + found?)).flatten()
        });
    }
    let pool = Pool::of_arrays(std::slice::from_ref(collection))?;
    let indices = cast(wanted, &DataType::Int64)?;
    let indices = indices.as_primitive::<Int64Type>();
    pool.picked(collection.len(), |row| {
        let elements = pool.elements(0, row)?;
        let index = indices.is_valid(row).then(|| usize::try_from(indices.value(row)).ok()).flatten()?;
        let at = elements.start.checked_add(index.checked_sub(1)?)?;
        (at < elements.end).then_some(at)
    })
}

fn cardinality(given: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let [collection] = arguments(given)?;
    let lists = match collection.data_type() {
        DataType::Map(..) => keys(collection)?,
        _ => Arc::clone(collection),
    };
    let lists = lists.as_list::<i32>();
    let count = |row: usize| lists.is_valid(row).then(|| lists.value_length(row));
    Ok(Arc::new((0..lists.len()).map(count).collect::<Int32Array>()))
}

fn element(given: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let pool = Pool::of_arrays(given)?;
    let rows = given[0].len();
    if let Some(several) = (0..rows).filter_map(|row| pool.elements(0, row)).find(|elements| elements.len() > 1) {
        return Err(data_error(
            format!("ELEMENT of an array with {} elements", several.len()),
            "it takes an array with one; array[1] is the first of several",
        ));
    }
    pool.picked(rows, |row| pool.elements(0, row)?.next())
}

/// Where the element of a row stands first in its array, counted from 0; the outer `None` where the array is NULL.
fn first(pool: &Pool, encoded: &Rows, row: usize) -> Option<Option<usize>> {
    let (mut elements, wanted) = (pool.elements(0, row)?, pool.elements(1, row)?);
    let wanted = encoded.row(wanted.start);
    Some(elements.position(|element| encoded.row(element) == wanted))
}

fn contains(given: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let [array, wanted] = arguments(given)?;
    let pool = Pool::with_element(array, wanted)?;
    let encoded = pool.encoded()?;
    let found = |row: usize| first(&pool, &encoded, row).map(|at| at.is_some());
    Ok(Arc::new((0..array.len()).map(found).collect::<BooleanArray>()))
}

fn position(given: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let [array, wanted] = arguments(given)?;
    let pool = Pool::with_element(array, wanted)?;
    let encoded = pool.encoded()?;
    let found = |row: usize| {
        let at = first(&pool, &encoded, row).filter(|_| wanted.is_valid(row))?;
        at.map_or(Some(0), |at| i32::try_from(at + 1).ok())
    };
    Ok(Arc::new((0..array.len()).map(found).collect::<Int32Array>()))
}

/// The element that is before or behind all others.
fn extreme(given: &[ArrayRef], best: Ordering) -> Result<ArrayRef> {
    let pool = Pool::of_arrays(given)?;
    let encoded = pool.encoded()?;
    pool.picked(given[0].len(), |row| {
        let elements = pool.elements(0, row)?.filter(|element| pool.values.is_valid(*element));
        elements.reduce(|kept, next| if encoded.row(next).cmp(&encoded.row(kept)) == best { next } else { kept })
    })
}
