//! The event of a number.
//!
//! Events arrive at even distances. Many visitors are there at once: each has a lane, and every event belongs to the
//! lane `number % LANES`. A lane is cut into rounds of [`STEPS`] steps, and a round can be computed by itself.

use super::goods::PRODUCTS;
use super::random::Random;
use super::visit::{Action, STEPS, Visit};

/// How far two arrivals lie apart, in milliseconds of event time: 600 events a minute.
pub const EVENT_SPACING_MS: i64 = 100;

/// How many visitors are there at once; a step of a visit takes so many arrivals, 6.4 s.
const LANES: u64 = 64;

/// After so many rounds (20 minutes) other products are in favour.
const ROUNDS_A_FAVOURITE: u64 = 16;

/// Most events are under way for less than this.
const JITTER_MS: u64 = 2_000;

/// Something that happened in the shop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// From 1, by arrival.
    pub event_id: i64,
    /// `product.viewed`, ...
    pub event_type: &'static str,
    /// When it happened, in milliseconds since 1970: before it arrived.
    pub event_time_ms: i64,
    /// Who did it.
    pub user_id: i64,
    /// Of which product; a search is for a category.
    pub product_id: Option<&'static str>,
    /// The product's category.
    pub category: &'static str,
    /// What was done: `view`, `search`, `add`, `remove`, `place`, `complete`.
    pub action: &'static str,
    /// How many pieces; `None` where nothing is taken.
    pub quantity: Option<i32>,
    /// What they cost together, in cents; `None` where nothing is bought.
    pub total_amount_cents: Option<i64>,
}

impl Event {
    /// The event of that number, from 0, of a shop that opens at `start_ms`.
    #[must_use]
    pub fn of(seed: u64, number: u64, start_ms: i64) -> Self {
        let lane = number % LANES;
        // The lanes begin their rounds in turn: else all visitors would come at once, and order at once.
        let position = number / LANES + lane * 5 % STEPS;
        let (round, step) = (position / STEPS, position % STEPS);
        let favourite = (round / ROUNDS_A_FAVOURITE * 11) as usize % PRODUCTS.len();
        let mut visit = Visit::new(seed, round * LANES + lane, favourite);
        let mut action = visit.step();
        for _ in 0..step {
            action = visit.step();
        }
        // Apart from the visits' own numbers, which count from 0 too.
        let jitter_ms = Random::of(!seed, number).below(JITTER_MS);
        let arrived_ms = start_ms + number.cast_signed() * EVENT_SPACING_MS;
        Self::described(number, arrived_ms - visit.delay_ms(jitter_ms).cast_signed(), action, &visit)
    }

    fn described(number: u64, event_time_ms: i64, action: Action, visit: &Visit) -> Self {
        let good = &PRODUCTS[visit.product];
        let (event_type, word) = match action {
            Action::Search => ("search.performed", "search"),
            Action::View => ("product.viewed", "view"),
            Action::AddToCart => ("cart.updated", "add"),
            Action::RemoveFromCart => ("cart.updated", "remove"),
            Action::Order => ("order.placed", "place"),
            Action::Pay => ("payment.completed", "complete"),
        };
        let takes = !matches!(action, Action::Search | Action::View);
        let buys = matches!(action, Action::Order | Action::Pay);
        Self {
            event_id: number.cast_signed() + 1,
            event_type,
            event_time_ms,
            user_id: visit.user_id,
            product_id: (action != Action::Search).then_some(good.id),
            category: good.category,
            action: word,
            quantity: takes.then_some(visit.quantity),
            total_amount_cents: buys.then(|| good.price_cents * i64::from(visit.quantity)),
        }
    }
}
