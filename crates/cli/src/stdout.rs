//! The rows of a bare `SELECT`, on standard output as soon as they are there.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use tidemill_connectors::console::Console;
use tidemill_connectors::format::json::{JsonEncoder, JsonOptions, TimestampFormat};
use tidemill_core::{Epoch, EventBatch, Result, RowKind};
use tidemill_runtime::connector::{ChangelogMode, Sink, SinkFactory};

/// One JSON object a row: `{"op":"+I","column":value,...}`.
///
/// It shows rows at once, so after a failed run what was printed stays: at-least-once.
pub(crate) struct JsonRows {
    encoder: Arc<JsonEncoder>,
}

impl JsonRows {
    pub(crate) fn new(schema: SchemaRef) -> Result<Self> {
        let options = JsonOptions { timestamp_format: TimestampFormat::Iso8601, ..JsonOptions::default() };
        Ok(Self { encoder: Arc::new(JsonEncoder::new(schema, options)?) })
    }
}

impl SinkFactory for JsonRows {
    fn changelog(&self) -> ChangelogMode {
        ChangelogMode::Retract
    }

    fn open(&self) -> Result<Box<dyn Sink>> {
        Ok(Box::new(JsonSink { encoder: Arc::clone(&self.encoder), lines: vec![] }))
    }
}

struct JsonSink {
    encoder: Arc<JsonEncoder>,
    /// Scratch space, reused from batch to batch.
    lines: Vec<u8>,
}

#[async_trait]
impl Sink for JsonSink {
    async fn write(&mut self, batch: &EventBatch) -> Result<()> {
        self.lines.clear();
        let inserts;
        let kinds = match &batch.kinds {
            Some(kinds) => kinds,
            None => {
                inserts = vec![RowKind::Insert; batch.num_rows()];
                inserts.as_slice()
            }
        };
        self.encoder.encode(&batch.rows, Some(kinds), &mut self.lines)?;
        Console::Output.write(&self.lines)
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
