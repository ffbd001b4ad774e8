//! What Delta's log says of a file's columns, so that readers can leave the file out: from the file's own footer.
//!
//! Told of the first columns that are no `ARRAY`, `MAP` or `ROW`: how many values are NULL, and the least and the
//! greatest. Not of `FLOAT` and `DOUBLE`: Parquet's bounds leave NaN out, which Delta's readers take as the greatest.

use arrow::datatypes::{DataType, Schema};
use arrow::temporal_conversions::{date32_to_datetime, timestamp_us_to_datetime};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::statistics::Statistics;
use serde_json::{Map, Number, Value, json};

/// Of how many columns something is told, as Spark has it.
const COLUMNS_MAX: usize = 32;

/// The statistics of a file with the columns `schema`, as JSON.
pub fn of_file(schema: &Schema, metadata: &ParquetMetaData) -> String {
    let (mut least, mut greatest, mut nulls) = (Map::new(), Map::new(), Map::new());
    let leaves = metadata.file_metadata().schema_descr().columns().iter().enumerate();
    let top = leaves.filter(|(_, leaf)| leaf.path().parts().len() == 1).take(COLUMNS_MAX);
    for (number, leaf) in top {
        let Ok(field) = schema.field_with_name(leaf.name()) else { continue };
        let Some(found) = Found::of(metadata.row_groups(), number) else { continue };
        nulls.insert(field.name().clone(), json!(found.nulls));
        if let Some((from, to)) = &found.bounds {
            let tell = |bounds: &mut Map<String, Value>, bound| {
                bounds.extend(shown(bound, field.data_type()).map(|value| (field.name().clone(), value)));
            };
            tell(&mut least, from);
            tell(&mut greatest, to);
        }
    }
    let rows = metadata.file_metadata().num_rows();
    json!({ "numRecords": rows, "minValues": least, "maxValues": greatest, "nullCount": nulls }).to_string()
}

/// A bound, as it is compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Bound {
    Number(i128),
    Text(String),
}

/// What the footer says of one column.
struct Found {
    nulls: u64,
    /// `None` where nothing is known, or all is NULL.
    bounds: Option<(Bound, Bound)>,
}

impl Found {
    /// Of all row groups together; `None` if one of them says nothing.
    fn of(groups: &[RowGroupMetaData], column: usize) -> Option<Self> {
        let mut found = Self { nulls: 0, bounds: None };
        let mut known = true;
        for group in groups {
            let statistics = group.column(column).statistics()?;
            let nulls = statistics.null_count_opt()?;
            found.nulls += nulls;
            match bounds(statistics) {
                Some((from, to)) => {
                    found.bounds = Some(match found.bounds.take() {
                        Some((least, greatest)) => (least.min(from), greatest.max(to)),
                        None => (from, to),
                    });
                }
                None => known &= i64::try_from(nulls).is_ok_and(|nulls| nulls == group.num_rows()),
            }
        }
        found.bounds = found.bounds.filter(|_| known);
        Some(found)
    }
}

fn bounds(statistics: &Statistics) -> Option<(Bound, Bound)> {
    match statistics {
        Statistics::Int32(of) => Some((number(*of.min_opt()?), number(*of.max_opt()?))),
        Statistics::Int64(of) => Some((number(*of.min_opt()?), number(*of.max_opt()?))),
        Statistics::FixedLenByteArray(of) => Some((decimal(of.min_opt()?.data())?, decimal(of.max_opt()?.data())?)),
        // The bounds of long texts are cut: the least is no less for it, and the greatest was raised.
        Statistics::ByteArray(of) => Some((text(of.min_opt()?.data())?, text(of.max_opt()?.data())?)),
        Statistics::Boolean(_) | Statistics::Int96(_) | Statistics::Float(_) | Statistics::Double(_) => None,
    }
}

fn number(value: impl Into<i128>) -> Bound {
    Bound::Number(value.into())
}

/// The digits of a decimal: a number of up to 16 bytes, the highest first.
fn decimal(bytes: &[u8]) -> Option<Bound> {
    let sign = if *bytes.first()? & 0x80 == 0 { 0 } else { 0xff };
    let mut wide = [sign; 16];
    wide.get_mut(16_usize.checked_sub(bytes.len())?..)?.copy_from_slice(bytes);
    Some(Bound::Number(i128::from_be_bytes(wide)))
}

fn text(bytes: &[u8]) -> Option<Bound> {
    std::str::from_utf8(bytes).ok().map(|text| Bound::Text(text.to_owned()))
}

/// A bound as the log has it; `None` for what it can't show.
fn shown(bound: &Bound, data_type: &DataType) -> Option<Value> {
    match (bound, data_type) {
        (Bound::Text(text), DataType::Utf8View) => Some(Value::from(text.as_str())),
        (Bound::Number(days), DataType::Date32) => {
            let day = date32_to_datetime(i32::try_from(*days).ok()?)?.format("%Y-%m-%d").to_string();
            year_of_four_digits(day)
        }
        (Bound::Number(micros), DataType::Timestamp(_, zone)) => {
            let moment = timestamp_us_to_datetime(i64::try_from(*micros).ok()?)?;
            let format = if zone.is_some() { "%Y-%m-%dT%H:%M:%S%.6fZ" } else { "%Y-%m-%dT%H:%M:%S%.6f" };
            year_of_four_digits(moment.format(format).to_string())
        }
        (Bound::Number(digits), DataType::Decimal128(_, scale)) => {
            let text = with_point(*digits, usize::try_from(*scale).ok()?);
            serde_json::from_str::<Number>(&text).ok().map(Value::Number)
        }
        (Bound::Number(number), DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64) => {
            i64::try_from(*number).ok().map(Value::from)
        }
        _ => None,
    }
}

fn year_of_four_digits(time: String) -> Option<Value> {
    (!time.starts_with(['+', '-'])).then(|| Value::from(time))
}

/// A decimal with so many digits behind its point.
fn with_point(digits: i128, scale: usize) -> String {
    let sign = if digits < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", digits.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

#[cfg(test)]
mod tests;
