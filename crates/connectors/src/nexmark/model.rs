//! What the site is like: how many of what there are, when, and who is hot.
//!
//! Events come in groups: `people` people, then `auctions` auctions, then `bids` bids. So which people and auctions there
//! are by then follows from an event's number, and needs no memory.

use crate::synthetic::{Draws, Sequence};

/// People, auctions and categories are numbered from here.
pub(super) const FIRST_PERSON: i64 = 1000;
pub(super) const FIRST_AUCTION: i64 = 1000;
pub(super) const FIRST_CATEGORY: i64 = 10;

/// Of so many people or auctions that follow each other one is hot.
const ONE_HOT_OF: i64 = 100;
/// How many of the last auctions are open.
const OPEN_AUCTIONS: i64 = 100;
/// How many of the last people are active.
const ACTIVE_PEOPLE: i64 = 1000;
/// How many numbers ahead of the last one may be named: of people and auctions that are only about to come.
const AHEAD: i64 = 10;

/// A site.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) seed: u64,
    /// When the first event happens, in milliseconds since 1970.
    pub(super) base_time: i64,
    pub(super) events_per_second: u64,
    /// In a group of events.
    pub(super) people: i64,
    pub(super) auctions: i64,
    pub(super) bids: i64,
    /// All but one in so many.
    pub(super) hot_auctions: u64,
    pub(super) hot_bidders: u64,
    pub(super) hot_sellers: u64,
    /// The average size of an event, in bytes.
    pub(super) person_size: u64,
    pub(super) auction_size: u64,
    pub(super) bid_size: u64,
}

impl Model {
    /// How many events a group has.
    pub(super) fn group(&self) -> i64 {
        self.people + self.auctions + self.bids
    }

    /// The random values of a field, called `<column>.<field>`.
    pub(super) fn sequence(&self, field: &str) -> Sequence {
        Sequence::new(self.seed, field)
    }

    /// When an event happens, in milliseconds since 1970.
    #[inline]
    pub(super) fn time(&self, event: u64) -> i64 {
        let (seconds, rest) = (event / self.events_per_second, event % self.events_per_second);
        let milliseconds = seconds.saturating_mul(1000).saturating_add(rest * 1000 / self.events_per_second);
        self.base_time.saturating_add_unsigned(milliseconds)
    }

    /// Mostly the first of the last hundred auctions, else one that is open. Auctions and people are counted from 0 here.
    #[inline]
    pub(super) fn auction_to_bid_on(&self, last_auction: i64, draws: &mut Draws) -> i64 {
        if draws.below(self.hot_auctions) > 0 {
            return last_auction / ONE_HOT_OF * ONE_HOT_OF;
        }
        let oldest = (last_auction - OPEN_AUCTIONS).max(0);
        draws.between(oldest, (last_auction + AHEAD).max(oldest))
    }

    /// Mostly the second of the last hundred people (so that it isn't the seller), else one who is active.
    #[inline]
    pub(super) fn bidder(&self, last_person: i64, draws: &mut Draws) -> i64 {
        if draws.below(self.hot_bidders) > 0 {
            return last_person / ONE_HOT_OF * ONE_HOT_OF + 1;
        }
        active_person(last_person, draws)
    }

    /// Mostly the first of the last hundred people, else one who is active.
    #[inline]
    pub(super) fn seller(&self, last_person: i64, draws: &mut Draws) -> i64 {
        if draws.below(self.hot_sellers) > 0 {
            return last_person / ONE_HOT_OF * ONE_HOT_OF;
        }
        active_person(last_person, draws)
    }

    /// How long the auction of this event is open, in milliseconds: on average as long as the site takes to open so many
    /// auctions as are open at once.
    pub(super) fn auction_length(&self, event: u64, draws: &mut Draws) -> i64 {
        let events = OPEN_AUCTIONS.saturating_mul(self.group()) / self.auctions.max(1);
        let average = self.time(event.saturating_add_signed(events)) - self.time(event);
        1 + draws.below((average * 2).max(1).cast_unsigned()).cast_signed()
    }
}

fn active_person(last_person: i64, draws: &mut Draws) -> i64 {
    let people = last_person + 1;
    let active = people.min(ACTIVE_PEOPLE);
    people - active + draws.between(0, active + AHEAD - 1)
}

/// From 100 to 100,000,000, with as many below 1,000 as between 1,000 and 10,000.
#[inline]
pub(super) fn price(draws: &mut Draws) -> i64 {
    (10f64.powf(draws.unit() * 6.0) * 100.0).round() as i64
}
