//! What a program gives to its queries, beside what their text declares.

use std::sync::Arc;

use tidemill_core::Result;

use crate::catalog::{StreamTable, Table};
use crate::session::Session;

/// The tables that a program has registered.
#[derive(Debug, Clone, Default)]
pub struct Registered {
    tables: Vec<Arc<Table>>,
}

impl Registered {
    /// Adds streams as a table. The last of a name counts.
    pub fn add_stream(&mut self, table: StreamTable) {
        self.tables.retain(|other| other.name != table.name);
        self.tables.push(Arc::new(table.into_table()));
    }

    /// Whether there is a table of that name.
    #[must_use]
    pub fn has_table(&self, name: &str) -> bool {
        self.tables.iter().any(|table| *table.name == *name)
    }

    /// Makes all of it known to a session.
    pub(crate) fn register_in(&self, session: &Session) -> Result<()> {
        self.tables.iter().try_for_each(|table| session.register(Arc::clone(table)))
    }
}
