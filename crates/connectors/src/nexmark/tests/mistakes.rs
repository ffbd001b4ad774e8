//! Options and columns that are wrong.

use super::*;

fn refused(schema: SchemaRef, options: &[(&str, &str)]) -> (String, String) {
    let error = NexmarkConnector.source(&table(schema, options)).err().unwrap();
    (error.message().to_owned(), error.hint_text().unwrap_or_default().to_owned())
}

#[test]
fn every_option_is_checked() {
    for (key, value) in [
        ("events.num", "-1"),
        ("first-event.rate", "0"),
        ("next-event.rate", "ten"),
        ("rate.limited", "yes"),
        ("base-time", "0"),
        ("base-time", "2015-07-15"),
        ("person.proportion", "-1"),
        ("auction.proportion", "3000000000"),
        ("bid.proportion", ""),
        ("bid.hot-ratio.auctions", "0"),
        ("bid.hot-ratio.bidders", "0"),
        ("auction.hot-ratio.sellers", "0.5"),
        ("person.avg-size", "1 MB"),
        ("auction.avg-size", "x"),
        ("bid.avg-size", "-1"),
        ("seed", "abc"),
    ] {
        let (message, hint) = refused(schema(), &[(key, value)]);
        assert_eq!(message, format!("'{value}' is not a value of '{key}'"));
        assert!(!hint.is_empty());
        assert!(options::OPTIONS.iter().any(|option| option.key == key));
    }
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let (message, hint) = refused(schema(), &[("first-event.rate", "5"), ("next-event.rate", "7")]);
    assert_eq!(message, "a rate of events that changes is not supported");
    assert_eq!(hint, "leave it out, or set 'next-event.rate' = '5', the first rate");
    let none = [("person.proportion", "0"), ("auction.proportion", "0"), ("bid.proportion", "0")];
    assert_eq!(refused(schema(), &none).0, "there are neither people nor auctions nor bids");
}

#[test]
fn a_column_that_there_is_not_is_refused() {
    let of = |field: Field| refused(Arc::new(Schema::new(vec![field])), &[]);
    let row = |name: &str, data_type: DataType| DataType::Struct(vec![Field::new(name, data_type, true)].into());
    for (field, message, hint) in [
        (Field::new("bids", DataType::Int64, true), "a Nexmark table has no column 'bids'", "did you mean 'bid'?"),
        (Field::new("bid", DataType::Int64, true), "the column 'bid' is a ROW, not BIGINT", ""),
        (
            Field::new("bid", row("prize", DataType::Int64), true),
            "the column 'bid' has no field 'prize'",
            "did you mean 'price'?",
        ),
        (
            Field::new("bid", row("price", DataType::Float64), true),
            "'bid.price' has the type BIGINT, not DOUBLE",
            "declare it as BIGINT",
        ),
        (
            Field::new("event_type", DataType::Int64, true),
            "'event_type' has the type INT, not BIGINT",
            "declare it as INT",
        ),
        (
            Field::new("person", row("id", DataType::Int64), false),
            "the column 'person' can't be NOT NULL: an event has one record",
            "drop NOT NULL, and tell the events apart by event_type",
        ),
    ] {
        assert_eq!(of(field), (message.to_owned(), hint.to_owned()));
    }
}

#[test]
fn it_is_no_sink() {
    let error = NexmarkConnector.sink(&table(schema(), &[]), WriteMode::Append).err().unwrap();
    assert_eq!(error.message(), "the table 'events' can't be written: 'nexmark' is a source");
}
