//! Random values have the ranges, lengths and shares of NULL that Flink's have.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use super::*;

#[test]
fn numbers_are_between_min_and_max_with_both() {
    let ends = [("fields.a.min", "-2"), ("fields.a.max", "1")];
    let tiny = column(DataType::Int8, &ends, 500);
    assert_eq!(tiny.as_primitive::<Int8Type>().values().iter().copied().collect::<BTreeSet<_>>(), (-2..=1).collect());
    let double = column(DataType::Float64, &ends, 10_000);
    let double = double.as_primitive::<Float64Type>().values();
    assert!(double.iter().all(|value| (-2.0..=1.0).contains(value)));
    assert!((double.iter().sum::<f64>() / 10_000.0 + 0.5).abs() < 0.05);
    let money = column(DataType::Decimal128(5, 2), &[("fields.a.min", "-0.01"), ("fields.a.max", "0.02")], 500);
    let cents: BTreeSet<i128> = money.as_primitive::<Decimal128Type>().values().iter().copied().collect();
    assert_eq!(cents, (-1..=2).collect());
}

#[test]
fn without_ends_numbers_have_the_range_of_their_type_and_reals_are_positive() {
    let tiny = column(DataType::Int8, &[], 5_000);
    assert_eq!(tiny.as_primitive::<Int8Type>().values().iter().collect::<BTreeSet<_>>().len(), 256);
    let big = column(DataType::Int64, &[], 1_000);
    let negative = big.as_primitive::<Int64Type>().values().iter().filter(|value| **value < 0).count();
    assert!((400..600).contains(&negative));
    assert!(column(DataType::Float32, &[], 1_000).as_primitive::<Float32Type>().values().iter().all(|v| *v > 0.0));
    let money = column(DataType::Decimal128(3, 1), &[], 20_000);
    let tenths: BTreeSet<i128> = money.as_primitive::<Decimal128Type>().values().iter().copied().collect();
    assert_eq!(tenths, (0..=999).collect());
    let extremes = [("fields.a.min", "-1.7e308"), ("fields.a.max", "1.7e308")];
    let wide = column(DataType::Float64, &extremes, 1_000);
    assert!(wide.as_primitive::<Float64Type>().values().iter().all(|value| value.is_finite()));
}

#[test]
fn texts_are_hexadecimal_digits() {
    let text = column(DataType::Utf8View, &[], 100);
    assert!(text.as_string_view().iter().flatten().all(|text| text.len() == 100));
    assert!(text.as_string_view().iter().flatten().flat_map(str::chars).all(|c| c.is_ascii_hexdigit()));
    let options = [("fields.a.length", "5"), ("fields.a.var-len", "true")];
    for data_type in [DataType::Utf8View, DataType::BinaryView] {
        let values = column(data_type.clone(), &options, 500);
        let lengths: BTreeSet<usize> = match data_type {
            DataType::Utf8View => values.as_string_view().iter().flatten().map(str::len).collect(),
            _ => values.as_binary_view().iter().flatten().map(<[u8]>::len).collect(),
        };
        assert_eq!(lengths, (1..=5).collect());
    }
}

#[test]
fn some_values_are_null() {
    for (name, data_type) in every_type() {
        let nulls = |rate| column(data_type.clone(), &[("fields.a.null-rate", rate)], 2_000).null_count();
        assert!((520..680).contains(&nulls("0.3")), "{name}: {}", nulls("0.3"));
        assert_eq!((nulls("0"), nulls("1")), (0, 2_000), "{name}");
    }
    let row = column(row_of(&[("x", DataType::Int32)]), &[("fields.a.null-rate", "0.5")], 100);
    assert_eq!(row.as_struct().column(0).nulls(), row.nulls());
    let inner = column(row_of(&[("x", DataType::Int32)]), &[("fields.a.x.null-rate", "1")], 10);
    assert_eq!((inner.null_count(), inner.as_struct().column(0).null_count()), (0, 10));
}

#[test]
fn arrays_and_maps_have_a_length() {
    let list = column(list_of(DataType::Int32), &[("fields.a.element.max", "9"), ("fields.a.element.min", "0")], 50);
    assert!((0..50).all(|i| list.as_list::<i32>().value_length(i) == 3));
    assert!(list.as_list::<i32>().values().as_primitive::<Int32Type>().values().iter().all(|v| (0..10).contains(v)));
    let list = column(list_of(DataType::Boolean), &[("fields.a.length", "7")], 4);
    assert_eq!(list.as_list::<i32>().values().len(), 28);
    // Keys that are drawn twice are there once.
    let options = [("fields.a.length", "4"), ("fields.a.key.min", "0"), ("fields.a.key.max", "4")];
    let map = column(map_of(DataType::Int32, DataType::Boolean), &options, 100);
    let mut lengths = BTreeSet::new();
    for entries in map.as_map().iter().flatten() {
        let keys: BTreeSet<i32> = entries.column(0).as_primitive::<Int32Type>().values().iter().copied().collect();
        assert_eq!(keys.len(), entries.len());
        lengths.insert(entries.len());
    }
    assert!(lengths.contains(&4) && lengths.contains(&2) && !lengths.contains(&5));
}

#[test]
fn times_are_those_of_their_rows_or_before() {
    let timestamp = DataType::Timestamp(TimeUnit::Millisecond, None);
    let times = |options: &[(&str, &str)]| {
        column(timestamp.clone(), options, 5_000).as_primitive::<TimestampMillisecondType>().values().to_vec()
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64;
    let times_of_rows = times(&[("rows-per-second", "1000")]);
    assert!((times_of_rows[0] - now).abs() < 600_000);
    assert!(times_of_rows.windows(2).all(|pair| pair[1] == pair[0] + 1));
    let past = times(&[("rows-per-second", "1000"), ("fields.a.max-past", "2 s")]);
    let how_far: Vec<i64> = times_of_rows.iter().zip(past).map(|(time, past)| time - past).collect();
    assert!(how_far.iter().all(|past| (0..=2_000).contains(past)));
    assert!((how_far.iter().sum::<i64>() / 5_000 - 1_000).abs() < 50);
    // All elements of an array are of the moment of its row.
    let lists = column(list_of(timestamp), &[("rows-per-second", "1000")], 10);
    let elements = lists.as_list::<i32>().values().as_primitive::<TimestampMillisecondType>().values().to_vec();
    assert_eq!(elements, times_of_rows[..10].iter().flat_map(|time| [*time; 3]).collect::<Vec<_>>());
}
