//! Writes rows to standard output, each batch as soon as it is there.
//!
//! A pipe can't take anything back, so rows are visible at `write`: at-least-once.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use tidemill_core::{Epoch, EventBatch, Result};
use tidemill_runtime::connector::{ChangelogMode, Sink, SinkFactory};

use crate::console::Console;
use crate::format::{RowEncoder, TextFormat, check_not_null};

/// Standard output.
pub struct StdioSinkFactory {
    format: TextFormat,
    schema: SchemaRef,
}

impl StdioSinkFactory {
    /// Writes rows of `schema` in `format`.
    pub fn new(format: TextFormat, schema: SchemaRef) -> Result<Self> {
        // A column that the format can't write is refused now, not when the run begins.
        format.encoder(Arc::clone(&schema))?;
        Ok(Self { format, schema })
    }
}

impl SinkFactory for StdioSinkFactory {
    fn changelog(&self) -> ChangelogMode {
        self.format.changelog()
    }

    fn open(&self) -> Result<Box<dyn Sink>> {
        let encoder = self.format.encoder(Arc::clone(&self.schema))?;
        let takes_changes = self.changelog() > ChangelogMode::Append;
        let schema = Arc::clone(&self.schema);
        Ok(Box::new(StdioSink { encoder, schema, takes_changes, encoded: Vec::new() }))
    }
}

struct StdioSink {
    encoder: Box<dyn RowEncoder>,
    schema: SchemaRef,
    takes_changes: bool,
    encoded: Vec<u8>,
}

#[async_trait]
impl Sink for StdioSink {
    async fn write(&mut self, batch: &EventBatch) -> Result<()> {
        check_not_null(&self.schema, &batch.rows)?;
        self.encoded.clear();
        let kinds = batch.kinds.as_deref().filter(|_| self.takes_changes);
        self.encoder.encode(&batch.rows, kinds, &mut self.encoded)?;
        Console::Output.write(&self.encoded)
    }

    async fn prepare(&mut self, _: Epoch) -> Result<()> {
        Ok(())
    }

    async fn commit(&mut self, _: Epoch) -> Result<()> {
        Ok(())
    }

    async fn abort(&mut self) -> Result<()> {
        Ok(())
    }
}
