//! The events of the benchmarks: what 100,000 users do in a shop, the same lines for the same count.
//!
//! Events arrive at even distances, 694 a minute, in any of many visits that are under way at once; each happened up to
//! four seconds before it arrived. So no event is late by a watermark of five seconds, and every program has the same
//! answer.

use std::fmt::Write as _;

use super::random::Random;

/// What one event more is of a day, in tenths of a millisecond: 10 million events are ten days.
const SPACING_TENTHS_MS: u64 = 864;
/// 2026-01-01.
const FIRST_DAY: u64 = 20_454;
const DAY_MS: u64 = 86_400_000;
/// An event happened less than this before it arrived.
const DELAY_MS: u64 = 4_000;
const SEED: u64 = 20_260_101;
const USERS: u64 = 100_000;
const PRODUCTS: u64 = 10_000;
/// So many visits are under way; a visitor does something every 44 seconds on average.
const VISITS: usize = 512;
const CATEGORIES: [&str; 20] = [
    "art", "audio", "baby", "books", "cycling", "fashion", "food", "games", "garden", "health", "jewelry", "kitchen",
    "lighting", "music", "office", "outdoor", "pets", "sports", "tools", "toys",
];

/// Makes the events, one after the other.
pub(super) struct Events {
    random: Random,
    visits: Vec<Visit>,
    number: u64,
}

struct Visit {
    user: u64,
    product: u64,
    quantity: u64,
    next: Action,
}

#[derive(Clone, Copy)]
enum Action {
    View,
    AddToCart,
    Order,
    Pay,
}

impl Events {
    pub(super) fn new() -> Self {
        let mut random = Random(SEED);
        let visits = (0..VISITS).map(|_| Visit::new(&mut random)).collect();
        Self { random, visits, number: 0 }
    }

    /// Appends the next event's line.
    pub(super) fn write(&mut self, lines: &mut String) {
        let random = &mut self.random;
        let arrived_ms = FIRST_DAY * DAY_MS + self.number * SPACING_TENTHS_MS / 10;
        let happened_ms = arrived_ms + DELAY_MS - random.below(DELAY_MS);
        self.number += 1;
        let visit = &mut self.visits[random.below(VISITS as u64) as usize];
        visit.line(self.number, happened_ms, lines);
        match visit.follows(random) {
            Some(next) => visit.next = next,
            None => *visit = Visit::new(random),
        }
    }
}

impl Visit {
    fn new(random: &mut Random) -> Self {
        let user = 1 + random.below(USERS);
        Self { user, product: favourite(random), quantity: 1 + random.below(3), next: Action::View }
    }

    /// What the visitor does after `next`; `None`: leaves.
    fn follows(&mut self, random: &mut Random) -> Option<Action> {
        let chance = random.below(100);
        let action = match (self.next, chance) {
            (Action::View, 0..65) | (Action::AddToCart, 50..80) => Action::View,
            (Action::View, 65..85) => Action::AddToCart,
            (Action::AddToCart, 0..50) => Action::Order,
            (Action::Order, 0..90) => Action::Pay,
            _ => return None,
        };
        if let Action::View = action {
            self.product = favourite(random);
        }
        Some(action)
    }

    fn line(&self, event_id: u64, happened_ms: u64, lines: &mut String) {
        let (event_type, action) = match self.next {
            Action::View => ("product.viewed", "view"),
            Action::AddToCart => ("cart.updated", "add"),
            Action::Order => ("order.placed", "place"),
            Action::Pay => ("payment.completed", "complete"),
        };
        let Self { user, product, .. } = self;
        let category = CATEGORIES[(product % CATEGORIES.len() as u64) as usize];
        let quantity = if let Action::View = self.next { 1 } else { self.quantity };
        // Every product has its price, from 1.00 to 500.00.
        let cents = quantity * (100 + Random(*product).below(49_901));
        write!(lines, r#"{{"event_id":{event_id},"event_type":"{event_type}","event_time":""#).expect(TO_STRING);
        write_time(happened_ms, lines);
        write!(lines, r#"","user_id":{user},"payload":{{"product_id":"p{product:05}","category":"{category}","#)
            .expect(TO_STRING);
        let (whole, part) = (cents / 100, cents % 100);
        writeln!(lines, r#""action":"{action}","quantity":{quantity},"total_amount":{whole}.{part:02}}}}}"#)
            .expect(TO_STRING);
    }
}

const TO_STRING: &str = "writing to a String does not fail";

/// Some products are looked at often, most are not: the least of three draws.
fn favourite(random: &mut Random) -> u64 {
    random.below(PRODUCTS).min(random.below(PRODUCTS)).min(random.below(PRODUCTS))
}

fn write_time(unix_ms: u64, line: &mut String) {
    let (year, month, day) = date(unix_ms / DAY_MS);
    let ms = unix_ms % DAY_MS;
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    write!(line, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{:03}", ms % 1_000).expect(TO_STRING);
}

/// The date of a day since 1970: years of a 400-year cycle, counted from March so that the leap day is the last.
fn date(day: u64) -> (u64, u64, u64) {
    let from_march = day + 719_468;
    let (cycle, day) = (from_march / 146_097, from_march % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (cycle * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests;
