//! The events of a chunk: what each is, and who and what was there before it.

use std::ops::Range;

use arrow::buffer::NullBuffer;

use super::model::Model;

/// What an event is; the number is its `event_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(super) enum Kind {
    Person = 0,
    Auction = 1,
    Bid = 2,
}

/// One event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    pub(super) number: u64,
    pub(super) kind: Kind,
    /// The number of the last person and auction, this event's own among them, counted from 0; -1 if there is none.
    pub(super) last_person: i64,
    pub(super) last_auction: i64,
}

/// The events with these numbers.
pub(super) fn events(model: &Model, numbers: Range<u64>) -> Vec<Event> {
    let group = model.group().cast_unsigned();
    let (mut of_group, mut place) = ((numbers.start / group).cast_signed(), (numbers.start % group).cast_signed());
    let event = |number| {
        let (people, auctions) = ((place + 1).min(model.people), (place + 1 - model.people).clamp(0, model.auctions));
        let kind = match place {
            _ if place < model.people => Kind::Person,
            _ if place < model.people + model.auctions => Kind::Auction,
            _ => Kind::Bid,
        };
        let event = Event {
            number,
            kind,
            last_person: of_group.wrapping_mul(model.people).wrapping_add(people - 1),
            last_auction: of_group.wrapping_mul(model.auctions).wrapping_add(auctions - 1),
        };
        place += 1;
        if place == model.group() {
            (of_group, place) = (of_group + 1, 0);
        }
        event
    };
    numbers.map(event).collect()
}

/// Which of the events are of this kind.
pub(super) fn of_kind(events: &[Event], kind: Kind) -> NullBuffer {
    events.iter().map(|event| event.kind == kind).collect()
}
