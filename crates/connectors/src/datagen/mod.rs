//! `'connector' = 'datagen'`: rows of random values and of sequences, as Flink's connector of this name has them.
//!
//! Unlike Flink's, a value depends on the seed, the column and the row's number alone (the times on the moment that the
//! program started, too), so that each reading gives the same rows.

mod fields;
mod options;
mod recipe;
mod values;

use std::sync::Arc;

use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Connector, OptionSpec, SinkFactory, Source, TableSpec, WriteMode};

use self::options::DatagenOptions;
use self::recipe::Columns;
use crate::synthetic::{Pace, SyntheticSource};

/// Generated rows.
#[derive(Debug)]
pub struct DatagenConnector;

impl Connector for DatagenConnector {
    fn name(&self) -> &'static str {
        "datagen"
    }

    fn options(&self) -> &'static [OptionSpec] {
        options::OPTIONS
    }

    fn source(&self, table: &TableSpec) -> Result<Arc<dyn Source>> {
        let options = DatagenOptions::from_table(table)?;
        let columns = Columns::new(table, &options)?;
        // The table ends with the first of its sequences.
        let end = options.number_of_rows.into_iter().chain(columns.end()).min();
        Ok(Arc::new(SyntheticSource {
            name: self.name().into(),
            recipe: Arc::new(columns),
            end,
            pace: Some(Pace::new(options.rows_per_second)),
        }))
    }

    fn sink(&self, table: &TableSpec, _: WriteMode) -> Result<Arc<dyn SinkFactory>> {
        Err(Error::invalid(format!("the table '{}' can't be written: 'datagen' is a source", table.name)))
    }
}

#[cfg(test)]
mod tests;
