//! Sessions as columns: over rows sorted by key and time, each row with the bounds of its session.

use std::fmt;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, TimestampMillisecondArray};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Int64Type, SchemaRef, TimestampMillisecondType};
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{
    Distribution, EquivalenceProperties, LexOrdering, OrderingRequirements, PhysicalExpr, PhysicalSortExpr,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt;
use tidemill_core::EventTimes;
use tidemill_runtime::time_zone::TimeZone;
use tidemill_runtime::window::Window;

use super::LateRows;

/// What a session function does to sorted rows.
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
#[derive(Debug)]
pub(super) struct SessionExec {
    input: Arc<dyn ExecutionPlan>,
    columns: SessionColumns,
    properties: Arc<PlanProperties>,
}

impl SessionExec {
    pub(super) fn new(input: Arc<dyn ExecutionPlan>, columns: SessionColumns) -> Self {
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&columns.schema)),
            datafusion::physical_plan::Partitioning::UnknownPartitioning(
                input.properties().partitioning.partition_count(),
            ),
            input.properties().emission_type,
            input.properties().boundedness,
        ));
        Self { input, columns, properties }
    }

    fn expr(&self, index: usize) -> Arc<dyn PhysicalExpr> {
        Arc::new(Column::new(self.input.schema().field(index).name(), index))
    }
}

impl DisplayAs for SessionExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionExec: gap={} ms", self.columns.gap_ms)
    }
}

impl ExecutionPlan for SessionExec {
    fn name(&self) -> &'static str {
        "SessionExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        if self.columns.key.is_empty() {
            return vec![Distribution::SinglePartition];
        }
        vec![Distribution::KeyPartitioned(self.columns.key.iter().map(|&k| self.expr(k)).collect())]
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        let columns = self.columns.key.iter().chain([&self.columns.time]);
        let ordering = LexOrdering::new(columns.map(|&c| PhysicalSortExpr::new_default(self.expr(c))));
        vec![ordering.map(OrderingRequirements::from)]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        match <[_; 1]>::try_from(children) {
            Ok([input]) => Ok(Arc::new(Self::new(input, self.columns.clone()))),
            Err(_) => datafusion::common::internal_err!("a session has one input"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let mut sessions = Sessions::new(self.columns.clone(), &self.input.schema())?;
        let input = self.input.execute(partition, context)?;
        let ended = futures::stream::once(async { None });
        let batches = input.map(Some).chain(ended).flat_map(move |rows| {
            let output = match rows {
                Some(rows) => rows.and_then(|rows| sessions.push(&rows)),
                None => sessions.finish(),
            };
            futures::stream::iter(match output {
                Ok(batches) => batches.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            })
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.columns.schema), batches)))
    }
}

/// One partition's pass over sorted rows.
struct Sessions {
    columns: SessionColumns,
    converter: Option<RowConverter>,
    /// The rows of the session that is open: it may go on in the next batch.
    held: Vec<RecordBatch>,
    open: Option<Open>,
}

struct Open {
    key: Option<OwnedRow>,
    first_ms: i64,
    last_ms: i64,
}

impl Sessions {
    fn new(columns: SessionColumns, input: &SchemaRef) -> Result<Self> {
        let fields: Vec<SortField> =
            columns.key.iter().map(|&k| SortField::new(input.field(k).data_type().clone())).collect();
        let converter = if fields.is_empty() { None } else { Some(RowConverter::new(fields)?) };
        Ok(Self { columns, converter, held: vec![], open: None })
    }

    fn push(&mut self, rows: &RecordBatch) -> Result<Vec<RecordBatch>> {
        let rows = self.usable(rows)?;
        let times = rows.column(self.columns.time).as_primitive::<TimestampMillisecondType>().clone();
        let keys: Vec<ArrayRef> = self.columns.key.iter().map(|&k| Arc::clone(rows.column(k))).collect();
        let keys = self.converter.as_ref().map(|c| c.convert_columns(&keys)).transpose()?;
        let mut output = vec![];
        let mut begun = 0;
        for row in 0..rows.num_rows() {
            let time_ms = times.value(row);
            let key = keys.as_ref().map(|keys| keys.row(row));
            let same = self.open.as_ref().is_some_and(|open| {
                open.key.as_ref().map(OwnedRow::row) == key && time_ms <= open.last_ms + self.columns.gap_ms
            });
            match &mut self.open {
                Some(open) if same => open.last_ms = time_ms,
                _ => {
                    self.held.push(rows.slice(begun, row - begun));
                    output.extend(self.finish()?);
                    begun = row;
                    self.open = Some(Open { key: key.map(|k| k.owned()), first_ms: time_ms, last_ms: time_ms });
                }
            }
        }
        self.held.push(rows.slice(begun, rows.num_rows() - begun));
        Ok(output)
    }

    /// Rows that have a time and are not to be left out.
    fn usable(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        let times = rows.column(self.columns.time).as_primitive::<TimestampMillisecondType>();
        let excepted = |row: usize| {
            self.columns.except.as_ref().is_some_and(|(partition, offset, late)| {
                let partition = rows.column(*partition).as_string_view().value(row);
                late.contains_row(partition, rows.column(*offset).as_primitive::<Int64Type>().value(row))
            })
        };
        let usable = |row: usize| times.is_valid(row) && self.columns.range.hold(times.value(row)) && !excepted(row);
        let mask: BooleanArray = (0..rows.num_rows()).map(|row| Some(usable(row))).collect();
        if mask.true_count() == rows.num_rows() {
            return Ok(rows.clone());
        }
        Ok(filter_record_batch(rows, &mask)?)
    }

    /// Gives out the open session's rows with its bounds.
    fn finish(&mut self) -> Result<Vec<RecordBatch>> {
        let Some(open) = self.open.take() else {
            self.held.clear();
            return Ok(vec![]);
        };
        let session = Window { start_ms: open.first_ms, end_ms: open.last_ms + self.columns.gap_ms };
        let told = session.told_in(self.columns.zone);
        let mut output = vec![];
        for rows in std::mem::take(&mut self.held).into_iter().filter(|rows| rows.num_rows() > 0) {
            let zone = match rows.schema_ref().field(self.columns.time).data_type() {
                DataType::Timestamp(_, zone) => zone.clone(),
                _ => None,
            };
            let bound = |ms: i64| TimestampMillisecondArray::from_value(ms, rows.num_rows());
            let mut columns = rows.project(&self.columns.kept)?.columns().to_vec();
            columns.push(Arc::new(bound(told.start_ms)));
            columns.push(Arc::new(bound(told.end_ms)));
            columns.push(Arc::new(bound(session.end_ms - 1).with_timezone_opt(zone)));
            output.push(RecordBatch::try_new(Arc::clone(&self.columns.schema), columns)?);
        }
        Ok(output)
    }
}
