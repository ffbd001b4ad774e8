//! Reading on where an earlier run has stopped.

mod errors;
mod follow;
mod given;
mod property;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use tidemill_core::ErrorKind;
use tidemill_runtime::connector::Options;

use super::*;

/// A row: its partition, its offset, its values as text.
type Seen = (String, u64, String);

/// A table in files, of which at most so many bytes are read at once.
struct Table {
    source: FilesystemSource,
    columns: SchemaRef,
}

fn table(folder: &Path, options: &[(&str, &str)], partitioned: bool, read_bytes: usize) -> Table {
    let mut columns = vec![Field::new("s", DataType::Utf8View, true), Field::new("id", DataType::Int64, true)];
    columns.extend(partitioned.then(|| Field::new("day", DataType::Utf8View, true)));
    let columns = Arc::new(Schema::new(columns));
    let mut table = TableSpec {
        name: "t".into(),
        partitioned_by: if partitioned { vec!["day".into()] } else { vec![] },
        schema: Arc::clone(&columns),
        options: Options::default(),
        folder: folder.to_owned(),
    };
    for (key, value) in options {
        table.options.set(*key, *value, None);
    }
    let source = FilesystemSource::new(FilesystemOptions::from_table(&table).unwrap(), &table).unwrap();
    Table { source: FilesystemSource { read_bytes, ..source }, columns }
}

/// What is kept of a partition between two runs: where to go on, and the offset of the next row.
#[derive(Debug, Clone, Copy)]
struct Kept {
    position: Option<u64>,
    offset: u64,
}

/// Several runs, one after the other.
#[derive(Debug, Default)]
struct Runs {
    kept: HashMap<Arc<str>, Kept>,
    seen: Vec<Seen>,
}

impl Runs {
    async fn open(&self, table: &Table, follow: bool) -> Result<Opened> {
        let resume = self.kept.iter().map(|(name, kept)| ReadPartition {
            name: Arc::clone(name),
            position: kept.position,
            until: None,
        });
        let request = ScanRequest {
            columns: Arc::clone(&table.columns),
            batch_rows: 8192,
            keep_rejected: false,
            follow,
            resume: resume.collect(),
        };
        table.source.open(&request).await
    }

    /// One run, which reads so many chunks of each file, in turn, or all.
    async fn run(&mut self, table: &Table, chunks: impl Fn(usize) -> Option<usize>) -> Result<()> {
        let partitions = self.open(table, false).await?.partitions;
        for (number, mut partition) in partitions.into_iter().enumerate() {
            self.read(&mut *partition, chunks(number)).await?;
        }
        Ok(())
    }

    /// Reads so many chunks, or all.
    async fn read(&mut self, partition: &mut dyn PartitionReader, chunks: Option<usize>) -> Result<()> {
        let name = partition.partition();
        let mut offset = self.kept.get(&name).map_or(0, |kept| kept.offset);
        let mut left = chunks.unwrap_or(usize::MAX);
        let mut position = Some(partition.position());
        while left > 0 {
            left -= 1;
            let Some(chunk) = partition.next_chunk().await? else {
                position = None;
                break;
            };
            position = Some(partition.position());
            let decoded = chunk.decode().map_err(|e| e.error)?;
            for row in 0..decoded.rows.num_rows() {
                let place = decoded.offsets.as_ref().map_or(row as u64, |offsets| offsets[row].into());
                self.seen.push((name.to_string(), offset + place, shown(&decoded.rows, row)));
            }
            offset += decoded.offset_count;
        }
        self.kept.insert(name, Kept { position, offset });
        Ok(())
    }

    /// What was seen, by partition.
    fn in_order(mut self) -> Vec<Seen> {
        self.seen.sort_by(|one, other| one.0.cmp(&other.0));
        self.seen
    }
}

fn shown(rows: &RecordBatch, row: usize) -> String {
    let text = rows.column(0).as_string_view().value(row);
    let id = rows.column(1).as_primitive::<Int64Type>().value(row);
    match rows.columns().get(2) {
        Some(day) => format!("{text:?} {id} {:?}", day.as_string_view().value(row)),
        None => format!("{text:?} {id}"),
    }
}
