//! A query within a program: its rows are streams of the program's own graph.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use arrow::datatypes::SchemaRef;
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{ChangelogMode, Connectors};
use tidemill_runtime::graph::{JobGraph, Stream};

use crate::parse::{SqlText, Statement, parse};
use crate::physical::live;
use crate::plan::{TimeAttribute, all_scanned_tables, time_attribute};
use crate::registered::check_aggregates;
use crate::settings::{MAX_AHEAD, is_of_query};
use crate::{LoadOptions, Pipeline, PlannedStatement, Registered, Target};

/// The one query of a text, which may declare tables and views before it.
pub struct Query {
    pipeline: Pipeline,
    statement: PlannedStatement,
}

/// The rows of a query.
#[derive(Debug, Clone)]
pub struct QueryRows {
    /// Where they come from.
    pub streams: Vec<Stream>,
    /// Their columns.
    pub columns: SchemaRef,
    /// The column of their event time, if they have one.
    pub event_time: Option<String>,
}

impl Query {
    /// Plans the query of a text, whose name is that of the text.
    ///
    /// # Errors
    /// The first mistake, with its place in the text.
    pub fn load(
        sql: &SqlText,
        connectors: &Connectors,
        options: &LoadOptions,
        registered: &Registered,
    ) -> Result<Self> {
        for statement in parse(sql)? {
            check_statement(&statement)?;
        }
        let mut pipeline = ready(Pipeline::load_with(sql, connectors, options, registered))??;
        let mut statements = std::mem::take(&mut pipeline.statements);
        let (Some(statement), None) = (statements.pop(), statements.pop()) else {
            return Err(Error::invalid("a query of a program is one SELECT, and this text has several")
                .hint("give each SELECT a from_table of its own; CREATE TABLE and CREATE VIEW may stand before it"));
        };
        debug_assert!(matches!(statement.target, Target::Print), "a bare SELECT");
        let statement = PlannedStatement { name: Arc::clone(&sql.origin), ..statement };
        let query = Self { pipeline, statement };
        check_aggregates(&query.statement.plan, &query.statement.excerpt)?;
        query.check_max_ahead()?;
        Ok(query)
    }

    /// The columns of its rows.
    #[must_use]
    pub fn columns(&self) -> SchemaRef {
        self.statement.schema()
    }

    /// The column of its rows that is event time, as Flink has it: there is one, or none.
    ///
    /// # Errors
    /// `Invalid` if there are several.
    fn event_time(&self) -> Result<Option<String>> {
        let plan = &self.statement.plan;
        let is_time = |column: &_| matches!(time_attribute(plan, column), Some(TimeAttribute::Event(_)));
        let mut times = plan.schema().columns().into_iter().filter(is_time).map(|column| column.name);
        match (times.next(), times.next()) {
            (Some(one), Some(other)) => Err(Error::invalid(format!(
                "the query has two columns of event time, '{one}' and '{other}', and an element has one time"
            ))
            .hint(format!("select one of them, or make the other another type: CAST({other} AS TIMESTAMP(6))"))
            .at(self.statement.excerpt.clone())),
            (time, _) => Ok(time),
        }
    }

    /// Puts the query into a graph. `free_name` makes names for the tables that it reads from connectors.
    ///
    /// # Errors
    /// What can't run live, with its place in the text; and if `updates` are not taken, a query that updates its result.
    pub fn plan_into(
        self,
        graph: JobGraph,
        free_name: &mut dyn FnMut(&str) -> String,
        updates: bool,
    ) -> Result<(JobGraph, QueryRows)> {
        let Self { pipeline, statement } = &self;
        let (graph, planned) = live::plan_query(pipeline, statement, graph, free_name).map_err(in_program)?;
        if planned.changelog == ChangelogMode::Retract && !updates {
            return Err(updating(planned.updated_by).at(statement.excerpt.clone()));
        }
        let (columns, event_time) = (self.columns(), self.event_time()?);
        Ok((graph, QueryRows { streams: planned.streams, columns, event_time }))
    }

    /// The times of a program's own streams were judged where they were read.
    fn check_max_ahead(&self) -> Result<()> {
        let Self { pipeline, statement } = self;
        let stream = all_scanned_tables(&statement.plan).into_iter().find(|table| table.streams.is_some());
        match stream.filter(|_| pipeline.settings.max_ahead.is_some()) {
            Some(table) => Err(Error::invalid(format!(
                "SET '{MAX_AHEAD}' is for tables that a query reads itself, and '{}' is a stream of the program",
                table.name
            ))
            .hint("give elements of other times none where timestamps are assigned, or filter them there")
            .at(statement.excerpt.clone())),
            None => Ok(()),
        }
    }
}

/// An error whose hint is for files, as one about a query of a program.
fn in_program(error: Error) -> Error {
    match error.hint_text().is_some_and(|hint| hint.contains("--batch")) {
        true => error.hint("a query of a program runs live: ask it otherwise, or in typed code"),
        false => error,
    }
}

fn updating(by: Option<&str>) -> Error {
    let error = Error::invalid("the query updates its result, and a stream of from_table has rows that are only added");
    error.hint(match by {
        Some(key) => format!("remove the SET '{key}', or take the changes with from_changelog"),
        None => "group by the windows of a TUMBLE(...), whose rows come once, or take the changes with from_changelog"
            .to_owned(),
    })
}

/// Refuses what a program does itself.
fn check_statement(statement: &Statement) -> Result<()> {
    match statement {
        Statement::Set { key, excerpt, .. } if !is_of_query(key) => {
            Err(Error::invalid(format!("SET '{key}' does not go with a query of a program"))
                .hint("the program says how it runs: see Settings")
                .at(excerpt.clone()))
        }
        Statement::Insert(insert) => Err(Error::invalid("a query of a program inserts into no table")
            .hint("take the rows of its SELECT with from_table, and write them with Table::write")
            .at(insert.excerpt.clone())),
        Statement::Explain(_)
        | Statement::ShowTables
        | Statement::ShowViews
        | Statement::ShowFunctions
        | Statement::ShowCreate(_)
        | Statement::Describe(_) => {
            Err(Error::invalid("a query of a program has no use for SHOW, DESCRIBE and EXPLAIN")
                .hint("leave it out, or ask the file: tidemill query"))
        }
        Statement::Set { .. } | Statement::CreateTable(_) | Statement::CreateView(_) | Statement::Query { .. } => {
            Ok(())
        }
    }
}

/// What a future gives that waits for nothing, as planning does: its tables are in memory.
fn ready<T>(future: impl Future<Output = T>) -> Result<T> {
    match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Ok(value),
        Poll::Pending => Err(Error::internal("planning a query waits for something")),
    }
}
