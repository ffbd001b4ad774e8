//! `EXPLAIN`: the logical plan, and what each driver makes of it.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::physical_plan::displayable;
use tidemill_core::{Epoch, EventBatch, Result};
use tidemill_runtime::connector::{ChangelogMode, Sink, SinkFactory};

use super::{LateSink, Outputs, batch, live};
use crate::plan::{plan_error, without_unread_fields};
use crate::{Pipeline, PlannedStatement, Table};

/// The plans of a statement, for people; nothing is opened or run.
///
/// # Errors
/// If the plan is not one that any driver runs. Why one of them can't stands in the text.
pub async fn explain(pipeline: &Pipeline, statement: &PlannedStatement) -> Result<String> {
    let live = match live::plan_one(pipeline, statement, &Nowhere) {
        Ok((graph, _)) => graph.describe()?,
        Err(error) => format!("it does not run live: {error}\n"),
    };
    let state = pipeline.session.state();
    let at_statement = |e| plan_error(e, &statement.excerpt);
    let plan = batch::sessions_apart(statement.plan.clone());
    let optimized =
        plan.and_then(|plan| state.optimize(&plan)).and_then(without_unread_fields).map_err(at_statement)?;
    let batch = match batch::physical_plan(&optimized, &state, &Arc::default()).await {
        Ok(physical) => displayable(physical.as_ref()).indent(false).to_string(),
        Err(error) => format!("it does not run as a batch: {}\n", at_statement(error)),
    };
    Ok(format!("== Logical plan ==\n{}\n\n== Live ==\n{live}\n== Batch ==\n{batch}", statement.plan.display_indent(),))
}

/// Takes all changes, and is never opened.
struct Nowhere;

impl Outputs for Nowhere {
    fn rows(&self, _: &PlannedStatement, _: &SchemaRef) -> Result<Arc<dyn SinkFactory>> {
        Ok(Arc::new(Self))
    }

    fn late(&self, _: &PlannedStatement) -> Result<Option<LateSink>> {
        Ok(None)
    }

    fn rejected(&self, _: &Table) -> Result<Option<Arc<dyn SinkFactory>>> {
        Ok(None)
    }
}

impl SinkFactory for Nowhere {
    fn changelog(&self) -> ChangelogMode {
        ChangelogMode::Retract
    }

    fn open(&self) -> Result<Box<dyn Sink>> {
        Ok(Box::new(Self))
    }
}

#[async_trait]
impl Sink for Nowhere {
    async fn write(&mut self, _: &EventBatch) -> Result<()> {
        Ok(())
    }

    async fn prepare(&mut self, _: Epoch) -> Result<()> {
        Ok(())
    }

    async fn commit(&mut self, _: Epoch) -> Result<()> {
        Ok(())
    }

    async fn abort(&mut self) -> Result<()> {
        Ok(())
    }
}
