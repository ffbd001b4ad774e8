//! Queries that update their result.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Deserialize;
use tidemill::{RowKind, Tables};

use crate::orders::{environment, order, orders};

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Total {
    category: String,
    cents: i64,
}

const TOTALS: &str = "SELECT category, SUM(cents) AS cents FROM orders GROUP BY category";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_changes_of_a_group_lead_to_its_total(orders in orders(), parallelism in 1..=3usize, batch_size in 1..50usize) {
        let env = environment(parallelism, batch_size);
        let mut tables = Tables::new(&env);
        tables.to_table("orders", env.from_iter(orders.clone())).unwrap();
        let changes = tables.from_changelog::<Total>("totals", TOTALS).unwrap().collect();
        env.execute_live().unwrap();
        let mut totals = BTreeMap::new();
        for (kind, Total { category, cents }) in changes.take() {
            match kind {
                RowKind::Insert => prop_assert_eq!(totals.insert(category, cents), None),
                RowKind::UpdateAfter => prop_assert!(totals.insert(category, cents).is_none()),
                RowKind::UpdateBefore | RowKind::Delete => prop_assert_eq!(totals.remove(&category), Some(cents)),
            }
        }
        let mut expected = BTreeMap::new();
        orders.into_iter().for_each(|order| *expected.entry(order.category).or_insert(0) += order.cents);
        prop_assert_eq!(totals, expected);
    }
}

#[test]
fn a_query_that_updates_its_result_is_refused_as_a_stream_of_rows() {
    let env = environment(1, 10);
    let mut tables = Tables::new(&env);
    tables.to_table("orders", env.from_iter(vec![order("a", 1, 0)])).unwrap();
    let error = tables.from_table::<Total>("totals", TOTALS).err().unwrap();
    assert_eq!(
        error.message(),
        "totals:1:1: the query updates its result, and a stream of from_table has rows that are only added"
    );
    assert!(error.hint_text().unwrap().contains("from_changelog"));
    assert!(
        env.execute_live().unwrap_err().message().contains("updates its result"),
        "the program is not run without it"
    );
}
