//! Orders that come in any order, and which of them are in time.

use std::time::Duration;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use tidemill::{DataStream, Environment, EventTime, Settings, WatermarkStrategy};

pub const MINUTE_MS: i64 = 60_000;
pub const OUT_OF_ORDER_MS: i64 = 5_000;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    pub category: String,
    pub cents: i64,
    pub coupon: Option<i64>,
    pub placed_ms: i64,
}

/// Nearly in the order of their times; some are far behind.
pub fn orders() -> impl Strategy<Value = Vec<Order>> {
    orders_behind(prop_oneof![8 => 0..OUT_OF_ORDER_MS, 1 => 0..4 * MINUTE_MS])
}

/// Nearly in the order of their times, so that none is late.
pub fn orders_in_time() -> impl Strategy<Value = Vec<Order>> {
    orders_behind(0..OUT_OF_ORDER_MS)
}

/// Each is so far behind the latest.
fn orders_behind(behind: impl Strategy<Value = i64>) -> impl Strategy<Value = Vec<Order>> {
    let order = ("[abc]", 0..10_000i64, proptest::option::of(0..100i64), 0..15_000i64, behind);
    proptest::collection::vec(order, 0..120).prop_map(|steps| {
        let mut now = 0;
        let order = |(category, cents, coupon, step, behind)| {
            now += step;
            Order { category, cents, coupon, placed_ms: now - behind }
        };
        steps.into_iter().map(order).collect()
    })
}

/// Each order with its watermark: the highest that followed from those before it.
pub fn with_watermarks(orders: &[Order]) -> Vec<(Order, i64)> {
    let mut watermark = i64::MIN;
    let own = |order: &Order| {
        let own = watermark;
        watermark = watermark.max(order.placed_ms - OUT_OF_ORDER_MS - 1);
        (order.clone(), own)
    };
    orders.iter().map(own).collect()
}

pub fn environment(parallelism: usize, batch_size: usize) -> Environment {
    Environment::with(Settings { parallelism, batch_size, ..Settings::default() })
}

pub fn timed(env: &Environment, orders: Vec<Order>) -> DataStream<Order> {
    let bound = Duration::from_millis(OUT_OF_ORDER_MS.unsigned_abs());
    env.from_iter(orders).assign_timestamps_and_watermarks(
        WatermarkStrategy::for_bounded_out_of_orderness(bound)
            .with_timestamp_assigner(|order: &Order| EventTime(order.placed_ms)),
    )
}

pub fn order(category: &str, cents: i64, placed_ms: i64) -> Order {
    Order { category: category.to_owned(), cents, coupon: None, placed_ms }
}
