//! Rows have the numbers in which they come, also behind a restart.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use tidemill_core::EventBatch;
use tidemill_state::{State, StateChanges};

use super::Numbered;
use crate::operator::{Dealer, Operator, Output};

fn offsets(operator: &mut Numbered, rows: i64) -> Vec<i64> {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows));
    let mut out = Output::default();
    operator.on_batch(EventBatch::append(RecordBatch::try_from_iter([("n", column)]).unwrap()), &mut out).unwrap();
    let emitted = out.take().into_iter().flat_map(|(_, batch)| {
        let lineage = batch.lineage.unwrap();
        assert_eq!(&*lineage.source.partition, "orders");
        lineage.offsets().unwrap().values().to_vec()
    });
    emitted.collect()
}

fn snapshot(operator: &mut Numbered) -> State {
    let (mut changes, mut state) = (StateChanges::default(), State::default());
    operator.snapshot(&mut changes).unwrap();
    state.apply(changes);
    state
}

#[test]
fn numbers_go_on_where_a_snapshot_was_taken() {
    let mut operator = Numbered::new("orders".into());
    assert_eq!(offsets(&mut operator, 3), [0, 1, 2]);
    let state = snapshot(&mut operator);
    assert_eq!(offsets(&mut operator, 2), [3, 4]);
    let mut restored = Numbered::new("orders".into());
    restored.restore(state.clone()).unwrap();
    assert_eq!(offsets(&mut restored, 1), [3]);
    let mut dealt = Numbered::new("orders".into());
    dealt.restore_all(operator.deal(state, &Dealer::to_subtasks(1)).unwrap()).unwrap();
    assert_eq!(offsets(&mut dealt, 1), [3]);
}
