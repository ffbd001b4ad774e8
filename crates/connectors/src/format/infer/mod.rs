//! Types of columns, found out from a sample of values: each value narrows what its column can be.
//!
//! ```text
//! values ─► Seen ── merge ──► Seen ─► the narrowest type that holds all of them
//! ```
//!
//! | values | type |
//! | --- | --- |
//! | `true`, `false` | `BOOLEAN` |
//! | whole numbers | `BIGINT`; `DECIMAL(38, 0)` where one is too large for it |
//! | numbers | `DOUBLE` |
//! | `2026-11-29` | `DATE` |
//! | `2026-11-29T10:00:00.000`, or with a space for the `T` | `TIMESTAMP(3)`, or 6 or 9 by their digits |
//! | the same with a `Z` behind | `TIMESTAMP_LTZ(3)`, or 6 or 9 |
//! | arrays and objects | `ARRAY<...>`, `ROW<...>` |
//! | anything else, values of several kinds, none at all | `STRING` |

mod text;

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, TimeUnit};

pub(crate) use self::text::of_text;
pub(super) use self::text::{of_json_number, of_json_string};
use super::text::temporal::TimestampFormat;

/// The digits of the largest whole number that a type holds.
const MAX_DIGITS: usize = 38;

/// What the values of a column have in common so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Seen {
    /// NULL alone.
    #[default]
    Nothing,
    /// `true` and `false`.
    Boolean,
    /// Whole numbers in the range of `BIGINT`.
    Integer,
    /// Whole numbers of at most 38 digits.
    LongInteger,
    /// Numbers.
    Number,
    /// Dates.
    Date,
    /// Moments in one form.
    Timestamp { format: TimestampFormat, zoned: bool, unit: TimeUnit },
    /// Arrays, and what is in them.
    Array(Box<Seen>),
    /// Objects, with the names in the order in which they came.
    Row(Vec<(String, Seen)>),
    /// Text, or values of several kinds.
    Text,
}

impl Seen {
    /// Takes another value into account.
    pub(crate) fn merge(&mut self, other: Self) {
        *self = match (std::mem::take(self), other) {
            (seen, Self::Nothing) | (Self::Nothing, seen) => seen,
            (Self::Array(mut elements), Self::Array(others)) => {
                elements.merge(*others);
                Self::Array(elements)
            }
            (Self::Row(mut fields), Self::Row(others)) => {
                others.into_iter().for_each(|(name, seen)| merge_field(&mut fields, name, seen));
                Self::Row(fields)
            }
            (
                Self::Timestamp { format, zoned, unit },
                Self::Timestamp { format: other_format, zoned: other_zoned, unit: other },
            ) if format == other_format && zoned == other_zoned => {
                Self::Timestamp { format, zoned, unit: unit.max(other) }
            }
            (one, other) if one == other => one,
            (one, other) => match (one.width(), other.width()) {
                (Some(width), Some(other_width)) => {
                    if width > other_width {
                        one
                    } else {
                        other
                    }
                }
                _ => Self::Text,
            },
        };
    }

    /// How wide a kind of numbers is: a wider one holds the values of a narrower.
    fn width(&self) -> Option<u8> {
        match self {
            Self::Integer => Some(0),
            Self::LongInteger => Some(1),
            Self::Number => Some(2),
            _ => None,
        }
    }

    /// Whether it is, or holds, moments in the form of ISO 8601.
    pub(super) fn has_iso_timestamps(&self) -> bool {
        match self {
            Self::Timestamp { format, .. } => *format == TimestampFormat::Iso8601,
            Self::Array(elements) => elements.has_iso_timestamps(),
            Self::Row(fields) => fields.iter().any(|(_, seen)| seen.has_iso_timestamps()),
            _ => false,
        }
    }

    /// The narrowest type that holds all values; one table reads moments in one form, `format`, and takes others as text.
    pub(crate) fn data_type(&self, format: TimestampFormat) -> DataType {
        match self {
            Self::Boolean => DataType::Boolean,
            Self::Integer => DataType::Int64,
            Self::LongInteger => DataType::Decimal128(MAX_DIGITS as u8, 0),
            Self::Number => DataType::Float64,
            Self::Date => DataType::Date32,
            Self::Timestamp { format: own, zoned, unit } if *own == format => {
                DataType::Timestamp(*unit, zoned.then(|| "+00:00".into()))
            }
            Self::Array(elements) => DataType::new_list(elements.data_type(format), true),
            Self::Row(fields) if !fields.is_empty() => DataType::Struct(columns(fields, format)),
            Self::Nothing | Self::Row(_) | Self::Text | Self::Timestamp { .. } => DataType::Utf8View,
        }
    }
}

/// Takes a value of a field into account.
pub(super) fn merge_field(fields: &mut Vec<(String, Seen)>, name: String, seen: Seen) {
    match fields.iter_mut().find(|(known, _)| *known == name) {
        Some((_, known)) => known.merge(seen),
        None => fields.push((name, seen)),
    }
}

/// The columns of fields; any of them may be NULL.
pub(super) fn columns(fields: &[(String, Seen)], format: TimestampFormat) -> Fields {
    let field =
        |(name, seen): &(String, Seen)| -> FieldRef { Arc::new(Field::new(name, seen.data_type(format), true)) };
    fields.iter().map(field).collect()
}

#[cfg(test)]
mod tests;
