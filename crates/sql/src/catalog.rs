//! The tables that a file declares.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use datafusion::common::DFSchema;
use datafusion::logical_expr::{Expr, ExprSchemable};
use tidemill_core::{Error, Excerpt, Result};
use tidemill_runtime::connector::{Connector, Connectors, Options, Source, TableSpec};
use tidemill_runtime::engine_error;

use crate::parse::{ColumnKind, CreateTable, SqlText};
use crate::types::flink_type_name;

/// A declared table.
#[derive(Clone)]
pub struct Table {
    /// Its name.
    pub name: Arc<str>,
    /// What the connector sees of it.
    pub spec: TableSpec,
    /// The system that holds it.
    pub connector: Arc<dyn Connector>,
    /// What can't be decoded goes elsewhere, instead of failing the run; so all columns are decoded,
    /// whatever a statement reads: which rows are wrong does not depend on who asks.
    pub(crate) keep_rejected: bool,
    /// When its rows happened, if it says so.
    pub(crate) event_time: Option<EventTimeColumn>,
    /// Where it is declared.
    pub(crate) excerpt: Excerpt,
}

/// `WATERMARK FOR column AS watermark`
#[derive(Debug, Clone)]
pub(crate) struct EventTimeColumn {
    pub(crate) name: String,
    /// Over the table's columns.
    pub(crate) watermark: Expr,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("name", &self.name).field("connector", &self.connector.name()).finish()
    }
}

impl Table {
    /// Its columns.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.spec.schema
    }

    /// What its rows are read from; a mistake that is not in an option is shown at the declaration.
    pub(crate) fn source(&self) -> Result<Arc<dyn Source>> {
        let place = |e: Error| if e.excerpt().is_some() { e } else { e.at(self.excerpt.clone()) };
        self.connector.source(&self.spec).map_err(place)
    }
}

/// All tables of a file so far, by name; shared with the planners of its queries.
#[derive(Debug, Default, Clone)]
pub(crate) struct SharedCatalog {
    tables: Arc<RwLock<BTreeMap<String, Arc<Table>>>>,
}

impl SharedCatalog {
    pub(crate) fn get(&self, name: &str) -> Option<Arc<Table>> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    pub(crate) fn insert(&self, table: Arc<Table>) {
        self.tables.write().unwrap_or_else(PoisonError::into_inner).insert(table.name.to_string(), table);
    }
}

/// The columns of a declaration, all of them physical.
pub(crate) fn physical_columns(create: &CreateTable) -> Result<SchemaRef> {
    let mut fields = vec![];
    for column in &create.columns {
        let refuse = |what: &str| {
            Err(Error::invalid(format!("{what} columns are not supported yet"))
                .hint("declare a physical column, and compute the value in the query")
                .at(column.excerpt.clone()))
        };
        match &column.kind {
            ColumnKind::Physical { data_type, nullable } => {
                fields.push(Field::new(&column.name.value, data_type.clone(), *nullable));
            }
            ColumnKind::Computed(_) => return refuse("computed"),
            ColumnKind::Metadata { .. } => return refuse("metadata"),
        }
    }
    Ok(Arc::new(Schema::new(fields)))
}

/// Makes a table of a declaration; `watermark` plans an expression over its columns.
pub(crate) fn declare(
    create: &CreateTable,
    sql: &SqlText,
    folder: &Path,
    connectors: &Connectors,
    keep_rejected: bool,
    plan_watermark: impl FnOnce(&Schema) -> Result<Option<Expr>>,
) -> Result<Table> {
    let name: Arc<str> = Arc::from(create.name.value.as_str());
    let schema = physical_columns(create)?;
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
    options.check_known(&owner, connector.options().iter().map(|o| o.key))?;
    let event_time = match (&create.watermark, plan_watermark(&schema)?) {
        (Some(definition), Some(watermark)) => {
            let column = &definition.column.value;
            let place = |e: Error| e.at(definition.excerpt.clone());
            check_event_time(&schema, column).map_err(place)?;
            check_watermark(&schema, column, &watermark).map_err(place)?;
            Some(EventTimeColumn { name: column.clone(), watermark })
        }
        _ => None,
    };
    Ok(Table {
        spec: TableSpec { name: Arc::clone(&name), schema, partitioned_by, options, folder: folder.to_owned() },
        connector: Arc::clone(connector),
        name,
        keep_rejected,
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
