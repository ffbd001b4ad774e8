//! Payments matched with orders: a payment belongs to the order that was placed up to an hour before it.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tidemill::{DataStream, Environment, EventTime, OutputTag, Result, Table, WatermarkStrategy};

const HOUR_MS: i64 = 3_600_000;

/// Orders that nobody has paid within the hour.
const UNPAID: OutputTag<Order> = OutputTag::new("unpaid");
/// Payments without an order in the hour before.
const WITHOUT_ORDER: OutputTag<Payment> = OutputTag::new("without order");

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Order {
    order_id: i64,
    placed_ms: i64,
    total: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Payment {
    order_id: i64,
    paid_ms: i64,
    amount: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Matched {
    order_id: i64,
    waited_ms: i64,
    /// What is still to be paid.
    open: f64,
}

struct Reconciled {
    matched: DataStream<Matched>,
    unpaid: DataStream<Order>,
    without_order: DataStream<Payment>,
}

fn reconcile(orders: DataStream<Order>, payments: DataStream<Payment>) -> Reconciled {
    // Up to a minute late.
    let late = WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_secs(60));
    let orders = orders
        .assign_timestamps_and_watermarks(late.with_timestamp_assigner(|order: &Order| EventTime(order.placed_ms)))
        .key_by(|order| order.order_id);
    let payments = payments
        .assign_timestamps_and_watermarks(late.with_timestamp_assigner(|payment: &Payment| EventTime(payment.paid_ms)))
        .key_by(|payment| payment.order_id);
    let matched = orders
        .interval_join(payments, 0..=HOUR_MS)
        .side_output_unmatched_first(&UNPAID)
        .side_output_unmatched_second(&WITHOUT_ORDER)
        .apply("payments of orders", |order, payment| Matched {
            order_id: order.order_id,
            waited_ms: payment.paid_ms - order.placed_ms,
            open: order.total - payment.amount,
        });
    Reconciled { unpaid: matched.side_output(&UNPAID), without_order: matched.side_output(&WITHOUT_ORDER), matched }
}

fn read(env: &Environment, folder: &Path) -> Result<Reconciled> {
    let table = |file: &str| Table::new("filesystem").with("path", file).with("format", "json").in_folder(folder);
    Ok(reconcile(table("orders.jsonl").read(env, "orders")?, table("payments.jsonl").read(env, "payments")?))
}

fn main() -> Result<()> {
    let env = Environment::new();
    let Reconciled { matched, unpaid, without_order } =
        read(&env, &Path::new(env!("CARGO_MANIFEST_DIR")).join("payments"))?;
    matched.for_each("matched", |of| {
        println!("order {} paid after {} s, open {:.2}", of.order_id, of.waited_ms / 1000, of.open)
    });
    unpaid.for_each("unpaid", |order| println!("order {} is not paid", order.order_id));
    without_order.for_each("without order", |payment| {
        println!("a payment of {:.2} for order {}, which is not there", payment.amount, payment.order_id)
    });
    env.execute_live()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order_and_each_payment_is_accounted_for() {
        let env = Environment::new();
        let found = read(&env, &Path::new(env!("CARGO_MANIFEST_DIR")).join("payments")).unwrap();
        let (matched, unpaid, without_order) =
            (found.matched.collect(), found.unpaid.collect(), found.without_order.collect());
        env.execute_live().unwrap();
        let mut matched: Vec<(i64, i64, f64)> =
            matched.take().into_iter().map(|of| (of.order_id, of.waited_ms, of.open)).collect();
        matched.sort_by_key(|of| (of.0, of.1));
        assert_eq!(
            matched,
            [(1, 90_000, 0.0), (2, -0, 0.0), (4, 600_000, 30.0), (4, 1_200_000, 60.0), (6, HOUR_MS, 0.0)]
        );
        let mut unpaid: Vec<i64> = unpaid.take().into_iter().map(|order| order.order_id).collect();
        unpaid.sort_unstable();
        assert_eq!(unpaid, [3, 5], "order 5 is paid a millisecond too late");
        let mut without: Vec<i64> = without_order.take().into_iter().map(|payment| payment.order_id).collect();
        without.sort_unstable();
        assert_eq!(without, [5, 99]);
    }
}
