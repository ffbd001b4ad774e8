//! Generators of single columns: values by their positions.
//!
//! The position of a column's value is its row's number. What stands in an array of n elements has n positions a row, so
//! a generator needs to know nothing of what it stands in.

mod nested;
mod nulls;
mod numbers;
mod sequence;
mod text;
mod time;

use std::ops::Range;

use arrow::array::{ArrayRef, BooleanArray};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use tidemill_core::{Error, Result};

pub(super) use self::sequence::sequence;
pub(super) use self::time::Clock;
use super::fields::Field;
use crate::format::sql_type;
use crate::synthetic::Sequence;

/// Makes the values of a column.
pub(super) trait Values: Send + Sync {
    /// The values at these positions.
    fn generate(&self, positions: Range<u64>) -> Result<ArrayRef, ArrowError>;

    /// About how many bytes a value takes in memory.
    fn bytes(&self) -> usize;

    /// How many values there are; `None` if there is no end.
    fn end(&self) -> Option<u64> {
        None
    }
}

/// Random values of a type, as the field's options say.
///
/// # Errors
/// `Invalid` if an option's value does not fit, or the type is none that Flink's connector has.
pub(super) fn random(
    data_type: &DataType,
    nullable: bool,
    field: &Field<'_>,
    seed: u64,
    clock: Clock,
) -> Result<Box<dyn Values>> {
    let draws = Sequence::new(seed, &field.path);
    let values: Box<dyn Values> = match data_type {
        DataType::Boolean => Box::new(Booleans(draws)),
        DataType::Utf8View | DataType::BinaryView => text::random(data_type, field, draws)?,
        DataType::Date32 | DataType::Time32(_) | DataType::Timestamp(..) => {
            time::random(data_type, field, draws, clock)?
        }
        DataType::List(_) | DataType::Map(..) | DataType::Struct(_) => nested::random(data_type, field, seed, clock)?,
        _ => numbers::random(data_type, field, draws)?,
    };
    nulls::with_null_rate(values, nullable, field, seed)
}

fn unsupported(data_type: &DataType, field: &Field<'_>, kind: &str) -> Error {
    field.refuse("kind", format!("'{}' has the type {}, which has no {kind} values", field.path, sql_type(data_type)))
}

struct Booleans(Sequence);

impl Values for Booleans {
    fn generate(&self, positions: Range<u64>) -> Result<ArrayRef, ArrowError> {
        let values = positions.map(|position| Some(self.0.at(position).below(2) == 1));
        Ok(std::sync::Arc::new(values.collect::<BooleanArray>()))
    }

    fn bytes(&self) -> usize {
        1
    }
}
