//! Keys of groups, numbered in the order in which they first come.
//!
//! Keys of whole numbers, times and texts, which most are, become a few machine words each ([`words`]): one hash and one
//! comparison of fixed size a row. All others are left to DataFusion.

mod numbers;
mod texts;
mod words;

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use datafusion::logical_expr::EmitTo;
use datafusion::physical_plan::aggregates::group_values::{GroupValues, new_group_values};
use datafusion::physical_plan::aggregates::order::GroupOrdering;
use tidemill_core::Result;

use crate::engine_error;
use words::WordKeys;

/// The keys of a table.
pub(crate) enum Keys {
    Words(Box<dyn WordKeys>),
    /// With their columns.
    Engine(Box<dyn GroupValues>, SchemaRef),
}

impl Keys {
    /// Keys of these columns, one or more.
    pub(crate) fn new(columns: &SchemaRef) -> Result<Self> {
        match words::of(columns.fields()) {
            Some(keys) => Ok(Self::Words(keys)),
            None => Ok(Self::Engine(engine_keys(columns)?, Arc::clone(columns))),
        }
    }

    /// The number of each row's key.
    pub(crate) fn intern(&mut self, columns: &[ArrayRef], numbers: &mut Vec<usize>) -> Result<()> {
        match self {
            Self::Words(keys) => keys.intern(columns, numbers),
            Self::Engine(keys, _) => keys.intern(columns, numbers).map_err(engine_error),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Words(keys) => keys.len(),
            Self::Engine(keys, _) => keys.len(),
        }
    }

    /// All keys, by number; then there is none.
    pub(crate) fn take(&mut self) -> Result<Vec<ArrayRef>> {
        match self {
            Self::Words(keys) => keys.take(),
            Self::Engine(keys, columns) => {
                let taken = keys.emit(EmitTo::All).map_err(engine_error)?;
                *keys = engine_keys(columns)?;
                Ok(taken)
            }
        }
    }
}

fn engine_keys(columns: &SchemaRef) -> Result<Box<dyn GroupValues>> {
    new_group_values(Arc::clone(columns), &GroupOrdering::None).map_err(engine_error)
}

#[cfg(test)]
mod tests;
