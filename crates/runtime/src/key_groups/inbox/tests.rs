use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};

use super::*;

fn batch(number: i64) -> EventBatch {
    let column: ArrayRef = Arc::new(Int64Array::from(vec![number; 100]));
    EventBatch::append(RecordBatch::try_from_iter([("n", column)]).unwrap())
}

fn all(inbox: &mut Inbox) -> Vec<(i64, EventBatch)> {
    let popped = std::iter::from_fn(|| Some(inbox.pop().unwrap()).filter(|batches| !batches.is_empty()));
    popped.flatten().map(|(before, batch)| (before.0, batch)).collect()
}

fn is(found: &[(i64, EventBatch)], wanted: &[i64]) -> bool {
    found.len() == wanted.len()
        && found.iter().zip(wanted).all(|((before, found), &n)| *before == 10 * n && found.rows == batch(n).rows)
}

#[test]
fn rows_come_out_in_their_order_spilled_or_not() {
    let parent = tempfile::tempdir().unwrap();
    let folder = SpillFolder::within(parent.path()).unwrap();
    let mut inbox = Inbox::default();
    for number in 0..6 {
        inbox.push(Watermark(10 * number), batch(number));
        if number == 3 {
            inbox.spill(0, false, &folder).unwrap();
        }
    }
    inbox.spill(u64::MAX, false, &folder).unwrap();
    let bytes = inbox.bytes();
    assert!(is(&all(&mut inbox), &[0, 1, 2, 3, 4, 5]));
    assert!(bytes > 0 && inbox.bytes() == 0 && inbox.is_empty());
}

#[test]
fn a_restored_inbox_has_what_waited() {
    let parent = tempfile::tempdir().unwrap();
    let folder = SpillFolder::within(parent.path()).unwrap();
    let (mut inbox, mut state, mut gone) = (Inbox::default(), State::default(), 0);
    for number in 0..9 {
        inbox.push(Watermark(10 * number), batch(number));
        if number % 3 == 1 {
            // Those that were put out of memory together come back together.
            gone += inbox.pop().unwrap().len() as i64;
            inbox.spill(0, false, &folder).unwrap();
        }
        if number % 2 == 0 {
            let mut changes = StateChanges::default();
            inbox.save(false, &mut changes).unwrap();
            state.apply(changes);
            let mut restored = Inbox::default();
            let mut left = state.clone();
            restored.load(&mut left).unwrap();
            assert!(left.finish().is_ok());
            assert!(is(&all(&mut restored), &(gone..=number).collect::<Vec<_>>()), "after {number}");
        }
    }
    all(&mut inbox);
    let mut changes = StateChanges::default();
    inbox.save(false, &mut changes).unwrap();
    state.apply(changes);
    assert!(state.is_empty());
}
