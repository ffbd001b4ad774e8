//! How types and bytes look in messages.

use arrow::datatypes::{DataType, TimeUnit};

/// How many characters of a record or value a message shows.
const EXCERPT_CHARS: usize = 80;

/// The start of a text, with what can't be printed replaced.
pub(in crate::format) fn excerpt(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text.trim_ascii_end());
    let mut shown: String = text.chars().take(EXCERPT_CHARS).flat_map(printable).collect();
    if text.chars().nth(EXCERPT_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

fn printable(c: char) -> impl Iterator<Item = char> {
    let escaped = c.is_control().then(|| c.escape_default());
    let plain = (!c.is_control()).then_some(c);
    escaped.into_iter().flatten().chain(plain)
}

/// The type as the user declared it.
pub(crate) fn sql_type(data_type: &DataType) -> String {
    match data_type {
        DataType::Boolean => "BOOLEAN".into(),
        DataType::Int8 => "TINYINT".into(),
        DataType::Int16 => "SMALLINT".into(),
        DataType::Int32 => "INT".into(),
        DataType::Int64 => "BIGINT".into(),
        DataType::Float32 => "FLOAT".into(),
        DataType::Float64 => "DOUBLE".into(),
        DataType::Decimal128(precision, scale) => format!("DECIMAL({precision}, {scale})"),
        DataType::Utf8View => "STRING".into(),
        DataType::BinaryView => "BYTES".into(),
        DataType::Date32 => "DATE".into(),
        DataType::Time32(_) => "TIME".into(),
        DataType::Timestamp(unit, zone) => {
            let name = if zone.is_some() { "TIMESTAMP_LTZ" } else { "TIMESTAMP" };
            format!("{name}({})", fraction_digits(*unit))
        }
        DataType::Struct(_) => "ROW".into(),
        DataType::List(element) => format!("ARRAY<{}>", sql_type(element.data_type())),
        DataType::Map(..) => "MAP".into(),
        other => other.to_string(),
    }
}

/// How many digits of a second a unit holds.
pub(in crate::format) fn fraction_digits(unit: TimeUnit) -> usize {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}
