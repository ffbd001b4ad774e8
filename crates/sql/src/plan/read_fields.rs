//! Which fields of `ROW` columns a plan reads: a scan decodes those alone, as it decodes only the columns that are read.
//!
//! Filters and windows pass a column up as it is. Where the projection or the aggregate above takes nothing but fields
//! of it, the scan may give a `ROW` of just those fields: expressions name a field, and find it there too. Every other
//! node is taken to need its input as it was declared.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, LogicalPlan, TableScan, TableScanBuilder};

use super::scanned;
use crate::catalog::Table;

/// What is read of the `ROW` columns of tables, by all plans that were added.
#[derive(Debug, Default)]
pub(crate) struct ReadFields(BTreeMap<(Arc<str>, String), Read>);

/// What is read of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Read {
    Fields(BTreeSet<String>),
    Whole,
}

impl Read {
    fn add(&mut self, other: Read) {
        match (&mut *self, other) {
            (Self::Fields(fields), Self::Fields(more)) => fields.extend(more),
            _ => *self = Self::Whole,
        }
    }
}

/// What the nodes above a node read of its columns, by name; `None` stands for all of them as they are.
type ReadAbove = Option<BTreeMap<String, Read>>;

impl ReadFields {
    /// Adds what a plan reads.
    pub(crate) fn add(&mut self, plan: &LogicalPlan) -> Result<()> {
        self.add_below(plan, None)
    }

    /// Adds what a late output takes of the tables that a plan scans: `columns`, or all, as the source gave them.
    pub(crate) fn add_late(&mut self, plan: &LogicalPlan, columns: Option<&SchemaRef>) -> Result<()> {
        plan.apply(|node| {
            if let LogicalPlan::TableScan(scan) = node
                && let Some(source) = scanned(scan)
            {
                let table = source.table();
                for field in columns.unwrap_or_else(|| table.schema()).fields() {
                    self.0.insert((Arc::clone(&table.name), field.name().clone()), Read::Whole);
                }
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(())
    }

    fn add_below(&mut self, plan: &LogicalPlan, mut above: ReadAbove) -> Result<()> {
        match plan {
            LogicalPlan::TableScan(scan) => {
                read_by_node(plan, &mut above)?;
                self.add_scan(scan, &above);
                return Ok(());
            }
            LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_) => above = Some(BTreeMap::new()),
            LogicalPlan::Filter(_) | LogicalPlan::SubqueryAlias(_) | LogicalPlan::Extension(_) => {}
            LogicalPlan::Sort(_) | LogicalPlan::Limit(_) => {}
            _ => above = None,
        }
        read_by_node(plan, &mut above)?;
        plan.inputs().into_iter().try_for_each(|input| self.add_below(input, above.clone()))
    }

    fn add_scan(&mut self, scan: &TableScan, above: &ReadAbove) {
        let Some(source) = scanned(scan) else { return };
        let rows = scan.projected_schema.fields().iter().filter(|field| field.data_type().is_nested());
        for name in rows.map(|field| field.name()) {
            // A column that is passed and read by nobody is left as it is: a ROW without fields is none.
            let read = above.as_ref().and_then(|above| above.get(name).cloned()).unwrap_or(Read::Whole);
            let key = (Arc::clone(&source.table().name), name.clone());
            match self.0.get_mut(&key) {
                Some(before) => before.add(read),
                None => _ = self.0.insert(key, read),
            }
        }
    }

    /// The plan over tables whose `ROW` columns have no more than the fields that are read.
    pub(crate) fn narrow(&self, plan: LogicalPlan) -> Result<LogicalPlan> {
        self.narrowed(plan).map(|plan| plan.data)
    }

    fn narrowed(&self, plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        if let LogicalPlan::TableScan(scan) = plan {
            return self.narrowed_scan(scan);
        }
        let plan = plan.map_children(|input| self.narrowed(input))?;
        match plan.data {
            // What stands on these has the types that it had.
            LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_) => Ok(Transformed::no(plan.data)),
            _ if plan.transformed => plan.map_data(LogicalPlan::recompute_schema),
            _ => Ok(plan),
        }
    }

    fn narrowed_scan(&self, scan: TableScan) -> Result<Transformed<LogicalPlan>> {
        let Some(source) = scanned(&scan) else { return Ok(Transformed::no(LogicalPlan::TableScan(scan))) };
        let columns = self.columns(source.table());
        if columns == *source.table().schema() {
            return Ok(Transformed::no(LogicalPlan::TableScan(scan)));
        }
        let mut narrowed = scan.clone();
        narrowed.source = provider_as_source(Arc::new(source.with_columns(&columns)));
        Ok(Transformed::yes(LogicalPlan::TableScan(TableScanBuilder::from(narrowed).build()?)))
    }

    /// The columns of a table, with no more than the fields that are read.
    pub(crate) fn columns(&self, table: &Table) -> SchemaRef {
        // What is wrong with a source is told where it is read.
        let source_narrows = table.source().is_ok_and(|source| source.narrows_rows());
        if !source_narrows || table.keep_rejected {
            return Arc::clone(table.schema());
        }
        let computed = table.computed.values().map(|computed| &computed.expr);
        let by_table: Vec<&Expr> = computed.chain(table.event_time.iter().map(|time| &time.watermark)).collect();
        let narrowed = |field: &Arc<Field>| {
            let read = self.0.get(&(Arc::clone(&table.name), field.name().clone()));
            let by_table = by_table.iter().any(|expr| expr.column_refs().iter().any(|c| c.name == *field.name()));
            match (field.data_type(), read) {
                (DataType::Struct(fields), Some(Read::Fields(read))) if !by_table => {
                    let kept: Fields = fields.iter().filter(|field| read.contains(field.name())).cloned().collect();
                    Arc::new(field.as_ref().clone().with_data_type(DataType::Struct(kept)))
                }
                _ => Arc::clone(field),
            }
        };
        Arc::new(Schema::new(table.schema().fields().iter().map(narrowed).collect::<Fields>()))
    }
}

/// A plan that runs alone, over tables whose `ROW` columns have no more than the fields that it reads.
pub(crate) fn without_unread_fields(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut read = ReadFields::default();
    read.add(&plan)?;
    read.narrow(plan)
}

/// Adds what the expressions of the node itself read.
fn read_by_node(plan: &LogicalPlan, read: &mut ReadAbove) -> Result<()> {
    plan.apply_expressions(|expr| {
        expr.apply(|expr| {
            let Some(columns) = read else { return Ok(TreeNodeRecursion::Stop) };
            let (column, fields) = match (field_of(expr), expr) {
                (Some((column, field)), _) => (column, Read::Fields(BTreeSet::from([field.to_owned()]))),
                (None, Expr::Column(column)) => (column.name(), Read::Whole),
                // What a query within reads of this node is not seen here.
                (None, Expr::InSubquery(_) | Expr::Exists(_) | Expr::ScalarSubquery(_) | Expr::SetComparison(_)) => {
                    *read = None;
                    return Ok(TreeNodeRecursion::Stop);
                }
                _ => return Ok(TreeNodeRecursion::Continue),
            };
            match columns.get_mut(column) {
                Some(before) => before.add(fields),
                None => _ = columns.insert(column.to_owned(), fields),
            }
            Ok(TreeNodeRecursion::Jump)
        })
    })?;
    Ok(())
}

/// `column.field`
fn field_of(expr: &Expr) -> Option<(&str, &str)> {
    let Expr::ScalarFunction(call) = expr else { return None };
    match (call.name(), call.args.as_slice()) {
        ("get_field", [Expr::Column(column), Expr::Literal(field, _), ..]) => {
            Some((column.name(), field.try_as_str()??))
        }
        _ => None,
    }
}
