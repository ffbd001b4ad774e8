//! `cargo xtask example-data`: writes the orders of `examples/orders`, the same bytes every time.
//!
//! The file is checked in, so that the example runs without this program; this program says how the
//! data came to be. Orders arrive in the order of (event time + delay). Most are a moment late, a
//! few so late that their minute is over: the phones that were offline.

use std::fmt::Write as _;
use std::fs;

use crate::Outcome;
use crate::checkout::Checkout;

const ORDERS: u64 = 2_000;
const SEED: u64 = 20_261_102;
/// 2026-11-02T09:00:00 is the first moment; only the time of the day is computed.
const DAY: &str = "2026-11-02";
const OPENING_MS: u64 = 9 * HOUR_MS;
const HOUR_MS: u64 = 3_600_000;
const CATEGORIES: [(&str, u64); 5] =
    [("books", 1_490), ("garden", 3_995), ("kitchen", 2_450), ("music", 1_199), ("toys", 1_999)];

pub(crate) fn run(checkout: &Checkout) -> Outcome {
    let path = checkout.path("examples/orders/orders.jsonl");
    fs::write(&path, orders()).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    println!("{ORDERS} orders written to {}", path.display());
    Ok(())
}

/// All lines, in the order of arrival.
fn orders() -> String {
    let mut random = Random(SEED);
    let mut arrivals: Vec<(u64, String)> = (1..=ORDERS).map(|id| order(id, &mut random)).collect();
    arrivals.sort_by_key(|(arrived_ms, _)| *arrived_ms);
    arrivals.into_iter().fold(String::new(), |mut lines, (_, line)| {
        lines.push_str(&line);
        lines.push('\n');
        lines
    })
}

/// When an order arrives, in milliseconds of the day, and its line.
fn order(id: u64, random: &mut Random) -> (u64, String) {
    // One order in 1.8 s on average: the file spans an hour.
    let ordered_ms = OPENING_MS + (id - 1) * HOUR_MS / ORDERS + random.below(HOUR_MS / ORDERS);
    let delay_ms = match random.below(100) {
        0..94 => random.below(3_000),
        94..97 => 5_000 + random.below(55_000),
        _ => 60_000 + random.below(20 * 60_000),
    };
    let (category, price_cents) = CATEGORIES[random.below(CATEGORIES.len() as u64) as usize];
    let quantity = 1 + random.below(3);
    let cents = quantity * price_cents - random.below(price_cents / 10);
    let nulled = random.below(400);
    let text = |value: String, nulled: bool| if nulled { "null".to_owned() } else { value };
    let mut line = String::new();
    write!(
        line,
        r#"{{"order_id":{id},"category":{},"quantity":{quantity},"amount":{},"ordered_at":{}}}"#,
        text(format!("\"{category}\""), nulled < 6),
        text(format!("{}.{:02}", cents / 100, cents % 100), (6..10).contains(&nulled)),
        text(format!("\"{DAY}T{}\"", time_of_day(ordered_ms)), nulled == 10),
    )
    .expect("writing to a String does not fail");
    (ordered_ms + delay_ms, line)
}

fn time_of_day(ms: u64) -> String {
    let (hours, minutes, seconds) = (ms / HOUR_MS, ms / 60_000 % 60, ms / 1_000 % 60);
    format!("{hours:02}:{minutes:02}:{seconds:02}.{:03}", ms % 1_000)
}

/// SplitMix64: a few lines that give the same numbers on every machine, whatever a library does.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}
