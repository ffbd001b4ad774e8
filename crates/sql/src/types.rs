//! Flink's types as Arrow keeps them, and back to the names that messages use.
//!
//! Columns of `CHAR(n)`, `VARCHAR(n)`, `BINARY(n)` and `VARBINARY(n)` don't enforce their length, as in Flink
//! with `table.exec.sink.type-length-enforcer` at its default `IGNORE`; casts do (`function/scalar/length`).

use std::sync::Arc;

use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType, Field, FieldRef, Fields, TimeUnit};
use datafusion::{
    error::{DataFusionError, Result as PlanResult},
    logical_expr::planner::TypePlanner,
    sql::sqlparser::ast::{self, ArrayElemTypeDef, BinaryLength, CharacterLength, ExactNumberInfo, TimezoneInfo},
};
use tidemill_core::{Error, Result};

#[cfg(test)]
mod tests;

/// The zone of `TIMESTAMP_LTZ` values, which are instants: the session's zone only formats them.
pub(crate) const LTZ_ZONE: &str = "UTC";

/// The length that `CHAR(n)`, `VARCHAR(n)`, `BINARY(n)` and `VARBINARY(n)` have at most, as in Flink.
const LONGEST: u64 = 2_147_483_647;

/// The Arrow form of a Flink type. Fields of rows, elements of arrays and values of maps are nullable.
///
/// # Errors
/// A type that Flink has not, or that is not supported yet, by its name.
pub fn arrow_type(sql_type: &ast::DataType) -> Result<DataType> {
    use ast::DataType as Sql;
    Ok(match sql_type {
        Sql::Boolean => DataType::Boolean,
        Sql::TinyInt(None) => DataType::Int8,
        Sql::SmallInt(None) => DataType::Int16,
        Sql::Int(None) | Sql::Integer(None) => DataType::Int32,
        Sql::BigInt(None) => DataType::Int64,
        Sql::Float(ExactNumberInfo::None) => DataType::Float32,
        Sql::Double(ExactNumberInfo::None) | Sql::DoublePrecision => DataType::Float64,
        Sql::Decimal(info) | Sql::Dec(info) | Sql::Numeric(info) => decimal(*info)?,
        Sql::Char(length)
        | Sql::Character(length)
        | Sql::Varchar(length)
        | Sql::CharVarying(length)
        | Sql::CharacterVarying(length) => {
            check_length(sql_type, *length)?;
            DataType::Utf8View
        }
        Sql::String(None) => DataType::Utf8View,
        Sql::Bytes(None) | Sql::Binary(None) | Sql::Varbinary(None) => DataType::BinaryView,
        Sql::Binary(Some(length)) | Sql::Varbinary(Some(BinaryLength::IntegerLength { length })) => {
            check_range(sql_type, Some(*length), "BYTES")?;
            DataType::BinaryView
        }
        Sql::Date => DataType::Date32,
        Sql::Time(precision, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => time(precision.unwrap_or(0))?,
        Sql::Timestamp(precision, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => {
            DataType::Timestamp(timestamp_unit("TIMESTAMP", *precision)?, None)
        }
        Sql::Custom(name, modifiers) => named_type(&name.to_string(), modifiers)?,
        Sql::Array(ArrayElemTypeDef::AngleBracket(element)) => {
            DataType::List(Arc::new(Field::new("item", arrow_type(element)?, true)))
        }
        Sql::Map(key, value) => map_type(arrow_type(key)?, arrow_type(value)?),
        Sql::Struct(fields, _) if !fields.is_empty() => row(fields)?,
        other => return Err(unknown(&other.to_string())),
    })
}

fn decimal(info: ExactNumberInfo) -> Result<DataType> {
    let (precision, scale) = match info {
        ExactNumberInfo::None => (10, 0),
        ExactNumberInfo::Precision(precision) => (precision, 0),
        ExactNumberInfo::PrecisionAndScale(precision, scale) => (precision, scale),
    };
    let valid = (1..=u64::from(DECIMAL128_MAX_PRECISION)).contains(&precision);
    match (u8::try_from(precision), i8::try_from(scale)) {
        (Ok(p), Ok(s)) if valid && s >= 0 && i64::from(s) <= i64::from(p) => Ok(DataType::Decimal128(p, s)),
        _ => Err(Error::invalid(format!("DECIMAL({precision}, {scale}) is not a valid type"))
            .hint("the precision is from 1 to 38, the scale from 0 to the precision")),
    }
}

fn check_length(sql_type: &ast::DataType, length: Option<CharacterLength>) -> Result<()> {
    match length {
        None => Ok(()),
        Some(CharacterLength::IntegerLength { length, unit: None }) => check_range(sql_type, Some(length), "STRING"),
        Some(_) => check_range(sql_type, None, "STRING"),
    }
}

/// The length of a type, `None` if it is no number; `free` is the type that has none.
fn check_range(sql_type: &ast::DataType, length: Option<u64>, free: &str) -> Result<()> {
    if length.is_some_and(|length| (1..=LONGEST).contains(&length)) {
        return Ok(());
    }
    Err(Error::invalid(format!("{sql_type} is not a valid type"))
        .hint(format!("the length is a whole number from 1 to {LONGEST}; {free} has no length")))
}

fn time(precision: u64) -> Result<DataType> {
    match precision {
        0..=3 => Ok(DataType::Time32(TimeUnit::Millisecond)),
        _ => Err(Error::invalid(format!("TIME({precision}) is not supported")).hint("the precision is from 0 to 3")),
    }
}

/// Milliseconds to precision 3, microseconds to 6 (the default is 6), nanoseconds to 9.
fn timestamp_unit(name: &str, precision: Option<u64>) -> Result<TimeUnit> {
    match precision.unwrap_or(6) {
        0..=3 => Ok(TimeUnit::Millisecond),
        4..=6 => Ok(TimeUnit::Microsecond),
        7..=9 => Ok(TimeUnit::Nanosecond),
        p => Err(Error::invalid(format!("{name}({p}) is not a valid type")).hint("the precision is from 0 to 9")),
    }
}

/// A type that sqlparser does not know by name.
fn named_type(name: &str, modifiers: &[String]) -> Result<DataType> {
    if !name.eq_ignore_ascii_case("TIMESTAMP_LTZ") {
        return Err(unknown(name));
    }
    let precision = match modifiers {
        [] => None,
        [precision] => precision.parse().ok().map(Some).ok_or_else(|| unknown(&format!("{name}({precision})")))?,
        more => return Err(unknown(&format!("{name}({})", more.join(", ")))),
    };
    Ok(DataType::Timestamp(timestamp_unit("TIMESTAMP_LTZ", precision)?, Some(LTZ_ZONE.into())))
}

/// The type of maps. Field names are those of Arrow's map builder.
pub(crate) fn map_type(key: DataType, value: DataType) -> DataType {
    let entries = Fields::from(vec![Field::new("keys", key, false), Field::new("values", value, true)]);
    DataType::Map(Arc::new(Field::new("entries", DataType::Struct(entries), false)), false)
}

/// A field without a name is `f0`, `f1`, ... by its position.
fn row(fields: &[ast::StructField]) -> Result<DataType> {
    let field = |(i, field): (usize, &ast::StructField)| {
        let name = field.field_name.as_ref().map_or_else(|| format!("f{i}"), |name| name.value.clone());
        Ok(Field::new(name, arrow_type(&field.field_type)?, true))
    };
    Ok(DataType::Struct(fields.iter().enumerate().map(field).collect::<Result<Fields>>()?))
}

fn unknown(name: &str) -> Error {
    let upper = name.to_uppercase();
    let head = upper.split(['(', '<', ' ', '[']).next().unwrap_or_default();
    let pending = match head {
        "TIMESTAMP" | "TIMESTAMPTZ" if upper != "TIMESTAMP" => Some("TIMESTAMP_LTZ(3), an instant in UTC"),
        "RAW" | "MULTISET" => Some("STRING, ARRAY or MAP"),
        "INTERVAL" => Some("BIGINT, for example the number of milliseconds"),
        _ => None,
    };
    if let Some(instead) = pending {
        return Error::invalid(format!("the type {name} is not supported")).hint(format!("use {instead}"));
    }
    let meant = match head {
        "BOOL" => Some("BOOLEAN"),
        "INT2" | "INT16" => Some("SMALLINT"),
        "INT4" | "INT32" | "MEDIUMINT" => Some("INT"),
        "INT8" | "INT64" | "LONG" => Some("BIGINT"),
        "REAL" | "FLOAT4" | "FLOAT32" => Some("FLOAT"),
        "FLOAT8" | "FLOAT64" => Some("DOUBLE"),
        "TEXT" | "NVARCHAR" | "CLOB" | "JSON" | "JSONB" | "UUID" | "STRING" | "STR" => Some("STRING"),
        "BLOB" | "BYTEA" => Some("BYTES"),
        "DATETIME" | "TIMESTAMP_NTZ" => Some("TIMESTAMP(3)"),
        "STRUCT" => Some("ROW<name type, ...>"),
        "TINYINT" | "SMALLINT" | "INT" | "INTEGER" | "BIGINT" | "FLOAT" | "DOUBLE" => Some(head),
        _ => None,
    };
    Error::invalid(format!("{name} is not a Flink type")).hint(match meant {
        Some(meant) => format!("write {meant}"),
        None => "types are BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL(p, s), STRING, CHAR(n), \
                 VARCHAR(n), BYTES, DATE, TIME, TIMESTAMP(p), TIMESTAMP_LTZ(p), ROW<...>, ARRAY<...> and MAP<...>"
            .to_owned(),
    })
}

/// The name of a type in messages, as Flink writes it: `BIGINT`, `TIMESTAMP(3)`, `ROW<a INT>`.
/// An Arrow type that no Flink type becomes has Arrow's name.
#[must_use]
pub fn flink_type_name(data_type: &DataType) -> String {
    written(data_type, &str::to_owned)
}

/// The type as `CREATE TABLE` takes it, whatever the names of its fields: `` ROW<`a` INT> ``.
pub(crate) fn declared_type(data_type: &DataType) -> String {
    written(data_type, &|name| quoted(name))
}

/// A name in backticks.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A type, with the names of fields as `name` writes them.
fn written(data_type: &DataType, name: &dyn Fn(&str) -> String) -> String {
    let inner = |data_type: &DataType| written(data_type, name);
    match data_type {
        DataType::Null => "NULL".into(),
        DataType::Boolean => "BOOLEAN".into(),
        DataType::Int8 => "TINYINT".into(),
        DataType::Int16 => "SMALLINT".into(),
        DataType::Int32 => "INT".into(),
        DataType::Int64 => "BIGINT".into(),
        DataType::Float32 => "FLOAT".into(),
        DataType::Float64 => "DOUBLE".into(),
        DataType::Decimal128(precision, scale) => format!("DECIMAL({precision}, {scale})"),
        DataType::Utf8View | DataType::Utf8 | DataType::LargeUtf8 => "STRING".into(),
        DataType::BinaryView | DataType::Binary | DataType::LargeBinary => "BYTES".into(),
        DataType::Date32 => "DATE".into(),
        DataType::Time32(TimeUnit::Millisecond) => "TIME".into(),
        DataType::Timestamp(unit, None) => format!("TIMESTAMP({})", precision_of(*unit)),
        DataType::Timestamp(unit, Some(_)) => format!("TIMESTAMP_LTZ({})", precision_of(*unit)),
        DataType::Interval(_) | DataType::Duration(_) => "INTERVAL".into(),
        DataType::List(element) => format!("ARRAY<{}>", inner(element.data_type())),
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) => format!("MAP<{}>", join(fields.iter().map(|f| inner(f.data_type())))),
            other => other.to_string(),
        },
        DataType::Struct(fields) => {
            format!("ROW<{}>", join(fields.iter().map(|f| format!("{} {}", name(f.name()), inner(f.data_type())))))
        }
        other => other.to_string(),
    }
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn precision_of(unit: TimeUnit) -> u8 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

/// Gives the types in a query (`CAST(x AS TIMESTAMP(3))`) Flink's meaning.
#[derive(Debug)]
pub struct FlinkTypePlanner;

impl TypePlanner for FlinkTypePlanner {
    fn plan_type_field(&self, sql_type: &ast::DataType) -> PlanResult<Option<FieldRef>> {
        let data_type = arrow_type(sql_type).map_err(|e| DataFusionError::External(Box::new(e)))?;
        Ok(Some(Arc::new(Field::new("", data_type, true))))
    }
}
