use std::sync::Arc;

use arrow::array::{AsArray, Int64Array};
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use proptest::prelude::*;

use super::*;
use crate::time_zone::TimeZone;

/// Columns: the partition, what is ordered by first, what breaks ties.
type Row = (i64, Option<i64>, i64);

fn operator(limit: usize, options: SortOptions) -> PreTopN {
    let column = |name| Field::new(name, DataType::Int64, true);
    let schema = Schema::new(vec![column("p"), column("v"), column("t"), Field::new("rank", DataType::UInt64, false)]);
    PreTopN::new(TopNSpec {
        partition: vec![0],
        order: vec![(1, options), (2, SortOptions::default())],
        limit,
        append_only: true,
        window_end: None,
        zone: TimeZone::UTC,
        schema: Arc::new(schema),
    })
}

fn kept(operator: &mut PreTopN, rows: &[Row]) -> Vec<Row> {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("p", Arc::new(rows.iter().map(|row| Some(row.0)).collect::<Int64Array>())),
        ("v", Arc::new(rows.iter().map(|row| row.1).collect::<Int64Array>())),
        ("t", Arc::new(rows.iter().map(|row| Some(row.2)).collect::<Int64Array>())),
    ];
    let mut out = Output::default();
    operator
        .on_batch(
            EventBatch::append(
                RecordBatch::try_from_iter_with_nullable(
                    columns.into_iter().map(|(name, column)| (name, column, true)),
                )
                .unwrap(),
            ),
            &mut out,
        )
        .unwrap();
    let batches = out.take();
    let rows = batches.iter().flat_map(|(_, batch)| {
        let column = |index: usize| batch.rows.column(index).as_primitive::<Int64Type>().iter();
        column(0).zip(column(1)).zip(column(2)).map(|((p, v), t)| (p.unwrap(), v, t.unwrap())).collect::<Vec<_>>()
    });
    rows.collect()
}

/// The first rows of each partition, naively.
fn first(rows: &[Row], limit: usize, options: SortOptions) -> Vec<Row> {
    let mut sorted = rows.to_vec();
    sorted.sort_by(|a, b| {
        let values = match (a.1, b.1) {
            (Some(a), Some(b)) if options.descending => b.cmp(&a),
            (Some(a), Some(b)) => a.cmp(&b),
            (None, None) => std::cmp::Ordering::Equal,
            (None, Some(_)) => {
                if options.nulls_first {
                    std::cmp::Ordering::Less
                } else {
                    std::cmp::Ordering::Greater
                }
            }
            (Some(_), None) => {
                if options.nulls_first {
                    std::cmp::Ordering::Greater
                } else {
                    std::cmp::Ordering::Less
                }
            }
        };
        a.0.cmp(&b.0).then(values).then(a.2.cmp(&b.2))
    });
    sorted.chunk_by(|a, b| a.0 == b.0).flat_map(|rows| rows.iter().take(limit).copied()).collect()
}

proptest! {
    #[test]
    fn no_row_of_the_first_is_left_out(
        rows in prop::collection::vec((0i64..3, prop::option::weighted(0.9, 0i64..6), 0i64..50), 0..60),
        sorted: bool,
        limit in 0usize..8,
        descending: bool,
        nulls_first: bool,
    ) {
        let mut rows = rows;
        if sorted {
            rows.sort_by_key(|row| row.0);
        }
        let options = SortOptions { descending, nulls_first };
        let kept = kept(&mut operator(limit, options), &rows);
        prop_assert_eq!(first(&kept, limit, options), first(&rows, limit, options));
    }
}

#[test]
fn of_a_window_few_rows_are_left() {
    let rows: Vec<Row> = (0..1_000).map(|i| (i / 500, Some(i % 500 / 5), i)).collect();
    // Five rows have each value: of two partitions the first two values.
    assert_eq!(kept(&mut operator(7, SortOptions { descending: true, nulls_first: false }), &rows).len(), 20);
}
