//! The columns that a type's fields are.

use std::any::type_name;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use serde::de::DeserializeOwned;
use serde_arrow::schema::{SchemaLike, TracingOptions};
use tidemill_core::{Error, Result};
use tidemill_sql::types::flink_type_name;

/// A column a field of `T`, in their order. All may be NULL: what a connector finds missing is an error of the field that is no
/// `Option`.
pub(crate) fn columns_of<T: DeserializeOwned>() -> Result<SchemaRef> {
    let columns: Vec<FieldRef> = fields_of::<T>()?.iter().map(|field| column(field)).collect::<Result<_>>()?;
    Ok(Arc::new(Schema::new(columns)))
}

/// Refuses a `T` that has fields which no column is made for. The fields of a tuple are the columns in their order. What is NULL is
/// known row by row.
pub(crate) fn check_has_fields<T: DeserializeOwned>(columns: &SchemaRef) -> Result<()> {
    let (fields, columns) = (fields_of::<T>()?, columns.fields());
    let listed = || columns.iter().map(|column| column.name().as_str()).collect::<Vec<_>>().join(", ");
    let tuple = fields.iter().enumerate().all(|(index, field)| *field.name() == index.to_string());
    if tuple && fields.len() != columns.len() {
        let (fields, count) = (fields.len(), columns.len());
        return Err(Error::invalid(format!("{} has {fields} fields, and the query {count} columns", type_name::<T>()))
            .hint(format!("select as many columns: now they are {}", listed())));
    }
    for (index, field) in fields.iter().enumerate() {
        let named = || columns.iter().find(|column| column.name() == field.name());
        let Some(column) = (if tuple { columns.get(index) } else { named() }) else {
            let what = format!("{} has the field '{}', and the query no such column", type_name::<T>(), field.name());
            return Err(
                Error::invalid(what).hint(format!("name a column so with AS: the query's columns are {}", listed()))
            );
        };
        check_fits::<T>(field, column)?;
    }
    Ok(())
}

/// Refuses a column whose values serde does not give for the field.
fn check_fits<T>(field: &Field, column: &Field) -> Result<()> {
    let is = column.data_type();
    let text = matches!(is, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let (fits, needs) = match field.data_type() {
        of if of.is_integer() => (is.is_integer() || is.is_temporal() || *is == DataType::Boolean, "BIGINT"),
        of if of.is_floating() => (is.is_floating(), "DOUBLE"),
        DataType::Utf8 | DataType::LargeUtf8 => {
            (text || is.is_temporal() || is.is_floating() || matches!(is, DataType::Decimal128(..)), "STRING")
        }
        DataType::Boolean => (*is == DataType::Boolean || is.is_integer(), "BOOLEAN"),
        _ => return Ok(()),
    };
    if fits {
        return Ok(());
    }
    let (of, name, given) = (type_name::<T>(), column.name(), flink_type_name(is));
    Err(Error::invalid(format!("the field '{}' of {of} is not made of the column '{name}', a {given}", field.name()))
        .hint(format!("give the field the column's type, or select CAST({name} AS {needs}) AS {name}")))
}

/// The fields of `T`, as Arrow has them.
fn fields_of<T: DeserializeOwned>() -> Result<Vec<FieldRef>> {
    let options = TracingOptions::default().allow_null_fields(true);
    Vec::<FieldRef>::from_type::<T>(options).map_err(|e| {
        Error::invalid(format!("the fields of {} are no columns: {e}", type_name::<T>()))
            .because(e)
            .hint("a row is a struct of numbers, texts, booleans, and structs and lists of these")
    })
}

/// The column that a connector has for a field.
fn column(field: &Field) -> Result<FieldRef> {
    let data_type = match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        DataType::List(element) | DataType::LargeList(element) => DataType::List(column(element)?),
        DataType::Struct(fields) => {
            DataType::Struct(fields.iter().map(|field| column(field)).collect::<Result<Vec<_>>>()?.into())
        }
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => {
            return Err(Error::invalid(format!(
                "the field '{}' is an unsigned number, which no column is",
                field.name()
            ))
            .hint("make it an i32 or an i64"));
        }
        other => other.clone(),
    };
    Ok(Arc::new(Field::new(field.name(), data_type, true)))
}
