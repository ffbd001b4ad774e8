//! Auctions.

use super::model::{FIRST_AUCTION, FIRST_CATEGORY, FIRST_PERSON, price};
use super::record::RecordField;
use super::strings::words;
use crate::synthetic::Draws;

pub(super) const FIELDS: &[RecordField] = &[
    RecordField::long("id", |records| records.longs(|event, _| event.last_auction + FIRST_AUCTION)),
    RecordField::text("itemName", |records| records.texts(|_, draws, out| item_name(draws, out))),
    RecordField::text("description", |records| records.texts(|_, draws, out| description(draws, out))),
    RecordField::long("initialBid", |records| records.longs(|_, draws| price(draws))),
    RecordField::long("reserve", |records| {
        let initial_bids = records.model.sequence("auction.initialBid");
        records.longs(|event, draws| price(&mut initial_bids.at(event.number)) + price(draws))
    }),
    RecordField::time("dateTime", |records| records.event_times()),
    RecordField::time("expires", |records| {
        let model = records.model;
        records.times(|event, draws| model.time(event.number) + model.auction_length(event.number, draws))
    }),
    RecordField::long("seller", |records| {
        records.longs(|event, draws| records.model.seller(event.last_person, draws) + FIRST_PERSON)
    }),
    RecordField::long("category", |records| {
        records.longs(|_, draws| draws.between(FIRST_CATEGORY, FIRST_CATEGORY + CATEGORIES - 1))
    }),
    RecordField::extra(
        |model| model.auction_size as usize,
        |records| {
            let model = records.model;
            let [of_name, of_description] =
                ["itemName", "description"].map(|field| model.sequence(&format!("auction.{field}")));
            records.extras(model.auction_size, move |event, text| {
                item_name(&mut of_name.at(event.number), text);
                description(&mut of_description.at(event.number), text);
                NUMBER_BYTES + text.len()
            })
        },
    ),
];

const CATEGORIES: i64 = 5;

/// Of the numbers that are counted in an auction's size: id, bids, times and category.
const NUMBER_BYTES: usize = 6 * 8;

fn item_name(draws: &mut Draws, out: &mut String) {
    words(draws, 20, b' ', out);
}

fn description(draws: &mut Draws, out: &mut String) {
    words(draws, 100, b' ', out);
}
