//! The tables that a file declares, or that a program has.

mod stream_table;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use datafusion::common::DFSchema;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use datafusion::sql::sqlparser::ast;
use tidemill_core::{Error, EventTimes, Excerpt, Result};
use tidemill_runtime::connector::{Connector, Connectors, Options, Source, TableSpec};
use tidemill_runtime::engine_error;

use crate::advised::Advised;
use crate::function::is_processing_time;
use crate::parse::{ColumnKind, CreateTable, SqlText};
use crate::settings::Settings;
use crate::types::flink_type_name;

pub(crate) use stream_table::OwnStreams;
pub use stream_table::StreamTable;

/// A declared table.
#[derive(Clone)]
pub struct Table {
    /// Its name.
    pub name: Arc<str>,
    /// What the connector sees of it: the columns that are stored.
    pub spec: TableSpec,
    /// All of its columns, in the order of the declaration.
    schema: SchemaRef,
    /// By name, over the stored columns: how the others are computed.
    pub(crate) computed: BTreeMap<String, Computed>,
    /// The system that holds it.
    pub connector: Arc<dyn Connector>,
    /// Where its rows come from, if it is streams of a program's graph, and no connector has them.
    pub(crate) streams: Option<OwnStreams>,
    /// What can't be decoded goes elsewhere, instead of failing the run; so all columns are decoded,
    /// whatever a statement reads: which rows are wrong does not depend on who asks.
    pub(crate) keep_rejected: bool,
    /// What to do about a row that contradicts the columns, where they were inferred.
    pub(crate) advice: Option<Arc<str>>,
    /// When its rows happened, if it says so.
    pub(crate) event_time: Option<EventTimeColumn>,
    /// Where it is declared.
    pub(crate) excerpt: Excerpt,
}

/// `WATERMARK FOR column AS watermark`
#[derive(Debug, Clone)]
pub(crate) struct EventTimeColumn {
    pub(crate) name: String,
    /// Those that rows can have.
    pub(crate) range: EventTimes,
    /// Over the table's columns.
    pub(crate) watermark: Expr,
    /// The watermark, as it was written.
    pub(crate) written: String,
}

/// `column AS expr`
#[derive(Debug, Clone)]
pub(crate) struct Computed {
    /// Over the stored columns.
    pub(crate) expr: Expr,
    /// As it was written.
    pub(crate) written: String,
    /// Where it is declared.
    pub(crate) excerpt: Excerpt,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("name", &self.name).field("connector", &self.connector.name()).finish()
    }
}

impl Table {
    /// Its columns, as a query sees them.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The columns that are stored, and written.
    #[must_use]
    pub fn stored(&self) -> &SchemaRef {
        &self.spec.schema
    }

    /// What its rows are read from; a mistake that is not in an option is shown at the declaration.
    pub(crate) fn source(&self) -> Result<Arc<dyn Source>> {
        let place = |e: Error| if e.excerpt().is_some() { e } else { e.at(self.excerpt.clone()) };
        let source = self.connector.source(&self.spec).map_err(place)?;
        Ok(match &self.advice {
            Some(advice) => Arc::new(Advised::new(source, Arc::clone(advice))),
            None => source,
        })
    }
}

/// What a name in `FROM` stands for.
#[derive(Debug, Clone)]
enum Relation {
    Table(Arc<Table>),
    View(Arc<LogicalPlan>),
}

/// All tables and views of a file so far, by name; shared with the planners of its queries.
#[derive(Debug, Default, Clone)]
pub(crate) struct SharedCatalog {
    relations: Arc<RwLock<BTreeMap<String, Relation>>>,
}

impl SharedCatalog {
    fn relation(&self, name: &str) -> Option<Relation> {
        self.relations.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<Table>> {
        match self.relation(name) {
            Some(Relation::Table(table)) => Some(table),
            _ => None,
        }
    }

    /// The plan of a view.
    pub(crate) fn view(&self, name: &str) -> Option<Arc<LogicalPlan>> {
        match self.relation(name) {
            Some(Relation::View(plan)) => Some(plan),
            _ => None,
        }
    }

    /// What the name is taken for, if it is.
    pub(crate) fn taken(&self, name: &str) -> Option<&'static str> {
        self.relation(name).map(|relation| match relation {
            Relation::Table(_) => "table",
            Relation::View(_) => "view",
        })
    }

    /// The names of the tables.
    pub(crate) fn names(&self) -> Vec<String> {
        let relations = self.relations.read().unwrap_or_else(PoisonError::into_inner);
        relations.iter().filter(|(_, r)| matches!(r, Relation::Table(_))).map(|(name, _)| name.clone()).collect()
    }

    /// The names of the views.
    pub(crate) fn view_names(&self) -> Vec<String> {
        let relations = self.relations.read().unwrap_or_else(PoisonError::into_inner);
        relations.iter().filter(|(_, r)| matches!(r, Relation::View(_))).map(|(name, _)| name.clone()).collect()
    }

    pub(crate) fn insert(&self, table: Arc<Table>) {
        self.add(table.name.to_string(), Relation::Table(table));
    }

    pub(crate) fn insert_view(&self, name: &str, plan: LogicalPlan) {
        self.add(name.to_owned(), Relation::View(Arc::new(plan)));
    }

    fn add(&self, name: String, relation: Relation) {
        self.relations.write().unwrap_or_else(PoisonError::into_inner).insert(name, relation);
    }
}

/// The columns of a declaration.
struct Columns {
    /// Those that are stored.
    stored: SchemaRef,
    /// All of them.
    all: SchemaRef,
    computed: BTreeMap<String, Computed>,
}

/// `plan` plans an expression over columns.
fn columns(create: &CreateTable, plan: &PlanExpression<'_>) -> Result<Columns> {
    let mut stored = vec![];
    for column in &create.columns {
        match &column.kind {
            ColumnKind::Physical { data_type, nullable } => {
                stored.push(Field::new(&column.name.value, data_type.clone(), *nullable));
            }
            ColumnKind::Computed(_) => {}
            ColumnKind::Metadata { .. } => {
                return Err(Error::invalid("metadata columns are not supported yet")
                    .hint("declare a physical column")
                    .at(column.excerpt.clone()));
            }
        }
    }
    if stored.is_empty() {
        return Err(Error::invalid("the table has no column that is stored").at(create.excerpt.clone()));
    }
    let stored = Arc::new(Schema::new(stored));
    let over = DFSchema::try_from(stored.as_ref().clone()).map_err(engine_error)?;
    let (mut all, mut computed) = (vec![], BTreeMap::new());
    for column in &create.columns {
        let name = &column.name.value;
        let ColumnKind::Computed(definition) = &column.kind else {
            all.push(stored.field_with_name(name)?.clone());
            continue;
        };
        let expr = plan(definition, &stored, &column.excerpt)?;
        let (_, field) = expr.to_field(&over).map_err(engine_error)?;
        all.push(Field::new(name, field.data_type().clone(), field.is_nullable()));
        let (written, excerpt) = (definition.to_string(), column.excerpt.clone());
        computed.insert(name.clone(), Computed { expr, written, excerpt });
    }
    Ok(Columns { stored, all: Arc::new(Schema::new(all)), computed })
}

/// Plans an expression over columns; its place is for messages.
pub(crate) type PlanExpression<'a> = dyn Fn(&ast::Expr, &Schema, &Excerpt) -> Result<Expr> + 'a;

/// Makes a table of a declaration.
pub(crate) fn declare(
    create: &CreateTable,
    sql: &SqlText,
    folder: &Path,
    connectors: &Connectors,
    settings: &Settings,
    plan: &PlanExpression<'_>,
) -> Result<Table> {
    let name: Arc<str> = Arc::from(create.name.value.as_str());
    let Columns { stored, all: schema, computed } = columns(create, plan)?;
    let mut options = Options::default();
    for (key, value, place) in &create.options {
        options.set(key, value, Some(place.clone()));
    }
    let connector_name = options.required("connector").map_err(|e| e.at(sql.excerpt(create.name.span)))?.to_owned();
    let connector = connectors.get(&connector_name).map_err(|e| match options.refuse("connector", "").excerpt() {
        Some(place) => e.at(place.clone()),
        None => e,
    })?;
    options.remove("connector");
    let partitioned_by = partition_columns(create, sql, connector.as_ref())?;
    let owner = format!("the connector '{connector_name}'");
    options.check_known(&owner, connector.options().iter().map(|o| o.key), connector.formats())?;
    let event_time = match &create.watermark {
        Some(definition) => {
            let column = &definition.column.value;
            let place = |e: Error| e.at(definition.excerpt.clone());
            if computed.get(column).is_some_and(|computed| is_processing_time(&computed.expr)) {
                return Err(place(
                    Error::invalid(format!("'{column}' is processing time, whose watermark is the clock"))
                        .hint(format!("leave WATERMARK FOR out: windows can be over DESCRIPTOR({column})")),
                ));
            }
            let watermark = plan(&definition.expr, &schema, &definition.excerpt)?;
            check_event_time(&schema, column).map_err(place)?;
            check_watermark(&schema, column, &watermark).map_err(place)?;
            let range = settings.event_times(schema.field_with_name(column)?.data_type());
            Some(EventTimeColumn { name: column.clone(), range, watermark, written: definition.expr.to_string() })
        }
        None => None,
    };
    Ok(Table {
        spec: TableSpec { name: Arc::clone(&name), schema: stored, partitioned_by, options, folder: folder.to_owned() },
        schema,
        computed,
        connector: Arc::clone(connector),
        streams: None,
        name,
        keep_rejected: settings.dead_letters.contains_key(&create.name.value),
        advice: None,
        event_time,
        excerpt: create.excerpt.clone(),
    })
}

/// The columns of `PARTITIONED BY`; the parser has found each among the table's.
fn partition_columns(create: &CreateTable, sql: &SqlText, connector: &dyn Connector) -> Result<Vec<Arc<str>>> {
    let mut columns: Vec<Arc<str>> = vec![];
    for column in &create.partitioned_by {
        let name = column.value.as_str();
        let refuse = |what: String| Error::invalid(what).at(sql.excerpt(column.span));
        if !connector.partitioned() {
            let what = format!("PARTITIONED BY is not supported by the connector '{}'", connector.name());
            return Err(refuse(what).hint("leave it out"));
        }
        if columns.iter().any(|c| **c == *name) {
            return Err(refuse(format!("PARTITIONED BY names '{name}' twice")));
        }
        columns.push(name.into());
    }
    Ok(columns)
}

/// A watermark is a moment of the event time's type.
fn check_watermark(schema: &Schema, column: &str, watermark: &Expr) -> Result<()> {
    let columns = DFSchema::try_from(schema.clone()).map_err(engine_error)?;
    let (given, wanted) =
        (watermark.get_type(&columns).map_err(engine_error)?, schema.field_with_name(column)?.data_type());
    if given == *wanted {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "a watermark is a {}, and this is a {}",
        flink_type_name(wanted),
        flink_type_name(&given)
    ))
    .hint(format!("WATERMARK FOR {column} AS {column} - INTERVAL '5' SECOND")))
}

/// As in Flink, event time has a precision of at most 3: milliseconds.
fn check_event_time(schema: &Schema, column: &str) -> Result<()> {
    let Some((_, field)) = schema.column_with_name(column) else {
        return Err(Error::invalid(format!("WATERMARK FOR names no column: '{column}'")));
    };
    match field.data_type() {
        DataType::Timestamp(TimeUnit::Millisecond, _) => Ok(()),
        other => Err(Error::invalid(format!(
            "event time has the type TIMESTAMP(3) or TIMESTAMP_LTZ(3), and '{column}' has {}",
            flink_type_name(other)
        ))
        .hint(format!("declare {column} TIMESTAMP(3)"))),
    }
}
