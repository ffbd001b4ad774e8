//! `ARRAY`, `MAP` and `ROW`: their constructors, what reads a part of them, and the functions over them.
//!
//! A function sees whole columns. The elements of all its arguments stand in one [`Pool`](pool::Pool), and a function
//! says for each row which of them make its result: so nothing is copied value by value, and no function knows types.

mod array;
mod construct;
mod equal;
mod map;
mod part;
mod pool;
mod text;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field};
use datafusion::common::{Result, internal_err};
use datafusion::error::DataFusionError;
use tidemill_core::Error;

use super::scalar::Function;
use crate::types::map_type;

pub(crate) use construct::{ARRAY, CollectionPlanner, MAP, ROW};
pub(crate) use equal::EQUAL;
pub(crate) use part::ITEM;

/// The functions over collections.
pub(super) fn functions() -> impl Iterator<Item = &'static Function> {
    let parts: [&'static [Function]; 6] = [
        &construct::FUNCTIONS,
        &part::FUNCTIONS,
        &array::FUNCTIONS,
        &map::FUNCTIONS,
        &text::FUNCTIONS,
        std::slice::from_ref(&construct::ROW_FUNCTION),
    ];
    parts.into_iter().flatten()
}

/// The type of an array of these elements.
fn array_of(element: &DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", element.clone(), true)))
}

/// The type of the elements of an array.
fn element_of(array: &DataType) -> DataType {
    match array {
        DataType::List(element) => element.data_type().clone(),
        _ => DataType::Null,
    }
}

/// The types of a map's keys and values.
pub(crate) fn entry_types(map: &DataType) -> Option<(&DataType, &DataType)> {
    let DataType::Map(entries, _) = map else { return None };
    let DataType::Struct(fields) = entries.data_type() else { return None };
    match &fields[..] {
        [key, value] => Some((key.data_type(), value.data_type())),
        _ => None,
    }
}

/// The type of a map of the keys and values of this one's types: as ours are, whatever its fields are called.
fn same_map(map: &DataType) -> DataType {
    let (key, value) = entry_types(map).unwrap_or((&DataType::Null, &DataType::Null));
    map_type(key.clone(), value.clone())
}

/// As many of the arguments as a function has.
fn arguments<const N: usize>(arguments: &[ArrayRef]) -> Result<&[ArrayRef; N]> {
    match arguments.try_into() {
        Ok(arguments) => Ok(arguments),
        Err(_) => internal_err!("{} arguments for a function of {N}", arguments.len()),
    }
}

fn data_error(message: impl Into<String>, hint: &str) -> DataFusionError {
    DataFusionError::External(Box::new(Error::data(message).hint(hint)))
}
