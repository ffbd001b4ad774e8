//! Rows for people: columns under their names.
//!
//! The first rows decide how wide columns are; all that follow are printed as they come, so that a result of any size
//! is shown in bounded memory. A later cell that is wider moves what stands behind it.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use tidemill_connectors::console::Console;
use tidemill_connectors::print::cell::write_cell;
use tidemill_core::{Epoch, EventBatch, Result, Watermark};
use tidemill_runtime::connector::{ChangelogMode, Sink, SinkFactory};
use unicode_width::UnicodeWidthStr;

/// How many rows are looked at before the first is printed.
const MEASURED_ROWS: usize = 1_000;

/// On which side of its column a cell stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// The widths of columns.
#[derive(Debug, Clone)]
pub(crate) struct Layout(Vec<(Side, usize)>);

impl Layout {
    /// Columns wide enough for these lines; `sides` has one a column.
    pub(crate) fn fit(sides: &[Side], lines: &[Vec<String>]) -> Self {
        let width = |column: usize| lines.iter().map(|line| line[column].width()).max().unwrap_or(0);
        Self(sides.iter().enumerate().map(|(column, side)| (*side, width(column))).collect())
    }

    /// Appends one line; two blanks stand between columns.
    pub(crate) fn write(&self, line: &[String], out: &mut String) {
        let start = out.len();
        for (number, (cell, (side, width))) in line.iter().zip(&self.0).enumerate() {
            out.push_str(if number == 0 { "" } else { "  " });
            let missing = " ".repeat(width.saturating_sub(cell.width()));
            match side {
                Side::Left => out.extend([cell, missing.as_str()]),
                Side::Right => out.extend([missing.as_str(), cell]),
            }
        }
        out.truncate(start + out[start..].trim_end().len());
        out.push('\n');
    }

    /// Appends the line between the names and the rows.
    fn write_rule(&self, out: &mut String) {
        let rule: Vec<String> = self.0.iter().map(|(_, width)| "-".repeat(*width)).collect();
        self.write(&rule, out);
    }
}

/// Prints rows as a table.
///
/// It shows rows at once, so after a failed run what was printed stays: at-least-once.
pub(crate) struct TableRows {
    schema: SchemaRef,
}

impl TableRows {
    pub(crate) fn new(schema: SchemaRef) -> Self {
        Self { schema }
    }
}

impl SinkFactory for TableRows {
    fn changelog(&self) -> ChangelogMode {
        ChangelogMode::Append
    }

    fn open(&self) -> Result<Box<dyn Sink>> {
        Ok(Box::new(TableSink { schema: Arc::clone(&self.schema), held: vec![], layout: None, rows: 0 }))
    }
}

struct TableSink {
    schema: SchemaRef,
    /// The rows that are measured first.
    held: Vec<Vec<String>>,
    layout: Option<Layout>,
    rows: u64,
}

impl TableSink {
    fn take(&mut self, rows: &RecordBatch, out: &mut String) -> Result<()> {
        for row in 0..rows.num_rows() {
            let cells = (0..rows.num_columns()).map(|column| cell(rows, column, row)).collect::<Result<Vec<_>>>()?;
            self.rows += 1;
            match &self.layout {
                Some(layout) => layout.write(&cells, out),
                None => self.held.push(cells),
            }
            if self.held.len() >= MEASURED_ROWS {
                self.begin(out);
            }
        }
        Ok(())
    }

    /// What is still to be printed when all rows are there.
    fn end(&mut self) -> String {
        let mut out = String::new();
        if self.layout.is_none() {
            self.begin(&mut out);
        }
        out.push_str(&format!("({} row{})\n", self.rows, if self.rows == 1 { "" } else { "s" }));
        out
    }

    /// Prints the names, and the rows that were held until it is known how wide they are.
    fn begin(&mut self, out: &mut String) {
        let fields = self.schema.fields();
        let side = |numeric: bool| if numeric { Side::Right } else { Side::Left };
        let sides: Vec<Side> = fields.iter().map(|field| side(field.data_type().is_numeric())).collect();
        let names = fields.iter().map(|field| printable(field.name())).collect();
        let lines = [vec![names], std::mem::take(&mut self.held)].concat();
        let layout = Layout::fit(&sides, &lines);
        layout.write(&lines[0], out);
        layout.write_rule(out);
        lines[1..].iter().for_each(|line| layout.write(line, out));
        self.layout = Some(layout);
    }
}

fn cell(rows: &RecordBatch, column: usize, row: usize) -> Result<String> {
    let column = rows.column(column);
    if column.is_null(row) {
        return Ok("NULL".to_owned());
    }
    let mut text = String::new();
    write_cell(&mut text, column, row)?;
    Ok(printable(&text))
}

/// The text in one line, without what would move the cursor.
fn printable(text: &str) -> String {
    if text.contains(char::is_control) {
        return text
            .chars()
            .map(|c| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() })
            .collect();
    }
    text.to_owned()
}

#[async_trait]
impl Sink for TableSink {
    async fn write(&mut self, batch: &EventBatch) -> Result<()> {
        let mut out = String::new();
        self.take(&batch.rows, &mut out)?;
        Console::Output.write(out.as_bytes())
    }

    async fn progress(&mut self, watermark: Watermark) -> Result<()> {
        match watermark {
            Watermark::MAX => Console::Output.write(self.end().as_bytes()),
            _ => Ok(()),
        }
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

#[cfg(test)]
mod tests;
