//! DataFusion's session, furnished with Flink's types, our functions and our windows.

use std::sync::Arc;

use datafusion::catalog::view::ViewTable;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, TableReference};
use datafusion::config::{ConfigNonZeroUsize, ConfigOptions};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::execution::{SessionState, SessionStateDefaults};
use datafusion::logical_expr::planner::ExprPlanner;
use datafusion::logical_expr::{AggregateUDF, Expr, LogicalPlan, ScalarUDF};
use datafusion::optimizer::optimize_projections::OptimizeProjections;
use datafusion::optimizer::push_down_filter::PushDownFilter;
use datafusion::optimizer::simplify_expressions::SimplifyExpressions;
use datafusion::optimizer::{Optimizer, OptimizerContext, OptimizerRule};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::Statement as DfStatement;
use datafusion::sql::sqlparser::ast;
use tidemill_core::{Error, Excerpt, Result};
use tidemill_runtime::time_zone::TimeZone;

use crate::catalog::{SharedCatalog, Table};
use crate::function::{ArithmeticPlanner, CollectionPlanner};
use crate::parse::SqlText;
use crate::physical::batch::{BatchQueryPlanner, SourceTable};
use crate::plan::{
    AggregateNames, break_ties, casts_in_zone, in_flink_types, in_session_zone, mark_casts, mark_values, name_columns,
    order_rows, plan_error, refuse_other_answers, refuse_watermark, rewrite_group_windows, row_watermarks, typed,
};
use crate::types::FlinkTypePlanner;
use crate::unnest::UnnestPlanner;
use crate::window_tvf::WindowPlanner;

/// Plans queries over the tables that were registered.
pub(crate) struct Session {
    context: SessionContext,
    pub(crate) tables: SharedCatalog,
    /// `table.local-time-zone`
    zone: TimeZone,
}

impl Session {
    pub(crate) fn new(sql: &SqlText, zone: TimeZone, parallelism: usize, batch_rows: usize) -> Self {
        let mut config = ConfigOptions::new();
        // Flink's column names are case-sensitive, its decimals are exact, its NULLs sort first.
        config.sql_parser.enable_ident_normalization = false;
        config.sql_parser.parse_float_as_decimal = true;
        config.sql_parser.collect_spans = true;
        config.sql_parser.default_null_ordering = "nulls_min".to_owned();
        config.execution.target_partitions = parallelism;
        if let Ok(batch_rows) = ConfigNonZeroUsize::try_new(batch_rows) {
            config.execution.batch_size = batch_rows;
        }
        let tables = SharedCatalog::default();
        let windows = WindowPlanner::new(sql.clone(), tables.clone(), zone);
        let mut expr_planners: Vec<Arc<dyn ExprPlanner>> =
            vec![Arc::new(ArithmeticPlanner), Arc::new(CollectionPlanner), Arc::new(AggregateNames)];
        expr_planners.extend(SessionStateDefaults::default_expr_planners());
        let state = SessionStateBuilder::new()
            .with_config(SessionConfig::from(config))
            .with_default_features()
            .with_aggregate_functions(crate::function::aggregates())
            .with_scalar_functions([crate::function::scalars(), crate::function::of_time_and_chance(zone)].concat())
            .with_table_functions(Default::default())
            .with_table_factories(Default::default())
            .with_expr_planners(expr_planners)
            .with_type_planner(Arc::new(FlinkTypePlanner))
            .with_relation_planners(vec![Arc::new(windows), Arc::new(UnnestPlanner::new(sql.clone()))])
            .with_query_planner(Arc::new(BatchQueryPlanner))
            .build();
        let context = SessionContext::new_with_state(state);
        // It makes sums of sums, which round twice, and fail where only a part is out of range.
        context.remove_optimizer_rule("single_distinct_aggregation_to_group_by");
        // They merge the field of a ROW into a projection by its name, which another column there may have.
        context.remove_optimizer_rule("extract_leaf_expressions");
        context.remove_optimizer_rule("push_down_leaf_projections");
        Self { context, tables, zone }
    }

    /// Without a present time: only a batch has one for all rows.
    pub(crate) fn state(&self) -> SessionState {
        let mut state = self.context.state();
        state.execution_props_mut().query_execution_start_time = None;
        state
    }

    pub(crate) fn register(&self, table: Arc<Table>) -> Result<()> {
        let name = TableReference::bare(table.name.to_string());
        let excerpt = table.excerpt.clone();
        let registered = self.context.register_table(name, Arc::new(SourceTable::new(Arc::clone(&table))));
        registered.map_err(|e| plan_error(e, &excerpt))?;
        self.tables.insert(table);
        Ok(())
    }

    /// From now on queries can call a program's function.
    pub(crate) fn register_function(&self, function: ScalarUDF) {
        self.context.register_udf(function);
    }

    /// The same for one that makes a value of many rows.
    pub(crate) fn register_aggregate(&self, function: AggregateUDF) {
        self.context.register_udaf(function);
    }

    /// From now on `name` stands for the rows of a plan.
    pub(crate) fn register_view(&self, name: &str, plan: LogicalPlan, excerpt: &Excerpt) -> Result<()> {
        let view = ViewTable::new(plan.clone(), None);
        let registered = self.context.register_table(TableReference::bare(name), Arc::new(view));
        registered.map_err(|e| plan_error(e, excerpt))?;
        self.tables.insert_view(name, plan);
        Ok(())
    }

    /// The plan of a query, checked and with its types made to agree; both drivers start from it.
    pub(crate) async fn plan(&self, query: &ast::Query, excerpt: &Excerpt) -> Result<LogicalPlan> {
        self.with_carried(self.plan_view(query, excerpt).await?, excerpt)
    }

    /// The same without what is carried from scans to those who need it: of a view, which becomes part of other queries.
    pub(crate) async fn plan_view(&self, query: &ast::Query, excerpt: &Excerpt) -> Result<LogicalPlan> {
        let mut query = query.clone();
        // First the names: those of TUMBLE_START(...) go by position too, and it becomes a column.
        name_columns(&mut query);
        rewrite_group_windows(&mut query, excerpt)?;
        mark_casts(&mut query);
        mark_values(&mut query);
        let state = self.state();
        let statement = DfStatement::Statement(Box::new(ast::Statement::Query(Box::new(query))));
        let plan = state.statement_to_plan(statement).await.map_err(|e| plan_error(e, excerpt))?;
        let plan = in_flink_types(plan).map_err(|e| plan_error(e, excerpt))?;
        let analyzed = state.analyzer().execute_and_check(plan, state.config_options(), |_, _| {});
        analyzed.and_then(|plan| in_session_zone(plan, self.zone)).map_err(|e| plan_error(e, excerpt))
    }

    /// Carries columns from scans to the nodes that need them: each row's watermark and its place in the log.
    pub(crate) fn with_carried(&self, plan: LogicalPlan, excerpt: &Excerpt) -> Result<LogicalPlan> {
        let carried = row_watermarks(plan).and_then(break_ties).and_then(order_rows);
        let plan = carried.map_err(|e| plan_error(e, excerpt))?;
        refuse_other_answers(&plan, excerpt)?;
        Ok(plan)
    }

    /// An expression over a table's columns.
    pub(crate) fn expression(&self, expr: &ast::Expr, schema: &DFSchema, excerpt: &Excerpt) -> Result<Expr> {
        let expr = ast::ExprWithAlias { expr: expr.clone(), alias: None };
        let expr = self.state().create_logical_expr_from_sql_expr(expr, schema);
        let typed = expr.and_then(|expr| typed(expr, schema));
        let zoned = typed.and_then(|expr| casts_in_zone(expr, schema, self.zone));
        let checked = zoned.and_then(|expr| refuse_watermark(expr.data));
        checked.map_err(|e| plan_error(e, excerpt))
    }
}

/// Rules that hold on input without an end. DataFusion's own list assumes that input ends: it would
/// rewrite distinct aggregates and push limits.
pub(crate) fn optimize_for_live(plan: LogicalPlan, state: &SessionState, excerpt: &Excerpt) -> Result<LogicalPlan> {
    refuse_subqueries(&plan, excerpt)?;
    let rules: Vec<Arc<dyn OptimizerRule + Send + Sync>> = vec![
        Arc::new(SimplifyExpressions::new()),
        Arc::new(PushDownFilter::new()),
        Arc::new(OptimizeProjections::new()),
    ];
    // The present time is that of each row: it is not known yet.
    let context = OptimizerContext::new_with_config_options(Arc::clone(state.config_options()));
    let context = context.without_query_execution_start_time();
    Optimizer::with_rules(rules).optimize(plan, &context, |_, _| {}).map_err(|e| plan_error(e, excerpt))
}

/// Subqueries in expressions are joins, which a live run does not have yet.
fn refuse_subqueries(plan: &LogicalPlan, excerpt: &Excerpt) -> Result<()> {
    let is_subquery = |expr: &Expr| {
        Ok(matches!(expr, Expr::InSubquery(_) | Expr::Exists(_) | Expr::ScalarSubquery(_) | Expr::SetComparison(_)))
    };
    let found = plan.exists(|node| {
        let mut found = false;
        node.apply_expressions(|expr| {
            found |= expr.exists(is_subquery)?;
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(found)
    });
    if found.map_err(|e| plan_error(e, excerpt))? {
        return Err(Error::invalid("a subquery in an expression is not supported in a live run yet")
            .hint("run the file with --batch")
            .at(excerpt.clone()));
    }
    Ok(())
}
