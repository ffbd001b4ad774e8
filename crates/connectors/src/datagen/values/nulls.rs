//! `null-rate`: some values of a generator are NULL instead.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StructArray};
use arrow::compute::nullif;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use tidemill_core::Result;

use super::super::fields::Field;
use super::Values;
use crate::synthetic::Sequence;

/// The same values, some of them NULL if the field says so.
pub(super) fn with_null_rate(
    values: Box<dyn Values>,
    nullable: bool,
    field: &Field<'_>,
    seed: u64,
) -> Result<Box<dyn Values>> {
    let share = |text: &str| text.trim().parse().ok().filter(|share| (0.0..=1.0).contains(share));
    let rate: f64 = field.get("null-rate", share, "a number from 0 to 1")?.unwrap_or(0.0);
    if rate == 0.0 {
        return Ok(values);
    }
    if !nullable {
        let error = field.refuse("null-rate", format!("'{}' is never NULL, so it has no rate of NULL", field.path));
        return Err(error.hint("drop 'null-rate', or NOT NULL; the keys of a MAP are never NULL"));
    }
    Ok(Box::new(SomeNull { values, rate, draws: Sequence::new(seed, &format!("{}\0null", field.path)) }))
}

struct SomeNull {
    values: Box<dyn Values>,
    rate: f64,
    draws: Sequence,
}

impl Values for SomeNull {
    fn generate(&self, positions: Range<u64>) -> Result<ArrayRef, ArrowError> {
        let is_null = positions.clone().map(|position| Some(self.draws.at(position).happens(self.rate)));
        without(&self.values.generate(positions)?, &is_null.collect())
    }

    fn bytes(&self) -> usize {
        self.values.bytes()
    }
}

/// `values`, NULL where `is_null`; the fields of a row that is NULL are NULL too, as they are in rows that were read.
fn without(values: &ArrayRef, is_null: &BooleanArray) -> Result<ArrayRef, ArrowError> {
    let values = nullif(values, is_null)?;
    let DataType::Struct(fields) = values.data_type() else { return Ok(values) };
    let columns = values.as_struct().columns().iter().map(|column| without(column, is_null));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(StructArray::try_new(fields.clone(), columns, values.nulls().cloned())?))
}
