//! The type that values of several types have in common, as Flink finds it for branches and comparisons.

use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType, TimeUnit};

use crate::function::decimal_of_integer;

/// The common type of all; `None` where Flink has none. A NULL agrees with everything.
pub(super) fn common_type<'a>(types: impl IntoIterator<Item = &'a DataType>) -> Option<DataType> {
    types.into_iter().try_fold(DataType::Null, |common, next| of_two(&common, next))
}

fn of_two(a: &DataType, b: &DataType) -> Option<DataType> {
    use DataType as T;
    if a == b {
        return Some(a.clone());
    }
    Some(match (a, b) {
        (T::Null, other) | (other, T::Null) => other.clone(),
        (a, b) if is_text(a) && is_text(b) => T::Utf8View,
        (a, b) if is_bytes(a) && is_bytes(b) => T::BinaryView,
        (a, b) if a.is_numeric() && b.is_numeric() => return numbers(a, b),
        (T::Timestamp(a, zone), T::Timestamp(b, other)) if zone == other => T::Timestamp(finer(*a, *b), zone.clone()),
        (a, b) => return super::collections::common_collection(a, b),
    })
}

pub(super) fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8)
}

pub(super) fn is_bytes(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Binary | DataType::BinaryView | DataType::LargeBinary)
}

fn numbers(a: &DataType, b: &DataType) -> Option<DataType> {
    use DataType as T;
    if a.is_integer() && b.is_integer() {
        return Some(if rank(a) >= rank(b) { a.clone() } else { b.clone() });
    }
    if matches!(a, T::Float32) && (matches!(b, T::Float32) || b.is_integer())
        || matches!(b, T::Float32) && a.is_integer()
    {
        return Some(T::Float32);
    }
    if a.is_floating() || b.is_floating() {
        return Some(T::Float64);
    }
    let ((p1, s1), (p2, s2)) = (digits(a)?, digits(b)?);
    let scale = s1.max(s2);
    let whole = (p1 - s1).max(p2 - s2);
    // Digits before the point count for more: what does not fit is lost behind it.
    let precision = (whole + scale).min(i16::from(DECIMAL128_MAX_PRECISION));
    let scale = scale.min(precision - whole.min(precision));
    Some(T::Decimal128(u8::try_from(precision).ok()?, i8::try_from(scale).ok()?))
}

/// Precision and scale of a decimal, or of the decimal that holds every integer of the type.
fn digits(data_type: &DataType) -> Option<(i16, i16)> {
    match data_type {
        DataType::Decimal128(precision, scale) => Some((i16::from(*precision), i16::from(*scale))),
        integer => decimal_of_integer(integer).map(|precision| (i16::from(precision), 0)),
    }
}

/// Integers by their width; row numbers are BIGINT.
fn rank(integer: &DataType) -> u8 {
    match integer {
        DataType::Int8 => 1,
        DataType::Int16 => 2,
        DataType::Int32 => 3,
        _ => 4,
    }
}

fn finer(a: TimeUnit, b: TimeUnit) -> TimeUnit {
    if a > b { a } else { b }
}
