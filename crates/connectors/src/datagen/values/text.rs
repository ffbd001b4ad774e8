//! Random strings (hexadecimal digits, as in Flink) and bytes.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryViewBuilder, StringViewBuilder};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use tidemill_core::Result;

use super::super::fields::Field;
use super::Values;
use crate::synthetic::{Draws, Sequence};

const DEFAULT_LENGTH: usize = 100;

pub(super) fn random(data_type: &DataType, field: &Field<'_>, draws: Sequence) -> Result<Box<dyn Values>> {
    let length = length(field, DEFAULT_LENGTH)?;
    let lengths = Lengths { least: if field.flag("var-len")? { 1 } else { length }, greatest: length };
    Ok(match data_type {
        DataType::BinaryView => Box::new(RandomBytes { lengths, draws }),
        _ => Box::new(RandomStrings { lengths, draws }),
    })
}

/// The option `length`.
pub(super) fn length(field: &Field<'_>, default: usize) -> Result<usize> {
    let read = |text: &str| text.trim().parse().ok().filter(|length| (1..=i32::MAX as usize).contains(length));
    Ok(field.get("length", read, "a whole number from 1")?.unwrap_or(default))
}

#[derive(Clone, Copy)]
struct Lengths {
    least: usize,
    greatest: usize,
}

impl Lengths {
    fn draw(self, draws: &mut Draws) -> usize {
        self.least + draws.below((self.greatest - self.least + 1) as u64) as usize
    }
}

/// The bytes of a row's value, for a view and the value itself.
const VIEW_BYTES: usize = 16;

struct RandomStrings {
    lengths: Lengths,
    draws: Sequence,
}

impl Values for RandomStrings {
    fn generate(&self, positions: Range<u64>) -> Result<ArrayRef, ArrowError> {
        let mut builder = StringViewBuilder::new();
        let mut text = String::with_capacity(self.lengths.greatest);
        for position in positions {
            text.clear();
            let mut draws = self.draws.at(position);
            let mut left = self.lengths.draw(&mut draws);
            while left > 0 {
                let bits = draws.bits();
                let digits = left.min(16);
                let digit = |i: usize| char::from(b"0123456789abcdef"[(bits >> (i * 4) & 15) as usize]);
                text.extend((0..digits).map(digit));
                left -= digits;
            }
            builder.append_value(&text);
        }
        Ok(Arc::new(builder.finish()))
    }

    fn bytes(&self) -> usize {
        VIEW_BYTES + self.lengths.greatest
    }
}

struct RandomBytes {
    lengths: Lengths,
    draws: Sequence,
}

impl Values for RandomBytes {
    fn generate(&self, positions: Range<u64>) -> Result<ArrayRef, ArrowError> {
        let mut builder = BinaryViewBuilder::new();
        let mut bytes = Vec::with_capacity(self.lengths.greatest + 8);
        for position in positions {
            bytes.clear();
            let mut draws = self.draws.at(position);
            let length = self.lengths.draw(&mut draws);
            while bytes.len() < length {
                bytes.extend_from_slice(&draws.bits().to_le_bytes());
            }
            bytes.truncate(length);
            builder.append_value(&bytes);
        }
        Ok(Arc::new(builder.finish()))
    }

    fn bytes(&self) -> usize {
        VIEW_BYTES + self.lengths.greatest
    }
}
