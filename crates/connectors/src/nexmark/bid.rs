//! Bids.

use std::fmt::Write;

use super::model::{FIRST_AUCTION, FIRST_PERSON, Model, price};
use super::record::RecordField;
use super::strings::words;
use crate::synthetic::Sequence;

pub(super) const FIELDS: &[RecordField] = &[
    RecordField::long("auction", |records| {
        records.longs(|event, draws| records.model.auction_to_bid_on(event.last_auction, draws) + FIRST_AUCTION)
    }),
    RecordField::long("bidder", |records| {
        records.longs(|event, draws| records.model.bidder(event.last_person, draws) + FIRST_PERSON)
    }),
    RecordField::long("price", |records| records.longs(|_, draws| price(draws))),
    RecordField::text("channel", |records| {
        let channels = Channels::new(records.model);
        records.texts(|event, _, out| channels.write_name(channels.of(event.number), out))
    }),
    RecordField::text("url", |records| {
        let channels = Channels::new(records.model);
        records.texts(|event, _, out| channels.write_url(channels.of(event.number), out))
    }),
    RecordField::time("dateTime", |records| records.event_times()),
    RecordField::extra(
        |model| model.bid_size as usize,
        |records| records.extras(records.model.bid_size, |_, _| NUMBER_BYTES),
    ),
];

/// Of the numbers that are counted in a bid's size: auction, bidder, price and time.
const NUMBER_BYTES: usize = 4 * 8;

const HOT_CHANNELS: [&str; 4] = ["Google", "Facebook", "Baidu", "Apple"];
const CHANNELS: u64 = 10_000;

/// Where bids come from: half of them from a hot channel, the others from one of many.
struct Channels {
    choice: Sequence,
    hot_urls: Sequence,
    urls: Sequence,
}

#[derive(Clone, Copy)]
enum Channel {
    Hot(u64),
    Other(u64),
}

impl Channels {
    fn new(model: &Model) -> Self {
        Self {
            choice: model.sequence("bid.channel"),
            hot_urls: model.sequence("bid.url of a hot channel"),
            urls: model.sequence("bid.url"),
        }
    }

    fn of(&self, event: u64) -> Channel {
        let mut draws = self.choice.at(event);
        match draws.below(2) {
            0 => Channel::Other(draws.below(CHANNELS)),
            _ => Channel::Hot(draws.below(HOT_CHANNELS.len() as u64)),
        }
    }

    fn write_name(&self, channel: Channel, out: &mut String) {
        match channel {
            Channel::Hot(number) => out.push_str(HOT_CHANNELS[number as usize]),
            // Writing to a string can't fail.
            Channel::Other(number) => _ = write!(out, "channel-{number}"),
        }
    }

    /// A channel has one URL, and nine in ten of the others name it there.
    fn write_url(&self, channel: Channel, out: &mut String) {
        let mut draws = match channel {
            Channel::Hot(number) => self.hot_urls.at(number),
            Channel::Other(number) => self.urls.at(number),
        };
        out.push_str("https://www.nexmark.com/");
        for _ in 0..3 {
            words(&mut draws, 5, b'_', out);
            out.push('/');
        }
        out.push_str("item.htm?query=1");
        if let Channel::Other(number) = channel
            && draws.below(10) > 0
        {
            let id = (number as i32).reverse_bits().unsigned_abs();
            _ = write!(out, "&channel_id={id}");
        }
    }
}
