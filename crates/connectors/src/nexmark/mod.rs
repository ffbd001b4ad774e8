//! `'connector' = 'nexmark'`: the people, auctions and bids of the Nexmark benchmark (Tucker, Tufte, Papadimos and Maier
//! 2002), with the distributions of its generator in Apache Beam and in the Nexmark project for Flink.
//!
//! Unlike theirs, an event is a function of the seed and its number, and the clock of the events starts at a fixed moment
//! (`base-time`), so that each reading gives the same events. The first event has the number 0 and is a person.

mod auction;
mod bid;
mod columns;
mod events;
mod model;
mod options;
mod person;
mod recipe;
mod record;
mod strings;

use std::sync::Arc;

use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Connector, OptionSpec, SinkFactory, Source, TableSpec, WriteMode};

use self::options::NexmarkOptions;
use self::recipe::Nexmark;
use crate::synthetic::SyntheticSource;

/// The events of an auction site.
#[derive(Debug)]
pub struct NexmarkConnector;

impl Connector for NexmarkConnector {
    fn name(&self) -> &'static str {
        "nexmark"
    }

    fn options(&self) -> &'static [OptionSpec] {
        options::OPTIONS
    }

    fn source(&self, table: &TableSpec) -> Result<Arc<dyn Source>> {
        let options = NexmarkOptions::from_table(table)?;
        columns::check(table)?;
        Ok(Arc::new(SyntheticSource {
            name: self.name().into(),
            end: options.events,
            pace: options.pace,
            recipe: Arc::new(Nexmark::new(options.model)),
        }))
    }

    fn sink(&self, table: &TableSpec, _: WriteMode) -> Result<Arc<dyn SinkFactory>> {
        Err(Error::invalid(format!("the table '{}' can't be written: 'nexmark' is a source", table.name)))
    }
}

#[cfg(test)]
mod tests;
