//! A declared table as DataFusion sees it.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use futures::StreamExt;
use tidemill_core::EventBatch;
use tidemill_runtime::graph::SourceSpec;
use tidemill_runtime::operator::watermark_column;
use tidemill_runtime::scan::Scan;
use tokio::sync::mpsc::Sender;

use super::shared_scan::Feed;
use crate::catalog::Table;
use crate::physical::{IDENTITY, ROW_WATERMARK, SourceColumns, event_time_spec, source_columns};

/// A declared table.
#[derive(Debug, Clone)]
pub(crate) struct SourceTable {
    table: Arc<Table>,
    /// Its own columns: a `ROW` may have only some of its fields.
    columns: SchemaRef,
    /// Those, and the columns of [`IDENTITY`] and [`ROW_WATERMARK`] if they are wanted.
    schema: SchemaRef,
}

impl SourceTable {
    pub(crate) fn new(table: Arc<Table>) -> Self {
        let columns = Arc::clone(table.schema());
        Self { schema: Arc::clone(&columns), columns, table }
    }

    /// The same table with no more of its `ROW` columns than these have.
    pub(crate) fn with_columns(&self, columns: &SchemaRef) -> Self {
        let (schema, columns) = (Arc::clone(columns), Arc::clone(columns));
        let narrowed = Self { table: Arc::clone(&self.table), columns, schema };
        let has_sidecars = self.schema.fields().len() > self.columns.fields().len();
        if has_sidecars { narrowed.with_sidecars() } else { narrowed }
    }

    /// Its own columns.
    pub(crate) fn columns(&self) -> &SchemaRef {
        &self.columns
    }

    /// The same table with the columns of [`IDENTITY`] and [`ROW_WATERMARK`] behind its own, for a scan to choose from.
    pub(crate) fn with_sidecars(&self) -> Self {
        let mut fields = self.columns.fields().to_vec();
        fields.push(Arc::new(Field::new(IDENTITY[0], DataType::Utf8View, false)));
        fields.push(Arc::new(Field::new(IDENTITY[1], DataType::Int64, false)));
        fields.push(Arc::new(row_watermark(&self.table)));
        Self { schema: Arc::new(Schema::new(fields)), ..self.clone() }
    }

    pub(crate) fn table(&self) -> &Arc<Table> {
        &self.table
    }
}

/// The column of each row's watermark, in the type of the event time.
pub(crate) fn row_watermark(table: &Table) -> Field {
    let event_time = table.event_time.as_ref().and_then(|time| table.schema().field_with_name(&time.name).ok());
    let data_type = event_time.map(|field| field.data_type().clone());
    Field::new(ROW_WATERMARK, data_type.unwrap_or(DataType::Timestamp(TimeUnit::Millisecond, None)), true)
}

#[async_trait]
impl TableProvider for SourceTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = match projection {
            Some(columns) => Arc::new(self.schema.project(columns)?),
            None => Arc::clone(&self.schema),
        };
        let source = self.table.source().map_err(external)?;
        let wants = |name: &str| schema.column_with_name(name).is_some();
        let event_time = self.table.event_time.as_ref().filter(|_| wants(ROW_WATERMARK));
        let read = self.columns.fields().iter().filter(|field| {
            // The watermark is made of columns that nobody else may read.
            let of_time = event_time.is_some_and(|time| {
                time.name == *field.name() || time.watermark.column_refs().iter().any(|c| c.name == *field.name())
            });
            wants(field.name()) || of_time
        });
        let columns = Arc::new(Schema::new(read.cloned().collect::<Vec<_>>()));
        let event_time = event_time.map(|time| event_time_spec(time, &columns, state)).transpose()?;
        let SourceColumns { decoded, computed } = source_columns(&self.table, &columns, state)?;
        let spec = SourceSpec {
            table: Arc::clone(&self.table.name),
            source,
            decoded,
            columns,
            computed,
            row_watermarks: event_time.is_some(),
            event_time,
            lineage: IDENTITY.into_iter().any(wants),
            keep_rejected: self.table.keep_rejected,
            processing_time: false,
            program: None,
        };
        let config = state.config();
        Ok(Arc::new(SourceExec::new(self.clone(), spec, schema, config.target_partitions(), config.batch_size())))
    }
}

pub(crate) fn external(error: tidemill_core::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// Reads a table with as many streams as there are cores.
pub(super) struct SourceExec {
    source: SourceTable,
    spec: SourceSpec,
    schema: SchemaRef,
    batch_rows: usize,
    properties: Arc<PlanProperties>,
    /// Begun by the first partition that runs.
    scan: Mutex<Option<Arc<Scan>>>,
    /// Where what can't be decoded goes.
    rejected: OnceLock<Sender<EventBatch>>,
    /// Where its rows come from, if it does not read them itself.
    feed: OnceLock<Feed>,
}

impl SourceExec {
    fn new(source: SourceTable, spec: SourceSpec, schema: SchemaRef, streams: usize, batch_rows: usize) -> Self {
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&schema)),
            Partitioning::UnknownPartitioning(streams),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        let (scan, rejected, feed) = (Mutex::new(None), OnceLock::new(), OnceLock::new());
        Self { source, spec, schema, batch_rows, properties, scan, rejected, feed }
    }

    /// What it reads.
    pub(super) fn source(&self) -> &SourceTable {
        &self.source
    }

    /// Whether it gives columns that say where a row stands.
    pub(super) fn has_sidecars(&self) -> bool {
        self.spec.lineage || self.spec.row_watermarks
    }

    /// Its rows come from a scan that others share. Call it before the scan begins.
    pub(super) fn feed(&self, feed: Feed) {
        // The first feed stays.
        let _ = self.feed.set(feed);
    }

    pub(super) fn table(&self) -> &Arc<str> {
        &self.spec.table
    }

    /// What this scan can't decode goes to `outlet`. Call it before the scan begins.
    pub(super) fn send_rejected(&self, outlet: Sender<EventBatch>) {
        // The first outlet stays.
        let _ = self.rejected.set(outlet);
    }

    fn scan(&self) -> Arc<Scan> {
        let mut scan = self.scan.lock().unwrap_or_else(PoisonError::into_inner);
        let streams = self.properties.partitioning.partition_count();
        let start = || {
            Arc::new(Scan::start(
                self.spec.clone(),
                streams,
                self.batch_rows,
                Arc::default(),
                self.rejected.get().cloned(),
            ))
        };
        Arc::clone(scan.get_or_insert_with(start))
    }
}

impl fmt::Debug for SourceExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceExec").field("table", &self.spec.table).finish_non_exhaustive()
    }
}

impl DisplayAs for SourceExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A ROW with its fields: those that nobody reads are not among them.
        let shown = |field: &Arc<Field>| match field.data_type() {
            DataType::Struct(fields) => {
                let fields: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
                format!("{}({})", field.name(), fields.join(", "))
            }
            _ => field.name().clone(),
        };
        let columns: Vec<String> = self.schema.fields().iter().map(shown).collect();
        write!(f, "SourceExec: table={}, columns=[{}]", self.spec.table, columns.join(", "))
    }
}

impl ExecutionPlan for SourceExec {
    fn name(&self) -> &'static str {
        "SourceExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![]
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, _context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        if let Some(feed) = self.feed.get() {
            return feed.stream(partition, &self.schema);
        }
        let schema = Arc::clone(&self.schema);
        let batches = self.scan().stream().map(move |batch| to_rows(batch.map_err(external)?, &schema));
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), batches)))
    }
}

/// The columns of `schema`: those of the source, and the row's identity where it is among them.
fn to_rows(batch: EventBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let rows = batch.num_rows();
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        let column = match (&batch.lineage, field.name().as_str()) {
            (Some(lineage), "__tidemill_partition") => {
                Some(Arc::new(StringViewArray::from_iter_values(std::iter::repeat_n(&*lineage.source.partition, rows)))
                    as ArrayRef)
            }
            (Some(lineage), "__tidemill_offset") => Some(Arc::new(lineage.offsets().map_err(external)?) as ArrayRef),
            (_, ROW_WATERMARK) => Some(watermark_column(&batch, field.data_type()).map_err(external)?),
            (_, name) => batch.rows.column_by_name(name).cloned(),
        };
        columns.extend(column);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}
