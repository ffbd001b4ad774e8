//! Alerts on cards that are used too often, or for too much, told with the transaction that makes it so.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tidemill::state::{KeyedState, MapState, MapStateDescriptor};
use tidemill::{
    Collector, Context, DataStream, Environment, EventTime, KeyedProcessFunction, Result, Table, Timer,
    WatermarkStrategy,
};

/// More transactions of a card than these within a minute are too many.
const MOST_A_MINUTE: usize = 3;
/// More than this within ten minutes is too much.
const MOST_IN_TEN_MINUTES: f64 = 1000.0;

const MINUTE_MS: i64 = 60_000;
const TEN_MINUTES_MS: i64 = 10 * MINUTE_MS;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Transaction {
    card: String,
    at_ms: i64,
    amount: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Alert {
    card: String,
    at_ms: i64,
    reason: String,
}

/// Remembers what each card has paid in the last ten minutes.
struct Velocity {
    paid: MapState<i64, Vec<f64>>,
}

impl Velocity {
    fn open(states: &mut KeyedState) -> Result<Self> {
        Ok(Self { paid: states.map_state(MapStateDescriptor::new("paid"))? })
    }
}

impl KeyedProcessFunction<String, Transaction> for Velocity {
    type Out = Alert;

    fn process_element(
        &mut self,
        card: &String,
        transaction: Transaction,
        context: &mut Context<'_>,
        out: &mut Collector<Alert>,
    ) -> Result<()> {
        let Transaction { at_ms, amount, .. } = transaction;
        let mut now = self.paid.get(context.state(), &at_ms)?.unwrap_or_default();
        now.push(amount);
        self.paid.put(context.state(), &at_ms, &now)?;
        context.register_event_time_timer(EventTime(at_ms + TEN_MINUTES_MS))?;

        let recent = self.paid.range(context.state(), at_ms - TEN_MINUTES_MS + 1..=at_ms)?;
        let recent: Vec<(i64, Vec<f64>)> = recent.collect::<Result<_>>()?;
        let total: f64 = recent.iter().flat_map(|(_, amounts)| amounts).sum();
        let in_a_minute = recent.iter().filter(|(time, _)| *time > at_ms - MINUTE_MS);
        let count: usize = in_a_minute.map(|(_, amounts)| amounts.len()).sum();
        let mut alert = |reason: String| out.collect(Alert { card: card.clone(), at_ms, reason });
        if count > MOST_A_MINUTE {
            alert(format!("{count} transactions within a minute"));
        }
        if total > MOST_IN_TEN_MINUTES {
            alert(format!("{total:.2} within ten minutes"));
        }
        Ok(())
    }

    fn on_timer(
        &mut self,
        _: &String,
        timer: Timer,
        context: &mut Context<'_>,
        _: &mut Collector<Alert>,
    ) -> Result<()> {
        // What is ten minutes old is forgotten.
        if let Timer::EventTime(EventTime(now)) = timer {
            self.paid.remove(context.state(), &(now - TEN_MINUTES_MS))?;
        }
        Ok(())
    }
}

fn alerts(env: &Environment, folder: &Path) -> Result<DataStream<Alert>> {
    let transactions =
        Table::new("filesystem").with("path", "transactions.jsonl").with("format", "json").in_folder(folder);
    let by_time = WatermarkStrategy::for_monotonous_timestamps()
        .with_timestamp_assigner(|transaction: &Transaction| EventTime(transaction.at_ms));
    Ok(transactions
        .read(env, "transactions")?
        .assign_timestamps_and_watermarks(by_time)
        .key_by(|transaction: &Transaction| transaction.card.clone())
        .process("velocity", Velocity::open))
}

fn main() -> Result<()> {
    let env = Environment::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fraud_alerts");
    alerts(&env, &folder)?.for_each("alerts", |alert| println!("{} at {}: {}", alert.card, alert.at_ms, alert.reason));
    env.execute_live()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemill::{TestHarness, Watermark};

    #[test]
    fn each_alert_is_told_with_the_transaction_that_makes_it_so() {
        let env = Environment::new();
        let told = alerts(&env, &Path::new(env!("CARGO_MANIFEST_DIR")).join("fraud_alerts")).unwrap().collect();
        env.execute_live().unwrap();
        let told: Vec<(String, i64, String)> = told.take().into_iter().map(|a| (a.card, a.at_ms, a.reason)).collect();
        let expected = [
            ("4929-11", 50_000, "4 transactions within a minute"),
            ("4929-11", 55_000, "5 transactions within a minute"),
            ("5500-07", 400_000, "1100.00 within ten minutes"),
        ];
        assert_eq!(told, expected.map(|(card, at, reason)| (card.to_owned(), at, reason.to_owned())));
    }

    #[test]
    fn what_is_ten_minutes_old_does_not_count() {
        let mut harness =
            TestHarness::new(|t: &Transaction| t.card.clone(), |cards| cards.process("velocity", Velocity::open))
                .unwrap();
        let mut pay = |at_ms: i64, amount: f64| {
            harness.advance_watermark(Watermark(at_ms - 1)).unwrap();
            harness.push(Transaction { card: "a".into(), at_ms, amount }, EventTime(at_ms)).unwrap();
            harness.take().len()
        };
        assert_eq!(pay(0, 600.0), 0);
        assert_eq!(pay(TEN_MINUTES_MS, 600.0), 0, "the first is just forgotten");
        assert_eq!(pay(TEN_MINUTES_MS + 1, 401.0), 1);
    }
}
