//! Files to read, and what is in them, told by what writes them.

use std::io::Write;

use arrow::array::{ArrayRef, Int64Array, StringViewArray};
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use super::*;

/// How the rows stand in the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Json,
    /// With a header.
    Csv,
    Parquet,
}

/// How the text of a file is compressed, in so many pieces one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packed {
    Plain,
    Gzip(usize),
    Zstd(usize),
}

/// A file's rows, `s` and `id`, and whether an empty line follows each.
pub type Rows = Vec<(String, i64, bool)>;

impl Kind {
    /// The options of its table.
    pub fn options(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Json => &[("format", "json")],
            Self::Csv => &[("format", "csv"), ("csv.ignore-first-line", "true"), ("csv.allow-comments", "true")],
            Self::Parquet => &[("format", "parquet")],
        }
    }

    /// The file's bytes, and each row's offset.
    pub fn file(self, rows: &Rows, packed: Packed, last_line_ends: bool) -> (Vec<u8>, Vec<u64>) {
        if self == Self::Parquet {
            return (parquet(rows), (0..rows.len() as u64).collect());
        }
        let mut text = String::from(if self == Self::Csv { "# who\n\"the\ntext\",id\n" } else { "\u{feff}\n" });
        let mut offsets = vec![];
        for (s, id, blank) in rows {
            offsets.push(text.matches('\n').count() as u64);
            match self {
                Self::Csv => text.push_str(&format!("\"{}\",{id}\n", s.replace('"', "\"\""))),
                _ => text.push_str(&format!("{}\n", serde_json::json!({ "s": s, "id": id }))),
            }
            text.push_str(if *blank { "\n" } else { "" });
        }
        if !last_line_ends && text.ends_with('\n') {
            text.pop();
        }
        (packed.pack(text.as_bytes()), offsets)
    }
}

impl Packed {
    pub fn pack(self, text: &[u8]) -> Vec<u8> {
        let pieces = |count: usize| text.chunks(text.len().div_ceil(count).max(1));
        match self {
            Self::Plain => text.to_vec(),
            Self::Gzip(count) => pieces(count)
                .flat_map(|piece| {
                    let mut gzip = GzEncoder::new(vec![], flate2::Compression::fast());
                    gzip.write_all(piece).unwrap();
                    gzip.finish().unwrap()
                })
                .collect(),
            Self::Zstd(count) => pieces(count).flat_map(|piece| zstd::encode_all(piece, 1).unwrap()).collect(),
        }
    }
}

/// Three rows a row group.
fn parquet(rows: &Rows) -> Vec<u8> {
    let s = StringViewArray::from_iter_values(rows.iter().map(|row| &row.0));
    let id = Int64Array::from_iter_values(rows.iter().map(|row| row.1));
    let columns: [(_, ArrayRef); 2] = [("s", Arc::new(s)), ("id", Arc::new(id))];
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(3)).build();
    let mut writer = ArrowWriter::try_new(vec![], rows.schema(), Some(properties)).unwrap();
    writer.write(&rows).unwrap();
    writer.into_inner().unwrap()
}
