//! Every function that keeps values against plain sorting, through random trees of partial states.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, StringViewArray, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Float64Type, Int32Type};
use proptest::prelude::*;

use super::entries::Encoder;
use super::extreme::{End, Extreme};
use super::finish::Finish;
use super::multiset::{Frequency, Multiset};
use crate::function::aggregate::grouped::{Grouped, Rows};

const GROUPS: usize = 3;

/// A row: its group, its text, its time, its offset.
type Row = (usize, Option<String>, Option<i64>, i64);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let text = prop::option::weighted(0.8, "[ab]{0,2}");
    let row = (0..GROUPS, text, prop::option::weighted(0.9, 0..4i64));
    prop::collection::vec(row, 0..40)
        .prop_map(|rows| (0..).zip(rows).map(|(offset, (group, text, time))| (group, text, time, offset)).collect())
}

fn columns(rows: &[Row]) -> Vec<ArrayRef> {
    vec![
        Arc::new(rows.iter().map(|row| row.1.as_deref()).collect::<StringViewArray>()),
        Arc::new(rows.iter().map(|row| row.2).collect::<Int64Array>()),
        Arc::new(rows.iter().map(|row| Some(row.3)).collect::<Int64Array>()),
    ]
}

/// The state of rows that come in a random order, cut into parts that are folded by themselves.
fn folded(empty: &dyn Grouped, rows: &[Row], order: &[prop::sample::Index], cuts: usize) -> Box<dyn Grouped> {
    let mut left: Vec<usize> = (0..rows.len()).collect();
    let shuffled: Vec<usize> = order.iter().take(rows.len()).map(|i| left.swap_remove(i.index(left.len()))).collect();
    let all: Vec<usize> = (0..GROUPS).collect();
    let mut merged = empty.fresh();
    merged.resize(GROUPS);
    for part in shuffled.chunks(rows.len() / (cuts + 1) + 1) {
        let indices = UInt64Array::from_iter_values(part.iter().map(|&i| i as u64));
        let values: Vec<ArrayRef> = columns(rows).iter().map(|c| take(c, &indices, None).unwrap()).collect();
        let groups: Vec<usize> = part.iter().map(|&i| rows[i].0).collect();
        let mut own = empty.fresh();
        own.resize(GROUPS);
        own.update(&Rows { values: &values, groups: &groups, filter: None }).unwrap();
        let states = own.states(GROUPS).unwrap();
        merged.merge(&states, &all).unwrap();
    }
    merged
}

/// The texts of a group in the order of the log.
fn in_order(rows: &[Row], group: usize) -> Vec<Option<String>> {
    let mut rows: Vec<&Row> = rows.iter().filter(|row| row.0 == group).collect();
    rows.sort_by_key(|row| (row.2, row.3));
    rows.iter().map(|row| row.1.clone()).collect()
}

fn once<T: Clone + PartialEq>(values: Vec<T>) -> Vec<T> {
    values.iter().enumerate().filter(|(i, v)| !values[..*i].contains(v)).map(|(_, v)| v.clone()).collect()
}

fn encoder() -> Encoder {
    Encoder::new(&[DataType::Int64, DataType::Int64], &DataType::Utf8View).unwrap()
}

fn order() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    prop::collection::vec(any::<prop::sample::Index>(), 40)
}

proptest! {
    #[test]
    fn first_and_last(rows in rows(), order in order(), cuts in 0..5usize) {
        for end in [End::First, End::Last] {
            let got = folded(&Extreme::new(end, encoder()), &rows, &order, cuts).results(GROUPS).unwrap();
            for group in 0..GROUPS {
                let mut present = in_order(&rows, group).into_iter().flatten();
                let expected = if end == End::First { present.next() } else { present.last() };
                let got = got.as_string_view();
                prop_assert_eq!(got.is_valid(group).then(|| got.value(group).to_owned()), expected);
            }
        }
    }

    #[test]
    fn texts(rows in rows(), order in order(), cuts in 0..5usize, distinct: bool) {
        let finish = Finish::Text(Some("|".into()));
        let empty = Multiset::new(encoder(), finish, Frequency::One, false, distinct);
        let got = folded(&empty, &rows, &order, cuts).results(GROUPS).unwrap();
        for group in 0..GROUPS {
            let present: Vec<String> = in_order(&rows, group).into_iter().flatten().collect();
            let present = if distinct { once(present) } else { present };
            let expected = (!present.is_empty()).then(|| present.join("|"));
            let got = got.as_string_view();
            prop_assert_eq!(got.is_valid(group).then(|| got.value(group).to_owned()), expected);
        }
    }

    #[test]
    fn lists(rows in rows(), order in order(), cuts in 0..5usize, distinct: bool, nulls: bool) {
        let empty = Multiset::new(encoder(), Finish::List, Frequency::One, nulls, distinct);
        let got = folded(&empty, &rows, &order, cuts).results(GROUPS).unwrap();
        for group in 0..GROUPS {
            let kept: Vec<_> = in_order(&rows, group).into_iter().filter(|text| nulls || text.is_some()).collect();
            let kept = if distinct { once(kept) } else { kept };
            let list = got.as_list::<i32>();
            let values = list.value(group);
            let values: Vec<_> = values.as_string_view().iter().map(|text| text.map(str::to_owned)).collect();
            prop_assert_eq!(list.is_valid(group), !kept.is_empty());
            prop_assert_eq!(values, kept);
        }
    }

    #[test]
    fn counts_and_what_was_taken_back(rows in rows(), others in rows(), order in order(), distinct: bool) {
        let empty = Multiset::new(
            Encoder::new(&[], &DataType::Utf8View).unwrap(), Finish::Counts, Frequency::One, false, distinct,
        );
        let mut groups = folded(&empty, &rows, &order, 2);
        if groups.retractable() {
            let of: Vec<usize> = others.iter().map(|row| row.0).collect();
            let columns = columns(&others);
            let others = Rows { values: &columns, groups: &of, filter: None };
            groups.update(&others).unwrap();
            groups.retract(&others).unwrap();
        }
        let got = groups.results(GROUPS).unwrap();
        for group in 0..GROUPS {
            let mut expected = BTreeMap::new();
            for text in in_order(&rows, group).into_iter().flatten() {
                let count = expected.entry(text).or_insert(0);
                *count = if distinct { 1 } else { *count + 1 };
            }
            let entries = got.as_map().value(group);
            let texts = entries.column(0).as_string_view().iter().flatten().map(str::to_owned);
            let got: BTreeMap<String, i32> =
                texts.zip(entries.column(1).as_primitive::<Int32Type>().values().iter().copied()).collect();
            prop_assert_eq!(got, expected);
        }
    }

    #[test]
    fn percentiles(
        values in prop::collection::vec((prop::option::weighted(0.9, -50..50i32), -1..4i64), 0..30),
        share in prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0f64],
    ) {
        let encoder = Encoder::new(&[], &DataType::Float64).unwrap();
        let mut groups = Multiset::new(encoder, Finish::Percentile(share), Frequency::Argument(2), false, false);
        groups.resize(1);
        let column: Float64Array = values.iter().map(|(value, _)| value.map(f64::from)).collect();
        let shares = Float64Array::from(vec![share; values.len()]);
        let frequencies = Int64Array::from_iter_values(values.iter().map(|(_, frequency)| *frequency));
        let columns: Vec<ArrayRef> = vec![Arc::new(column), Arc::new(shares), Arc::new(frequencies)];
        groups.update(&Rows { values: &columns, groups: &vec![0; values.len()], filter: None }).unwrap();
        let got = groups.results(1).unwrap();
        let repeated = values.iter().flat_map(|(v, n)| std::iter::repeat_n(*v, (*n).max(0) as usize));
        let mut sorted: Vec<i32> = repeated.flatten().collect();
        sorted.sort_unstable();
        if sorted.is_empty() {
            prop_assert!(got.is_null(0));
        } else {
            let place = share * (sorted.len() - 1) as f64;
            let (low, high) = (sorted[place as usize], sorted[(place as usize + 1).min(sorted.len() - 1)]);
            let expected = f64::from(low) + f64::from(high - low) * place.fract();
            prop_assert!((got.as_primitive::<Float64Type>().value(0) - expected).abs() < 1e-9);
        }
    }
}
