//! The end of late rows: their columns matched by name with those of the sink.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use tidemill_core::{Error, Result};
use tidemill_runtime::graph::Stream;

use super::planner::{Planner, make_calc};
use crate::PlannedStatement;
use crate::physical::{LateSink, by_name};

impl Planner<'_> {
    pub(super) fn late_sink(
        &mut self,
        late: &[(Stream, SchemaRef)],
        sink: &LateSink,
        statement: &PlannedStatement,
    ) -> Result<()> {
        if late.is_empty() && sink.columns.is_some() {
            return Err(Error::invalid(format!(
                "'{}' has a late output, and no window for which a row could be late",
                statement.name
            ))
            .hint("remove the SET 'tidemill.late-output...'")
            .at(statement.excerpt.clone()));
        }
        let mut streams = vec![];
        for (stream, schema) in late {
            streams.push(match &sink.columns {
                Some(wanted) => {
                    let calc = by_name("late rows", schema, wanted).map_err(|e| e.at(statement.excerpt.clone()))?;
                    self.graph.chain(*stream, make_calc(calc))
                }
                None => *stream,
            });
        }
        if !streams.is_empty() {
            self.graph.sink(&streams, format!("late rows of {}", statement.name), Arc::clone(&sink.sink));
        }
        Ok(())
    }
}
