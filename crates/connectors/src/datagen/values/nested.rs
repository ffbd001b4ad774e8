//! Rows, arrays and maps of random values. The options of what stands in them go by `<column>.<field>`,
//! `<column>.element`, `<column>.key` and `<column>.value`.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ListArray, MapArray, StructArray, UInt64Array};
use arrow::buffer::OffsetBuffer;
use arrow::compute::take;
use arrow::datatypes::{DataType, FieldRef, Fields};
use arrow::error::ArrowError;
use arrow::row::{RowConverter, SortField};
use tidemill_core::Result;

use super::super::fields::Field;
use super::text::length;
use super::{Clock, Values, unsupported};

const DEFAULT_LENGTH: usize = 3;

pub(super) fn random(data_type: &DataType, field: &Field<'_>, seed: u64, clock: Clock) -> Result<Box<dyn Values>> {
    let part = |part: &FieldRef, name: &str, clock| {
        super::random(part.data_type(), part.is_nullable(), &field.child(name), seed, clock)
    };
    match data_type {
        DataType::Struct(fields) => {
            let values = fields.iter().map(|f| part(f, f.name(), clock)).collect::<Result<_>>()?;
            Ok(Box::new(Rows { fields: fields.clone(), values }))
        }
        DataType::List(element) => {
            let length = length(field, DEFAULT_LENGTH)?;
            let values = part(element, "element", clock.in_array(length))?;
            Ok(Box::new(Arrays { element: Arc::clone(element), length, values }))
        }
        DataType::Map(entry, _) => {
            let DataType::Struct(fields) = entry.data_type() else {
                return Err(unsupported(data_type, field, "random"));
            };
            if !RowConverter::supports_fields(&[SortField::new(fields[0].data_type().clone())]) {
                return Err(unsupported(data_type, field, "random"));
            }
            let length = length(field, DEFAULT_LENGTH)?;
            let keys = part(&fields[0], "key", clock.in_array(length))?;
            let values = part(&fields[1], "value", clock.in_array(length))?;
            Ok(Box::new(Maps { entry: Arc::clone(entry), fields: fields.clone(), length, keys, values }))
        }
        _ => Err(unsupported(data_type, field, "random")),
    }
}

struct Rows {
    fields: Fields,
    values: Vec<Box<dyn Values>>,
}

impl Values for Rows {
    fn generate(&self, positions: Range<u64>) -> Result<ArrayRef, ArrowError> {
        let columns = self.values.iter().map(|values| values.generate(positions.clone()));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        Ok(Arc::new(StructArray::try_new(self.fields.clone(), columns, None)?))
    }

    fn bytes(&self) -> usize {
        self.values.iter().map(|values| values.bytes()).fold(0, usize::saturating_add)
    }
}

struct Arrays {
    element: FieldRef,
    length: usize,
    values: Box<dyn Values>,
}

impl Values for Arrays {
    fn generate(&self, positions: Range<u64>) -> Result<ArrayRef, ArrowError> {
        let arrays = (positions.end - positions.start) as usize;
        let elements = self.values.generate(inner(&positions, self.length))?;
        let offsets = OffsetBuffer::from_repeated_length(self.length, arrays);
        Ok(Arc::new(ListArray::try_new(Arc::clone(&self.element), offsets, elements, None)?))
    }

    fn bytes(&self) -> usize {
        4 + self.values.bytes().saturating_mul(self.length)
    }
}

struct Maps {
    entry: FieldRef,
    fields: Fields,
    length: usize,
    keys: Box<dyn Values>,
    values: Box<dyn Values>,
}

impl Values for Maps {
    fn generate(&self, positions: Range<u64>) -> Result<ArrayRef, ArrowError> {
        let keys = self.keys.generate(inner(&positions, self.length))?;
        let values = self.values.generate(inner(&positions, self.length))?;
        let (kept, lengths) = distinct(&keys, self.length)?;
        let columns = vec![take(&keys, &kept, None)?, take(&values, &kept, None)?];
        let entries = StructArray::try_new(self.fields.clone(), columns, None)?;
        let offsets = OffsetBuffer::from_lengths(lengths);
        Ok(Arc::new(MapArray::try_new(Arc::clone(&self.entry), offsets, entries, None, false)?))
    }

    fn bytes(&self) -> usize {
        4 + self.keys.bytes().saturating_add(self.values.bytes()).saturating_mul(self.length)
    }
}

/// The first entries of their keys, in maps of `length` entries, and how many each map then has: as in Flink, a map
/// that draws a key twice is smaller.
fn distinct(keys: &ArrayRef, length: usize) -> Result<(UInt64Array, Vec<usize>), ArrowError> {
    let converter = RowConverter::new(vec![SortField::new(keys.data_type().clone())])?;
    let rows = converter.convert_columns(&[Arc::clone(keys)])?;
    let mut kept = vec![];
    let mut lengths = vec![];
    for first in (0..keys.len()).step_by(length) {
        let before = kept.len();
        let mut seen = HashSet::with_capacity(length);
        kept.extend((first..first + length).filter(|&entry| seen.insert(rows.row(entry))).map(|entry| entry as u64));
        lengths.push(kept.len() - before);
    }
    Ok((kept.into(), lengths))
}

/// The positions of what stands in arrays of `length` elements.
fn inner(positions: &Range<u64>, length: usize) -> Range<u64> {
    positions.start.saturating_mul(length as u64)..positions.end.saturating_mul(length as u64)
}
