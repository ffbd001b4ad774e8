//! `'connector' = 'shop'`: the generated traffic of a web shop, the same events for the same seed.
//!
//! An event is a function of the seed and its number, so a live run, a batch and a reconciliation read the same
//! events, any core can make any of them, and columns that nobody reads change nothing.
//!
//! ```text
//! number ─► Visit (who, offline for how long) ─► step of the visit ─► Event ─► Arrow columns
//! ```

mod columns;
mod doors;
mod event;
mod goods;
mod options;
mod random;
mod source;
mod visit;

use std::sync::Arc;

use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{Connector, OptionSpec, SinkFactory, Source, TableSpec, WriteMode};

use self::doors::Doors;
pub use self::event::{EVENT_SPACING_MS, Event};
pub use self::options::{MAX_EVENTS, Traffic};
use self::source::ShopSource;

/// Generated shop traffic.
#[derive(Debug, Clone, Default)]
pub struct ShopConnector {
    /// What holds where a table sets no option.
    defaults: Traffic,
    doors: Arc<Doors>,
}

impl ShopConnector {
    /// A shop whose tables have this traffic where their options don't say otherwise.
    #[must_use]
    pub fn new(defaults: Traffic) -> Self {
        Self { defaults, doors: Arc::default() }
    }

    /// Ends the traffic that is being read live. The events that were given out until then are all there are, for
    /// later readings too.
    pub fn close(&self) {
        self.doors.close();
    }
}

impl Connector for ShopConnector {
    fn name(&self) -> &'static str {
        "shop"
    }

    fn options(&self) -> &'static [OptionSpec] {
        options::OPTIONS
    }

    fn source(&self, table: &TableSpec) -> Result<Arc<dyn Source>> {
        columns::check(table)?;
        let traffic = options::traffic(&table.options, &self.defaults)?;
        Ok(Arc::new(ShopSource::new(traffic, Arc::clone(&self.doors))))
    }

    fn sink(&self, table: &TableSpec, _: WriteMode) -> Result<Arc<dyn SinkFactory>> {
        Err(Error::invalid(format!("the table '{}' can't be written: 'shop' is a source", table.name)))
    }
}

#[cfg(test)]
mod tests;
