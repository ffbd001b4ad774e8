//! Sessions as columns: each row with the bounds of its session.
//!
//! A session needs the rows of a key together, in the order of their times, and no order of the keys: [`keyed`] puts them
//! so, which a sort by key and time would do in several times the time. Where there is no memory for all, [`apart`] has
//! some keys at a time.

mod apart;
mod keyed;

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{Distribution, PhysicalExpr};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, TryStreamExt};
use tidemill_core::EventTimes;
use tidemill_runtime::key_groups::Spill;
use tidemill_runtime::time_zone::TimeZone;

use self::apart::Rows;
use super::LateRows;
use super::over_input::{OverInput, Step};

/// What a session function does to rows.
#[derive(Debug, Clone)]
pub(super) struct SessionColumns {
    pub(super) time: usize,
    pub(super) range: EventTimes,
    pub(super) key: Vec<usize>,
    pub(super) gap_ms: i64,
    /// On whose clocks the bounds are told.
    pub(super) zone: TimeZone,
    /// The indices of partition and offset, and the rows to leave out.
    pub(super) except: Option<(usize, usize, Arc<LateRows>)>,
    /// The indices of the input's columns that stay.
    pub(super) kept: Vec<usize>,
    pub(super) schema: SchemaRef,
}

/// The plan node of [`SessionColumns`].
pub(super) type SessionExec = OverInput<SessionColumns>;

impl Step for SessionColumns {
    const NAME: &'static str = "SessionExec";

    fn schema(&self, _input: &SchemaRef) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn details(&self) -> String {
        format!("gap={} ms", self.gap_ms)
    }

    fn distribution(&self, input: &SchemaRef) -> Distribution {
        if self.key.is_empty() {
            return Distribution::SinglePartition;
        }
        let column = |&index: &usize| Arc::new(Column::new(input.field(index).name(), index)) as Arc<dyn PhysicalExpr>;
        Distribution::KeyPartitioned(self.key.iter().map(column).collect())
    }

    fn run(
        &self,
        mut rows: SendableRecordBatchStream,
        input: SchemaRef,
        context: &TaskContext,
    ) -> Result<SendableRecordBatchStream> {
        let spill = context.session_config().get_extension::<Spill>();
        let mut kept = Rows::new(self.clone(), input, context.memory_pool(), spill)?;
        let batch_rows = context.session_config().batch_size();
        let sessions = async move {
            while let Some(batch) = rows.next().await {
                kept.push(&batch?)?;
            }
            Ok::<_, DataFusionError>(futures::stream::iter(kept.into_sessions(batch_rows)?))
        };
        let batches = futures::stream::once(sessions).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), batches)))
    }
}
