//! A visit: what one visitor does, step by step, and how far they get.

use super::goods::{PRODUCTS, Product};
use super::random::Random;

/// The most steps that a visit has.
pub(super) const STEPS: u64 = 12;

/// Users are numbered from 1 to this.
const USERS: u64 = 20_000;

const MINUTE_MS: u64 = 60_000;
const HOUR_MS: u64 = 60 * MINUTE_MS;

/// What a visitor does in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Search,
    View,
    AddToCart,
    RemoveFromCart,
    Order,
    Pay,
}

/// One visitor at a time, each after the one before has left.
pub(super) struct Visit {
    random: Random,
    /// Which products are looked at most changes: this one comes first now.
    favourite: Product,
    pub(super) user_id: i64,
    /// For how long the visitor's phone keeps what they do to itself.
    pub(super) offline_ms: u64,
    pub(super) product: Product,
    pub(super) quantity: i32,
    last: Option<Action>,
}

impl Visit {
    /// The visit of that number.
    pub(super) fn new(seed: u64, number: u64, favourite: Product) -> Self {
        let random = Random::of(seed, number);
        let mut visit = Self { random, favourite, user_id: 0, offline_ms: 0, product: 0, quantity: 1, last: None };
        visit.enter();
        visit
    }

    /// Somebody comes. Some come often: low numbers are drawn more than high ones.
    fn enter(&mut self) {
        let one = self.random.below(USERS);
        self.user_id = one.min(self.random.below(USERS)).cast_signed() + 1;
        self.offline_ms = match self.random.below(1_000) {
            0..970 => 0,
            970..995 => MINUTE_MS + self.random.below(14 * MINUTE_MS),
            _ => HOUR_MS + self.random.below(5 * HOUR_MS),
        };
        self.last = None;
    }

    /// The next step; where the visitor leaves, the first of the next visitor.
    pub(super) fn step(&mut self) -> Action {
        let action = self.next_action().unwrap_or_else(|| {
            self.enter();
            self.first_action()
        });
        match action {
            Action::Search | Action::View => self.product = self.choose_product(),
            Action::AddToCart => self.quantity = [1, 1, 1, 2, 2, 3][self.random.below(6) as usize],
            Action::RemoveFromCart | Action::Order | Action::Pay => {}
        }
        self.last = Some(action);
        action
    }

    /// `None`: the visitor leaves.
    fn next_action(&mut self) -> Option<Action> {
        let chance = self.random.below(100);
        match self.last {
            None => Some(self.first_action()),
            Some(Action::Search) => (chance < 85).then_some(Action::View),
            Some(Action::View) => match chance {
                0..35 => Some(Action::View),
                35..50 => Some(Action::Search),
                50..75 => Some(Action::AddToCart),
                _ => None,
            },
            Some(Action::AddToCart) => match chance {
                0..55 => Some(Action::Order),
                55..65 => Some(Action::RemoveFromCart),
                65..80 => Some(Action::View),
                _ => None,
            },
            Some(Action::RemoveFromCart) => (chance < 50).then_some(Action::View),
            Some(Action::Order) => (chance < 93).then_some(Action::Pay),
            Some(Action::Pay) => None,
        }
    }

    fn first_action(&mut self) -> Action {
        if self.random.below(100) < 30 { Action::Search } else { Action::View }
    }

    /// The nearer to the favourite, the more often: the least of three draws.
    fn choose_product(&mut self) -> Product {
        let products = PRODUCTS.len() as u64;
        let distance = (0..3).map(|_| self.random.below(products)).min().unwrap_or(0);
        (self.favourite + 7 * distance as usize) % PRODUCTS.len()
    }

    /// How long after it happened an event of this visit arrives.
    pub(super) fn delay_ms(&self, jitter_ms: u64) -> u64 {
        self.offline_ms + jitter_ms
    }
}

#[cfg(test)]
mod tests;
