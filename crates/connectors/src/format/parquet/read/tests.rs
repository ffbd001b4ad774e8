use std::fs::File;
use std::io::Write;
use std::sync::Mutex;

use arrow::array::{ArrayRef, AsArray, Int32Array, StringViewArray, StructArray};
use arrow::datatypes::{
    Field, Fields, Int32Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::data_type::{Int96, Int96Type};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use tidemill_core::ErrorKind;
use tidemill_runtime::connector::Options;

use super::*;
use crate::format::FileWriter;
use crate::format::parquet::{ParquetOptions, ParquetSample, ParquetWriter, RemoteFile};

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

/// A file with the columns `schema`, one of `INT96` whose values are so many days and nanoseconds after the beginning
/// of 1970.
fn int96(schema: &str, moments: &[(i64, u64)]) -> Vec<u8> {
    let value = |&(days, nanos): &(i64, u64)| {
        let julian_day = u32::try_from(days + 2_440_588).unwrap();
        Int96::from(vec![nanos as u32, (nanos >> 32) as u32, julian_day])
    };
    let values: Vec<Int96> = moments.iter().map(value).collect();
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let (mut bytes, properties) = (vec![], Arc::new(WriterProperties::builder().build()));
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    let mut row_group = writer.next_row_group().unwrap();
    let mut column = row_group.next_column().unwrap().unwrap();
    column.typed::<Int96Type>().write_batch(&values, None, None).unwrap();
    column.close().unwrap();
    row_group.close().unwrap();
    writer.close().unwrap();
    bytes
}

const FLAT: &str = "message m { REQUIRED INT96 t; }";
const NESTED: &str = "message m { REQUIRED GROUP r { REQUIRED INT96 t; } }";

/// The first of January of the year 1, the last microsecond of the year 9999, and a nanosecond before 1970.
const MOMENTS: [(i64, u64); 3] = [(-719_162, 0), (2_932_896, 86_399_999_999_000), (-1, 86_399_999_999_999)];

fn time(unit: TimeUnit) -> Field {
    Field::new("t", DataType::Timestamp(unit, None), true)
}

fn columns(fields: Vec<Field>) -> SchemaRef {
    Arc::new(Schema::new(fields))
}

#[tokio::test]
async fn int96_reaches_as_far_as_the_unit_of_its_column() {
    let wanted = columns(vec![time(TimeUnit::Millisecond)]);
    let mut file = ParquetFile::open(local(&int96(FLAT, &MOMENTS)), wanted).unwrap();
    let rows = rows_of(&mut file).await.remove(0);
    let millis = rows.column(0).as_primitive::<TimestampMillisecondType>().values().to_vec();
    assert_eq!(millis, [-62_135_596_800_000, 253_402_300_799_999, -1]);

    let row = DataType::Struct(Fields::from(vec![time(TimeUnit::Microsecond)]));
    let wanted = columns(vec![Field::new("r", row, true)]);
    let mut file = ParquetFile::open(local(&int96(NESTED, &MOMENTS)), wanted).unwrap();
    let rows = rows_of(&mut file).await.remove(0);
    let micros = rows.column(0).as_struct().column(0).as_primitive::<TimestampMicrosecondType>().values().to_vec();
    assert_eq!(micros, [-62_135_596_800_000_000, 253_402_300_799_999_999, -1]);
}

#[test]
fn int96_that_nobody_has_declared_is_in_microseconds() {
    let flat = time(TimeUnit::Microsecond).data_type().clone();
    let nested = DataType::Struct(Fields::from(vec![time(TimeUnit::Microsecond)]));
    for (schema, expected) in [(FLAT, flat), (NESTED, nested)] {
        let mut sample = ParquetSample::default();
        sample.add(&local(&int96(schema, &MOMENTS))).unwrap();
        assert_eq!(sample.finish().field(0).data_type(), &expected);
    }
}

#[tokio::test]
async fn int96_in_nanoseconds_is_exact_or_an_error_that_names_the_row() {
    let within = [(-106_751, 0), (106_751, 1), (0, 123_456_789)];
    let wanted = columns(vec![time(TimeUnit::Nanosecond)]);
    let mut file = ParquetFile::open(local(&int96(FLAT, &within)), Arc::clone(&wanted)).unwrap();
    let rows = rows_of(&mut file).await.remove(0);
    let nanos = rows.column(0).as_primitive::<TimestampNanosecondType>().values().to_vec();
    assert_eq!(nanos, [-9_223_286_400_000_000_000, 9_223_286_400_000_000_001, 123_456_789]);

    let row = DataType::Struct(Fields::from(vec![time(TimeUnit::Nanosecond)]));
    for (schema, wanted, name) in [(FLAT, wanted, "t"), (NESTED, columns(vec![Field::new("r", row, true)]), "r")] {
        let moments = [within[0], MOMENTS[1], MOMENTS[0]];
        let mut file = ParquetFile::open(local(&int96(schema, &moments)), wanted).unwrap();
        let fault = file.next_chunk().await.unwrap().unwrap().decode().unwrap_err();
        let message = format!("the column '{name}' has a time before 1677 or after 2262, which nanoseconds can't tell");
        assert_eq!((fault.offset, fault.error.kind(), fault.error.message()), (1, ErrorKind::Data, &*message));
    }
}

#[tokio::test]
async fn a_rejected_row_shows_the_time_that_was_out_of_range() {
    let bytes = int96(FLAT, &[MOMENTS[2], MOMENTS[0]]);
    let file = ParquetFile::open(local(&bytes), columns(vec![time(TimeUnit::Nanosecond)])).unwrap();
    let mut file = file.keep_rejected(true);
    let decoded = file.next_chunk().await.unwrap().unwrap().decode().unwrap();
    assert_eq!((decoded.rows.num_rows(), decoded.rejected.len()), (1, 1));
    assert_eq!(decoded.rejected[0].record, br#"{"t":"0001-01-01 00:00:00.000000"}"#);
}

#[tokio::test]
async fn rows_with_null_where_none_may_be_are_rejected_if_they_are_kept() {
    let count: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3), None]));
    let name: ArrayRef = Arc::new(StringViewArray::from(vec!["a", "b", "c", "d\n"]));
    let batch = RecordBatch::try_from_iter_with_nullable([("n", count, true), ("s", name, true)]).unwrap();
    let mut bytes = vec![];
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let wanted = columns(vec![Field::new("n", DataType::Int32, false), Field::new("s", DataType::Utf8View, true)]);
    let open = || ParquetFile::open(local(&bytes), Arc::clone(&wanted)).unwrap();

    let fault = open().next_chunk().await.unwrap().unwrap().decode().unwrap_err();
    assert_eq!((fault.offset, fault.error.message()), (1, "the column 'n' is NOT NULL, and the row has NULL"));

    let decoded = open().keep_rejected(true).next_chunk().await.unwrap().unwrap().decode().unwrap();
    assert_eq!(decoded.rows.column(0).as_primitive::<Int32Type>().values().to_vec(), [1, 3]);
    assert_eq!((decoded.offsets, decoded.offset_count), (Some(vec![0, 2]), 4));
    let rejected: Vec<_> =
        decoded.rejected.iter().map(|r| (r.offset, str::from_utf8(&r.record).unwrap(), r.error.message())).collect();
    let error = "the column 'n' is NOT NULL, and the row has NULL";
    assert_eq!(rejected, [(1, r#"{"n":null,"s":"b"}"#, error), (3, r#"{"n":null,"s":"d\n"}"#, error)]);
}
