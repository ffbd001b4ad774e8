//! Prints one line a row: `+I[1, Ada, null]`.

use arrow::datatypes::Schema;
use async_trait::async_trait;
use tidemill_core::{Epoch, Error, EventBatch, Result, RowKind};
use tidemill_runtime::connector::{ChangelogMode, Sink, SinkFactory};

use super::cell::{printable, write_row};
use crate::console::Console;

/// A console to print to.
pub struct PrintSinkFactory {
    console: Console,
    prefix: String,
}

impl PrintSinkFactory {
    /// Prints rows of `schema`, each after `prefix`; refuses a column whose type has no text.
    pub fn new(console: Console, prefix: String, schema: &Schema) -> Result<Self> {
        match schema.fields().iter().find(|field| !printable(field.data_type())) {
            None => Ok(Self { console, prefix }),
            Some(field) => {
                let message = format!("'print' can't show the column '{}' of type {}", field.name(), field.data_type());
                Err(Error::invalid(message).hint("leave the column out, or CAST it to STRING"))
            }
        }
    }
}

impl SinkFactory for PrintSinkFactory {
    fn changelog(&self) -> ChangelogMode {
        ChangelogMode::Retract
    }

    fn open(&self) -> Result<Box<dyn Sink>> {
        Ok(Box::new(PrintSink { console: self.console, prefix: self.prefix.clone(), text: String::new() }))
    }
}

struct PrintSink {
    console: Console,
    prefix: String,
    text: String,
}

#[async_trait]
impl Sink for PrintSink {
    async fn write(&mut self, batch: &EventBatch) -> Result<()> {
        self.text.clear();
        write_rows(&mut self.text, &self.prefix, batch)?;
        self.console.write(self.text.as_bytes())
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

/// Appends the lines of a batch.
pub fn write_rows(out: &mut String, prefix: &str, batch: &EventBatch) -> Result<()> {
    for row in 0..batch.num_rows() {
        let kind = batch.kinds.as_ref().map_or(RowKind::Insert, |kinds| kinds[row]);
        out.push_str(prefix);
        write_row(out, batch.rows.columns(), kind, row)?;
        out.push('\n');
    }
    Ok(())
}
