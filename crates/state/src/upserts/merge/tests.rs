use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};
use proptest::prelude::*;

use super::*;
use crate::backend::{Entry, Expiry};
use crate::upserts::rows;

type Row<'a> = (&'a str, Option<(&'a str, Expiry)>);

fn batch(rows: &[Row<'_>], event_ms: i64) -> RecordBatch {
    let mut builder = UpsertsBuilder::default();
    for (key, entry) in rows {
        let entry = entry.map(|(value, expiry)| Entry { value: value.into(), expiry });
        builder.push(key.as_bytes(), entry.as_ref()).unwrap();
    }
    builder.finish(Clocks { event_ms, ..Clocks::START }).unwrap()
}

/// Each of the key, a number with leading zeros, and `value`.
fn numbered(numbers: impl IntoIterator<Item = u32>, value: &str) -> RecordBatch {
    let keys: Vec<String> = numbers.into_iter().map(|number| format!("{number:03}")).collect();
    let row = |key| (key, Some((value, Expiry::Never)));
    batch(&keys.iter().map(String::as_str).map(row).collect::<Vec<_>>(), 0)
}

/// What comes of runs, each of its pieces.
fn merged(runs: Vec<Vec<RecordBatch>>, whole: bool) -> Result<Vec<RecordBatch>> {
    let mut runs: Vec<VecDeque<RecordBatch>> = runs.into_iter().map(VecDeque::from).collect();
    let mut merge = Merge::new(runs.len(), whole);
    let mut pieces = vec![];
    loop {
        match merge.step()? {
            Step::Wants(run) => merge.give(run, runs[run].pop_front())?,
            Step::Piece(piece) => pieces.push(piece),
            Step::Done => return Ok(pieces),
        }
    }
}

/// The same of runs of one piece.
fn compact(batches: &[RecordBatch], whole: bool) -> Vec<RecordBatch> {
    merged(batches.iter().map(|batch| vec![batch.clone()]).collect(), whole).unwrap()
}

fn shown(pieces: &[RecordBatch]) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let row = |row: Result<(&[u8], Option<Entry>)>| {
        let (key, entry) = row.unwrap();
        format!("{}={}", text(key), entry.map_or("gone".to_owned(), |entry| text(&entry.value)))
    };
    pieces.iter().flat_map(|piece| rows(piece).unwrap().map(row).collect::<Vec<_>>()).collect()
}

#[test]
fn the_last_row_of_a_key_counts() {
    let never = |value| Some((value, Expiry::Never));
    let first = batch(&[("b", never("1")), ("a", never("1")), ("b", never("2")), ("", never(""))], 0);
    let second = batch(&[("a", None), ("c", never("3")), ("d", None)], 0);
    let both = [first, second];
    assert_eq!(shown(&compact(&both, true)), ["=", "b=2", "c=3"]);
    // What stands before them may have the key.
    assert_eq!(shown(&compact(&both, false)), ["=", "a=gone", "b=2", "c=3", "d=gone"]);
}

#[test]
fn what_has_expired_needs_no_row_where_nothing_stands_before() {
    let until = |end_ms| Some(("x", Expiry::EventTime(end_ms)));
    let batches = [batch(&[("a", until(10)), ("b", until(11))], 5), batch(&[("c", until(9))], 10)];
    assert_eq!(shown(&compact(&batches, true)), ["b=x"]);
    assert_eq!(shown(&compact(&batches, false)), ["a=x", "b=x", "c=x"]);
    // The result keeps the clocks.
    let again = compact(&batches, false);
    assert_eq!(shown(&compact(&again, true)), ["b=x"]);
}

#[test]
fn what_leaves_no_row_leaves_no_piece() {
    assert!(compact(&[numbered([], "x")], false).is_empty());
    assert!(compact(&[numbered([1], "x"), batch(&[("001", None)], 0)], true).is_empty());
}

#[test]
fn other_columns_are_refused() {
    let other: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let other = RecordBatch::try_from_iter([("n", other)]).unwrap();
    let error = merged(vec![vec![other]], true).unwrap_err();
    assert_eq!(error.message(), "a key-value part of the state has other columns than a key and a value");
}

/// However large the run, of each there is one piece: the next is asked for when the one before has gone out.
#[test]
fn of_a_run_one_piece_is_read_at_a_time() {
    let mut old: VecDeque<RecordBatch> = compact(&[numbered(0..100, "old")], true).into();
    assert!(old.len() > 10, "{} pieces", old.len());
    let of_a_piece = old[0].num_rows();
    let mut new = Some(numbered([99, 7], "new"));
    let mut merge = Merge::new(2, true);
    let (mut given, mut pieces) = (0, vec![]);
    loop {
        match merge.step().unwrap() {
            Step::Wants(0) => {
                given += old.front().map_or(0, RecordBatch::num_rows);
                merge.give(0, old.pop_front()).unwrap();
            }
            Step::Wants(run) => merge.give(run, new.take()).unwrap(),
            Step::Piece(piece) => {
                pieces.push(piece);
                let out: usize = pieces.iter().map(RecordBatch::num_rows).sum();
                assert!(given <= out + 2 * of_a_piece, "{given} rows were read, and {out} have gone out");
            }
            Step::Done => break,
        }
    }
    let value = |number: u32| if number == 7 || number == 99 { "new" } else { "old" };
    assert_eq!(shown(&pieces), (0..100).map(|number| format!("{number:03}={}", value(number))).collect::<Vec<_>>());
}

fn part() -> impl Strategy<Value = Vec<(u32, bool)>> {
    prop::collection::vec((0..40_u32, prop::bool::weighted(0.8)), 0..40)
}

proptest! {
    /// Whatever has been made one before, and by whichever pieces.
    #[test]
    fn a_merge_says_what_its_parts_say(
        parts in prop::collection::vec(part(), 1..8),
        first in 0..8_usize,
        whole in any::<bool>(),
    ) {
        let mut model: BTreeMap<String, String> = BTreeMap::new();
        let mut runs: Vec<Vec<RecordBatch>> = vec![];
        for (number, part) in parts.iter().enumerate() {
            let value = format!("part {number}");
            let keys: Vec<(String, bool)> = part.iter().map(|(key, there)| (format!("{key:03}"), *there)).collect();
            let row = |(key, there): &(String, bool)| (key.clone(), if *there { value.clone() } else { "gone".to_owned() });
            model.extend(keys.iter().map(row));
            let entry = |there: bool| there.then_some((value.as_str(), Expiry::Never));
            runs.push(vec![batch(&keys.iter().map(|(key, there)| (key.as_str(), entry(*there))).collect::<Vec<_>>(), 0)]);
        }
        if whole {
            model.retain(|_, value| value != "gone");
        }
        let rest = runs.split_off(first.min(runs.len()));
        let mut runs = vec![merged(runs, whole).unwrap()];
        runs.extend(rest);
        let pieces = merged(runs, whole).unwrap();
        prop_assert_eq!(shown(&pieces), model.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>());
        let bytes = |piece: &RecordBatch| -> usize {
            rows(piece).unwrap().map(|row| row.map_or(0, |(key, entry)| key.len() + entry.map_or(0, |e| e.value.len() + 1))).sum()
        };
        prop_assert!(pieces.iter().all(|piece| piece.num_rows() == 1 || bytes(piece) <= PIECE_BYTES));
    }
}
