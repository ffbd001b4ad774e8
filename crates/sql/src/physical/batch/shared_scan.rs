//! One reading of a table for all statements that can take its rows at the same time.
//!
//! ```text
//!                       ┌─► filter ─► aggregate ─► sink
//! scan ─► every batch ──┤
//!         to each       └─► aggregate ─► aggregate ─► sink
//! ```
//!
//! Decoding is often the larger part of the work, and five statements over one table would do it five times. A statement
//! takes part if its plan reads the table once, and folds or passes on the rows as they come: then it waits for nothing
//! but them, and no statement can keep the others waiting for ever. One that holds all rows (to sort them, to make
//! sessions of them) reads the table by itself, so that only one such heap is in memory at a time.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, StructArray};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use futures::StreamExt;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinSet;

use super::source::SourceExec;
use super::unnest::UnnestExec;
use super::window::WindowExec;

/// How many batches of a partition wait for a statement that is slower than the others.
const CAPACITY: usize = 2;

type Batches = Receiver<Result<RecordBatch>>;

/// Where a statement's scan gets its rows instead of reading them: by partition, until one is taken.
#[derive(Debug)]
pub(super) struct Feed(Mutex<Vec<Option<Batches>>>);

/// A scan whose rows several statements get.
pub(super) struct SharedScan {
    scan: Arc<dyn ExecutionPlan>,
    /// By partition: where its batches go.
    outlets: Vec<Vec<Sender<Result<RecordBatch>>>>,
}

/// Which plans run at the same time over one scan, and which by themselves: indices, by the first of each group.
pub(super) fn groups(plans: &[Arc<dyn ExecutionPlan>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = vec![];
    let mut by_table: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, plan) in plans.iter().enumerate() {
        let group = only_scan(plan).map(|scan| *by_table.entry(scan.table()).or_insert(groups.len()));
        match group.and_then(|group| groups.get_mut(group)) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    groups
}

/// The one scan of a plan that holds no rows of it.
fn only_scan(plan: &Arc<dyn ExecutionPlan>) -> Option<&SourceExec> {
    let mut holds_rows = false;
    let mut node = plan;
    loop {
        let any = node.as_ref() as &dyn Any;
        if let Some(scan) = any.downcast_ref::<SourceExec>() {
            return (!holds_rows).then_some(scan);
        }
        // What holds rows above an aggregate holds its results.
        holds_rows = !any.is::<AggregateExec>() && (holds_rows || !passes_on(any));
        let children = node.children();
        let [child] = children[..] else { return None };
        node = child;
    }
}

/// Whether a node gives its rows as they come.
fn passes_on(node: &dyn Any) -> bool {
    node.is::<FilterExec>()
        || node.is::<ProjectionExec>()
        || node.is::<WindowExec>()
        || node.is::<UnnestExec>()
        || node.is::<RepartitionExec>()
        || node.is::<CoalescePartitionsExec>()
}

impl SharedScan {
    /// Makes one scan of those of `plans`, which are a group of [`groups`]. From now on they read nothing themselves.
    pub(super) async fn of(plans: &[Arc<dyn ExecutionPlan>], state: &dyn Session) -> Result<Self> {
        let scans: Vec<&SourceExec> = plans.iter().filter_map(|plan| only_scan(plan)).collect();
        let Some(first) = scans.first() else { return datafusion::common::internal_err!("no plan has a scan") };
        let declared = first.source().table().schema();
        let columns = declared.fields().iter().filter_map(|field| wanted(field, &scans));
        let table = first.source().with_columns(&Arc::new(Schema::new(columns.collect::<Vec<_>>())));
        let table = if scans.iter().any(|scan| scan.has_sidecars()) { table.with_sidecars() } else { table };
        let schema = table.schema();
        let projection = schema
            .fields()
            .iter()
            .enumerate()
            .filter(|(_, field)| scans.iter().any(|scan| scan.schema().column_with_name(field.name()).is_some()));
        let projection = projection.map(|(index, _)| index).collect();
        let scan = table.scan(state, Some(&projection), &[], None).await?;
        let partitions = scan.output_partitioning().partition_count();
        let mut outlets: Vec<Vec<_>> = (0..partitions).map(|_| vec![]).collect();
        for reader in scans {
            let (senders, receivers): (Vec<_>, Vec<_>) = (0..partitions).map(|_| channel(CAPACITY)).unzip();
            outlets.iter_mut().zip(senders).for_each(|(outlets, sender)| outlets.push(sender));
            reader.feed(Feed(Mutex::new(receivers.into_iter().map(Some).collect())));
        }
        Ok(Self { scan, outlets })
    }

    /// The scan.
    pub(super) fn scan(&self) -> &Arc<dyn ExecutionPlan> {
        &self.scan
    }

    /// Begins to read. Reading stops when what this gives is dropped.
    pub(super) fn start(self, context: &Arc<TaskContext>) -> Result<JoinSet<()>> {
        let mut readers = JoinSet::new();
        for (partition, outlets) in self.outlets.into_iter().enumerate() {
            readers.spawn(deal(self.scan.execute(partition, Arc::clone(context))?, outlets));
        }
        Ok(readers)
    }
}

/// Gives every batch to each that still wants it.
async fn deal(mut rows: SendableRecordBatchStream, mut outlets: Vec<Sender<Result<RecordBatch>>>) {
    while let Some(batch) = rows.next().await {
        let batch = batch.map_err(Arc::new);
        let mut wanting = Vec::with_capacity(outlets.len());
        for outlet in outlets {
            let copy = batch.clone().map_err(DataFusionError::Shared);
            if outlet.send(copy).await.is_ok() {
                wanting.push(outlet);
            }
        }
        outlets = wanting;
        if outlets.is_empty() || batch.is_err() {
            return;
        }
    }
}

/// A column of the table with all that some scan reads of it; `None` if none does.
fn wanted(declared: &FieldRef, scans: &[&SourceExec]) -> Option<FieldRef> {
    let schemas = scans.iter().filter(|scan| scan.schema().column_with_name(declared.name()).is_some());
    let columns = schemas.filter_map(|scan| scan.source().columns().field_with_name(declared.name()).ok());
    let columns: Vec<&Field> = columns.collect();
    let DataType::Struct(fields) = declared.data_type() else {
        return columns.first().map(|_| Arc::clone(declared));
    };
    // A ROW may be read with some of its fields.
    let read = |field: &&FieldRef| {
        columns.iter().any(|column| match column.data_type() {
            DataType::Struct(fields) => fields.find(field.name()).is_some(),
            _ => false,
        })
    };
    let fields: Fields = fields.iter().filter(read).cloned().collect();
    let column = declared.as_ref().clone().with_data_type(DataType::Struct(fields));
    columns.first().map(|_| Arc::new(column))
}

impl Feed {
    /// The rows of a partition in the columns of `schema`, all of which a shared scan has, by name.
    pub(super) fn stream(&self, partition: usize, schema: &SchemaRef) -> Result<SendableRecordBatchStream> {
        let mut receivers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(receiver) = receivers.get_mut(partition).and_then(Option::take) else {
            return datafusion::common::internal_err!("the rows of partition {partition} were taken before");
        };
        let batches = futures::stream::unfold(receiver, |mut receiver| async move {
            receiver.recv().await.map(|batch| (batch, receiver))
        });
        let columns = Arc::clone(schema);
        let batches = batches.map(move |batch| of_them(&batch?, &columns));
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(schema), batches)))
    }
}

/// The columns of `schema`, by name.
fn of_them(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let column = |field: &FieldRef| match batch.column_by_name(field.name()) {
        Some(column) => narrowed(column, field.data_type()),
        None => datafusion::common::internal_err!("a shared scan has no column '{}'", field.name()),
    };
    let columns = schema.fields().iter().map(column).collect::<Result<_>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}

/// A `ROW` with those fields that its type has.
fn narrowed(column: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let (DataType::Struct(fields), Some(row)) = (to, column.as_struct_opt()) else { return Ok(Arc::clone(column)) };
    if column.data_type() == to {
        return Ok(Arc::clone(column));
    }
    let values = fields.iter().filter_map(|field| row.column_by_name(field.name()).cloned()).collect();
    Ok(Arc::new(StructArray::try_new(fields.clone(), values, row.nulls().cloned())?))
}

#[cfg(test)]
mod tests;
