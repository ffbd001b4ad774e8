//! The list of systems that a program knows.

use std::sync::Arc;

use tidemill_core::{Error, Result};

use super::{Connector, nearest};

/// The systems that `'connector' = '...'` may name.
#[derive(Clone)]
pub struct Connectors {
    list: Vec<Arc<dyn Connector>>,
}

impl Connectors {
    /// The given systems.
    #[must_use]
    pub fn new(list: Vec<Arc<dyn Connector>>) -> Self {
        Self { list }
    }

    /// These systems, and `connector` in the place of the one that has its name.
    #[must_use]
    pub fn with(mut self, connector: Arc<dyn Connector>) -> Self {
        self.list.retain(|other| other.name() != connector.name());
        self.list.push(connector);
        self
    }

    /// The system called `name`.
    pub fn get(&self, name: &str) -> Result<&Arc<dyn Connector>> {
        self.list.iter().find(|c| c.name() == name).ok_or_else(|| {
            let error = Error::invalid(format!("there is no connector '{name}'"));
            match nearest(name, self.list.iter().map(|c| c.name())) {
                Some(near) => error.hint(format!("did you mean '{near}'?")),
                None => error.hint(format!("known connectors: {}", self.names().join(", "))),
            }
        })
    }

    /// The names of all systems.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        self.list.iter().map(|c| c.name()).collect()
    }
}
