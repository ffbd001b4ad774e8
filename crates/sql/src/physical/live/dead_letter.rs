//! What can't be decoded, to the table that the file names for it.

use tidemill_core::Result;
use tidemill_runtime::operator::Port;
use tidemill_runtime::rejected_schema;

use super::planner::{Planner, make_calc};
use crate::Pipeline;
use crate::physical::{Outputs, by_name};

impl Planner<'_> {
    pub(super) fn dead_letters(&mut self, pipeline: &Pipeline, outputs: &dyn Outputs) -> Result<()> {
        for (table, output) in &pipeline.dead_letters {
            let calc =
                by_name("bad rows", &rejected_schema(), output.stored()).map_err(|e| e.at(output.excerpt.clone()))?;
            let Some(sink) = outputs.rejected(output)? else { continue };
            let rejected = self.graph.chain(self.any_source(table)?.side(Port::REJECTED), make_calc(calc));
            self.graph.sink(&[rejected], format!("bad rows of {table}"), sink);
        }
        Ok(())
    }
}
