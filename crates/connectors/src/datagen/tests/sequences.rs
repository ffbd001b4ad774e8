//! Sequences, and where a table ends.

use arrow::util::display::array_value_to_string;

use super::*;

fn sequence(start: &'static str, end: &'static str) -> [(&'static str, &'static str); 3] {
    [("fields.a.kind", "sequence"), ("fields.a.start", start), ("fields.a.end", end)]
}

#[test]
fn a_sequence_counts() {
    for (data_type, shown) in [
        (DataType::Int8, ["-1", "0", "1"]),
        (DataType::Int16, ["-1", "0", "1"]),
        (DataType::Int32, ["-1", "0", "1"]),
        (DataType::Int64, ["-1", "0", "1"]),
        (DataType::Float32, ["-1.0", "0.0", "1.0"]),
        (DataType::Float64, ["-1.0", "0.0", "1.0"]),
        (DataType::Decimal128(4, 2), ["-1.00", "0.00", "1.00"]),
        (DataType::Utf8View, ["-1", "0", "1"]),
        (DataType::BinaryView, ["ffffffffffffffff", "0000000000000000", "0000000000000001"]),
    ] {
        let values = column(data_type.clone(), &sequence("-1", "1"), 3);
        assert_eq!(values.data_type(), &data_type);
        assert_eq!([0, 1, 2].map(|row| array_value_to_string(&values, row).unwrap()), shown, "{data_type}");
    }
}

#[test]
fn a_table_ends_with_the_first_of_its_ends() {
    let two = [("a", DataType::Int64), ("b", DataType::Int32)];
    let b = [("fields.b.kind", "sequence"), ("fields.b.start", "1"), ("fields.b.end", "7")];
    for (options, end) in [
        (vec![], None),
        (vec![("number-of-rows", "12")], Some(12)),
        (sequence("5", "14").to_vec(), Some(10)),
        ([&sequence("5", "14")[..], &b].concat(), Some(7)),
        ([&sequence("5", "14")[..], &[("number-of-rows", "3")]].concat(), Some(3)),
        (sequence("-9223372036854775808", "9223372036854775807").to_vec(), Some(u64::MAX)),
    ] {
        let table = table(&two, &options);
        let columns = Columns::new(&table, &DatagenOptions::from_table(&table).unwrap()).unwrap();
        let rows: Option<u64> =
            options.iter().find(|(key, _)| *key == "number-of-rows").map(|(_, n)| n.parse().unwrap());
        assert_eq!(rows.into_iter().chain(columns.end()).min(), end);
        assert_eq!(DatagenConnector.source(&table).unwrap().bounded(), end.is_some());
    }
}
