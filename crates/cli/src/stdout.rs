//! The rows of a bare `SELECT`, on standard output as soon as they are there.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringViewArray};
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use tidemill_connectors::console::Console;
use tidemill_connectors::format::csv::{CsvEncoder, CsvOptions};
use tidemill_connectors::format::json::{JsonEncoder, JsonOptions, TimestampFormat};
use tidemill_core::{Epoch, EventBatch, Result, RowKind, Watermark};
use tidemill_runtime::connector::{ChangelogMode, Sink, SinkFactory};

/// Whether a row says what it does to the result: `"op":"+I"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowKinds {
    /// First in each row.
    Shown,
    /// Not at all: every row is one of the result, and none takes another back.
    Hidden,
}

/// One JSON object a row: `{"op":"+I","column":value,...}`.
///
/// It shows rows at once, so after a failed run what was printed stays: at-least-once.
pub(crate) struct JsonRows {
    encoder: Arc<JsonEncoder>,
    kinds: RowKinds,
}

impl JsonRows {
    pub(crate) fn new(schema: SchemaRef, kinds: RowKinds) -> Result<Self> {
        let options = JsonOptions { timestamp_format: TimestampFormat::Iso8601, ..JsonOptions::default() };
        Ok(Self { encoder: Arc::new(JsonEncoder::new(schema, options)?), kinds })
    }
}

impl SinkFactory for JsonRows {
    fn changelog(&self) -> ChangelogMode {
        match self.kinds {
            RowKinds::Shown => ChangelogMode::Retract,
            RowKinds::Hidden => ChangelogMode::Append,
        }
    }

    fn open(&self) -> Result<Box<dyn Sink>> {
        Ok(Box::new(JsonSink { encoder: Arc::clone(&self.encoder), kinds: self.kinds, lines: vec![] }))
    }
}

struct JsonSink {
    encoder: Arc<JsonEncoder>,
    kinds: RowKinds,
    /// Scratch space, reused from batch to batch.
    lines: Vec<u8>,
}

#[async_trait]
impl Sink for JsonSink {
    async fn write(&mut self, batch: &EventBatch) -> Result<()> {
        self.lines.clear();
        let inserts;
        let kinds = match (self.kinds, &batch.kinds) {
            (RowKinds::Hidden, _) => None,
            (RowKinds::Shown, Some(kinds)) => Some(&**kinds),
            (RowKinds::Shown, None) => {
                inserts = vec![RowKind::Insert; batch.num_rows()];
                Some(inserts.as_slice())
            }
        };
        self.encoder.encode(&batch.rows, kinds, &mut self.lines)?;
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

/// CSV with the names of the columns in its first line.
///
/// It shows rows at once, so after a failed run what was printed stays: at-least-once.
pub(crate) struct CsvRows {
    schema: SchemaRef,
}

impl CsvRows {
    /// # Errors
    /// `Invalid` if a column has a type that CSV does not have.
    pub(crate) fn new(schema: SchemaRef) -> Result<Self> {
        CsvEncoder::new(Arc::clone(&schema), CsvOptions::default())?;
        Ok(Self { schema })
    }
}

impl SinkFactory for CsvRows {
    fn changelog(&self) -> ChangelogMode {
        ChangelogMode::Append
    }

    fn open(&self) -> Result<Box<dyn Sink>> {
        let encoder = CsvEncoder::new(Arc::clone(&self.schema), CsvOptions::default())?;
        Ok(Box::new(CsvSink { encoder, header: Some(header(&self.schema)?) }))
    }
}

/// The names of the columns, as a record.
fn header(schema: &SchemaRef) -> Result<Vec<u8>> {
    let names = schema.fields().iter().enumerate().map(|(number, field)| {
        let name: ArrayRef = Arc::new(StringViewArray::from_iter_values([field.name()]));
        (format!("{number}"), name)
    });
    let names = RecordBatch::try_from_iter(names)?;
    let mut line = vec![];
    CsvEncoder::new(names.schema(), CsvOptions::default())?.encode(&names, None, &mut line)?;
    Ok(line)
}

struct CsvSink {
    encoder: CsvEncoder,
    /// The first line, until it is printed.
    header: Option<Vec<u8>>,
}

#[async_trait]
impl Sink for CsvSink {
    async fn write(&mut self, batch: &EventBatch) -> Result<()> {
        let mut lines = self.header.take().unwrap_or_default();
        self.encoder.encode(&batch.rows, None, &mut lines)?;
        Console::Output.write(&lines)
    }

    async fn progress(&mut self, _: Watermark) -> Result<()> {
        Console::Output.write(&self.header.take().unwrap_or_default())
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
