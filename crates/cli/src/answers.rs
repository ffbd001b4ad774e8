//! What `SHOW`, `DESCRIBE` and `EXPLAIN` answer, on standard output.

use arrow::array::{Array, AsArray, RecordBatch};
use tidemill_connectors::console::Console;
use tidemill_connectors::format::json::{JsonEncoder, JsonOptions};
use tidemill_core::{Result, RowKind};
use tidemill_sql::physical::explain;
use tidemill_sql::{Answer, Pipeline};

use crate::table::{Layout, Side};

/// Prints the answers, as tables or as one JSON object a row.
pub(crate) async fn print(pipeline: &Pipeline, json: bool) -> Result<()> {
    for answer in &pipeline.answers {
        let rows = match answer {
            Answer::Rows(rows) => rows.clone(),
            Answer::Plan(statement) => {
                let text = explain(pipeline, statement).await?;
                if !json {
                    Console::Output.write(format!("{text}\n").as_bytes())?;
                    continue;
                }
                one("result", text)?
            }
        };
        match json {
            true => print_json(&rows)?,
            false if rows.num_rows() == 1 && rows.num_columns() == 1 => {
                let text = rows.column(0).as_string_view().value(0).to_owned();
                let end = if text.starts_with("CREATE ") { ";" } else { "" };
                Console::Output.write(format!("{text}{end}\n").as_bytes())?;
            }
            false => Console::Output.write(table(&rows).as_bytes())?,
        }
    }
    Ok(())
}

fn one(column: &str, text: String) -> Result<RecordBatch> {
    use arrow::array::{ArrayRef, StringViewArray};
    let text: ArrayRef = std::sync::Arc::new(StringViewArray::from_iter_values([text]));
    Ok(RecordBatch::try_from_iter([(column, text)])?)
}

fn print_json(rows: &RecordBatch) -> Result<()> {
    let encoder = JsonEncoder::new(rows.schema(), JsonOptions::default())?;
    let mut lines = vec![];
    encoder.encode(rows, Some(&vec![RowKind::Insert; rows.num_rows()]), &mut lines)?;
    Console::Output.write(&lines)
}

/// The rows under their columns' names.
fn table(rows: &RecordBatch) -> String {
    let cell = |column: usize, row: usize| {
        let column = rows.column(column).as_string_view();
        if column.is_null(row) { String::new() } else { column.value(row).to_owned() }
    };
    let header = rows.schema().fields().iter().map(|f| f.name().clone()).collect::<Vec<_>>();
    let body = (0..rows.num_rows()).map(|row| (0..rows.num_columns()).map(|column| cell(column, row)).collect());
    let lines: Vec<Vec<String>> = std::iter::once(header).chain(body).collect();
    let layout = Layout::fit(&vec![Side::Left; rows.num_columns()], &lines);
    let mut text = String::new();
    lines.iter().for_each(|line| layout.write(line, &mut text));
    text
}
