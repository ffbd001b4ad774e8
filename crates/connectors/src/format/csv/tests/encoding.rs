//! What is written looks as promised, and reads back.

use arrow::array::{
    ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int64Array, StringViewArray, TimestampMillisecondArray,
};
use proptest::prelude::*;
use tidemill_core::RowKind;

use super::super::write::write_stripped;
use super::*;

fn text_of(array: ArrayRef, set: &[(&str, &str)]) -> String {
    let columns = schema(&[("v", array.data_type().clone()), ("n", DataType::Int64)]);
    let number = Arc::new(Int64Array::from(vec![0; array.len()]));
    encoded(&RecordBatch::try_new(columns, vec![array, number]).unwrap(), &options(set))
}

#[test]
fn values_look_as_flink_writes_them() {
    let ts = TimestampMillisecondArray::from(vec![Some(1_795_946_400_000), None]).with_timezone("UTC");
    assert_eq!(text_of(Arc::new(ts), &[]), "2026-11-29 10:00:00.000Z,0\n,0\n");
    assert_eq!(text_of(Arc::new(Float64Array::from(vec![0.1, f64::NAN])), &[]), "0.1,0\nNaN,0\n");
    assert_eq!(
        text_of(Arc::new(BooleanArray::from(vec![Some(true), None])), &[("null-literal", "null")]),
        "true,0\nnull,0\n"
    );
    let strings = StringViewArray::from(vec!["a b", "c,d", "\"", "#", "", "e\nf"]);
    let quoted = "a b,0\n\"c,d\",0\n\"\"\"\",0\n\"#\",0\n,0\n\"e\nf\",0\n";
    assert_eq!(text_of(Arc::new(strings), &[]), quoted);
}

#[test]
fn a_delimiter_of_digits_or_blanks_puts_numbers_and_times_in_quotes() {
    let ts = TimestampMillisecondArray::from(vec![0]);
    assert_eq!(text_of(Arc::new(ts), &[("field-delimiter", " ")]), "\"1970-01-01 00:00:00.000\" 0\n");
}

#[test]
fn kinds_come_first() {
    let batch = RecordBatch::try_new(strings(1), vec![Arc::new(StringViewArray::from(vec!["", "#"]))]).unwrap();
    let encoder = CsvEncoder::new(batch.schema(), CsvOptions::default()).unwrap();
    let mut out = Vec::new();
    encoder.encode(&batch, Some(&[RowKind::Insert, RowKind::UpdateBefore]), &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "+I,\n-U,#\n");
    assert!(encoder.encode(&batch, Some(&[RowKind::Insert]), &mut Vec::new()).is_err());
}

#[test]
fn decimals_lose_their_zeros_and_may_have_an_exponent() {
    let cases = [
        (1250, 2, "12.5", "12.5"),
        (100_000, 0, "1E+5", "100000"),
        (-123_000, 1, "-1.23E+4", "-12300"),
        (0, 4, "0", "0"),
        (1, 6, "0.000001", "0.000001"),
        (1, 7, "1E-7", "0.0000001"),
        (-12, 8, "-1.2E-7", "-0.00000012"),
        (10, 7, "0.000001", "0.000001"),
    ];
    for (unscaled, scale, scientific, plain) in cases {
        let text = |notation: &str| {
            let array = Decimal128Array::from(vec![unscaled]).with_precision_and_scale(38, scale).unwrap();
            text_of(Arc::new(array), &[("write-bigdecimal-in-scientific-notation", notation)])
        };
        assert_eq!(text("true"), format!("{scientific},0\n"));
        assert_eq!(text("false"), format!("{plain},0\n"));
    }
}

#[test]
fn arrays_and_rows_have_delimiters_of_their_own() {
    let columns = schema(&[
        ("l", list_type(DataType::Utf8View)),
        ("r", row_type(&[("x", DataType::Utf8View), ("y", DataType::Int64)])),
    ]);
    let null = options(&[("null-literal", "-")]);
    for text in ["a;-;c,x;1\n", "\"a,b\",-\n", ",-;-\n"] {
        let batch = decode(&columns, &null, text.as_bytes()).unwrap().rows;
        assert_eq!(encoded(&batch, &null), text);
    }
}

#[test]
fn what_would_not_read_back_is_refused() {
    let batch =
        |columns: &SchemaRef, text: &str| decode(columns, &CsvOptions::default(), text.as_bytes()).unwrap().rows;
    let refusal = |batch: &RecordBatch, set: &[(&str, &str)]| {
        let encoder = CsvEncoder::new(batch.schema(), options(set)).unwrap();
        encoder.encode(batch, None, &mut Vec::new()).unwrap_err().message().to_owned()
    };
    let message = refusal(&batch(&strings(1), "\"a,b\"\n"), &[("disable-quote-character", "true")]);
    assert_eq!(
        message,
        "column 'a': the value 'a,b' holds a character that has a meaning in CSV, and quotes are disabled"
    );
    let lists = schema(&[("l", list_type(DataType::Utf8View))]);
    let message = refusal(&batch(&lists, "a:b;c\n"), &[("array-element-delimiter", ":")]);
    assert_eq!(message, "column 'l': the element 'a:b' holds the delimiter of elements, ':'");
}

proptest! {
    #[test]
    fn a_decimal_reads_back(unscaled in -10i128.pow(38) + 1..10i128.pow(38), drop in 0..38u32, scale in 0..=38i8, scientific in any::<bool>()) {
        let unscaled = unscaled / 10i128.pow(drop) * 10i128.pow(drop);
        let mut text = Vec::new();
        write_stripped(unscaled, scale, scientific, &mut text);
        let columns = schema(&[("d", DataType::Decimal128(38, scale))]);
        let read = decode(&columns, &CsvOptions::default(), &text).unwrap().rows;
        let read = read.column(0).as_primitive::<arrow::datatypes::Decimal128Type>();
        prop_assert_eq!(read.iter().next().flatten(), Some(unscaled), "{}", String::from_utf8_lossy(&text));
    }
}
