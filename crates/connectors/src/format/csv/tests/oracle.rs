//! The `csv` crate reads what we write, and we read what it writes.

use arrow::array::StringViewArray;
use csv::{QuoteStyle, ReaderBuilder, Terminator, WriterBuilder};
use proptest::prelude::*;

use super::*;

/// Records of one to three fields, among whose characters those with a meaning are frequent.
fn records() -> impl Strategy<Value = Vec<Vec<String>>> {
    let character = prop_oneof![
        3 => prop::sample::select(",;\"\"\n\r\\ #'\t".chars().collect::<Vec<_>>()),
        2 => prop::sample::select("ab1é😀\u{feff}\0".chars().collect::<Vec<_>>()),
    ];
    let field =
        prop::collection::vec(character, 0..20).prop_map(|characters| characters.into_iter().collect::<String>());
    (1..4usize).prop_flat_map(move |fields| prop::collection::vec(prop::collection::vec(field.clone(), fields), 0..10))
}

fn batch(records: &[Vec<String>]) -> RecordBatch {
    let fields = records.first().map_or(1, Vec::len);
    let column = |i: usize| -> arrow::array::ArrayRef {
        Arc::new(StringViewArray::from_iter_values(records.iter().map(|record| &record[i])))
    };
    RecordBatch::try_new(strings(fields), (0..fields).map(column).collect()).unwrap()
}

fn dialects(delimiter: u8, escaped: bool) -> CsvOptions {
    let delimiter = char::from(delimiter).to_string();
    let mut set = vec![("field-delimiter", delimiter.as_str())];
    if escaped {
        set.push(("escape-character", "\\"));
    }
    options(&set)
}

proptest! {
    #[test]
    fn what_it_writes_we_read(
        records in records(),
        delimiter in prop::sample::select(b",;\t".to_vec()),
        always in any::<bool>(),
        carriage_returns in any::<bool>(),
    ) {
        let style = if always { QuoteStyle::Always } else { QuoteStyle::Necessary };
        let terminator = if carriage_returns { Terminator::CRLF } else { Terminator::Any(b'\n') };
        let mut writer = WriterBuilder::new().delimiter(delimiter).quote_style(style).terminator(terminator).from_writer(vec![]);
        for record in &records {
            writer.write_record(record).unwrap();
        }
        let text = writer.into_inner().unwrap();
        let decoder = CsvDecoder::new(batch(&records).schema(), &batch(&records).schema(), dialects(delimiter, false)).unwrap();
        let decoded = decoder.decode(&Buffer::from(text), false).unwrap().rows;
        check(&decoded);
        prop_assert_eq!(decoded, batch(&records));
    }

    #[test]
    fn what_we_write_it_reads(
        records in records(),
        delimiter in prop::sample::select(b",;\t".to_vec()),
        escaped in any::<bool>(),
    ) {
        let text = encoded(&batch(&records), &dialects(delimiter, escaped));
        let escape = escaped.then_some(b'\\');
        let reader = ReaderBuilder::new().delimiter(delimiter).escape(escape).has_headers(false).from_reader(text.as_bytes());
        let read: Vec<Vec<String>> =
            reader.into_records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect();
        prop_assert_eq!(read, records);
    }

    #[test]
    fn what_we_write_we_read(records in records(), escaped in any::<bool>(), comments in any::<bool>()) {
        let mut set = vec![("allow-comments", if comments { "true" } else { "false" })];
        if escaped {
            set.push(("escape-character", "\\"));
        }
        let (options, batch) = (options(&set), batch(&records));
        let text = encoded(&batch, &options);
        prop_assert_eq!(decode(&batch.schema(), &options, text.as_bytes()).unwrap().rows, batch);
    }
}
