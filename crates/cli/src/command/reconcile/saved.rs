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

use crate::whole_files::WholeFiles;

pub(super) fn save(folder: &Path, capture: &Capture) -> Result<()> {
    if let Some((name, _)) = capture.statements.iter().find(|(_, statement)| updates(statement)) {
        return Err(Error::invalid(format!("'{name}' updates its result, and only rows that are added can be saved"))
            .hint("reconcile without --save-live"));
    }
    let mut files = WholeFiles::create(folder)?;
    for (name, statement) in &capture.statements {
        let rows: Vec<RecordBatch> = statement.rows.iter().map(|batch| batch.rows.clone()).collect();
        files.write(&format!("{name}.jsonl"), &lines(&rows)?)?;
        files.write(&format!("{name}.late.jsonl"), &lines(&statement.late)?)?;
    }
    files.finish()
}

fn updates(statement: &StatementCapture) -> bool {
    statement.rows.iter().any(|batch| batch.kinds.is_some())
}

fn lines(batches: &[RecordBatch]) -> Result<Vec<u8>> {
    let mut lines = vec![];
    for batch in batches {
        JsonEncoder::new(batch.schema(), JsonOptions::default())?.encode(batch, None, &mut lines)?;
    }
    Ok(lines)
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
    let bytes = fs::read(file).map_err(|e| {
        Error::unavailable(format!("cannot read '{}': {e}", file.display()))
            .because(e)
            .hint("the folder is one that tidemill reconcile --save-live wrote")
    })?;
    let decoder = JsonDecoder::new(schema, JsonOptions::default())?;
    let decoded = decoder.decode(&Buffer::from_vec(bytes), true);
    let decoded = decoded.map_err(|e| e.error.context(format!("{}, line {}", file.display(), e.offset + 1)))?;
    Ok(vec![decoded.rows])
}
