use std::fs::File;
use std::io::Write;
use std::sync::Mutex;

use arrow::array::{AsArray, Int32Array, StringViewArray, StructArray};
use arrow::datatypes::{Field, Fields, Int32Type};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
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

/// A file of numbers from 0 on, in row groups of `row_group` rows with pages of at most `page` rows.
fn numbered(rows: i32, row_group: usize, page: usize, indexed: bool) -> ParquetInput {
    let column: ArrayRef = Arc::new(Int32Array::from_iter_values(0..rows));
    let batch = RecordBatch::try_from_iter([("n", column)]).unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(row_group))
        .set_data_page_row_count_limit(page)
        .set_write_batch_size(page)
        .set_statistics_enabled(if indexed { EnabledStatistics::Page } else { EnabledStatistics::None })
        .set_offset_index_disabled(!indexed)
        .build();
    let mut file = tempfile::tempfile().unwrap();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    ParquetInput::local(file).unwrap()
}

/// The rows of each chunk from here on, and the position behind it.
async fn chunks(file: &mut ParquetFile) -> Vec<(Vec<i32>, u64)> {
    let decoded = |chunk: Box<dyn Chunk>| chunk.decode().unwrap().rows.column(0).clone();
    let mut chunks = vec![];
    while let Some(chunk) = file.next_chunk().await.unwrap() {
        chunks.push((decoded(chunk).as_primitive::<Int32Type>().values().to_vec(), file.position()));
    }
    chunks
}

fn number() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("n", DataType::Int32, true)]))
}

#[tokio::test]
async fn a_row_group_is_cut_where_pages_end() {
    let mut file = ParquetFile::open(numbered(400_000, 250_000, 10_000, true), number()).unwrap();
    let chunks = chunks(&mut file).await;
    let lengths: Vec<usize> = chunks.iter().map(|(rows, _)| rows.len()).collect();
    assert_eq!(lengths, [70_000, 70_000, 70_000, 40_000, 70_000, 80_000], "the last takes what is too little for one");
    assert!(chunks.iter().flat_map(|(rows, _)| rows).copied().eq(0..400_000), "each row comes once, in order");
}

#[tokio::test]
async fn without_an_index_a_row_group_is_one_chunk() {
    let mut file = ParquetFile::open(numbered(400_000, 250_000, 10_000, false), number()).unwrap();
    let lengths: Vec<usize> = chunks(&mut file).await.iter().map(|(rows, _)| rows.len()).collect();
    assert_eq!(lengths, [250_000, 150_000]);
}

#[tokio::test]
async fn reading_goes_on_behind_any_row() {
    let open = || ParquetFile::open(numbered(400_000, 250_000, 10_000, true), number()).unwrap();
    for position in [0, 1, 70_000, 70_001, 249_999, 250_000, 399_999, 400_000] {
        let mut file = open();
        file.skip_to(position).unwrap();
        assert_eq!(file.position(), position);
        let chunks = chunks(&mut file).await;
        let first = i32::try_from(position).unwrap();
        assert!(chunks.iter().flat_map(|(rows, _)| rows).copied().eq(first..400_000), "behind row {position}");
        assert!(chunks.last().is_none_or(|(_, behind)| *behind == 400_000));
    }
    assert!(open().skip_to(400_001).unwrap_err().to_string().contains("it has 400000"));
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
    assert_eq!(read.position(), 6);
}

#[tokio::test]
async fn what_is_fetched_ahead_counts_as_not_read() {
    let remote = Arc::new(Remote { bytes: file().into(), ..Remote::default() });
    let wanted = row(&[("a", DataType::Int32)]);
    let mut read = ParquetFile::open(ParquetInput::Remote(remote), Arc::clone(&wanted)).unwrap();
    let mut chunks = vec![read.next_chunk().await.unwrap().unwrap(), read.next_chunk().await.unwrap().unwrap()];
    assert!(read.fetching.is_some());
    assert_eq!(read.position(), 4);
    let mut again = ParquetFile::open(local(&file()), wanted).unwrap();
    again.skip_to(2).unwrap();
    let rows = |chunk: Box<dyn Chunk>| chunk.decode().unwrap().rows;
    assert_eq!(rows(again.next_chunk().await.unwrap().unwrap()), rows(chunks.remove(1)));
}
