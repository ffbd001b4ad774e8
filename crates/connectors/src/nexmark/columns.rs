//! Which columns a Nexmark table has: those of the Nexmark project's table, or some of them, and of a `ROW` all fields or
//! some of them.
//!
//! There, `dateTime` is computed of the three records. Here it may be declared as a physical column.

use arrow::datatypes::{DataType, Field, Fields};
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::{TableSpec, nearest};

use super::events::Kind;
use super::record::{RecordField, TIME};
use super::{auction, bid, person};
use crate::format::sql_type;

/// A column.
#[derive(Clone, Copy)]
pub(super) enum Column {
    EventType,
    Time,
    Record(Kind, &'static [RecordField]),
}

const COLUMNS: [(&str, Column); 5] = [
    ("event_type", Column::EventType),
    ("person", Column::Record(Kind::Person, person::FIELDS)),
    ("auction", Column::Record(Kind::Auction, auction::FIELDS)),
    ("bid", Column::Record(Kind::Bid, bid::FIELDS)),
    ("dateTime", Column::Time),
];

/// The column of a name.
pub(super) fn column(name: &str) -> Option<Column> {
    COLUMNS.iter().find(|(known, _)| *known == name).map(|(_, column)| *column)
}

/// Refuses a table with a column that there is not, or not of this type.
pub(super) fn check(table: &TableSpec) -> Result<()> {
    table.schema.fields().iter().try_for_each(|field| check_column(field))
}

fn check_column(field: &Field) -> Result<()> {
    let name = field.name();
    match (column(name), field.data_type()) {
        (None, _) => Err(unknown(&format!("a Nexmark table has no column '{name}'"), name, COLUMNS.map(|(n, _)| n))),
        (Some(Column::EventType), data_type) => check_type(name, data_type, &DataType::Int32),
        (Some(Column::Time), data_type) => check_type(name, data_type, &TIME),
        (Some(Column::Record(_, known)), DataType::Struct(fields)) => {
            if !field.is_nullable() {
                return Err(Error::invalid(format!("the column '{name}' can't be NOT NULL: an event has one record"))
                    .hint("drop NOT NULL, and tell the events apart by event_type"));
            }
            check_record(name, fields, known)
        }
        (Some(Column::Record(..)), other) => {
            Err(Error::invalid(format!("the column '{name}' is a ROW, not {}", sql_type(other))))
        }
    }
}

fn check_record(record: &str, fields: &Fields, known: &[RecordField]) -> Result<()> {
    for field in fields {
        let (name, path) = (field.name(), format!("{record}.{}", field.name()));
        match known.iter().find(|known| known.name == name) {
            Some(known) => check_type(&path, field.data_type(), &known.data_type)?,
            None => {
                let names = known.iter().map(|known| known.name);
                return Err(unknown(&format!("the column '{record}' has no field '{name}'"), name, names));
            }
        }
    }
    Ok(())
}

fn check_type(path: &str, given: &DataType, wanted: &DataType) -> Result<()> {
    if given == wanted {
        return Ok(());
    }
    let (given, wanted) = (sql_type(given), sql_type(wanted));
    Err(Error::invalid(format!("'{path}' has the type {wanted}, not {given}")).hint(format!("declare it as {wanted}")))
}

fn unknown<'a>(message: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
    let known: Vec<&str> = known.into_iter().collect();
    Error::invalid(message).hint(match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("it has: {}", known.join(", ")),
    })
}
