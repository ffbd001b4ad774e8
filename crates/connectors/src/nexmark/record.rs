//! Fields of the records in an event, column by column.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringViewBuilder, TimestampMillisecondArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, TimeUnit};

use super::events::{Event, Kind};
use super::model::Model;
use super::strings::extra;
use crate::synthetic::{Draws, Sequence};

/// A field of a record.
pub(super) struct RecordField {
    pub(super) name: &'static str,
    pub(super) data_type: DataType,
    /// About how many bytes a value takes.
    pub(super) bytes: fn(&Model) -> usize,
    pub(super) make: fn(&Records<'_>) -> ArrayRef,
}

impl RecordField {
    pub(super) const fn long(name: &'static str, make: fn(&Records<'_>) -> ArrayRef) -> Self {
        Self { name, data_type: DataType::Int64, bytes: |_| 8, make }
    }

    pub(super) const fn text(name: &'static str, make: fn(&Records<'_>) -> ArrayRef) -> Self {
        Self { name, data_type: DataType::Utf8View, bytes: |_| 40, make }
    }

    pub(super) const fn time(name: &'static str, make: fn(&Records<'_>) -> ArrayRef) -> Self {
        Self { name, data_type: TIME, bytes: |_| 8, make }
    }

    /// The text that brings a record to its size, whose average is `bytes`.
    pub(super) const fn extra(bytes: fn(&Model) -> usize, make: fn(&Records<'_>) -> ArrayRef) -> Self {
        Self { name: "extra", data_type: DataType::Utf8View, bytes, make }
    }
}

/// `TIMESTAMP(3)`
pub(super) const TIME: DataType = DataType::Timestamp(TimeUnit::Millisecond, None);

/// The records of one kind among a chunk's events; where an event is of another kind there is NULL.
pub(super) struct Records<'a> {
    pub(super) model: &'a Model,
    pub(super) events: &'a [Event],
    pub(super) kind: Kind,
    pub(super) nulls: &'a NullBuffer,
    /// The random values of the field that is made.
    pub(super) sequence: Sequence,
}

impl Records<'_> {
    /// One number a record.
    pub(super) fn longs(&self, value: impl Fn(&Event, &mut Draws) -> i64) -> ArrayRef {
        Arc::new(Int64Array::new(self.numbers(value).into(), Some(self.nulls.clone())))
    }

    /// One time a record, in milliseconds since 1970.
    pub(super) fn times(&self, value: impl Fn(&Event, &mut Draws) -> i64) -> ArrayRef {
        Arc::new(TimestampMillisecondArray::new(self.numbers(value).into(), Some(self.nulls.clone())))
    }

    fn numbers(&self, value: impl Fn(&Event, &mut Draws) -> i64) -> Vec<i64> {
        let value = |event: &Event| match event.kind == self.kind {
            true => value(event, &mut self.sequence.at(event.number)),
            false => 0,
        };
        self.events.iter().map(value).collect()
    }

    /// One text a record, which `write` appends.
    pub(super) fn texts(&self, write: impl Fn(&Event, &mut Draws, &mut String)) -> ArrayRef {
        let mut builder = StringViewBuilder::with_capacity(self.events.len());
        let mut text = String::new();
        for event in self.events {
            if event.kind == self.kind {
                text.clear();
                write(event, &mut self.sequence.at(event.number), &mut text);
                builder.append_value(&text);
            } else {
                builder.append_null();
            }
        }
        Arc::new(builder.finish())
    }

    /// When each happened.
    pub(super) fn event_times(&self) -> ArrayRef {
        self.times(|event, _| self.model.time(event.number))
    }

    /// What brings a record of `size` bytes to about the size that the model wants; `size` may use the text as it likes.
    pub(super) fn extras(&self, wanted: u64, size: impl Fn(&Event, &mut String) -> usize) -> ArrayRef {
        self.texts(|event, draws, text| {
            let size = size(event, text);
            text.clear();
            extra(draws, size as u64, wanted, text);
        })
    }
}
