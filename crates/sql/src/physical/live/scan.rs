//! The rows of a table: from the source that all statements share, or from the streams of a program.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::logical_expr::TableScan;
use tidemill_core::{Error, Result};
use tidemill_runtime::graph::{MakeOperator, Stream};
use tidemill_runtime::operator::{Numbered, WithIdentity, WithRowWatermark};

use super::expressions::{arrow_schema, pick};
use super::planner::{Branch, LiveStatement, Planned, Planner, make_calc};
use super::sources::{TimeKind, reads_identity, reads_watermark};
use crate::catalog::{OwnStreams, Table};
use crate::physical::IDENTITY;
use crate::plan::scanned;

impl Planner<'_> {
    pub(super) fn scan(&mut self, scan: &TableScan, live: &LiveStatement<'_>) -> Result<Planned> {
        let table = scanned(scan).map(|source| Arc::clone(source.table()));
        let (streams, columns) = match table.as_ref().and_then(|table| table.streams.clone().zip(Some(table))) {
            Some((own, table)) => (self.own_streams(&own, table), Arc::clone(table.schema())),
            None => {
                let (stream, columns) = self.source_columns(scan, live)?;
                (vec![stream], columns)
            }
        };
        let wanted = arrow_schema(&scan.projected_schema);
        let indices = wanted.fields().iter().map(|f| columns.index_of(f.name()));
        let indices: Vec<usize> = indices.collect::<Result<_, _>>()?;
        let calc = pick(&columns, &indices, wanted);
        let branch = |stream| Branch { stream, table: table.clone() };
        let branches = streams.into_iter().map(branch).collect();
        Ok(Planned { branches, ..Planned::new() }.chain(&mut self.graph, &make_calc(calc)))
    }

    /// The rows of a program's streams, each with a place in their order where somebody goes by it.
    fn own_streams(&mut self, own: &OwnStreams, table: &Table) -> Vec<Stream> {
        if !self.numbered.contains(&table.name) {
            return own.streams.to_vec();
        }
        let name = Arc::clone(&table.name);
        let make: MakeOperator = Arc::new(move || Ok(Box::new(Numbered::new(Arc::clone(&name)))));
        own.streams.iter().map(|stream| self.graph.chain(*stream, Arc::clone(&make))).collect()
    }

    /// The rows of a source, with the columns that only this scan asks for behind those that it decodes.
    fn source_columns(&mut self, scan: &TableScan, live: &LiveStatement<'_>) -> Result<(Stream, SchemaRef)> {
        let (mut stream, mut columns) = self.source(scan.table_name.table(), self.time)?;
        if reads_identity(&scan.projected_schema) {
            columns = WithIdentity::schema(&columns, IDENTITY);
            let schema = Arc::clone(&columns);
            let make: MakeOperator = Arc::new(move || Ok(Box::new(WithIdentity::new(Arc::clone(&schema)))));
            stream = self.graph.chain(stream, make);
        }
        if let Some(field) = reads_watermark(&scan.projected_schema) {
            self.check_has_watermark(live)?;
            columns = WithRowWatermark::schema(&columns, field);
            let schema = Arc::clone(&columns);
            let make: MakeOperator = Arc::new(move || Ok(Box::new(WithRowWatermark::new(Arc::clone(&schema)))));
            stream = self.graph.chain(stream, make);
        }
        Ok((stream, columns))
    }

    /// Rows have a watermark of their own where windows go by their times.
    fn check_has_watermark(&self, live: &LiveStatement<'_>) -> Result<()> {
        match self.time {
            TimeKind::Event => Ok(()),
            TimeKind::Processing => {
                Err(Error::invalid("CURRENT_WATERMARK below a window over processing time is not supported")
                    .hint("make the window over event time, or leave the function out")
                    .at(live.statement.excerpt.clone()))
            }
        }
    }
}
