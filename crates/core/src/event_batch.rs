//! What flows between operators: rows in columns, and what is known of each row beside them.

use std::sync::Arc;

use arrow::array::{Array, BooleanArray, Int64Array, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::{filter, filter_record_batch, take, take_record_batch};
use arrow::datatypes::Schema;

use crate::{Elements, Result, RowKind};

/// Rows in columns with their sidecars. Every sidecar has one entry a row, or is absent.
///
/// The aim is 8,192 rows; no hot path handles one row at a time.
#[derive(Debug, Clone)]
pub struct EventBatch {
    /// The rows.
    pub rows: RecordBatch,
    /// What each row does to the result; `None` means that all are `+I`, and is the fast path.
    pub kinds: Option<Arc<[RowKind]>>,
    /// Each row's watermark (milliseconds): the maximum of the `WATERMARK FOR` expression over the
    /// rows *before* it in its partition. `None` means that no row's watermark has reached its
    /// event time, so that no row can be late for any window.
    pub watermarks: Option<Int64Array>,
    /// The rows of the source that these rows were made from, where somebody asked for them.
    pub lineage: Option<Lineage>,
    /// The payload, where it is of a program's own type: then the rows have no columns, and only their number counts.
    pub elements: Option<Elements>,
}

/// A run of rows as one partition of a source gave them, with their identity.
#[derive(Debug)]
pub struct SourceRows {
    /// The rows as decoded.
    pub rows: RecordBatch,
    /// The partition: a file's path, or a topic's partition.
    pub partition: Arc<str>,
    /// Each row's offset in its partition, from 0. For a text file it is the line before which
    /// the row begins, counted in line ends: the first line has offset 0.
    pub offsets: Int64Array,
}

/// Which source row each row of a batch was made from.
#[derive(Debug, Clone)]
pub struct Lineage {
    /// The run of source rows.
    pub source: Arc<SourceRows>,
    /// One index into `source` a row; `None` means that row `i` was made from source row `i`.
    pub indices: Option<UInt32Array>,
}

impl EventBatch {
    /// Appended rows without sidecars.
    #[must_use]
    pub fn append(rows: RecordBatch) -> Self {
        Self { rows, kinds: None, watermarks: None, lineage: None, elements: None }
    }

    /// Appended elements of a program's own type.
    #[must_use]
    pub fn of_elements(elements: Elements) -> Self {
        let rows = without_columns(elements.len());
        Self { elements: Some(elements), ..Self::append(rows) }
    }

    /// Other columns for the same rows. The caller keeps the number and the order of the rows.
    #[must_use]
    pub fn with_rows(self, rows: RecordBatch) -> Self {
        debug_assert_eq!(rows.num_rows(), self.rows.num_rows());
        Self { rows, ..self }
    }

    /// The number of rows.
    #[must_use]
    pub fn num_rows(&self) -> usize {
        self.rows.num_rows()
    }

    /// The rows for which `mask` is true, with their sidecars.
    pub fn filter(&self, mask: &BooleanArray) -> Result<Self> {
        let kept = mask.true_count();
        if kept == self.num_rows() {
            return Ok(self.clone());
        }
        let kinds = self
            .kinds
            .as_ref()
            .map(|kinds| (0..kinds.len()).filter(|&i| mask.is_valid(i) && mask.value(i)).map(|i| kinds[i]).collect());
        let watermarks = match &self.watermarks {
            Some(w) => Some(int64(&filter(w, mask)?)),
            None => None,
        };
        let lineage = match &self.lineage {
            Some(lineage) => Some(lineage.filter(mask)?),
            None => None,
        };
        let chosen = || (0..mask.len()).filter(|&i| mask.is_valid(i) && mask.value(i));
        let elements = self.elements.as_ref().map(|elements| elements.take(chosen()));
        let rows = match self.rows.num_columns() {
            0 => without_columns(kept),
            _ => filter_record_batch(&self.rows, mask)?,
        };
        Ok(Self { rows, kinds, watermarks, lineage, elements })
    }

    /// A run of rows, without copying any but elements of a program's own type.
    #[must_use]
    pub fn slice(&self, offset: usize, length: usize) -> Self {
        if offset == 0 && length == self.num_rows() {
            return self.clone();
        }
        Self {
            rows: self.rows.slice(offset, length),
            kinds: self.kinds.as_ref().map(|kinds| kinds[offset..offset + length].into()),
            watermarks: self.watermarks.as_ref().map(|w| w.slice(offset, length)),
            lineage: self.lineage.as_ref().map(|lineage| lineage.slice(offset, length)),
            elements: self.elements.as_ref().map(|elements| elements.take(offset..offset + length)),
        }
    }

    /// The rows at `indices`, in that order, with their sidecars.
    pub fn take(&self, indices: &UInt32Array) -> Result<Self> {
        let kinds = self.kinds.as_ref().map(|kinds| indices.values().iter().map(|&i| kinds[i as usize]).collect());
        let watermarks = match &self.watermarks {
            Some(w) => Some(int64(&take(w, indices, None)?)),
            None => None,
        };
        let lineage = match &self.lineage {
            Some(lineage) => Some(lineage.take(indices)?),
            None => None,
        };
        let chosen = || indices.values().iter().map(|&i| i as usize);
        let elements = self.elements.as_ref().map(|elements| elements.take(chosen()));
        let rows = match self.rows.num_columns() {
            0 => without_columns(indices.len()),
            _ => take_record_batch(&self.rows, indices)?,
        };
        Ok(Self { rows, kinds, watermarks, lineage, elements })
    }
}

impl Lineage {
    fn filter(&self, mask: &BooleanArray) -> Result<Self> {
        let indices: UInt32Array = match &self.indices {
            Some(indices) => uint32(&filter(indices, mask)?),
            None => (0..mask.len()).filter(|&i| mask.is_valid(i) && mask.value(i)).map(row_index).collect(),
        };
        Ok(Self { source: Arc::clone(&self.source), indices: Some(indices) })
    }

    fn slice(&self, offset: usize, length: usize) -> Self {
        let indices = match &self.indices {
            Some(indices) => indices.slice(offset, length),
            None => (offset..offset + length).map(row_index).collect(),
        };
        Self { source: Arc::clone(&self.source), indices: Some(indices) }
    }

    fn take(&self, rows: &UInt32Array) -> Result<Self> {
        let indices = match &self.indices {
            Some(indices) => uint32(&take(indices, rows, None)?),
            None => rows.clone(),
        };
        Ok(Self { source: Arc::clone(&self.source), indices: Some(indices) })
    }

    /// The source rows, one for each row of the batch.
    pub fn source_rows(&self) -> Result<RecordBatch> {
        match &self.indices {
            Some(indices) => Ok(take_record_batch(&self.source.rows, indices)?),
            None => Ok(self.source.rows.clone()),
        }
    }

    /// The offset of each row of the batch in its partition.
    pub fn offsets(&self) -> Result<Int64Array> {
        match &self.indices {
            Some(indices) => Ok(int64(&take(&self.source.offsets, indices, None)?)),
            None => Ok(self.source.offsets.clone()),
        }
    }
}

/// Rows of which only their number is known.
fn without_columns(count: usize) -> RecordBatch {
    let options = RecordBatchOptions::new().with_row_count(Some(count));
    let rows = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options);
    rows.expect("rows without columns have any number")
}

fn row_index(i: usize) -> u32 {
    u32::try_from(i).expect("a batch has fewer than 2^32 rows")
}

fn int64(array: &dyn Array) -> Int64Array {
    array.as_any().downcast_ref::<Int64Array>().expect("filter and take keep the type").clone()
}

fn uint32(array: &dyn Array) -> UInt32Array {
    array.as_any().downcast_ref::<UInt32Array>().expect("filter and take keep the type").clone()
}

#[cfg(test)]
mod tests;
