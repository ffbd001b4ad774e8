//! What the statements need of each table: five statements over a table decode it once, reading the
//! union of their columns.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::datatypes::{Field, SchemaRef};
use datafusion::common::DFSchema;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::LogicalPlan;
use tidemill_core::{Error, Result};

use super::planner::LiveStatement;
use crate::catalog::Table;
use crate::physical::{IDENTITY, LateSink, ROW_WATERMARK};
use crate::plan::{plan_error, scanned, scanned_tables, windows};
use crate::window_tvf::WindowKind;

/// What must be decoded of a table.
pub(super) struct Need {
    pub(super) table: Arc<Table>,
    columns: BTreeSet<usize>,
    /// Somebody wants late rows, has sessions, or aggregates in the order of the log.
    pub(super) lineage: bool,
    /// Somebody has sessions, or asks for a row's watermark.
    pub(super) row_watermarks: bool,
}

/// By table name.
pub(super) type Needs = BTreeMap<Arc<str>, Need>;

pub(super) fn needs(statements: &[LiveStatement<'_>]) -> Result<Needs> {
    let mut needs = Needs::new();
    for LiveStatement { plan, late, statement } in statements {
        let mut outcome = Ok(());
        plan.apply(|node| {
            if let LogicalPlan::TableScan(scan) = node {
                match scanned(scan) {
                    Some(source) => {
                        let projection = scan.projection.as_deref();
                        let need = add(&mut needs, source.table(), projection, late.as_ref());
                        need.lineage |= reads_identity(&scan.projected_schema);
                        need.row_watermarks |= reads_watermark(&scan.projected_schema).is_some();
                    }
                    None => outcome = Err(Error::internal(format!("{} is no declared table", scan.table_name))),
                }
            }
            Ok(TreeNodeRecursion::Continue)
        })
        .map_err(|e| plan_error(e, &statement.excerpt))?;
        outcome?;
        for window in windows(plan).map_err(|e| plan_error(e, &statement.excerpt))? {
            if let WindowKind::Aligned(_) = window.kind {
                continue;
            }
            for table in scanned_tables(&window.input) {
                if let Some(need) = needs.get_mut(&table.name) {
                    need.lineage = true;
                    need.row_watermarks = true;
                }
            }
        }
    }
    Ok(needs)
}

fn add<'a>(
    needs: &'a mut Needs,
    table: &Arc<Table>,
    projection: Option<&[usize]>,
    late: Option<&LateSink>,
) -> &'a mut Need {
    let need = needs.entry(Arc::clone(&table.name)).or_insert_with(|| Need {
        table: Arc::clone(table),
        columns: BTreeSet::new(),
        lineage: false,
        row_watermarks: false,
    });
    let schema = table.schema();
    let own = schema.fields().len();
    match projection {
        Some(columns) => need.columns.extend(columns.iter().filter(|index| **index < own)),
        None => need.columns.extend(0..own),
    }
    if let Some(event_time) = &table.event_time {
        // The watermark counts every row, whatever a statement reads of it.
        let watermark = event_time.watermark.column_refs();
        let names = watermark.iter().map(|c| c.name.as_str()).chain([event_time.name.as_str()]);
        need.columns.extend(names.filter_map(|name| schema.index_of(name).ok()));
    }
    if let Some(late) = late {
        need.lineage = true;
        match &late.columns {
            Some(wanted) => need.columns.extend(wanted.fields().iter().filter_map(|f| schema.index_of(f.name()).ok())),
            None => need.columns.extend(0..schema.fields().len()),
        }
    }
    need
}

/// Whether a scan's rows come with their partition and offset.
pub(super) fn reads_identity(columns: &DFSchema) -> bool {
    columns.fields().iter().any(|field| IDENTITY.contains(&field.name().as_str()))
}

/// The column of each row's watermark, if a scan gives it.
pub(super) fn reads_watermark(columns: &DFSchema) -> Option<&Field> {
    columns.fields().iter().find(|field| field.name() == ROW_WATERMARK).map(AsRef::as_ref)
}

impl Need {
    /// The columns to decode, in the order of the declaration.
    pub(super) fn schema(&self) -> Result<SchemaRef> {
        let indices: Vec<usize> = self.columns.iter().copied().collect();
        Ok(Arc::new(self.table.schema().project(&indices)?))
    }
}
