//! One SQL file as a whole: its tables, its settings, and a logical plan for each statement that runs.

mod answer;
mod calls;
mod insert;
mod like;
mod quoted_path;
mod select;
mod view;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::DFSchema;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::sqlparser::ast::{self, Ident};
use tidemill_core::{Error, Excerpt, Result};
use tidemill_runtime::connector::{Connectors, Infer, WriteMode, nearest};
use tidemill_runtime::window::late_schema;

use self::quoted_path::QuotedPaths;
use crate::catalog::{Table, declare};
use crate::parse::{CreateTable, CreateView, Insert, SqlText, Statement, parse, resolve};
use crate::plan::{plan_error, reads, scanned_tables, tell_columns_apart, windows};
use crate::registered::Registered;
use crate::session::Session;
use crate::settings::Settings;
use crate::window_tvf::WindowTvf;

/// How to load a file.
#[derive(Debug, Clone)]
pub struct LoadOptions {
    /// Where relative paths start: the folder of the file.
    pub folder: PathBuf,
    /// Subtasks a task; `None` leaves it to the file, and then to the number of cores.
    pub parallelism: Option<usize>,
    /// How many rows an operator is given at once.
    pub batch_rows: usize,
    /// Declares what a path in quotes stands for, where one may stand in the place of a table.
    pub infer: Option<Arc<dyn Infer>>,
}

pub use answer::Answer;
pub(crate) use calls::Call;
pub(crate) use insert::implicit_cast;

/// A file, planned as far as both drivers share.
pub struct Pipeline {
    /// The statements that give rows, in order.
    pub statements: Vec<PlannedStatement>,
    /// What `SET` said.
    pub settings: Settings,
    /// Subtasks a task.
    pub parallelism: usize,
    /// How many rows an operator is given at once.
    pub batch_rows: usize,
    /// What `SHOW`, `DESCRIBE` and `EXPLAIN` ask for, in order.
    pub answers: Vec<Answer>,
    /// By source table: the table that gets what can't be decoded of it.
    pub dead_letters: BTreeMap<Arc<str>, Arc<Table>>,
    pub(crate) session: Session,
}

/// A statement that gives rows.
#[derive(Debug, Clone)]
pub struct PlannedStatement {
    /// What messages and counters call it: its target's name, `query` for a bare `SELECT`; a number
    /// follows where the name is taken.
    pub name: Arc<str>,
    /// Where its rows go.
    pub target: Target,
    /// What becomes of the rows that the target has.
    pub mode: WriteMode,
    /// Where its late rows go, if the file says so.
    pub late_output: Option<Arc<Table>>,
    pub(crate) plan: LogicalPlan,
    /// The functions that its text calls.
    pub(crate) calls: Vec<Call>,
    pub(crate) excerpt: Excerpt,
}

impl PlannedStatement {
    /// The columns of its rows.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        Arc::new(self.plan.schema().as_arrow().clone())
    }
}

impl PlannedStatement {
    /// The columns of its late rows when all are kept; `None` where it has no window over a table.
    pub fn late_schema(&self) -> Result<Option<SchemaRef>> {
        let windows = windows(&self.plan).map_err(|e| plan_error(e, &self.excerpt))?;
        let of_window = |window: &WindowTvf| {
            let table = scanned_tables(&window.input).into_iter().next()?;
            let time = window.input.schema().field(window.time_index().ok()?).data_type().clone();
            Some(late_schema(table.schema(), &time))
        };
        Ok(windows.iter().rev().filter(|window| !window.by_clock()).find_map(of_window))
    }
}

/// Where a statement's rows go.
#[derive(Debug, Clone)]
pub enum Target {
    /// `INSERT INTO table`
    Table(Arc<Table>),
    /// A bare `SELECT`: to standard output.
    Print,
}

impl Pipeline {
    /// Reads a file's statements and plans them.
    ///
    /// # Errors
    /// The first mistake, with its place in the text.
    pub async fn load(sql: &SqlText, connectors: &Connectors, options: &LoadOptions) -> Result<Self> {
        Self::load_with(sql, connectors, options, &Registered::default()).await
    }

    /// The same, with what a program has registered.
    ///
    /// # Errors
    /// As [`Pipeline::load`].
    pub async fn load_with(
        sql: &SqlText,
        connectors: &Connectors,
        options: &LoadOptions,
        registered: &Registered,
    ) -> Result<Self> {
        let statements = parse(sql)?;
        let mut settings = Settings::default();
        for statement in &statements {
            if let Statement::Set { key, value, excerpt } = statement {
                settings.set(key, value, excerpt)?;
            }
        }
        settings.check()?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let parallelism = options.parallelism.or(settings.parallelism).unwrap_or(cores);
        let mut loader = Loader {
            sql,
            connectors,
            options,
            session: Session::new(sql, settings.local_time_zone, parallelism, options.batch_rows),
            settings: &settings,
            planned: vec![],
            definitions: BTreeMap::new(),
            declared: BTreeMap::new(),
            calls_of_views: BTreeMap::new(),
            answers: vec![],
            inferred: QuotedPaths::beside(&statements),
        };
        registered.register_in(&loader.session)?;
        for mut statement in statements {
            loader.declare_quoted_paths(&mut statement)?;
            loader.statement(&statement).await?;
        }
        loader.late_outputs()?;
        let dead_letters = loader.dead_letters()?;
        if loader.planned.is_empty() && loader.answers.is_empty() {
            return Err(Error::invalid("the file has no statement that gives rows")
                .hint("add a SELECT, or an INSERT INTO table SELECT ...")
                .at(sql.excerpt_of_bytes(sql.text.trim_end().len()..sql.text.trim_end().len())));
        }
        let Loader { session, planned, answers, .. } = loader;
        let batch_rows = options.batch_rows;
        Ok(Self { statements: planned, settings, parallelism, batch_rows, answers, dead_letters, session })
    }
}

/// A statement as it was written.
fn written(excerpt: &Excerpt) -> String {
    excerpt.text[excerpt.span.clone()].to_owned()
}

struct Loader<'a> {
    sql: &'a SqlText,
    connectors: &'a Connectors,
    options: &'a LoadOptions,
    session: Session,
    settings: &'a Settings,
    planned: Vec<PlannedStatement>,
    /// By name of the table or view: its declaration, as it was written.
    definitions: BTreeMap<String, String>,
    /// By name of the table: its declaration, with the parts of the one that it is like.
    declared: BTreeMap<String, CreateTable>,
    /// By name of the view: the functions that it calls.
    calls_of_views: BTreeMap<String, Vec<Call>>,
    answers: Vec<Answer>,
    inferred: QuotedPaths,
}

impl Loader<'_> {
    async fn statement(&mut self, statement: &Statement) -> Result<()> {
        match statement {
            Statement::Set { .. } => Ok(()),
            Statement::CreateTable(create) => self.create_table(create),
            Statement::CreateView(view) => self.create_view(view).await,
            Statement::Insert(insert) => {
                let planned = self.insert(insert).await?;
                self.push(planned);
                Ok(())
            }
            Statement::Query { query, excerpt } => {
                let planned = self.query(query, excerpt).await?;
                self.push(planned);
                Ok(())
            }
            Statement::Explain(explained) => {
                let planned = match explained.as_ref() {
                    Statement::Insert(insert) => self.insert(insert).await?,
                    Statement::Query { query, excerpt } => self.query(query, excerpt).await?,
                    _ => return Err(Error::internal("EXPLAIN of a statement that has no plan")),
                };
                self.answers.push(Answer::Plan(Box::new(planned)));
                Ok(())
            }
            Statement::ShowTables => self.answer(answer::names("table name", self.session.tables.names())),
            Statement::ShowFunctions => {
                let names = crate::function::names().into_iter().map(|name| name.to_uppercase());
                self.answer(answer::names("function name", names.collect()))
            }
            Statement::ShowViews => self.answer(answer::names("view name", self.session.tables.view_names())),
            Statement::ShowCreate(name) => {
                let definition = self.definitions.get(&name.value).ok_or_else(|| self.unknown(name))?;
                let rows = answer::names("result", vec![definition.clone()]);
                self.answer(rows)
            }
            Statement::Describe(name) => {
                let columns = match (self.session.tables.get(&name.value), self.session.tables.view(&name.value)) {
                    (Some(table), _) => answer::table_columns(&table),
                    (None, Some(view)) => answer::view_columns(view.schema().as_arrow()),
                    (None, None) => Err(self.unknown(name)),
                };
                self.answer(columns)
            }
        }
    }

    fn answer(&mut self, rows: Result<RecordBatch>) -> Result<()> {
        self.answers.push(Answer::Rows(rows?));
        Ok(())
    }

    fn unknown(&self, name: &Ident) -> Error {
        let error = Error::invalid(format!("there is no table or view '{}'", name.value));
        let error = error.at(self.sql.excerpt(name.span));
        let names = [self.session.tables.names(), self.session.tables.view_names()].concat();
        match nearest(&name.value, names.iter().map(String::as_str)) {
            Some(near) => error.hint(format!("did you mean '{near}'?")),
            None => error.hint("declare it before this statement; names are case-sensitive"),
        }
    }

    /// False if the name is taken, and that is well.
    fn free(&self, name: &Ident, if_not_exists: bool) -> Result<bool> {
        match self.session.tables.taken(&name.value) {
            None => Ok(true),
            Some(_) if if_not_exists => Ok(false),
            Some(what) => Err(Error::invalid(format!("the {what} '{}' is declared already", name.value))
                .hint("give it another name, or write IF NOT EXISTS before it")
                .at(self.sql.excerpt(name.span))),
        }
    }

    fn create_table(&mut self, create: &CreateTable) -> Result<()> {
        if !self.free(&create.name, create.if_not_exists)? {
            return Ok(());
        }
        let table = self.declare(create, self.sql)?;
        self.session.register(Arc::new(table))
    }

    /// Makes a table of a declaration in `sql`, and remembers how it was written.
    fn declare(&mut self, create: &CreateTable, sql: &SqlText) -> Result<Table> {
        let plan = |expr: &ast::Expr, schema: &Schema, excerpt: &Excerpt| {
            let schema = DFSchema::try_from(schema.clone()).map_err(|e| plan_error(e, excerpt))?;
            self.session.expression(expr, &schema, excerpt)
        };
        let create = &self.completed(create)?;
        let table = declare(create, sql, &self.options.folder, self.connectors, self.settings, &plan)?;
        self.definitions.insert(create.name.value.clone(), written(&create.excerpt));
        self.declared.insert(create.name.value.clone(), create.clone());
        Ok(table)
    }

    /// The declaration with the parts of the table that it is like.
    fn completed(&self, create: &CreateTable) -> Result<CreateTable> {
        let Some(like) = &create.like else { return Ok(create.clone()) };
        let place = self.sql.excerpt(like.base.span);
        match self.declared.get(&like.base.value) {
            Some(base) => resolve(self.sql, like::completed(create, like, base, &place)?),
            None => Err(self
                .table(&like.base.value)
                .map_or_else(|e| e, |_| Error::internal("a table without declaration"))
                .at(place)),
        }
    }

    async fn create_view(&mut self, view: &CreateView) -> Result<()> {
        if !self.free(&view.name, view.if_not_exists)? {
            return Ok(());
        }
        let plan = view::named(self.session.plan_view(&view.query, &view.excerpt).await?, view)?;
        // What is wrong with it is told here, not where it is read.
        self.session.with_carried(plan.clone(), &view.excerpt)?;
        self.definitions.insert(view.name.value.clone(), written(&view.excerpt));
        self.calls_of_views.insert(view.name.value.clone(), self.calls(&view.query));
        self.session.register_view(&view.name.value, plan, &view.excerpt)
    }

    async fn insert(&self, insert: &Insert) -> Result<PlannedStatement> {
        let target = self.table(&insert.target.value).map_err(|e| e.at(self.sql.excerpt(insert.target.span)))?;
        let mode = if insert.overwrite { WriteMode::Overwrite } else { WriteMode::Append };
        self.check_overwrite(&target, mode, &insert.excerpt)?;
        let query = self.session.plan(&tell_columns_apart(&insert.query), &insert.excerpt).await?;
        let plan = insert::cast_to_target(query, &target, insert)?;
        let (name, excerpt) = (Arc::clone(&target.name), insert.excerpt.clone());
        let (target, late_output, calls) = (Target::Table(target), None, self.calls(&insert.query));
        Ok(PlannedStatement { name, target, mode, late_output, plan, calls, excerpt })
    }

    async fn query(&self, query: &ast::Query, excerpt: &Excerpt) -> Result<PlannedStatement> {
        let plan = select::in_flink_types(self.session.plan(&tell_columns_apart(query), excerpt).await?, excerpt)?;
        let (target, mode, excerpt) = (Target::Print, WriteMode::Append, excerpt.clone());
        let (late_output, calls) = (None, self.calls(query));
        Ok(PlannedStatement { name: "query".into(), target, mode, late_output, plan, calls, excerpt })
    }

    fn calls(&self, query: &ast::Query) -> Vec<Call> {
        calls::calls(query, self.sql, &self.calls_of_views)
    }

    /// A table is overwritten by a statement that is its only one: of two, one would delete what the other wrote,
    /// or not, as their commits come.
    fn check_overwrite(&self, target: &Table, mode: WriteMode, excerpt: &Excerpt) -> Result<()> {
        if mode == WriteMode::Overwrite && !target.connector.overwrites() {
            let connector = target.connector.name();
            return Err(Error::invalid(format!("INSERT OVERWRITE is not supported by the connector '{connector}'"))
                .hint(format!("write INSERT INTO {}", target.name))
                .at(excerpt.clone()));
        }
        let writes = |s: &&PlannedStatement| matches!(&s.target, Target::Table(table) if table.name == target.name);
        let mut others = self.planned.iter().filter(writes);
        if others.any(|other| WriteMode::Overwrite == mode || other.mode == WriteMode::Overwrite) {
            return Err(Error::invalid(format!("INSERT OVERWRITE of '{}' beside another INSERT into it", target.name))
                .hint("write one INSERT OVERWRITE of a UNION ALL, or the other statement in a file of its own")
                .at(excerpt.clone()));
        }
        Ok(())
    }

    fn table(&self, name: &str) -> Result<Arc<Table>> {
        self.session.tables.get(name).ok_or_else(|| {
            if self.session.tables.taken(name).is_some() {
                return Error::invalid(format!("'{name}' is a view, and a table is needed here"));
            }
            let error = Error::invalid(format!("there is no table '{name}'"));
            match nearest(name, self.session.tables.names().iter().map(String::as_str)) {
                Some(near) => error.hint(format!("did you mean '{near}'?")),
                None => error.hint("declare it with CREATE TABLE before this statement; names are case-sensitive"),
            }
        })
    }

    /// Takes a statement that is to run; a number follows its name where that is taken.
    fn push(&mut self, planned: PlannedStatement) {
        let taken = |name: &str| self.planned.iter().any(|s| &*s.name == name);
        let numbered = (2..).map(|n| format!("{}#{n}", planned.name));
        let name = std::iter::once(planned.name.to_string()).chain(numbered).find(|name| !taken(name));
        self.planned.push(PlannedStatement { name: name.unwrap_or_default().into(), ..planned });
    }

    fn late_outputs(&mut self) -> Result<()> {
        for (target, (output, place)) in &self.settings.late_outputs {
            let output = self.table(output).map_err(|e| e.at(place.clone()))?;
            let mut found = false;
            for statement in &mut self.planned {
                if matches!(&statement.target, Target::Table(table) if *table.name == **target) {
                    statement.late_output = Some(Arc::clone(&output));
                    found = true;
                }
            }
            if !found {
                return Err(Error::invalid(format!(
                    "no statement inserts into '{target}', whose late rows are to be kept"
                ))
                .hint("the key is tidemill.late-output.<the table in INSERT INTO>")
                .at(place.clone()));
            }
        }
        Ok(())
    }

    fn dead_letters(&self) -> Result<BTreeMap<Arc<str>, Arc<Table>>> {
        let mut dead_letters = BTreeMap::new();
        for (table, (output, place)) in &self.settings.dead_letters {
            let table = self.table(table).map_err(|e| e.at(place.clone()))?;
            let output = self.table(output).map_err(|e| e.at(place.clone()))?;
            let mut read = false;
            for statement in &self.planned {
                read |= reads(&statement.plan, &table).map_err(|e| plan_error(e, &statement.excerpt))?;
            }
            if !read {
                return Err(Error::invalid(format!(
                    "no statement reads '{}', whose bad rows are to be kept",
                    table.name
                ))
                .hint("the key is tidemill.dead-letter.<the table in FROM>")
                .at(place.clone()));
            }
            dead_letters.insert(Arc::clone(&table.name), output);
        }
        Ok(dead_letters)
    }
}
