//! The options of a Nexmark table: those of the Nexmark project for Flink, and a seed.

use tidemill_core::Result;
use tidemill_runtime::connector::{OptionSpec, Options, TableSpec, memory_size};

use super::model::Model;
use crate::synthetic::Pace;

pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec { key: "events.num", doc: "How many events there are; 0 (the default) is no end." },
    OptionSpec { key: "first-event.rate", doc: "Events a second, on the clock of the events; 10000 by default." },
    OptionSpec {
        key: "next-event.rate",
        doc: "The same number as 'first-event.rate': a rate that changes is not supported.",
    },
    OptionSpec { key: "rate.limited", doc: "'true': events come no sooner than on their clock. 'false' by default." },
    OptionSpec {
        key: "base-time",
        doc: "When the first event happens, in milliseconds since 1970; by default 1436918400000, 2015-07-15 00:00:00.",
    },
    OptionSpec { key: "person.proportion", doc: "How many in a group of events are people; 1 by default." },
    OptionSpec { key: "auction.proportion", doc: "How many in a group of events are auctions; 3 by default." },
    OptionSpec { key: "bid.proportion", doc: "How many in a group of events are bids; 46 by default." },
    OptionSpec { key: "bid.hot-ratio.auctions", doc: "n: all but 1/n of the bids are on a hot auction; 2 by default." },
    OptionSpec { key: "bid.hot-ratio.bidders", doc: "n: all but 1/n of the bids are by a hot bidder; 4 by default." },
    OptionSpec {
        key: "auction.hot-ratio.sellers",
        doc: "n: all but 1/n of the auctions are by a hot seller; 4 by default.",
    },
    OptionSpec { key: "person.avg-size", doc: "The average size of a person; 200b by default, at most 64kb." },
    OptionSpec { key: "auction.avg-size", doc: "The average size of an auction; 500b by default, at most 64kb." },
    OptionSpec { key: "bid.avg-size", doc: "The average size of a bid; 100b by default, at most 64kb." },
    OptionSpec { key: "seed", doc: "A whole number that decides the random values; 0 by default." },
];

/// The moment that Beam's generator starts at.
const BASE_TIME: i64 = 1_436_918_400_000;

/// The greatest rate, proportion and ratio: that of Java's `int`, which the options have elsewhere.
const GREATEST: u64 = i32::MAX as u64;

/// A Nexmark table.
#[derive(Debug)]
pub(super) struct NexmarkOptions {
    pub(super) model: Model,
    /// How many events there are; `None` if there is no end.
    pub(super) events: Option<u64>,
    pub(super) pace: Option<Pace>,
}

impl NexmarkOptions {
    pub(super) fn from_table(table: &TableSpec) -> Result<Self> {
        let options = &table.options;
        let rate = rate(options)?;
        let seed = options.parsed("seed", |text| text.trim().parse::<i64>().ok(), "a whole number")?.unwrap_or(0);
        let model = Model {
            seed: seed.cast_unsigned(),
            base_time: base_time(options)?,
            events_per_second: rate,
            people: whole(options, "person.proportion", 0, 1)? as i64,
            auctions: whole(options, "auction.proportion", 0, 3)? as i64,
            bids: whole(options, "bid.proportion", 0, 46)? as i64,
            hot_auctions: whole(options, "bid.hot-ratio.auctions", 1, 2)?,
            hot_bidders: whole(options, "bid.hot-ratio.bidders", 1, 4)?,
            hot_sellers: whole(options, "auction.hot-ratio.sellers", 1, 4)?,
            person_size: size(options, "person.avg-size", 200)?,
            auction_size: size(options, "auction.avg-size", 500)?,
            bid_size: size(options, "bid.avg-size", 100)?,
        };
        if model.group() == 0 {
            let error = options.refuse("bid.proportion", "there are neither people nor auctions nor bids");
            return Err(error.hint("give one of the proportions a number from 1"));
        }
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let events = options.parsed("events.num", number, "a whole number from 0")?.filter(|events| *events > 0);
        let pace = options.boolean("rate.limited", false)?.then(|| Pace::new(rate));
        Ok(Self { model, events, pace })
    }
}

fn rate(options: &Options) -> Result<u64> {
    let first = whole(options, "first-event.rate", 1, 10_000)?;
    let next = whole(options, "next-event.rate", 1, first)?;
    if next != first {
        let error = options.refuse("next-event.rate", "a rate of events that changes is not supported");
        return Err(error.hint(format!("leave it out, or set 'next-event.rate' = '{first}', the first rate")));
    }
    Ok(first)
}

fn base_time(options: &Options) -> Result<i64> {
    // Elsewhere 0 stands for the present; so it must not be 1970 here.
    let read = |text: &str| text.trim().parse().ok().filter(|time| (1..=i64::MAX / 2).contains(time));
    let what = "milliseconds since 1970, such as '1436918400000'; the present would be another one at each reading";
    Ok(options.parsed("base-time", read, what)?.unwrap_or(BASE_TIME))
}

fn whole(options: &Options, key: &str, least: u64, default: u64) -> Result<u64> {
    let read = |text: &str| text.trim().parse().ok().filter(|number| (least..=GREATEST).contains(number));
    Ok(options.parsed(key, read, &format!("a whole number from {least} to {GREATEST}"))?.unwrap_or(default))
}

fn size(options: &Options, key: &str, default: u64) -> Result<u64> {
    let read = |text: &str| memory_size(text).filter(|bytes| *bytes <= 64 << 10);
    Ok(options.parsed(key, read, "a size up to 64kb, such as '200b'")?.unwrap_or(default))
}
