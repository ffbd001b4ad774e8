use std::collections::BTreeMap;

use arrow::array::AsArray;
use arrow::datatypes::{DataType, Int64Type, TimeUnit, TimestampMillisecondType};
use tidemill_core::{Epoch, EventTimes};

use super::*;
use crate::aggregate::sample::{self, Row};
use crate::operator::Operator;
use crate::window::{PreAggregate, TimeColumn, WindowAssigner, WindowSpec};

fn spec() -> WindowSpec {
    let (early_fire, late_fire) = (None, None);
    let aggregation = sample::aggregation(true, true);
    WindowSpec { assigner: WindowAssigner::tumble(10, 3).unwrap(), lateness_ms: 0, aggregation, early_fire, late_fire }
}

/// The partial states of rows that came in so many flushes.
fn partials(flushes: &[Vec<Row>]) -> Vec<EventBatch> {
    let time = TimeColumn { index: 0, range: EventTimes::ALL };
    let mut fold = PreAggregate::new(time, spec(), None, std::sync::Arc::default()).unwrap();
    let mut out = Output::default();
    for rows in flushes {
        fold.on_batch(EventBatch::append(sample::rows(rows)), &mut out).unwrap();
        fold.on_barrier(Epoch(1), &mut out).unwrap();
    }
    out.take().into_iter().map(|(_, batch)| batch).collect()
}

/// Three thousand windows of five groups, more than one call emits, that one watermark completes.
#[test]
fn each_window_has_its_own_rows_and_they_come_in_order() {
    let row = |i: i64| (i * 2, i % 5 + 1, Some(i % 7));
    let flushes = [(0..9_000).map(row).collect::<Vec<_>>(), (3_000..15_000).map(row).collect()];
    let time = DataType::Timestamp(TimeUnit::Millisecond, None);
    let mut operator = WindowAggregate::new(spec(), &time).unwrap();
    let mut out = Output::default();
    partials(&flushes).into_iter().for_each(|batch| operator.on_batch(batch, &mut out).unwrap());
    operator.on_watermark(Watermark(1), &mut out).unwrap();
    assert!(out.rows() == 0, "the first window ends at 3");

    let mut calls = 0;
    while calls == 0 || operator.unfinished() {
        operator.on_watermark(Watermark(29_998), &mut out).unwrap();
        calls += 1;
    }
    assert_eq!(calls, 2, "what is emitted is sent before all is made");
    let (mut got, mut starts) = (BTreeMap::new(), vec![]);
    for (_, batch) in out.take() {
        assert!(batch.num_rows() <= OUTPUT_ROWS);
        let times = |column: usize| batch.rows.column(column).as_primitive::<TimestampMillisecondType>().values();
        let names = batch.rows.column(3).as_string_view();
        let (sums, counts) = (batch.rows.column(4).as_primitive::<Int64Type>(), batch.rows.column(5));
        let counts = counts.as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            let start = times(0)[row];
            assert_eq!((times(1)[row], times(2)[row]), (start + 10, start + 9));
            starts.push(start);
            got.insert((start, names.value(row).to_owned()), (sums.value(row), counts.value(row)));
        }
    }
    assert!(starts.is_sorted(), "window after window");
    let mut expected: BTreeMap<(i64, String), (i64, i64)> = BTreeMap::new();
    for &(time, key, amount) in flushes.iter().flatten() {
        let name = if key % 2 == 0 { format!("a rather long name {key}") } else { format!("n{key}") };
        let start = (time - 3).div_euclid(10) * 10 + 3;
        if start + 10 - 1 <= 29_998 {
            let group = expected.entry((start, name)).or_default();
            *group = (group.0 + amount.unwrap(), group.1 + 1);
        }
    }
    assert_eq!(got.len(), starts.len(), "each group of a window once");
    assert_eq!(got, expected);
}
