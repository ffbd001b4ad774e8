//! A live run's output in a folder: `<statement>.jsonl`, and its late rows in `<statement>.late.jsonl`.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use tidemill_connectors::format::json::{JsonDecoder, JsonEncoder, JsonOptions};
use tidemill_core::{Error, EventBatch, Result};
use tidemill_deploy::{Capture, StatementCapture};
use tidemill_sql::Pipeline;

pub(super) fn save(folder: &Path, capture: &Capture) -> Result<()> {
    fs::create_dir_all(folder).map_err(|e| failed(folder, "made", &e))?;
    for (name, statement) in &capture.statements {
        if statement.rows.iter().any(|batch| batch.kinds.is_some()) {
            return Err(Error::invalid(format!(
                "'{name}' updates its result, and only rows that are added can be saved"
            ))
            .hint("reconcile without --save-live"));
        }
        let rows: Vec<RecordBatch> = statement.rows.iter().map(|batch| batch.rows.clone()).collect();
        write(&folder.join(format!("{name}.jsonl")), &rows)?;
        write(&folder.join(format!("{name}.late.jsonl")), &statement.late)?;
    }
    Ok(())
}

fn write(file: &Path, batches: &[RecordBatch]) -> Result<()> {
    let mut lines = vec![];
    for batch in batches {
        JsonEncoder::new(batch.schema(), JsonOptions::default())?.encode(batch, None, &mut lines)?;
    }
    fs::write(file, lines).map_err(|e| failed(file, "written", &e))
}

pub(super) fn load(folder: &Path, pipeline: &Pipeline) -> Result<Capture> {
    let mut capture = Capture::default();
    for statement in &pipeline.statements {
        let name = &statement.name;
        let rows = read(&folder.join(format!("{name}.jsonl")), statement.schema())?;
        let rows = rows.into_iter().map(EventBatch::append).collect();
        let late = match statement.late_schema()? {
            Some(schema) => read(&folder.join(format!("{name}.late.jsonl")), schema)?,
            None => vec![],
        };
        capture.statements.insert(Arc::clone(name), StatementCapture { rows, late });
    }
    Ok(capture)
}

fn read(file: &Path, schema: SchemaRef) -> Result<Vec<RecordBatch>> {
    let bytes = fs::read(file).map_err(|e| failed(file, "read", &e))?;
    let decoder = JsonDecoder::new(schema, JsonOptions::default())?;
    let decoded = decoder.decode(&Buffer::from_vec(bytes), true);
    let decoded = decoded.map_err(|e| e.error.context(format!("{}, line {}", file.display(), e.offset + 1)))?;
    Ok(vec![decoded.rows])
}

fn failed(path: &Path, done: &str, e: &std::io::Error) -> Error {
    Error::unavailable(format!("{} can't be {done}: {e}", path.display()))
        .hint("the folder is one that tidemill reconcile --save-live wrote")
}
