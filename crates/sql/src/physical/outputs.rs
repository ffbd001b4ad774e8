//! Where the rows of a run go: the program decides, both drivers ask.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use tidemill_core::Result;
use tidemill_runtime::connector::SinkFactory;

use crate::{PlannedStatement, Table};

/// Gives each statement its sinks.
///
/// # Contract
/// - Called at plan time, once a statement and run; does no I/O.
pub trait Outputs {
    /// Where the statement's rows go.
    fn rows(&self, statement: &PlannedStatement, schema: &SchemaRef) -> Result<Arc<dyn SinkFactory>>;

    /// Where the rows go that are late for the statement's windows; `None`: they are only counted.
    fn late(&self, statement: &PlannedStatement) -> Result<Option<LateSink>>;

    /// Where what can't be decoded goes, which the file wants in `table`; `None`: it is only counted.
    fn rejected(&self, table: &Table) -> Result<Option<Arc<dyn SinkFactory>>>;
}

/// Where late rows go.
#[derive(Clone)]
pub struct LateSink {
    /// The columns that it takes, matched by name with those of the source and
    /// [`tidemill_runtime::window::LATE_COLUMNS`]; `None` takes all.
    pub columns: Option<SchemaRef>,
    /// The sink.
    pub sink: Arc<dyn SinkFactory>,
}
