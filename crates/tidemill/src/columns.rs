//! The columns that a type's fields are.

use std::any::type_name;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use serde::de::DeserializeOwned;
use serde_arrow::schema::{SchemaLike, TracingOptions};
use tidemill_core::{Error, Result};

/// A column a field of `T`, in their order. All may be NULL: what a connector finds missing is an error of the field that is no
/// `Option`.
pub(crate) fn columns_of<T: DeserializeOwned>() -> Result<SchemaRef> {
    let columns: Vec<FieldRef> = fields_of::<T>()?.iter().map(|field| column(field)).collect::<Result<_>>()?;
    Ok(Arc::new(Schema::new(columns)))
}

/// Refuses a `T` that has fields which none of the columns is made for. What is NULL, or of another type, is known row by row.
/// The fields of a tuple are the columns in their order.
pub(crate) fn check_has_fields<T: DeserializeOwned>(columns: &SchemaRef) -> Result<()> {
    let fields = fields_of::<T>()?;
    let names: Vec<&str> = columns.fields().iter().map(|column| column.name().as_str()).collect();
    let tuple = fields.iter().enumerate().all(|(index, field)| *field.name() == index.to_string());
    if tuple && fields.len() != names.len() {
        let (type_name, count) = (type_name::<T>(), names.len());
        return Err(Error::invalid(format!("{type_name} has {} fields, and the query {count} columns", fields.len()))
            .hint(format!("select as many columns: now they are {}", names.join(", "))));
    }
    for field in fields.iter().filter(|_| !tuple) {
        if !names.contains(&field.name().as_str()) {
            let error = format!("{} has the field '{}', and the query no such column", type_name::<T>(), field.name());
            return Err(Error::invalid(error)
                .hint(format!("name a column so with AS: the query's columns are {}", names.join(", "))));
        }
    }
    Ok(())
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
