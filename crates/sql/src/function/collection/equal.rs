//! `=` between collections. NULL within one equals NULL, and the entries of a map have no order.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, ListArray, MapArray, StructArray, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::DataType;
use datafusion::common::Result;

use super::arguments;
use super::pool::encoded;
use crate::function::scalar::{Evaluate as E, Function, Parameter as P, Returns};

/// What `=` between two collections calls; nobody can write it.
pub(crate) static EQUAL: Function = Function::new(
    &["equal to"],
    "collection = collection",
    "whether they have the same parts",
    &[P::Any, P::Any],
    E::Arrays(equal),
)
.returns(Returns::Type(|| DataType::Boolean));

fn equal(given: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let [left, right] = arguments(given)?;
    let both = arrow::compute::concat(&[&*in_order(left)?, &*in_order(right)?])?;
    let (encoded, rows) = (encoded(&both)?, left.len());
    let same = |row: usize| {
        let known = left.is_valid(row) && right.is_valid(row);
        known.then(|| encoded.row(row) == encoded.row(rows + row))
    };
    Ok(Arc::new((0..rows).map(same).collect::<BooleanArray>()))
}

/// The values with the entries of every map in the order of their keys.
fn in_order(values: &ArrayRef) -> Result<ArrayRef> {
    match values.data_type() {
        DataType::List(field) => {
            let lists = values.as_list::<i32>();
            let (offsets, nulls) = (lists.offsets().clone(), lists.nulls().cloned());
            Ok(Arc::new(ListArray::try_new(Arc::clone(field), offsets, in_order(lists.values())?, nulls)?))
        }
        DataType::Struct(fields) => {
            let rows = values.as_struct();
            let columns = rows.columns().iter().map(in_order).collect::<Result<_>>()?;
            Ok(Arc::new(StructArray::try_new(fields.clone(), columns, rows.nulls().cloned())?))
        }
        DataType::Map(field, _) => {
            let maps = values.as_map();
            let keys = encoded(&in_order(maps.keys())?)?;
            let mut order: Vec<u64> = (0..maps.entries().len() as u64).collect();
            for bounds in maps.value_offsets().windows(2) {
                let bound = |i: usize| usize::try_from(bounds[i]).unwrap_or(0);
                order[bound(0)..bound(1)].sort_by(|a, b| keys.row(*a as usize).cmp(&keys.row(*b as usize)));
            }
            let entries = in_order(&(Arc::new(maps.entries().clone()) as ArrayRef))?;
            let entries = take(&entries, &UInt64Array::from(order), None)?;
            let (offsets, nulls) = (maps.offsets().clone(), maps.nulls().cloned());
            Ok(Arc::new(MapArray::try_new(Arc::clone(field), offsets, entries.as_struct().clone(), nulls, false)?))
        }
        _ => Ok(Arc::clone(values)),
    }
}
