use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{AsArray, Int64Array};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use proptest::prelude::*;

use super::*;

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("v", DataType::Int64, false)]))
}

fn rows(values: Vec<i64>) -> RecordBatch {
    RecordBatch::try_new(schema(), vec![Arc::new(Int64Array::from(values))]).unwrap()
}

fn got(slots: &Slots, wanted: &[usize]) -> Vec<i64> {
    slots.get(wanted).unwrap().column(0).as_primitive::<Int64Type>().values().to_vec()
}

#[test]
fn a_slot_has_the_row_that_was_set_last() {
    let mut slots = Slots::new(schema());
    slots.set(&[0, 3], rows(vec![10, 13])).unwrap();
    slots.set(&[3, 1], rows(vec![23, 21])).unwrap();
    assert!(!slots.is_set(2));
    for _ in 0..2 {
        assert_eq!(got(&slots, &[3, 0, 1]), [23, 10, 21]);
        slots.compact().unwrap();
    }
}

#[test]
fn many_small_batches_become_few() {
    let mut slots = Slots::new(schema());
    for value in 0..10_000 {
        slots.set(&[value as usize % 100], rows(vec![value])).unwrap();
    }
    // Fewer than one for each hundred of the rows that may be kept.
    assert!(slots.batches.len() < 2 * SLACK_ROWS / 100, "{} batches", slots.batches.len());
    assert!(slots.small.len() < 8, "{} small batches", slots.small.len());
    assert_eq!(got(&slots, &[0, 99]), [9_900, 9_999]);
}

proptest! {
    #[test]
    fn slots_are_a_map(
        steps in prop::collection::vec((prop::collection::vec(0usize..40, 0..24), any::<bool>(), 0usize..40), 0..60),
    ) {
        let (mut slots, mut map, mut value) = (Slots::new(schema()), BTreeMap::new(), 0);
        for (numbers, compacted, unset) in steps {
            // One that comes twice has the later row.
            let values: Vec<i64> = numbers.iter().map(|_| { value += 1; value }).collect();
            slots.set(&numbers, rows(values.clone())).unwrap();
            map.extend(numbers.into_iter().zip(values));
            if compacted {
                slots.unset(unset);
                map.remove(&unset);
            }
            let kept: Vec<usize> = map.keys().copied().collect();
            prop_assert_eq!(got(&slots, &kept), map.values().copied().collect::<Vec<_>>());
            prop_assert_eq!((0..40).filter(|&slot| slots.is_set(slot)).collect::<Vec<_>>(), kept);
            prop_assert_eq!(slots.rows, slots.batches.iter().map(RecordBatch::num_rows).sum::<usize>());
        }
    }
}
