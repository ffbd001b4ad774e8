//! Where the rows of a file go: to the tables that it names, and those of a bare `SELECT` to the terminal.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use tidemill_core::Result;
use tidemill_runtime::connector::{SinkFactory, WriteMode};
use tidemill_sql::physical::{LateSink, Outputs};
use tidemill_sql::{PlannedStatement, Table, Target};

/// Rows go where the file says; `print` makes what shows those of a bare `SELECT`.
pub(crate) struct Declared<P> {
    print: P,
}

impl<P: Fn(&SchemaRef) -> Result<Arc<dyn SinkFactory>>> Declared<P> {
    pub(crate) fn new(print: P) -> Self {
        Self { print }
    }
}

impl<P: Fn(&SchemaRef) -> Result<Arc<dyn SinkFactory>>> Outputs for Declared<P> {
    fn rows(&self, statement: &PlannedStatement, schema: &SchemaRef) -> Result<Arc<dyn SinkFactory>> {
        match &statement.target {
            Target::Table(table) => table.connector.sink(&table.spec, statement.mode),
            Target::Print => (self.print)(schema),
        }
    }

    fn late(&self, statement: &PlannedStatement) -> Result<Option<LateSink>> {
        let sink = |table: &Arc<Table>| {
            let sink = table.connector.sink(&table.spec, WriteMode::Append)?;
            Ok(LateSink { columns: Some(Arc::clone(table.stored())), sink })
        };
        statement.late_output.as_ref().map(sink).transpose()
    }

    fn rejected(&self, table: &Table) -> Result<Option<Arc<dyn SinkFactory>>> {
        table.connector.sink(&table.spec, WriteMode::Append).map(Some)
    }
}
