//! Which lines hold records, which fields become columns, and what the options change.

use super::*;

fn three(text: &str, set: &[(&str, &str)]) -> Vec<String> {
    rows(&strings(3), &options(set), text)
}

#[test]
fn fields_are_matched_by_position() {
    assert_eq!(three("1,2,3\n,,\n", &[]), ["1|2|3", "||"]);
    assert_eq!(three("1,2,3", &[]), ["1|2|3"]);
    assert!(three("", &[]).is_empty());
}

#[test]
fn only_the_columns_that_are_asked_for_are_read() {
    let record = schema(&[("a", DataType::Int64), ("b", DataType::Utf8View), ("c", DataType::Int64)]);
    let asked = schema(&[("c", DataType::Int64), ("b", DataType::Utf8View)]);
    let decoder = CsvDecoder::new(asked, &record, CsvOptions::default()).unwrap();
    let decoded = decoder.decode(&Buffer::from(b"not a number,x,3\n".to_vec()), true).unwrap();
    assert_eq!(shown(&decoded.rows), ["3|x"]);
    let none = CsvDecoder::new(schema(&[]), &record, CsvOptions::default()).unwrap();
    assert_eq!(none.decode(&Buffer::from(b"1,2,3\n4,5,6\n".to_vec()), true).unwrap().rows.num_rows(), 2);
    assert!(none.decode(&Buffer::from(b"1,2\n".to_vec()), true).is_err());
    assert!(CsvDecoder::new(strings(1), &schema(&[]), CsvOptions::default()).is_err());
}

#[test]
fn quotes_keep_delimiters_line_ends_and_quotes() {
    assert_eq!(three("\"a,b\",\"c\nd\",\"e\"\"f\"\r\n", &[]), ["a,b|c\nd|e\"f"]);
    assert_eq!(three("\"\",\"\"\"\",\" \"\n", &[]), ["|\"| "]);
    // A quote has a meaning at the start of a field only, and blanks may follow the closing one.
    assert_eq!(three("a\"b, \"c\",\"d\" \t\n", &[]), ["a\"b| \"c\"|d"]);
}

#[test]
fn both_line_ends_end_a_record_and_a_carriage_return_within_is_kept() {
    assert_eq!(three("a,b,c\r\nd,e,f\ng,h,i\r", &[]), ["a|b|c", "d|e|f", "g|h|i"]);
    assert_eq!(three("a\rb,c,\"d\re\"\n", &[]), ["a\rb|c|d\re"]);
    assert_eq!(three("a,b,\"c\"\r\nd,e,\"f\"\r", &[]), ["a|b|c", "d|e|f"]);
}

#[test]
fn offsets_count_lines() {
    let decoded = decode(&strings(2), &options(&[]), b"a,\"x\ny\"\nb,c\n\n\"\r\n\",\"\n\n\"\nd,e").unwrap();
    assert_eq!(shown(&decoded.rows).len(), 4);
    assert_eq!((decoded.offsets, decoded.offset_count), (Some(vec![0, 2, 4, 8]), 9));
    let decoded = decode(&strings(2), &options(&[]), b"a,b\nc,d\n").unwrap();
    assert_eq!((decoded.offsets, decoded.offset_count), (None, 2));
}

#[test]
fn a_blank_line_is_a_row_only_where_there_is_one_column() {
    assert_eq!(three("\n1,2,3\n\r\n\n4,5,6\n\n", &[]), ["1|2|3", "4|5|6"]);
    assert_eq!(rows(&strings(1), &options(&[]), "\na\n\r\n\"\"\n"), ["", "a", "", ""]);
}

#[test]
fn a_delimiter_may_stand_behind_the_last_field() {
    assert_eq!(three("1,2,3,\n4,5,6, \n7,8,9,", &[]), ["1|2|3", "4|5|6", "7|8|9"]);
    for text in ["1,2,3,,\n", "1,2,3,4\n"] {
        let (message, _) = refusal(&strings(3), &options(&[]), text.as_bytes());
        assert_eq!(message, format!("the record has more fields than the 3 columns of the table: {}", text.trim_end()));
    }
}

#[test]
fn the_first_record_of_a_file_may_be_a_header() {
    let header = &[("ignore-first-line", "true")];
    assert_eq!(three("x,\"y\nz\"\n1,2,3\n", header), ["1|2|3"]);
    assert_eq!(three("\u{feff}x,y,z\n1,2,3\n", header), ["1|2|3"]);
    let decoded = decode(&strings(1), &options(header), b"\"x\ny\"\n1\n").unwrap();
    assert_eq!((decoded.offsets, decoded.offset_count), (Some(vec![2]), 3));
    let commented = &[("ignore-first-line", "true"), ("allow-comments", "true")];
    assert_eq!(three("# \"made\n\r\n  #\nx,y,z\n#\n1,2,3\n", commented), ["1|2|3"]);
    assert!(three("# made\n", commented).is_empty());
    assert!(three("", header).is_empty());
    assert!(three("\u{feff}", header).is_empty());
    let decoder = CsvDecoder::new(strings(1), &strings(1), options(header)).unwrap();
    assert_eq!(decoder.decode(&Buffer::from(b"1\n".to_vec()), false).unwrap().rows.num_rows(), 1);
}

#[test]
fn blank_lines_before_the_header_are_no_header_where_there_are_several_columns() {
    let header = &[("ignore-first-line", "true")];
    assert_eq!(three("\n\r\nx,y,z\n1,2,3\n", header), ["1|2|3"]);
    assert_eq!(three("\u{feff}\nx,y,z\n1,2,3\n", header), ["1|2|3"]);
    assert!(three("\n\n", header).is_empty());
    assert_eq!(rows(&strings(1), &options(header), "\nx\n"), ["x"]);
    let decoded = decode(&strings(2), &options(header), b"\n\nx,y\n1,2\n").unwrap();
    assert_eq!((decoded.offsets, decoded.offset_count), (Some(vec![3]), 4));
    assert_eq!(decode(&strings(2), &options(header), b"\n\nx,y\n1\n").unwrap_err().offset, 3);
}

#[test]
fn a_byte_order_mark_is_skipped_at_the_first_of_a_file_only() {
    let decoder = CsvDecoder::new(strings(1), &strings(1), CsvOptions::default()).unwrap();
    let text = Buffer::from("\u{feff}\"a\"\n".as_bytes().to_vec());
    assert_eq!(shown(&decoder.decode(&text, true).unwrap().rows), ["a"]);
    assert_eq!(shown(&decoder.decode(&text, false).unwrap().rows), ["\u{feff}\"a\""]);
}

#[test]
fn comments_and_blanks_before_them_are_skipped_if_allowed() {
    let text = "#x\n1,2,3\n  # \"\n\n  \"4\",5,6\n7,8,#\n   ";
    assert_eq!(three(text, &[("allow-comments", "true")]), ["1|2|3", "4|5|6", "7|8|#"]);
    assert_eq!(rows(&strings(1), &options(&[]), "#x\n"), ["#x"]);
    let decoded = decode(&strings(1), &options(&[("allow-comments", "true")]), b"# x\n\na\n#").unwrap();
    assert_eq!((decoded.offsets, decoded.offset_count), (Some(vec![2]), 4));
}

#[test]
fn an_escape_takes_the_meaning_from_the_next_character() {
    let set = &[("escape-character", "\\")];
    assert_eq!(three("a\\,b,\"c\\\"d\",\\\"e\n", set), ["a,b|c\"d|\"e"]);
    assert_eq!(three("\\n\\t\\r,\\0\\\\,\"\\n\"\"\"\n", set), ["\n\t\r|\0\\|\n\""]);
    assert_eq!(three("a\\\nb,c,d\ne,f,g\\\r\n", set), ["a\nb|c|d", "e|f|g\r"]);
    assert_eq!(
        three("123*'4**;'x;y*'z';\n", &[("escape-character", "*"), ("quote-character", "'"), ("field-delimiter", ";")]),
        ["123'4*|x;y'z|"]
    );
}

#[test]
fn quotes_can_be_disabled_or_be_another_character() {
    assert_eq!(three("\"a,b\",c\n", &[("disable-quote-character", "true")]), ["\"a|b\"|c"]);
    assert_eq!(three("'a,b',\"c\",d''e\n", &[("quote-character", "'")]), ["a,b|\"c\"|d''e"]);
}

#[test]
fn a_null_literal_is_null_in_every_column_and_in_quotes_too() {
    let columns = schema(&[("a", DataType::Int64), ("b", DataType::Utf8View), ("c", MILLISECONDS)]);
    let null = |literal: &str, text: &str| rows(&columns, &options(&[("null-literal", literal)]), text);
    assert_eq!(null("", ",,\n1,\"\",\n"), ["~|~|~", "1|~|~"]);
    assert_eq!(null("n/a", "n/a,n/a,n/a\n1,,\"n/a\"\n"), ["~|~|~", "1||~"]);
}

#[test]
fn parse_errors_can_be_ignored() {
    let columns = schema(&[("a", DataType::Int64), ("b", DataType::Utf8View), ("c", DataType::Int8)]);
    let ignore = options(&[("ignore-parse-errors", "true")]);
    let text = b"x,y,300\n1\n2,\xff,3\n1,2,3,4\n\"5\"x,y,6\n7,z,8\n\"9,y";
    let decoded = decode(&columns, &ignore, text).unwrap();
    assert_eq!(shown(&decoded.rows), ["~|y|~", "1|~|~", "7|z|8"]);
    assert_eq!((decoded.offsets, decoded.offset_count), (Some(vec![0, 1, 5]), 7));
}

#[test]
fn rejected_records_can_be_kept() {
    let columns = schema(&[("a", DataType::Int64), ("b", DataType::Utf8View)]);
    let decoder = CsvDecoder::new(columns.clone(), &columns, CsvOptions::default()).unwrap().keep_rejected(true);
    let text = b"1,\"x\ny\"\nz,\"\n\"\n2\n3,\xff\n4,w\n".to_vec();
    let decoded = decoder.decode(&Buffer::from(text), true).unwrap();
    assert_eq!(shown(&decoded.rows), ["1|x\ny", "4|w"]);
    let rejected: Vec<_> = decoded.rejected.iter().map(|one| (one.offset, &one.record[..])).collect();
    assert_eq!(rejected, [(2, &b"z,\"\n\""[..]), (4, b"2"), (5, b"3,\xff")]);
    assert_eq!(decoded.rejected[1].error.message(), "the record has 1 field, but the table 2 columns: 2");
    assert_eq!((decoded.offsets, decoded.offset_count), (Some(vec![0, 6]), 7));
}

#[test]
fn a_column_that_must_have_a_value_says_so() {
    let columns = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, false)]));
    let null = options(&[("null-literal", "-")]);
    assert_eq!(refusal(&columns, &null, b"-\n").0, "column 'id' is NOT NULL, but has no value in the record: -");
    let ignore = options(&[("null-literal", "-"), ("ignore-parse-errors", "true")]);
    assert_eq!(rows(&columns, &ignore, "-\nx\n5\n"), ["5"]);
}

#[test]
fn strings_point_into_the_chunk_where_nothing_is_escaped() {
    let text = "a string of more than twelve bytes,\"and one in quotes, of more\",\"twelve \"\" bytes\"\n";
    let decoded = decode(&strings(3), &options(&[]), text.as_bytes()).unwrap();
    let blocks = |column: usize| decoded.rows.column(column).as_string_view().data_buffers().len();
    assert_eq!([blocks(0), blocks(1), blocks(2)], [1, 1, 2]);
    assert_eq!(decoded.rows.column(0).as_string_view().data_buffers()[0].len(), text.len());
}
