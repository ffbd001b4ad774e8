//! What the statements need of each table: five statements over a table decode it once, reading the
//! union of their columns.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::datatypes::{Field, SchemaRef};
use datafusion::common::DFSchema;
use datafusion::logical_expr::{Extension, LogicalPlan, TableScan};
use tidemill_core::{Error, Result};

use super::planner::LiveStatement;
use crate::catalog::Table;
use crate::physical::{IDENTITY, LateSink, ROW_WATERMARK};
use crate::plan::{ReadFields, plan_error, scanned, scanned_tables, windows};
use crate::window_tvf::{WindowKind, WindowTvf};

/// What must be decoded of a table.
pub(super) struct Need {
    pub(super) table: Arc<Table>,
    /// What the graph calls the source: as the table, unless that is read for one query among others.
    pub(super) name: Arc<str>,
    /// All of its columns, their `ROW`s with the fields that somebody reads.
    schema: SchemaRef,
    columns: BTreeSet<usize>,
    /// Somebody wants late rows, has sessions, or aggregates in the order of the log.
    pub(super) lineage: bool,
    /// Somebody has sessions, or asks for a row's watermark.
    pub(super) row_watermarks: bool,
}

/// Lets the scans of all statements give only those fields of `ROW` columns that somebody reads.
pub(super) fn narrow(statements: &mut [LiveStatement<'_>]) -> Result<()> {
    let mut read = ReadFields::default();
    for LiveStatement { plan, late, statement } in &*statements {
        let added = read.add(plan).and_then(|()| match late {
            Some(late) => read.add_late(plan, late.columns.as_ref()),
            None => Ok(()),
        });
        added.map_err(|e| plan_error(e, &statement.excerpt))?;
    }
    for LiveStatement { plan, statement, .. } in statements {
        let narrowed = read.narrow(plan.clone());
        *plan = narrowed.map_err(|e| plan_error(e, &statement.excerpt))?;
    }
    Ok(())
}

/// By which time the windows over a scan's rows go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum TimeKind {
    /// Also where there is no window.
    Event,
    Processing,
}

impl TimeKind {
    /// That of the scans below a window that stands below such.
    pub(super) fn below(self, window: &WindowTvf) -> Self {
        if window.by_clock() { Self::Processing } else { self }
    }
}

/// A table is scanned once for each kind of time.
pub(super) type ScanKey = (Arc<str>, TimeKind);

pub(super) type Needs = BTreeMap<ScanKey, Need>;

pub(super) fn needs(statements: &[LiveStatement<'_>]) -> Result<Needs> {
    let mut needs = Needs::new();
    for LiveStatement { plan, late, statement } in statements {
        for (scan, kind) in scans(plan, TimeKind::Event) {
            let Some(source) = scanned(scan) else {
                return Err(Error::internal(format!("{} is no declared table", scan.table_name)));
            };
            if source.table().streams.is_some() {
                check_stream(source.table(), kind).map_err(|e| e.at(statement.excerpt.clone()))?;
                continue;
            }
            let late = late.as_ref().filter(|_| kind == TimeKind::Event);
            let key = (Arc::clone(&source.table().name), kind);
            let need = needs.entry(key).or_insert_with(|| Need::new(source.table(), source.columns()));
            need.add(scan.projection.as_deref(), late, kind);
            need.lineage |= reads_identity(&scan.projected_schema);
            need.row_watermarks |= reads_watermark(&scan.projected_schema).is_some();
        }
        for window in windows(plan).map_err(|e| plan_error(e, &statement.excerpt))? {
            // Rows that come when their time is are never late, and are taken as they come.
            if matches!(window.kind, WindowKind::Aligned(_)) || window.by_clock() {
                continue;
            }
            for table in scanned_tables(&window.input) {
                if let Some(need) = needs.get_mut(&(Arc::clone(&table.name), TimeKind::Event)) {
                    need.lineage = true;
                    need.row_watermarks = true;
                }
            }
        }
    }
    Ok(needs)
}

/// The tables of a program's own streams over whose rows there are sessions: they are judged in the order of their places.
pub(super) fn numbered(live: &LiveStatement<'_>) -> Result<BTreeSet<Arc<str>>> {
    let windows = windows(&live.plan).map_err(|e| plan_error(e, &live.statement.excerpt))?;
    let sessions = windows.iter().filter(|window| matches!(window.kind, WindowKind::Session { .. }));
    let tables = sessions.flat_map(|window| scanned_tables(&window.input));
    Ok(tables.filter(|table| table.streams.is_some()).map(|table| Arc::clone(&table.name)).collect())
}

/// Nothing need be decoded of streams that a program has; but their watermark is not the clock.
fn check_stream(table: &Table, kind: TimeKind) -> Result<()> {
    match kind {
        TimeKind::Event => Ok(()),
        TimeKind::Processing => Err(Error::invalid(format!(
            "a window over processing time can't be made over '{}', a stream of the program",
            table.name
        ))
        .hint("make it over the stream's event time, or over a table that the query declares")),
    }
}

/// The scans of a plan, each with the time by which the windows over its rows go.
fn scans(plan: &LogicalPlan, kind: TimeKind) -> Vec<(&TableScan, TimeKind)> {
    let kind = match plan {
        LogicalPlan::TableScan(scan) => return vec![(scan, kind)],
        LogicalPlan::Extension(Extension { node }) => {
            node.as_any().downcast_ref().map_or(kind, |window| kind.below(window))
        }
        _ => kind,
    };
    plan.inputs().into_iter().flat_map(|input| scans(input, kind)).collect()
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
    fn new(table: &Arc<Table>, columns: &SchemaRef) -> Self {
        let (table, name, schema) = (Arc::clone(table), Arc::clone(&table.name), Arc::clone(columns));
        Self { table, name, schema, columns: BTreeSet::new(), lineage: false, row_watermarks: false }
    }

    /// Takes in what a scan reads, and what its late rows are to have.
    fn add(&mut self, projection: Option<&[usize]>, late: Option<&LateSink>, kind: TimeKind) {
        let schema = self.table.schema();
        let own = schema.fields().len();
        match projection {
            Some(columns) => self.columns.extend(columns.iter().filter(|index| **index < own)),
            None => self.columns.extend(0..own),
        }
        if let Some(event_time) = self.table.event_time.as_ref().filter(|_| kind == TimeKind::Event) {
            // The watermark counts every row, whatever a statement reads of it.
            let watermark = event_time.watermark.column_refs();
            let names = watermark.iter().map(|c| c.name.as_str()).chain([event_time.name.as_str()]);
            self.columns.extend(names.filter_map(|name| schema.index_of(name).ok()));
        }
        if let Some(late) = late {
            self.lineage = true;
            match &late.columns {
                Some(wanted) => {
                    self.columns.extend(wanted.fields().iter().filter_map(|f| schema.index_of(f.name()).ok()));
                }
                None => self.columns.extend(0..own),
            }
        }
    }

    /// The columns to decode, in the order of the declaration.
    pub(super) fn schema(&self) -> Result<SchemaRef> {
        let indices: Vec<usize> = self.columns.iter().copied().collect();
        Ok(Arc::new(self.schema.project(&indices)?))
    }
}
