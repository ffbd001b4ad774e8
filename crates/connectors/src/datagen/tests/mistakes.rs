//! Options that are wrong.

use super::*;

fn refused(data_type: DataType, options: &[(&str, &str)]) -> (String, String) {
    error(&table(&[("amount", data_type), ("note", DataType::Utf8View)], options))
}

fn error(table: &TableSpec) -> (String, String) {
    let error = DatagenConnector.source(table).err().unwrap();
    (error.message().to_owned(), error.hint_text().unwrap_or_default().to_owned())
}

#[test]
fn values_that_no_option_has() {
    for (data_type, key, value, hint) in [
        (DataType::Int8, "rows-per-second", "0", "write a whole number from 1"),
        (DataType::Int8, "number-of-rows", "1.5", "write a whole number from 1"),
        (DataType::Int8, "seed", "x", "write a whole number"),
        (DataType::Int8, "fields.amount.kind", "serial", "write 'random' or 'sequence'"),
        (DataType::Int8, "fields.amount.min", "-129", "write a number of the type TINYINT"),
        (DataType::Float64, "fields.amount.max", "NaN", "write a number of the type DOUBLE"),
        (DataType::Decimal128(4, 2), "fields.amount.max", "100.00", "write a number of the type DECIMAL(4, 2)"),
        (DataType::Int8, "fields.amount.null-rate", "1.01", "write a number from 0 to 1"),
        (DataType::Int8, "fields.note.length", "0", "write a whole number from 1"),
        (DataType::Int8, "fields.note.var-len", "yes", "use one of: true, false"),
    ] {
        let (message, given) = refused(data_type, &[(key, value)]);
        assert_eq!(message, format!("'{value}' is not a value of '{key}'"));
        assert_eq!(given, hint);
    }
}

#[test]
fn options_of_other_generators_and_columns() {
    let of_int = |options: &[(&str, &str)]| refused(DataType::Int32, options);
    for (key, message, hint) in [
        (
            "fields.amount.length",
            "the option 'length' says nothing about the values of 'amount'",
            "its options are: kind, max, min, null-rate",
        ),
        (
            "fields.note.max",
            "the option 'max' says nothing about the values of 'note'",
            "its options are: kind, length, null-rate, var-len",
        ),
        ("fields.amuont.max", "the table 't' has no column 'amuont'", "did you mean 'amount'?"),
        ("fields.x.max", "the table 't' has no column 'x'", "it has: amount, note"),
        ("fields.note.element.max", "the table 't' has no column 'note.element'", "it has: amount, note"),
    ] {
        assert_eq!(of_int(&[(key, "1")]), (message.to_owned(), hint.to_owned()));
    }
    let sequence = [("fields.amount.kind", "sequence"), ("fields.amount.start", "1"), ("fields.amount.end", "2")];
    let (message, hint) = of_int(&[&sequence[..], &[("fields.amount.max", "1")]].concat());
    assert_eq!(message, "the option 'max' says nothing about the values of 'amount'");
    assert_eq!(hint, "its options are: end, kind, start");
}

#[test]
fn ends_that_do_not_fit() {
    let of_int = |options: &[(&str, &str)]| refused(DataType::Int32, options).0;
    assert_eq!(
        of_int(&[("fields.amount.min", "3"), ("fields.amount.max", "2")]),
        "no value of 'amount' can be made: the least value is above the greatest"
    );
    let sequence =
        |more: &[(&'static str, &'static str)]| of_int(&[&[("fields.amount.kind", "sequence")], more].concat());
    assert_eq!(sequence(&[("fields.amount.start", "3")]), "the sequence 'amount' has no 'end'");
    assert_eq!(sequence(&[("fields.amount.end", "3")]), "the sequence 'amount' has no 'start'");
    let backwards = [("fields.amount.start", "3"), ("fields.amount.end", "2")];
    assert_eq!(sequence(&backwards), "the sequence 'amount' ends before it starts");
    let (message, hint) = refused(
        DataType::Decimal128(3, 2),
        &[("fields.amount.kind", "sequence"), ("fields.amount.start", "1"), ("fields.amount.end", "10")],
    );
    assert_eq!(message, "'10' is not a value of 'fields.amount.end'");
    assert_eq!(hint, "write a whole number of the type DECIMAL(3, 2)");
}

#[test]
fn types_without_sequences() {
    for (data_type, shown) in [
        (DataType::Boolean, "BOOLEAN"),
        (DataType::Timestamp(TimeUnit::Millisecond, None), "TIMESTAMP(3)"),
        (list_of(DataType::Int32), "ARRAY<INT>"),
    ] {
        let (message, _) = refused(data_type, &[("fields.amount.kind", "sequence")]);
        assert_eq!(message, format!("'amount' has the type {shown}, which has no sequence of values"));
    }
}

#[test]
fn what_is_never_null_has_no_rate_of_null() {
    let mut table = table(&[("a", DataType::Int32)], &[("fields.a.null-rate", "0.1")]);
    table.schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int32, false)]));
    assert_eq!(error(&table).0, "'a' is never NULL, so it has no rate of NULL");
    let (message, _) = refused(map_of(DataType::Int32, DataType::Int32), &[("fields.amount.key.null-rate", "0.1")]);
    assert_eq!(message, "'amount.key' is never NULL, so it has no rate of NULL");
}

#[test]
fn rows_that_are_too_large() {
    let lengths = [("fields.amount.length", "10000"), ("fields.amount.element.length", "10000")];
    let (message, hint) = refused(list_of(DataType::Utf8View), &lengths);
    assert_eq!(message, "a row of the table 't' has 100160120 bytes");
    assert_eq!(hint, "lengths may add up to 16777216");
}

#[test]
fn it_is_no_sink() {
    let error = DatagenConnector.sink(&table(&[], &[]), WriteMode::Append).err().unwrap();
    assert_eq!(error.message(), "the table 't' can't be written: 'datagen' is a source");
}
