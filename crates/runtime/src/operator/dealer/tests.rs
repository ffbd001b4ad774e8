//! State is dealt as rows are.

use std::sync::Arc;

use arrow::array::{AsArray, Int64Array};
use arrow::datatypes::Int64Type;

use super::*;

#[test]
fn each_row_goes_where_its_key_group_is() {
    let key: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
    let batch = RecordBatch::try_from_iter([("key", Arc::clone(&key))]).unwrap();
    let groups = key_groups(&[Arc::clone(&key)], 1000).unwrap();
    for dealer in [1, 2, 5, KEY_GROUPS].map(Dealer::to_subtasks).into_iter().chain([Dealer::to_key_groups()]) {
        let dealt = dealer.deal(&batch, &[Arc::clone(&key)]).unwrap();
        assert_eq!(dealt.len(), dealer.parts());
        assert_eq!(dealt.iter().map(RecordBatch::num_rows).sum::<usize>(), 1000);
        for (part, rows) in dealt.iter().enumerate() {
            let keys = rows.column(0).as_primitive::<Int64Type>().values();
            assert!(keys.is_sorted(), "rows keep their order");
            let expected = |key: &i64| match dealer == Dealer::to_key_groups() {
                true => usize::from(groups[*key as usize]),
                false => owner(groups[*key as usize], dealer.parts()),
            };
            assert!(keys.iter().all(|key| expected(key) == part));
        }
    }
}
