//! However an input is read, its records are the same: the cutter and the decoder agree on where they end.

use std::io::Cursor;

use arrow::buffer::Buffer;
use proptest::prelude::*;

use super::super::CsvCutter;
use super::*;
use crate::format::records::{Cutter, RecordReader};

/// What is read of an input: the rows and what was rejected, each with its offset.
type Read = (Vec<(u64, String)>, Vec<(u64, Vec<u8>)>, u64);

/// Reads `text`, at most `read_bytes` at a time.
fn read(text: &[u8], options: &CsvOptions, columns: usize, read_bytes: usize) -> Read {
    tried(text, options, columns, read_bytes).unwrap()
}

/// The same, or what is wrong with the input as a whole.
fn tried(text: &[u8], options: &CsvOptions, columns: usize, read_bytes: usize) -> Result<Read, String> {
    let (mut reader, mut read, mut first) = (reader(text, 0, options, read_bytes), Read::default(), true);
    while let Some(records) = reader.next_records().unwrap() {
        decode(&records, std::mem::take(&mut first), options, columns, &mut read)?;
    }
    Ok(read)
}

/// The same in many runs: each reads one block, and the next goes on behind it.
fn tried_in_runs(text: &[u8], options: &CsvOptions, columns: usize, read_bytes: &[usize]) -> Result<Read, String> {
    let (mut position, mut read) = (0, Read::default());
    for read_bytes in read_bytes.iter().cycle() {
        let mut reader = reader(text, position, options, *read_bytes);
        let Some(records) = reader.next_records().unwrap() else { break };
        decode(&records, position == 0, options, columns, &mut read)?;
        position = reader.position() as usize;
    }
    Ok(read)
}

fn read_in_runs(text: &[u8], options: &CsvOptions, columns: usize, read_bytes: &[usize]) -> Read {
    tried_in_runs(text, options, columns, read_bytes).unwrap()
}

fn reader<'a>(
    text: &'a [u8],
    position: usize,
    options: &CsvOptions,
    read_bytes: usize,
) -> RecordReader<Cursor<&'a [u8]>> {
    let cutter = CsvCutter::new(options);
    let cutter = if position == 0 { cutter } else { cutter.behind_a_record() };
    let input = Cursor::new(&text[position..]);
    RecordReader::new(input, Box::new(cutter), "test.csv".into(), read_bytes).behind(position as u64)
}

fn decode(
    records: &Buffer,
    first: bool,
    options: &CsvOptions,
    columns: usize,
    (rows, rejected, before): &mut Read,
) -> Result<(), String> {
    let decoder = CsvDecoder::new(strings(columns), &strings(columns), options.clone()).unwrap().keep_rejected(true);
    let decoded = decoder.decode(records, first).map_err(|e| e.error.to_string())?;
    check(&decoded.rows);
    let offsets = decoded.offsets.unwrap_or_else(|| (0..decoded.rows.num_rows() as u32).collect());
    rows.extend(offsets.iter().map(|offset| *before + u64::from(*offset)).zip(shown(&decoded.rows)));
    rejected.extend(decoded.rejected.into_iter().map(|one| (*before + one.offset, one.record)));
    *before += decoded.offset_count;
    Ok(())
}

#[test]
fn every_cut_of_a_small_input_gives_the_same_rows() {
    let text = "\u{feff}\"h\n1\",h2\na,\"b\nc\"\"\n\"\"d\"\r\n\r\n\"e\" ,f\\\ng\n \"x\n#\"\ni,\"j\"k\n\n#\"\nl,m";
    for set in [
        &[][..],
        &[("ignore-first-line", "true")],
        &[("escape-character", "\\")],
        &[("allow-comments", "true"), ("ignore-first-line", "true")],
        &[("allow-comments", "true"), ("escape-character", "\\")],
        &[("disable-quote-character", "true")],
        &[("quote-character", "'"), ("escape-character", "\"")],
    ] {
        let options = options(set);
        let whole = read(text.as_bytes(), &options, 2, text.len());
        for read_bytes in 1..text.len() {
            assert_eq!(read(text.as_bytes(), &options, 2, read_bytes), whole, "{set:?}, {read_bytes} bytes at a time");
            assert_eq!(read_in_runs(text.as_bytes(), &options, 2, &[read_bytes]), whole, "{set:?}, in many runs");
        }
    }
}

/// Only at the start of the input: behind it the mark is text, and the quote that follows it has no meaning.
#[test]
fn a_byte_order_mark_where_a_run_goes_on_is_none() {
    let text = "a\n\u{feff}\"b\n\"x\ny\"\nz\n";
    let whole = read(text.as_bytes(), &CsvOptions::default(), 1, text.len());
    assert_eq!(whole.0.len(), 4);
    for read_bytes in 1..text.len() {
        assert_eq!(read_in_runs(text.as_bytes(), &CsvOptions::default(), 1, &[2, read_bytes]), whole);
    }
}

#[test]
fn comments_before_the_header_stay_with_it() {
    let text = b"# a\n\r\n  \n#\nx,y\n# b\n1,2\n";
    let options = options(&[("allow-comments", "true"), ("ignore-first-line", "true")]);
    for read_bytes in 1..text.len() {
        assert_eq!(read(text, &options, 2, read_bytes), (vec![(6, "1|2".to_owned())], vec![], 7));
    }
}

#[test]
fn blank_lines_before_the_header_stay_with_it() {
    let text = b"\n\r\n\nx,y\n\n1,2\n";
    for set in [&[("ignore-first-line", "true")][..], &[("ignore-first-line", "true"), ("escape-character", "\\")]] {
        let options = options(set);
        for read_bytes in 1..text.len() {
            assert_eq!(read(text, &options, 2, read_bytes), (vec![(5, "1|2".to_owned())], vec![], 6));
            assert_eq!(read(b"\nx\ny\n", &options, 1, read_bytes).0, [(1, "x".to_owned()), (2, "y".to_owned())]);
        }
    }
}

#[test]
fn records_leave_as_soon_as_they_have_arrived() {
    let input = std::io::Read::chain(Cursor::new("a\n\"b"), Cursor::new("\n\"\nc"));
    let cutter = Box::new(CsvCutter::new(&CsvOptions::default()));
    let mut reader = RecordReader::new(input, cutter, "test.csv".into(), 1024);
    let mut next = || reader.next_records().unwrap().map(|records| records.to_vec());
    assert_eq!([next(), next(), next()], [Some(b"a\n".to_vec()), Some(b"\"b\n\"\n".to_vec()), Some(b"c".to_vec())]);
}

#[test]
fn a_record_without_an_end_is_explained_by_its_quote() {
    let hint = |text: &[u8]| {
        let mut cutter = CsvCutter::new(&CsvOptions::default());
        assert_eq!(cutter.last_end(text, 0), None);
        cutter.hint()
    };
    assert!(hint(b"a,\"b").contains("is never closed"));
    assert!(hint(b"a,\"b\"").contains("is never closed"));
    assert!(hint(b"a,b\"").contains("is it a text file?"));
}

/// Bytes among which those with a meaning are frequent.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let special = prop::sample::select(b",,,\"\"\"\n\n\n\r\\ #'".to_vec());
    let other = prop::sample::select("ab1\u{feff}é\u{0}".as_bytes().to_vec());
    prop::collection::vec(prop_oneof![6 => special, 3 => other, 1 => any::<u8>()], 0..80)
}

proptest! {
    #[test]
    fn every_cut_of_any_input_gives_the_same_rows(
        text in hostile(),
        marked in any::<bool>(),
        columns in 1..4usize,
        read_bytes in 1..20usize,
        runs_read_bytes in 1..20usize,
        comments in any::<bool>(),
        header in any::<bool>(),
        escaped in any::<bool>(),
        quoted in any::<bool>(),
    ) {
        let word = |yes: bool| if yes { "true" } else { "false" };
        let mut set = vec![
            ("allow-comments", word(comments)),
            ("ignore-first-line", word(header)),
            ("disable-quote-character", word(!quoted)),
        ];
        if escaped {
            set.push(("escape-character", "\\"));
        }
        let options = options(&set);
        let text = if marked { [b"\xef\xbb\xbf", &text[..]].concat() } else { text };
        let whole = tried(&text, &options, columns, text.len() + 1);
        prop_assert_eq!(&tried(&text, &options, columns, read_bytes), &whole);
        prop_assert_eq!(tried_in_runs(&text, &options, columns, &[read_bytes, runs_read_bytes]), whole);
    }
}
