use std::fs::File;
use std::io::Write;
use std::sync::Mutex;

use arrow::array::{AsArray, Int32Array, StringViewArray, StructArray};
use arrow::datatypes::{Field, Fields, Int32Type};
use bytes::Bytes;
use tidemill_runtime::connector::Options;

use super::*;
use crate::format::FileWriter;
use crate::format::parquet::{ParquetOptions, ParquetWriter, RemoteFile};

fn row(fields: &[(&str, DataType)]) -> SchemaRef {
    let fields: Fields = fields.iter().map(|(name, t)| Field::new(*name, t.clone(), true)).collect();
    Arc::new(Schema::new(vec![Field::new("r", DataType::Struct(fields), true)]))
}

/// A file with a column `r ROW<a INT, b STRING, c INT>`.
fn file() -> Vec<u8> {
    let schema = row(&[("a", DataType::Int32), ("b", DataType::Utf8View), ("c", DataType::Int32)]);
    let DataType::Struct(fields) = schema.field(0).data_type().clone() else { unreachable!() };
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![1, 2])),
        Arc::new(StringViewArray::from(vec!["x", "y"])),
        Arc::new(Int32Array::from(vec![None, Some(4)])),
    ];
    let rows = StructArray::new(fields, columns, None);
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(rows)]).unwrap();
    let options = ParquetOptions::from_options(&Options::default()).unwrap();
    let (mut writer, mut bytes) = (ParquetWriter::new(schema, &options).unwrap(), vec![]);
    // Three row groups.
    for _ in 0..3 {
        writer.write(&batch, None, &mut bytes).unwrap();
        writer.release(&mut bytes).unwrap();
    }
    writer.finish(&mut bytes).unwrap();
    bytes
}

fn local(bytes: &[u8]) -> ParquetInput {
    let mut file: File = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    ParquetInput::local(file).unwrap()
}

/// Bytes behind a network, and what was asked for.
#[derive(Default)]
struct Remote {
    bytes: Bytes,
    asked: Mutex<Vec<&'static str>>,
}

impl Remote {
    fn ask(&self, what: &'static str, ranges: Vec<Range<u64>>) -> Fetching {
        self.asked.lock().unwrap().push(what);
        let range = |range: Range<u64>| self.bytes.slice(range.start as usize..range.end as usize);
        let bytes = ranges.into_iter().map(range).collect();
        Box::pin(async { Ok(bytes) })
    }
}

impl RemoteFile for Remote {
    fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, start: u64, bytes: u64) -> Result<Bytes> {
        self.asked.lock().unwrap().push("now");
        Ok(self.bytes.slice(start as usize..(start + bytes) as usize))
    }

    fn fetch(&self, ranges: Vec<Range<u64>>) -> Fetching {
        self.ask("row group", ranges)
    }

    fn fetch_ahead(&self, ranges: Vec<Range<u64>>) -> Option<Fetching> {
        Some(self.ask("row group ahead", ranges))
    }
}

async fn rows_of(file: &mut ParquetFile) -> Vec<RecordBatch> {
    let mut batches = vec![];
    while let Some(chunk) = file.next_chunk().await.unwrap() {
        batches.push(chunk.decode().unwrap().rows);
    }
    batches
}

#[tokio::test]
async fn of_a_row_the_wanted_fields_are_read() {
    let wanted = row(&[("c", DataType::Int32), ("a", DataType::Int32)]);
    let mut file = ParquetFile::open(local(&file()), Arc::clone(&wanted)).unwrap();
    let leaves = (0..3).filter(|leaf| file.shared.mask.leaf_included(*leaf)).collect::<Vec<_>>();
    assert_eq!(leaves, [0, 2], "what is not wanted is not decoded");
    let batches = rows_of(&mut file).await;
    assert_eq!((batches.len(), batches[0].schema()), (3, wanted));
    let rows = batches[0].column(0).as_struct();
    let values = |column: usize| rows.column(column).as_primitive::<Int32Type>().iter().collect::<Vec<_>>();
    assert_eq!((values(0), values(1)), (vec![None, Some(4)], vec![Some(1), Some(2)]));
}

#[tokio::test]
async fn a_remote_file_is_asked_once_for_its_footer_and_once_for_each_row_group() {
    let remote = Arc::new(Remote { bytes: file().into(), ..Remote::default() });
    let wanted = row(&[("b", DataType::Utf8View)]);
    let mut read = ParquetFile::open(ParquetInput::Remote(remote.clone()), Arc::clone(&wanted)).unwrap();
    let batches = rows_of(&mut read).await;
    let mut here = ParquetFile::open(local(&file()), wanted).unwrap();
    assert_eq!(batches, rows_of(&mut here).await);
    assert_eq!(*remote.asked.lock().unwrap(), ["now", "row group", "row group", "row group ahead"]);
    assert_eq!(read.position(), 3);
}

#[tokio::test]
async fn what_is_fetched_ahead_counts_as_not_read() {
    let remote = Arc::new(Remote { bytes: file().into(), ..Remote::default() });
    let wanted = row(&[("a", DataType::Int32)]);
    let mut read = ParquetFile::open(ParquetInput::Remote(remote), Arc::clone(&wanted)).unwrap();
    let mut chunks = vec![read.next_chunk().await.unwrap().unwrap(), read.next_chunk().await.unwrap().unwrap()];
    assert!(read.fetching.is_some());
    assert_eq!(read.position(), 2);
    let mut again = ParquetFile::open(local(&file()), wanted).unwrap();
    again.skip_to(1).unwrap();
    let rows = |chunk: Box<dyn Chunk>| chunk.decode().unwrap().rows;
    assert_eq!(rows(again.next_chunk().await.unwrap().unwrap()), rows(chunks.remove(1)));
}
