//! Arrays and maps: where the elements of each row end.

use arrow::array::NullBufferBuilder;
use arrow::buffer::{NullBuffer, OffsetBuffer};

/// Where the elements of each row end.
pub(in crate::format) struct Ends {
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl Ends {
    pub(in crate::format) fn new(rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self { offsets, nulls: NullBufferBuilder::new(rows) }
    }

    /// Closes a row after `elements` in all. A chunk is shorter than 2^31 bytes, so there are fewer elements.
    pub(in crate::format) fn close(&mut self, elements: usize) {
        self.offsets.push(elements as i32);
        self.nulls.append_non_null();
    }

    pub(in crate::format) fn append_null(&mut self) {
        self.offsets.extend_from_within(self.offsets.len() - 1..);
        self.nulls.append_null();
    }

    /// Keeps the first `len` rows; gives how many elements they have.
    pub(in crate::format) fn truncate(&mut self, len: usize) -> usize {
        self.offsets.truncate(len + 1);
        self.nulls.truncate(len);
        self.offsets.last().map_or(0, |end| *end as usize)
    }

    /// The offsets and NULLs of the array.
    pub(in crate::format) fn finish(mut self) -> (OffsetBuffer<i32>, Option<NullBuffer>) {
        (OffsetBuffer::new(self.offsets.into()), self.nulls.finish())
    }
}
