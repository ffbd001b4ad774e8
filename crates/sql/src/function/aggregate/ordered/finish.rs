//! From the kept rows of groups to results.

use std::{collections::HashSet, iter, sync::Arc};

use arrow::{
    array::{Array, ArrayRef, AsArray, Float64Array, Int32Array, ListArray, MapArray, StringViewBuilder, StructArray},
    buffer::{NullBuffer, OffsetBuffer},
    datatypes::{DataType, Field, Float64Type},
};
use datafusion::common::{DataFusionError, Result, internal_err};
use tidemill_core::Error;

use super::{entries::Encoder, multiset::Counts};
use crate::{function::aggregate::expect_array, types::map_type};

/// What is made of the rows of a group.
#[derive(Debug, Clone)]
pub(super) enum Finish {
    /// The texts in order with a separator between them; NULL if that is.
    Text(Option<Arc<str>>),
    /// The values in order.
    List,
    /// How often each value came.
    Counts,
    /// The value that this share of the rows is not above.
    Percentile(f64),
}

impl Finish {
    /// A result for each group; of DISTINCT values each counts once.
    pub(super) fn results(&self, groups: &[Counts], distinct: bool, encoder: &Encoder) -> Result<ArrayRef> {
        match self {
            Self::Text(separator) => texts(groups, distinct, encoder, separator.as_deref()),
            Self::List => lists(groups, distinct, encoder),
            Self::Counts => counts(groups, distinct, encoder),
            Self::Percentile(share) => percentiles(groups, distinct, encoder, *share),
        }
    }
}

/// The values of a group in order, as often as each came.
fn values(group: &Counts, distinct: bool) -> impl Iterator<Item = &[u8]> {
    let mut seen = HashSet::new();
    group.iter().flat_map(move |(entry, &count)| {
        let times = if distinct { usize::from(seen.insert(&*entry.value)) } else { count.max(0) as usize };
        iter::repeat_n(&*entry.value, times)
    })
}

fn texts(groups: &[Counts], distinct: bool, encoder: &Encoder, separator: Option<&str>) -> Result<ArrayRef> {
    let mut column = StringViewBuilder::new();
    for group in groups {
        let texts = encoder.values(values(group, distinct))?;
        let texts = expect_array(texts.as_string_view_opt())?;
        match separator.filter(|_| !texts.is_empty()) {
            Some(separator) => {
                let joined = texts.iter().flatten().collect::<Vec<_>>().join(separator);
                column.try_append_value(joined)?;
            }
            None => column.append_null(),
        }
    }
    Ok(Arc::new(column.finish()))
}

fn lists(groups: &[Counts], distinct: bool, encoder: &Encoder) -> Result<ArrayRef> {
    let offsets = offsets(groups.iter().map(|group| values(group, distinct).count()))?;
    let present: Vec<bool> = offsets.lengths().map(|length| length > 0).collect();
    let values = encoder.values(groups.iter().flat_map(|group| values(group, distinct)))?;
    let item = Arc::new(Field::new("item", values.data_type().clone(), true));
    Ok(Arc::new(ListArray::try_new(item, offsets, values, Some(NullBuffer::from(present)))?))
}

fn counts(groups: &[Counts], distinct: bool, encoder: &Encoder) -> Result<ArrayRef> {
    let DataType::Map(entries, _) = map_type(encoder.value_type().clone(), DataType::Int32) else {
        return internal_err!("a type of maps is none");
    };
    let DataType::Struct(fields) = entries.data_type() else { return internal_err!("a map has no entries") };
    let mut lengths = Vec::with_capacity(groups.len());
    let (mut keys, mut times) = (Vec::new(), Vec::new());
    for group in groups {
        // There are no keys before the values here: every entry is another value.
        lengths.push(group.len());
        for (entry, &count) in group {
            keys.push(&*entry.value);
            times.push(if distinct { 1 } else { i32::try_from(count).unwrap_or(i32::MAX) });
        }
    }
    let columns: Vec<ArrayRef> = vec![encoder.values(keys)?, Arc::new(Int32Array::from(times))];
    let pairs = StructArray::try_new(fields.clone(), columns, None)?;
    Ok(Arc::new(MapArray::try_new(entries, offsets(lengths)?, pairs, None, false)?))
}

fn percentiles(groups: &[Counts], distinct: bool, encoder: &Encoder, share: f64) -> Result<ArrayRef> {
    let mut column = Vec::with_capacity(groups.len());
    for group in groups {
        let values = encoder.values(group.keys().map(|entry| &*entry.value))?;
        let values = expect_array(values.as_primitive_opt::<Float64Type>())?.values();
        let times = group.values().map(|&count| if distinct { 1 } else { count.max(0) });
        let sorted: Vec<(f64, i64)> = iter::zip(values.iter().copied(), times).collect();
        column.push(percentile(&sorted, share));
    }
    Ok(Arc::new(Float64Array::from(column)))
}

/// Between the two values that lie nearest to the share of the way from the first row to the last.
fn percentile(sorted: &[(f64, i64)], share: f64) -> Option<f64> {
    let total: i128 = sorted.iter().map(|(_, times)| i128::from(*times)).sum();
    if total < 1 {
        return None;
    }
    let place = share * (total - 1) as f64;
    let value_at = |row: i128| {
        let mut end = 0;
        sorted.iter().find(|(_, times)| {
            end += i128::from(*times);
            row < end
        })
    };
    let (lower, upper) = (value_at(place.floor() as i128)?.0, value_at((place.ceil() as i128).min(total - 1))?.0);
    Some(if lower == upper { lower } else { lower + (place - place.floor()) * (upper - lower) })
}

/// The offsets of lists of these lengths.
fn offsets(lengths: impl IntoIterator<Item = usize>) -> Result<OffsetBuffer<i32>> {
    let mut offsets = vec![0_i32];
    let mut end = 0_i32;
    for length in lengths {
        let next = i32::try_from(length).ok().and_then(|length| end.checked_add(length));
        end = next.ok_or_else(|| {
            let error = Error::data("the collected values of one batch of groups are more than 2,147,483,647");
            DataFusionError::External(Box::new(error.hint("collect fewer values, or count them")))
        })?;
        offsets.push(end);
    }
    Ok(OffsetBuffer::new(offsets.into()))
}
