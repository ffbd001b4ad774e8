//! The distributions are those of the benchmark; what is expected is computed from an event's number alone, by counting.

use std::collections::BTreeMap;

use super::*;

const EVENTS: u64 = 100_000;

/// An event's type, and how many people and auctions there are by then, its own among them: by counting.
fn counted(people: u64, auctions: u64, bids: u64, events: u64) -> Vec<(i32, i64, i64)> {
    let (mut all_people, mut all_auctions) = (0, 0);
    let mut counted = vec![];
    'all: loop {
        for (event_type, times) in [(0, people), (1, auctions), (2, bids)] {
            for _ in 0..times {
                all_people += i64::from(event_type == 0);
                all_auctions += i64::from(event_type == 1);
                counted.push((event_type, all_people, all_auctions));
                if counted.len() as u64 == events {
                    break 'all;
                }
            }
        }
    }
    counted
}

fn share<T>(values: &[T], is: impl Fn(&T) -> bool) -> f64 {
    values.iter().filter(|value| is(value)).count() as f64 / values.len() as f64
}

#[test]
fn events_come_in_groups() {
    for (people, auctions, bids) in [(1, 3, 46), (2, 1, 4), (0, 1, 1), (1, 0, 2), (0, 0, 1), (3, 0, 0)] {
        let (p, a, b) = (people.to_string(), auctions.to_string(), bids.to_string());
        let proportions = [("person.proportion", &*p), ("auction.proportion", &*a), ("bid.proportion", &*b)];
        let events = events_of(&proportions, 0..1000);
        let types = events.column(0).as_primitive::<Int32Type>().values().to_vec();
        let counted = counted(people, auctions, bids, 1000);
        assert_eq!(types, counted.iter().map(|(event_type, ..)| *event_type).collect::<Vec<_>>());
        for (event, (event_type, all_people, all_auctions)) in counted.into_iter().enumerate() {
            let own = |event_type_of: i32, number: i64| (event_type == event_type_of).then_some(999 + number);
            assert_eq!(longs(&events, "person", "id")[event], own(0, all_people));
            assert_eq!(longs(&events, "auction", "id")[event], own(1, all_auctions));
            assert_eq!(events.column(3).is_null(event), event_type != 2);
            if event > 60 {
                break;
            }
        }
    }
}

#[test]
fn times_rise_at_the_rate() {
    let events = events_of(&[("first-event.rate", "3"), ("base-time", "5000")], 0..100);
    let times = events.column(4).as_primitive::<TimestampMillisecondType>().values().to_vec();
    assert_eq!(times[..7], [5000, 5333, 5666, 6000, 6333, 6666, 7000]);
    assert!(times.is_sorted());
    for record in ["person", "auction", "bid"] {
        for (time, own) in times.iter().zip(longs(&events, record, "dateTime")) {
            assert!(own.is_none_or(|own| own == *time));
        }
    }
    let default = events_of(&[], 0..1).column(4).as_primitive::<TimestampMillisecondType>().value(0);
    assert_eq!(default, 1_436_918_400_000);
}

#[test]
fn bids_are_on_hot_auctions_by_hot_bidders_as_the_ratios_say() {
    let events = events_of(&[("bid.hot-ratio.auctions", "5"), ("bid.hot-ratio.bidders", "3")], 0..EVENTS);
    let (mut hot_auctions, mut hot_bidders) = (vec![], vec![]);
    let bids = longs(&events, "bid", "auction").into_iter().zip(longs(&events, "bid", "bidder"));
    for ((event_type, people, auctions), (auction, bidder)) in counted(1, 3, 46, EVENTS).into_iter().zip(bids) {
        if event_type != 2 {
            assert_eq!((auction, bidder), (None, None));
            continue;
        }
        let (auction, bidder) = (auction.unwrap() - 1000, bidder.unwrap() - 1000);
        let (last_auction, last_person) = (auctions - 1, people - 1);
        // A hot one, or one of the open auctions and active people, and of the ten that are about to come.
        let hot = (auction == last_auction - last_auction % 100, bidder == last_person - last_person % 100 + 1);
        assert!(hot.0 || ((last_auction - 100).max(0)..=last_auction + 10).contains(&auction));
        assert!(hot.1 || ((last_person - 999).max(0)..=last_person + 10).contains(&bidder));
        hot_auctions.push(hot.0);
        hot_bidders.push(hot.1);
    }
    // Others hit a hot one by chance, about once in a hundred times.
    assert!((share(&hot_auctions, |hot| *hot) - 0.8).abs() < 0.01);
    assert!((share(&hot_bidders, |hot| *hot) - 2.0 / 3.0).abs() < 0.01);
}

#[test]
fn auctions_are_by_hot_sellers_and_last_as_long_as_a_hundred_of_them_take() {
    let events = events_of(&[], 0..EVENTS);
    let (mut hot_sellers, mut lengths) = (vec![], vec![]);
    let (sellers, times) = (longs(&events, "auction", "seller"), longs(&events, "auction", "dateTime"));
    let expires = longs(&events, "auction", "expires");
    for (event, (event_type, people, _)) in counted(1, 3, 46, EVENTS).into_iter().enumerate() {
        if event_type == 1 {
            let (seller, last_person) = (sellers[event].unwrap() - 1000, people - 1);
            let hot = last_person - last_person % 100;
            assert!(seller == hot || ((last_person - 999).max(0)..=last_person + 10).contains(&seller));
            hot_sellers.push(seller == hot);
            lengths.push(expires[event].unwrap() - times[event].unwrap());
        }
    }
    assert!((share(&hot_sellers, |hot| *hot) - 0.75).abs() < 0.02);
    // 100 auctions are 1,666 events, which take 166 ms.
    assert!(lengths.iter().all(|length| (1..=334).contains(length)));
    let mean = lengths.iter().sum::<i64>() as f64 / lengths.len() as f64;
    assert!((mean - 167.0).abs() < 5.0, "{mean}");
}

#[test]
fn prices_are_even_over_six_powers_of_ten() {
    let events = events_of(&[], 0..EVENTS);
    let prices: Vec<i64> = longs(&events, "bid", "price").into_iter().flatten().collect();
    assert!(prices.iter().all(|price| (100..=100_000_000).contains(price)));
    for power in 3..=8 {
        let (least, limit) = (10i64.pow(power - 1), 10i64.pow(power));
        let share = share(&prices, |price| (least..limit).contains(price));
        assert!((share - 1.0 / 6.0).abs() < 0.01, "{least}: {share}");
    }
    let reserves = longs(&events, "auction", "reserve").into_iter().zip(longs(&events, "auction", "initialBid"));
    assert!(reserves.flat_map(|(reserve, bid)| Some((reserve?, bid?))).all(|(reserve, bid)| reserve >= bid + 100));
    let categories: Vec<i64> = longs(&events, "auction", "category").into_iter().flatten().collect();
    for category in 10..15 {
        assert!((share(&categories, |c| *c == category) - 0.2).abs() < 0.02);
    }
}

#[test]
fn half_of_the_bids_come_from_a_hot_channel_and_each_channel_has_one_url() {
    let events = events_of(&[], 0..EVENTS);
    let (channels, urls) = (texts(&events, "bid", "channel"), texts(&events, "bid", "url"));
    for hot in ["Google", "Facebook", "Baidu", "Apple"] {
        assert!((share(&channels, |channel| channel == hot) - 0.125).abs() < 0.01);
    }
    let mut url_of: BTreeMap<&str, &str> = BTreeMap::new();
    for (channel, url) in channels.iter().zip(&urls) {
        assert_eq!(url_of.entry(channel).or_insert(url), url);
        assert!(url.starts_with("https://www.nexmark.com/") && url.contains("/item.htm?query=1"), "{url}");
        assert_eq!(url.split('/').count(), 7);
    }
    let others: Vec<_> = url_of.iter().filter(|(channel, _)| channel.starts_with("channel-")).collect();
    assert_eq!(others.len() + 4, url_of.len());
    assert!((share(&others, |(_, url)| url.contains("&channel_id=")) - 0.9).abs() < 0.02);
    // Java's Math.abs(Integer.reverse(5)) and (1), whose bits are the reverse of these.
    let id_of = |channel: &str| url_of.get(channel).and_then(|url| url.split_once("&channel_id=")).map(|(_, id)| id);
    assert!(id_of("channel-5").is_none_or(|id| id == "1610612736"));
    assert!(id_of("channel-2").is_none_or(|id| id == "1073741824"));
}

#[test]
fn records_have_their_average_size() {
    let events = events_of(&[("bid.avg-size", "300b")], 0..EVENTS);
    let mean = |record: &str, numbers: usize, fields: &[&str]| {
        let texts: Vec<Vec<String>> = fields.iter().map(|field| texts(&events, record, field)).collect();
        let bytes: usize = texts.iter().flatten().map(String::len).sum();
        numbers as f64 * 8.0 + bytes as f64 / texts[0].len() as f64
    };
    let person = mean("person", 1, &["name", "emailAddress", "creditCard", "city", "state", "extra"]);
    let auction = mean("auction", 6, &["itemName", "description", "extra"]);
    assert!((person - 200.0).abs() < 2.0 && (auction - 500.0).abs() < 3.0, "{person} {auction}");
    assert!((mean("bid", 4, &["extra"]) - 300.0).abs() < 2.0);
    assert!(texts(&events_of(&[("bid.avg-size", "31b")], 0..100), "bid", "extra").iter().all(String::is_empty));
}

#[test]
fn texts_are_words() {
    let events = events_of(&[], 0..EVENTS);
    for (record, field, limit) in [("auction", "itemName", 20), ("auction", "description", 100)] {
        let texts = texts(&events, record, field);
        assert!(texts.iter().all(|text| text.len() < limit && text.trim() == text));
        assert!(texts.iter().flat_map(|text| text.chars()).all(|c| c == ' ' || c.is_ascii_lowercase()));
        let gaps = texts.iter().map(|text| text.matches(' ').count()).sum::<usize>() as f64;
        let all = texts.iter().map(String::len).sum::<usize>() as f64;
        assert!((0.05..0.08).contains(&(gaps / all)), "{}", gaps / all);
    }
    let cards = texts(&events, "person", "creditCard");
    assert!(cards.iter().all(|card| card.len() == 19 && card.split(' ').all(|four| four.len() == 4)));
    let states = texts(&events, "person", "state");
    assert!(["AZ", "CA", "ID", "OR", "WA", "WY"].iter().all(|state| states.iter().any(|s| s == state)));
}
