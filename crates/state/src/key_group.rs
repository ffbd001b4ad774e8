//! Key groups: the unit in which keyed state is dealt to subtasks.
//!
//! The hash is a storage format (checkpoints name key groups), so it is ours and has a version:
//! XXH3-64 over canonical bytes, one column after the other, each seeded with the hash so far.
//! Canonical means: integers, dates, times and decimals little-endian in their own width; floats
//! as their bits, every NaN alike and -0.0 as 0.0; text and binary as their bytes; NULL as one
//! fixed number; an array as its length and the hashes of its elements. Two columns of different width are different keys: plans cast both sides alike.

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray, StructArray};
use arrow::datatypes::ToByteSlice;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType,
};
use tidemill_core::{Error, Result};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// How many key groups there are; the upper limit of parallelism.
pub const KEY_GROUPS: usize = 128;

/// The hash of NULL, mixed with the seed like any value.
const NULL_BYTES: &[u8] = b"\0tidemill:null:v1";

/// Each row's key group, by the columns of its key. No column means one group.
pub fn key_groups(columns: &[ArrayRef], rows: usize) -> Result<Vec<u8>> {
    let mut hashes = vec![0; rows];
    for column in columns {
        hash_column(column, &mut hashes)?;
    }
    Ok(hashes.into_iter().map(|hash| (hash % KEY_GROUPS as u64) as u8).collect())
}

/// The key group of a key that has been written as bytes: that of a binary column which holds them.
#[must_use]
pub fn key_group(key: &[u8]) -> u8 {
    (xxh3_64_with_seed(key, 0) % KEY_GROUPS as u64) as u8
}

/// The subtask, out of `parallelism`, that owns a key group: each owns one range of them.
#[must_use]
pub fn owner(key_group: u8, parallelism: usize) -> usize {
    usize::from(key_group) * parallelism / KEY_GROUPS
}

fn hash_column(column: &ArrayRef, hashes: &mut [u64]) -> Result<()> {
    match column.data_type() {
        DataType::Int8 => primitive::<Int8Type>(column, hashes),
        DataType::Int16 => primitive::<Int16Type>(column, hashes),
        DataType::Int32 => primitive::<Int32Type>(column, hashes),
        DataType::Int64 => primitive::<Int64Type>(column, hashes),
        DataType::Date32 => primitive::<Date32Type>(column, hashes),
        DataType::Time32(TimeUnit::Millisecond) => primitive::<Time32MillisecondType>(column, hashes),
        DataType::Decimal128(..) => primitive::<Decimal128Type>(column, hashes),
        DataType::Timestamp(TimeUnit::Millisecond, _) => primitive::<TimestampMillisecondType>(column, hashes),
        DataType::Timestamp(TimeUnit::Microsecond, _) => primitive::<TimestampMicrosecondType>(column, hashes),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => primitive::<TimestampNanosecondType>(column, hashes),
        DataType::Float32 => {
            let values = column.as_primitive::<Float32Type>();
            each(column, hashes, |i, seed| {
                let v = values.value(i);
                let canonical = if v.is_nan() { f32::NAN } else { v + 0.0 };
                xxh3_64_with_seed(&canonical.to_bits().to_le_bytes(), seed)
            });
        }
        DataType::Float64 => {
            let values = column.as_primitive::<Float64Type>();
            each(column, hashes, |i, seed| {
                let v = values.value(i);
                let canonical = if v.is_nan() { f64::NAN } else { v + 0.0 };
                xxh3_64_with_seed(&canonical.to_bits().to_le_bytes(), seed)
            });
        }
        DataType::Boolean => {
            let values = column.as_boolean();
            each(column, hashes, |i, seed| xxh3_64_with_seed(&[u8::from(values.value(i))], seed));
        }
        DataType::Utf8View => {
            let values = column.as_string_view();
            each(column, hashes, |i, seed| xxh3_64_with_seed(values.value(i).as_bytes(), seed));
        }
        DataType::Utf8 => {
            let values = column.as_string::<i32>();
            each(column, hashes, |i, seed| xxh3_64_with_seed(values.value(i).as_bytes(), seed));
        }
        DataType::BinaryView => {
            let values = column.as_binary_view();
            each(column, hashes, |i, seed| xxh3_64_with_seed(values.value(i), seed));
        }
        DataType::Struct(_) => structs(column.as_struct(), hashes)?,
        DataType::List(_) => lists(column, hashes)?,
        other => {
            return Err(Error::invalid(format!("a value of type {other} can't be a key"))
                .hint("group by its fields, or CAST it to STRING"));
        }
    }
    Ok(())
}

/// A struct's key is its fields' keys; a NULL struct is not a struct of NULLs.
fn structs(column: &StructArray, hashes: &mut [u64]) -> Result<()> {
    let seeds = hashes.to_vec();
    for field in column.columns() {
        hash_column(field, hashes)?;
    }
    for (i, hash) in hashes.iter_mut().enumerate() {
        if column.is_null(i) {
            *hash = xxh3_64_with_seed(NULL_BYTES, seeds[i]);
        }
    }
    Ok(())
}

/// An array's key is its length, and the keys of its elements in their order.
fn lists(column: &ArrayRef, hashes: &mut [u64]) -> Result<()> {
    let lists = column.as_list::<i32>();
    let mut elements = vec![0; lists.values().len()];
    hash_column(lists.values(), &mut elements)?;
    let bound = |i: usize| usize::try_from(lists.value_offsets()[i]).expect("offsets are not negative");
    each(column, hashes, |i, seed| {
        let elements = &elements[bound(i)..bound(i + 1)];
        let length = xxh3_64_with_seed(&(elements.len() as u64).to_le_bytes(), seed);
        elements.iter().fold(length, |hash, element| xxh3_64_with_seed(&element.to_le_bytes(), hash))
    });
    Ok(())
}

fn primitive<T: ArrowPrimitiveType>(column: &ArrayRef, hashes: &mut [u64]) {
    let values: &PrimitiveArray<T> = column.as_primitive::<T>();
    each(column, hashes, |i, seed| xxh3_64_with_seed(values.value(i).to_byte_slice(), seed));
}

fn each(column: &ArrayRef, hashes: &mut [u64], hash: impl Fn(usize, u64) -> u64) {
    match column.logical_nulls() {
        None => hashes.iter_mut().enumerate().for_each(|(i, h)| *h = hash(i, *h)),
        Some(nulls) => hashes.iter_mut().enumerate().for_each(|(i, h)| {
            *h = if nulls.is_valid(i) { hash(i, *h) } else { xxh3_64_with_seed(NULL_BYTES, *h) };
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{BinaryViewArray, Float64Array, Int64Array, ListArray, StringViewArray};
    use std::sync::Arc;

    #[test]
    fn the_format_does_not_change() {
        // Golden: a change here makes every stored checkpoint unreadable and needs a new version.
        let names: ArrayRef = Arc::new(StringViewArray::from(vec![Some("books"), None, Some("")]));
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        assert_eq!(key_groups(&[names, numbers], 3).unwrap(), GOLDEN);
    }

    const GOLDEN: [u8; 3] = [37, 40, 91];

    #[test]
    fn a_key_of_bytes_is_a_column_of_one() {
        let keys: [&[u8]; 3] = [b"", b"a", b"a key of more than sixteen bytes"];
        let column: ArrayRef = Arc::new(BinaryViewArray::from_iter_values(keys));
        assert_eq!(key_groups(&[column], 3).unwrap(), keys.map(key_group));
    }

    #[test]
    fn equal_floats_have_equal_groups() {
        let zeros: ArrayRef = Arc::new(Float64Array::from(vec![0.0, -0.0]));
        let nans: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN, -f64::NAN]));
        for column in [zeros, nans] {
            let groups = key_groups(&[column], 2).unwrap();
            assert_eq!(groups[0], groups[1]);
        }
    }

    #[test]
    fn arrays_are_their_elements_in_order() {
        let lists = [Some(vec![Some(1), Some(2)]), Some(vec![Some(2), Some(1)]), Some(vec![]), None, Some(vec![None])];
        let twice = lists.iter().chain(&lists).cloned();
        let column: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(twice));
        let hashes = |column: &ArrayRef| {
            let mut hashes = vec![0; column.len()];
            hash_column(column, &mut hashes).unwrap();
            hashes
        };
        let whole = hashes(&column);
        assert_eq!(whole[..5], whole[5..]);
        assert_eq!(whole[5..], hashes(&column.slice(5, 5)), "where an array stands does not matter");
        let distinct: std::collections::HashSet<&u64> = whole.iter().collect();
        assert_eq!(distinct.len(), 5);
    }

    #[test]
    fn every_group_has_one_owner_and_every_subtask_a_range() {
        for parallelism in 1..=KEY_GROUPS {
            let owners: Vec<usize> = (0..KEY_GROUPS).map(|g| owner(g as u8, parallelism)).collect();
            assert!(owners.is_sorted());
            assert_eq!((owners[0], owners[KEY_GROUPS - 1]), (0, parallelism - 1));
        }
    }
}
