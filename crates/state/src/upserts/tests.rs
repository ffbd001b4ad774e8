use super::*;
use crate::backend::Expiry;

type Row<'a> = (&'a str, Option<(&'a str, Expiry)>);

fn batch(rows: &[Row<'_>], event_ms: i64) -> RecordBatch {
    let mut builder = UpsertsBuilder::default();
    for (key, entry) in rows {
        let entry = entry.map(|(value, expiry)| Entry { value: value.into(), expiry });
        builder.push(key.as_bytes(), entry.as_ref()).unwrap();
    }
    builder.finish(Clocks { event_ms, ..Clocks::START }).unwrap()
}

fn shown(batch: &RecordBatch) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let row = |row: Result<(&[u8], Option<Entry>)>| {
        let (key, entry) = row.unwrap();
        format!("{}={}", text(key), entry.map_or("gone".to_owned(), |entry| text(&entry.value)))
    };
    rows(batch).unwrap().map(row).collect()
}

#[test]
fn the_last_row_of_a_key_counts() {
    let never = |value| Some((value, Expiry::Never));
    let first = batch(&[("b", never("1")), ("a", never("1")), ("b", never("2")), ("", never(""))], 0);
    let second = batch(&[("a", None), ("c", never("3")), ("d", None)], 0);
    let both = [first, second];
    assert_eq!(shown(&compact(&both, true).unwrap().unwrap()), ["=", "b=2", "c=3"]);
    // What stands before them may have the key.
    assert_eq!(shown(&compact(&both, false).unwrap().unwrap()), ["=", "a=gone", "b=2", "c=3", "d=gone"]);
}

#[test]
fn what_has_expired_needs_no_row_where_nothing_stands_before() {
    let until = |end_ms| Some(("x", Expiry::EventTime(end_ms)));
    let batches = [batch(&[("a", until(10)), ("b", until(11))], 5), batch(&[("c", until(9))], 10)];
    assert_eq!(shown(&compact(&batches, true).unwrap().unwrap()), ["b=x"]);
    assert_eq!(shown(&compact(&batches, false).unwrap().unwrap()), ["a=x", "b=x", "c=x"]);
    // The result keeps the clocks.
    let again = [compact(&batches, false).unwrap().unwrap()];
    assert_eq!(shown(&compact(&again, true).unwrap().unwrap()), ["b=x"]);
}

#[test]
fn other_columns_are_refused() {
    let other: ArrayRef = Arc::new(arrow::array::Int64Array::from(vec![1]));
    let other = RecordBatch::try_from_iter([("n", other)]).unwrap();
    let error = compact(&[other], true).unwrap_err();
    assert_eq!(error.message(), "a key-value part of the state has other columns than a key and a value");
}
