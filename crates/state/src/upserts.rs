//! Key-value parts of a state at rest: Arrow batches in which a row takes the place of those before it with the same key.
//!
//! ```text
//! key     Binary           the key, as backends have it
//! value   Binary or NULL   the entry, its end before its value (`backend/expiry`); NULL: it was deleted
//! ```
//!
//! The batch says in the metadata of its schema how late it was when it was made. What had expired by then is left out
//! when parts are made fewer ([`merge`]): nothing that reads the state later can still see it.

mod merge;

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayBuilder, ArrayRef, AsArray, BinaryArray, BinaryBuilder, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use tidemill_core::{Error, Result};

use crate::backend::{Clocks, Entry, expiry};

pub(crate) use merge::{Merge, Step};

const PROCESSING_MS: &str = "processing_ms";
const EVENT_MS: &str = "event_ms";

/// A batch of rows that is being made.
#[derive(Debug, Default)]
pub struct UpsertsBuilder {
    keys: BinaryBuilder,
    values: BinaryBuilder,
}

impl UpsertsBuilder {
    /// The key stands for this entry from now on; `None`: it is deleted.
    ///
    /// # Errors
    /// `Invalid` if the batch gets too large; it takes 1 GiB of keys and of values at least.
    pub fn push(&mut self, key: &[u8], entry: Option<&Entry>) -> Result<()> {
        self.push_stored(key, entry.map(expiry::encode).as_deref())
    }

    fn push_stored(&mut self, key: &[u8], stored: Option<&[u8]>) -> Result<()> {
        let fits = |builder: &BinaryBuilder, more: usize| builder.values_slice().len() + more < i32::MAX as usize;
        if !fits(&self.keys, key.len()) || !fits(&self.values, stored.map_or(0, <[u8]>::len)) {
            return Err(Error::invalid("an entry of the state is too large to be written with the others of its part")
                .hint("keep less under one key: 512 MiB is the most"));
        }
        self.keys.append_value(key);
        self.values.append_option(stored);
        Ok(())
    }

    /// About how many bytes it has.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.keys.values_slice().len() + self.values.values_slice().len()
    }

    fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The batch; the builder is empty then. Made when it was as late as these clocks say.
    ///
    /// # Errors
    /// `Internal` if Arrow refuses it.
    pub fn finish(&mut self, clocks: Clocks) -> Result<RecordBatch> {
        let fields = vec![Field::new("key", DataType::Binary, false), Field::new("value", DataType::Binary, true)];
        let Clocks { processing_ms, event_ms } = clocks;
        let metadata = HashMap::from([
            (PROCESSING_MS.to_owned(), processing_ms.to_string()),
            (EVENT_MS.to_owned(), event_ms.to_string()),
        ]);
        let columns: Vec<ArrayRef> = vec![Arc::new(self.keys.finish()), Arc::new(self.values.finish())];
        Ok(RecordBatch::try_new(Arc::new(Schema::new_with_metadata(fields, metadata)), columns)?)
    }
}

/// The rows of a batch, in order.
///
/// # Errors
/// `Data` if the batch has other columns.
pub fn rows(batch: &RecordBatch) -> Result<impl Iterator<Item = Result<(&[u8], Option<Entry>)>>> {
    let (keys, values) = columns(batch)?;
    let entry = move |row: usize| stored(values, row).map(expiry::decode).transpose();
    Ok((0..batch.num_rows()).map(move |row| Ok((keys.value(row), entry(row)?))))
}

fn columns(batch: &RecordBatch) -> Result<(&BinaryArray, &BinaryArray)> {
    let column = |index: usize| batch.columns().get(index).and_then(|column| column.as_binary_opt::<i32>());
    match (column(0), column(1)) {
        (Some(keys), Some(values)) if keys.null_count() == 0 => Ok((keys, values)),
        _ => Err(Error::data("a key-value part of the state has other columns than a key and a value")),
    }
}

fn stored(values: &BinaryArray, row: usize) -> Option<&[u8]> {
    values.is_valid(row).then(|| values.value(row))
}

/// How late it was when the batch was made.
fn clocks(batch: &RecordBatch) -> Clocks {
    let clock = |name| batch.schema_ref().metadata().get(name).and_then(|ms| ms.parse().ok()).unwrap_or(i64::MIN);
    Clocks { processing_ms: clock(PROCESSING_MS), event_ms: clock(EVENT_MS) }
}
