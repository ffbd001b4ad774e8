//! Plans `FROM TABLE(TUMBLE(...))` and the other window table functions.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Column, Result, TableReference};
use datafusion::datasource::provider_as_source;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion::logical_expr::{Extension, LogicalPlan, LogicalPlanBuilder};
use datafusion::sql::sqlparser::ast::{Ident, TableFactor};
use std::sync::Arc;
use tidemill_core::Error;
use tidemill_runtime::connector::nearest;
use tidemill_runtime::engine_error;
use tidemill_runtime::time_zone::TimeZone;
use tidemill_runtime::window::WindowAssigner;

use super::{WINDOW_END, WINDOW_START, WINDOW_TIME, WindowKind, WindowTvf};
use crate::catalog::SharedCatalog;
use crate::parse::{SqlText, WindowCall, WindowFunction, interval_ms, offset_ms, window_call};
use crate::physical::batch::SourceTable;
use crate::plan::{TimeAttribute, time_attribute};

/// Recognises a window function where a table stands.
#[derive(Debug)]
pub(crate) struct WindowPlanner {
    sql: SqlText,
    tables: SharedCatalog,
    /// `table.local-time-zone`
    zone: TimeZone,
}

impl WindowPlanner {
    pub(crate) fn new(sql: SqlText, tables: SharedCatalog, zone: TimeZone) -> Self {
        Self { sql, tables, zone }
    }

    fn plan(&self, call: &WindowCall, context: &mut dyn RelationPlannerContext) -> Result<LogicalPlan> {
        let input = self.input(call, context)?;
        let time = self.time_column(call, &input).map_err(external)?;
        // A TIMESTAMP is a local time already, whatever the zone.
        let zone = match input.schema().field(input.schema().index_of_column(&time)?).data_type() {
            DataType::Timestamp(_, Some(_)) => self.zone,
            _ => TimeZone::UTC,
        };
        let kind = self.kind(call, &input, zone).map_err(external)?;
        let node = WindowTvf::new(input, time, kind)?;
        Ok(LogicalPlan::Extension(Extension { node: Arc::new(node) }))
    }

    /// DataFusion looks up before planning the tables that stand in `FROM`, and so not those that
    /// stand in a function's arguments: `TABLE t` is looked up here, if no CTE has the name.
    fn input(&self, call: &WindowCall, context: &mut dyn RelationPlannerContext) -> Result<LogicalPlan> {
        let planned = context.plan(call.data.clone());
        if planned.is_err()
            && let TableFactor::Table { name, .. } = &call.data
        {
            let name = name.to_string().replace('`', "");
            if let Some(view) = self.tables.view(&name) {
                return LogicalPlanBuilder::from(view.as_ref().clone()).alias(TableReference::bare(name))?.build();
            }
            let Some(table) = self.tables.get(&name) else { return planned };
            let source = provider_as_source(Arc::new(SourceTable::new(Arc::clone(&table))));
            return LogicalPlanBuilder::scan(TableReference::bare(table.name.to_string()), source, None)?.build();
        }
        planned
    }

    fn kind(&self, call: &WindowCall, input: &LogicalPlan, zone: TimeZone) -> tidemill_core::Result<WindowKind> {
        let interval = |name: &str| match call.interval(name) {
            Some(expr) => interval_ms(expr, &self.sql),
            None => Err(Error::internal(format!("the argument {name} is missing"))),
        };
        let offset_ms = match call.interval("OFFSET") {
            Some(expr) => offset_ms(expr, &self.sql)?,
            None => 0,
        };
        let assigner = match call.function {
            WindowFunction::Tumble => WindowAssigner::tumble(interval("SIZE")?, offset_ms),
            WindowFunction::Hop => WindowAssigner::hop(interval("SLIDE")?, interval("SIZE")?, offset_ms),
            WindowFunction::Cumulate => WindowAssigner::cumulate(interval("STEP")?, interval("SIZE")?, offset_ms),
            WindowFunction::Session => {
                let column = |ident: &Ident| self.column(ident, input);
                let key = call.partition_by.iter().map(column).collect::<tidemill_core::Result<_>>()?;
                let gap_ms = interval("GAP")?;
                // A gap has the bounds of a window's size.
                WindowAssigner::tumble(gap_ms, 0).map_err(|e| e.at(self.sql.excerpt(call.span)))?;
                return Ok(WindowKind::Session { gap_ms, zone, key });
            }
        };
        let aligned = assigner.map(|assigner| WindowKind::Aligned(assigner.in_zone(zone)));
        aligned.map_err(|e| e.at(self.sql.excerpt(call.span)))
    }

    fn column(&self, ident: &Ident, input: &LogicalPlan) -> tidemill_core::Result<Column> {
        let schema = input.schema();
        match schema.qualified_field_with_unqualified_name(&ident.value) {
            Ok((qualifier, field)) => Ok(Column::new(qualifier.cloned(), field.name().clone())),
            Err(_) => {
                let columns: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
                let error = self.sql.error_at(ident.span, format!("there is no column '{}'", ident.value));
                Err(match nearest(&ident.value, columns.iter().copied()) {
                    Some(near) => error.hint(format!("did you mean '{near}'?")),
                    None => error.hint(format!("the columns here are: {}", columns.join(", "))),
                })
            }
        }
    }

    fn time_column(&self, call: &WindowCall, input: &LogicalPlan) -> tidemill_core::Result<Column> {
        let name = &call.time_column.value;
        let place = |e: Error| e.at(self.sql.excerpt(call.time_column.span));
        let schema = input.schema();
        if let Some(taken) =
            [WINDOW_START, WINDOW_END, WINDOW_TIME].iter().find(|n| schema.has_column_with_unqualified_name(n))
        {
            return Err(place(
                Error::invalid(format!("the table has a column '{taken}' already, which the window would add"))
                    .hint("give that column another name in a subquery"),
            ));
        }
        let column = self.column(&call.time_column, input)?;
        if let Some(attribute) = time_attribute(input, &column) {
            return check_kind(attribute, input).map_err(place).map(|()| column);
        }
        Err(place(
            Error::invalid(format!("'{name}' is not event time: no watermark is declared for it"))
                .hint(format!("add to its CREATE TABLE: WATERMARK FOR {name} AS {name} - INTERVAL '5' SECOND")),
        ))
    }
}

/// Results of windows come when their watermark does: by the clock, or by the rows' times.
fn check_kind(attribute: TimeAttribute, input: &LogicalPlan) -> tidemill_core::Result<()> {
    let by_clock = attribute == TimeAttribute::Processing;
    let other = |node: &LogicalPlan| match node {
        LogicalPlan::Extension(Extension { node }) => {
            let window = node.as_any().downcast_ref::<WindowTvf>();
            Ok(window.is_some_and(|window| window.by_clock() != by_clock))
        }
        _ => Ok(false),
    };
    if !input.exists(other).map_err(engine_error)? {
        return Ok(());
    }
    let (this, below) = match by_clock {
        true => ("processing time", "event time"),
        false => ("event time", "processing time"),
    };
    Err(Error::invalid(format!("a window over {this} of the results of windows over {below} is not supported"))
        .hint("make both over the same kind of time: window_time is of the kind that its window is"))
}

fn external(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

impl RelationPlanner for WindowPlanner {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        match window_call(&relation).map_err(external)? {
            Some(call) => {
                let plan = self.plan(&call, context)?;
                Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, call.alias))))
            }
            None => Ok(RelationPlanning::Original(Box::new(relation))),
        }
    }
}
