//! Batch over what was not late: the rows that a live run wrote to its late output are left out of
//! the windows that they missed, and of no other.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::common::{Column, Result, ScalarValue};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{
    Expr, Extension, Filter, LogicalPlan, LogicalPlanBuilder, Projection, SubqueryAlias, TableScan, Union, lit,
};
use tidemill_runtime::window::Window;

use super::source::SourceTable;
use crate::physical::IDENTITY;
use crate::plan::scanned;
use crate::unnest::Unnest;
use crate::window_tvf::WindowTvf;

/// A row, and a window that it missed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LateRow {
    /// The row's partition.
    pub partition: Arc<str>,
    /// Its offset in the partition.
    pub offset: i64,
    /// The window.
    pub window: Window,
}

/// The late rows of one statement.
#[derive(Debug, Clone, Default)]
pub struct LateRows {
    rows: HashSet<(i64, Window, Arc<str>)>,
    /// Rows that missed a window, whichever.
    any: HashSet<(i64, Arc<str>)>,
}

impl LateRows {
    /// The given rows.
    #[must_use]
    pub fn new(rows: impl IntoIterator<Item = LateRow>) -> Self {
        let mut late = Self::default();
        for LateRow { partition, offset, window } in rows {
            late.any.insert((offset, Arc::clone(&partition)));
            late.rows.insert((offset, window, partition));
        }
        late
    }

    /// Whether the row missed a window. A session's row misses only one: its own.
    pub(super) fn contains_row(&self, partition: &str, offset: i64) -> bool {
        self.any.contains(&(offset, Arc::from(partition)))
    }

    pub(super) fn contains(&self, partition: &str, offset: i64, window: Window) -> bool {
        self.rows.contains(&(offset, window, Arc::from(partition)))
    }
}

/// The plan with the identity of its rows carried from each scan up to the window above it.
pub(super) fn with_identity(plan: &LogicalPlan) -> Result<LogicalPlan> {
    if let LogicalPlan::Extension(Extension { node }) = plan
        && let Some(window) = node.as_any().downcast_ref::<WindowTvf>()
        && let Some(input) = carry(&window.input)?
    {
        let identity = IDENTITY.map(|name| identity_column(&input, name));
        let node = window.over(input, Some(identity))?;
        return Ok(LogicalPlan::Extension(Extension { node: Arc::new(node) }));
    }
    let inputs = plan.inputs().into_iter().map(with_identity).collect::<Result<Vec<_>>>()?;
    plan.with_new_exprs(plan.expressions(), inputs)
}

/// The plan with the columns of [`IDENTITY`] behind its own, if it only scans, filters, projects and unnests; of a
/// union, if one of its inputs does.
pub(super) fn carry(plan: &LogicalPlan) -> Result<Option<LogicalPlan>> {
    Ok(match plan {
        LogicalPlan::TableScan(scan) => match scanned(scan) {
            Some(source) => Some(scan_with_identity(scan, source)?),
            None => None,
        },
        LogicalPlan::Filter(filter) => match carry(&filter.input)? {
            Some(input) => Some(LogicalPlan::Filter(Filter::try_new(filter.predicate.clone(), Arc::new(input))?)),
            None => None,
        },
        LogicalPlan::SubqueryAlias(alias) => match carry(&alias.input)? {
            Some(input) => {
                Some(LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(Arc::new(input), alias.alias.clone())?))
            }
            None => None,
        },
        LogicalPlan::Union(union) => carry_union(union)?,
        LogicalPlan::Projection(projection) => match carry(&projection.input)? {
            Some(input) => {
                let mut exprs = projection.expr.clone();
                exprs.extend(IDENTITY.map(|name| Expr::Column(identity_column(&input, name))));
                Some(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(input))?))
            }
            None => None,
        },
        LogicalPlan::Extension(Extension { node }) => match node.as_any().downcast_ref::<Unnest>() {
            Some(unnest) => match carry(&unnest.input)? {
                Some(input) => Some(LogicalPlan::Extension(Extension { node: Arc::new(unnest.with_input(input)?) })),
                None => None,
            },
            None => None,
        },
        _ => None,
    })
}

/// Rows that were made of several stand beside those of a table, and are no row of a log.
fn carry_union(union: &Union) -> Result<Option<LogicalPlan>> {
    let carried = union.inputs.iter().map(|input| carry(input)).collect::<Result<Vec<_>>>()?;
    if carried.iter().all(Option::is_none) {
        return Ok(None);
    }
    let mut inputs = vec![];
    for (input, carried) in union.inputs.iter().zip(carried) {
        inputs.push(Arc::new(match carried {
            Some(carried) => carried,
            None => without_place(input)?,
        }));
    }
    Ok(Some(LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?)))
}

/// The plan with an identity that no row of a log has. Below it stand windows of their own, which rows can have missed.
fn without_place(plan: &LogicalPlan) -> Result<LogicalPlan> {
    let [partition, offset] = IDENTITY;
    let mut columns: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
    columns.extend([
        lit(ScalarValue::Utf8View(Some(String::new()))).alias(partition),
        lit(ScalarValue::Int64(Some(-1))).alias(offset),
    ]);
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(with_identity(plan)?))?))
}

/// The scan with the columns of [`IDENTITY`] behind its own, if they are not there already.
pub(crate) fn scan_with_identity(scan: &TableScan, source: &SourceTable) -> Result<LogicalPlan> {
    let columns = source.table().schema().fields().len();
    scan_with(scan, source, &[columns, columns + 1])
}

/// The scan with each row's watermark behind its columns, if it is not there already.
pub(crate) fn scan_with_watermark(scan: &TableScan, source: &SourceTable) -> Result<LogicalPlan> {
    scan_with(scan, source, &[source.table().schema().fields().len() + 2])
}

fn scan_with(scan: &TableScan, source: &SourceTable, columns: &[usize]) -> Result<LogicalPlan> {
    let mut projection = scan.projection.clone().unwrap_or_else(|| (0..scan.projected_schema.fields().len()).collect());
    let missing: Vec<usize> = columns.iter().copied().filter(|index| !projection.contains(index)).collect();
    projection.extend(missing);
    let source = provider_as_source(Arc::new(source.with_sidecars()));
    let scan =
        LogicalPlanBuilder::scan_with_filters(scan.table_name.clone(), source, Some(projection), scan.filters.clone())?;
    scan.build()
}

/// The column of that name, which is the plan's only one.
pub(crate) fn identity_column(plan: &LogicalPlan, name: &str) -> Column {
    let qualifier = plan.schema().iter().find(|(_, field)| field.name() == name).and_then(|(q, _)| q.cloned());
    Column::new(qualifier, name)
}
