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

/// The type to compare values of these types in, where DataFusion's own choice does not hold them all: it compares a
/// DOUBLE with a decimal as a decimal, cuts decimals to 38 digits, and takes a DATE to nanoseconds. `None` where its
/// choice is right, and where the types are not compared.
pub(super) fn compared_as(types: &[DataType]) -> Option<DataType> {
    let types: Vec<&DataType> = types.iter().filter(|t| !t.is_null()).collect();
    if types.iter().all(|t| t.is_numeric()) { numbers_compared_as(&types) } else { times_compared_as(&types) }
}

fn numbers_compared_as(types: &[&DataType]) -> Option<DataType> {
    if !types.iter().any(|t| matches!(t, DataType::Decimal128(..))) {
        return None;
    }
    if types.contains(&&DataType::Float64) {
        return Some(DataType::Float64);
    }
    if types.iter().any(|t| t.is_floating()) {
        return Some(DataType::Float32);
    }
    let digits = types.iter().map(|t| digits(t)).collect::<Option<Vec<_>>>()?;
    let scale = digits.iter().map(|(_, scale)| *scale).max()?;
    let whole = digits.iter().map(|(precision, scale)| precision - scale).max()?;
    let precision = whole + scale;
    if precision <= i16::from(DECIMAL128_MAX_PRECISION) {
        return None;
    }
    // Two decimals of 38 digits have at most 76 together.
    Some(DataType::Decimal256(u8::try_from(precision).ok()?, i8::try_from(scale).ok()?))
}

/// A DATE is compared with a TIMESTAMP as the TIMESTAMP of its midnight.
fn times_compared_as(types: &[&DataType]) -> Option<DataType> {
    let (dates, timestamps): (Vec<&DataType>, Vec<&DataType>) =
        types.iter().copied().partition(|t| matches!(t, DataType::Date32));
    if dates.is_empty() {
        return None;
    }
    let DataType::Timestamp(_, zone) = timestamps.first()? else { return None };
    timestamps
        .iter()
        .try_fold(TimeUnit::Millisecond, |unit, next| match next {
            DataType::Timestamp(next, other) if other == zone => Some(finer(unit, *next)),
            _ => None,
        })
        .map(|unit| DataType::Timestamp(unit, zone.clone()))
}

/// Whether a number stands beside what is none: a text could be meant as either.
pub(super) fn number_with_other(types: &[DataType]) -> bool {
    let other = |t: &DataType| is_text(t) || matches!(t, DataType::Boolean);
    types.iter().any(DataType::is_numeric) && types.iter().any(other)
}

/// Row numbers are BIGINT.
pub(super) fn signed(data_type: &DataType) -> DataType {
    if *data_type == DataType::UInt64 { DataType::Int64 } else { data_type.clone() }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_float_is_compared_with_a_decimal_as_what_it_is() {
        let decimal = DataType::Decimal128(2, 1);
        for float in [DataType::Float32, DataType::Float64] {
            assert_eq!(compared_as(&[float.clone(), decimal.clone()]), Some(float.clone()));
            assert_eq!(compared_as(&[DataType::Null, decimal.clone(), float.clone()]), Some(float));
        }
        assert_eq!(compared_as(&[DataType::Float64, DataType::Int32]), None);
        assert_eq!(compared_as(&[DataType::Float64, DataType::Utf8View, decimal]), None);
    }

    #[test]
    fn decimals_are_compared_with_all_their_digits() {
        let digits = |precision, scale| DataType::Decimal128(precision, scale);
        assert_eq!(compared_as(&[digits(10, 2), digits(2, 1)]), None);
        assert_eq!(compared_as(&[digits(38, 0), digits(2, 1)]), Some(DataType::Decimal256(39, 1)));
        assert_eq!(compared_as(&[digits(38, 38), DataType::Int64]), Some(DataType::Decimal256(57, 38)));
        assert_eq!(compared_as(&[digits(38, 0), digits(38, 38)]), Some(DataType::Decimal256(76, 38)));
    }

    #[test]
    fn a_date_is_compared_with_a_timestamp_in_its_unit() {
        let timestamp = |unit| DataType::Timestamp(unit, None);
        let with_date = |unit| compared_as(&[DataType::Date32, timestamp(unit)]);
        assert_eq!(with_date(TimeUnit::Second), Some(timestamp(TimeUnit::Millisecond)));
        assert_eq!(with_date(TimeUnit::Millisecond), Some(timestamp(TimeUnit::Millisecond)));
        assert_eq!(with_date(TimeUnit::Nanosecond), Some(timestamp(TimeUnit::Nanosecond)));
        assert_eq!(compared_as(&[DataType::Date32, DataType::Utf8View]), None);
        assert_eq!(compared_as(&[DataType::Date32, DataType::Date32]), None);
    }
}
