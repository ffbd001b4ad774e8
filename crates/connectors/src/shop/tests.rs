use std::path::PathBuf;

use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use proptest::prelude::*;
use tidemill_runtime::connector::Options;

use super::*;

fn events(seed: u64, count: u64) -> Vec<Event> {
    (0..count).map(|number| Event::of(seed, number, 0)).collect()
}

/// How long after it happened an event arrived.
fn delay_ms(event: &Event) -> i64 {
    (event.event_id - 1) * EVENT_SPACING_MS - event.event_time_ms
}

fn share(events: &[Event], of: impl Fn(&Event) -> bool) -> f64 {
    events.iter().filter(|event| of(event)).count() as f64 / events.len() as f64
}

proptest! {
    #[test]
    fn an_event_is_a_function_of_seed_and_number(seed: u64, number in 0..MAX_EVENTS, start_ms in -1_000_000i64..1 << 42) {
        let event = Event::of(seed, number, start_ms);
        prop_assert_eq!(&event, &Event::of(seed, number, start_ms));
        let shifted = Event::of(seed, number, start_ms + 60_000);
        prop_assert_eq!(shifted.event_time_ms, event.event_time_ms + 60_000);
        prop_assert_eq!(Event { event_time_ms: event.event_time_ms, ..shifted }, event);
    }

    #[test]
    fn a_payload_fits_its_type(seed: u64, number in 0..1_000_000u64) {
        let event = Event::of(seed, number, 0);
        prop_assert_eq!(event.total_amount_cents.is_some(), ["place", "complete"].contains(&event.action));
        prop_assert_eq!(event.quantity.is_some(), !["view", "search"].contains(&event.action));
        prop_assert_eq!(event.product_id.is_none(), event.action == "search");
        prop_assert!(event.total_amount_cents.is_none_or(|cents| cents > 0));
        prop_assert!((1..=20_000).contains(&event.user_id));
    }
}

#[test]
fn another_seed_gives_other_events() {
    let (one, two) = (events(1, 1_000), events(2, 1_000));
    let same = one.iter().zip(&two).filter(|(a, b)| a.user_id == b.user_id).count();
    assert!(same < 10, "{same} of 1000 are the same");
}

#[test]
fn most_arrive_at_once_some_minutes_late_and_a_few_hours_late() {
    let events = events(7, 200_000);
    let within = |ms: std::ops::Range<i64>| share(&events, |event| ms.contains(&delay_ms(event)));
    let (at_once, minutes, hours) = (within(0..2_000), within(60_000..902_000), within(3_600_000..21_602_000));
    assert!((0.96..0.98).contains(&at_once), "{at_once}");
    assert!((0.02..0.03).contains(&minutes), "{minutes}");
    assert!((0.003..0.007).contains(&hours), "{hours}");
    assert!((at_once + minutes + hours - 1.0).abs() < 1e-9, "an event with another delay");
}

#[test]
fn every_type_has_its_share_in_every_minute() {
    let events = events(7, 60_000);
    for minute in events.chunks(600) {
        for (event_type, least, most) in [
            ("product.viewed", 0.40, 0.75),
            ("search.performed", 0.08, 0.30),
            ("cart.updated", 0.05, 0.25),
            ("order.placed", 0.02, 0.15),
            ("payment.completed", 0.01, 0.15),
        ] {
            let share = share(minute, |event| event.event_type == event_type);
            assert!((least..most).contains(&share), "{event_type}: {share} from event {}", minute[0].event_id);
        }
    }
}

#[test]
fn a_payment_pays_an_order() {
    let mut open = std::collections::HashMap::new();
    for event in events(7, 50_000) {
        let basket = (event.product_id, event.quantity, event.total_amount_cents);
        match event.event_type {
            "order.placed" => *open.entry((event.user_id, basket)).or_insert(0) += 1,
            "payment.completed" => {
                let orders = open.entry((event.user_id, basket)).or_insert(0);
                // Who was there when the shop opened may have ordered before.
                assert!(*orders > 0 || event.event_id < 1_000, "event {} pays what nobody ordered", event.event_id);
                *orders -= 1;
            }
            _ => {}
        }
    }
}

fn table(columns: &[(&str, DataType)], options: &[(&str, &str)]) -> TableSpec {
    let fields: Vec<Field> = columns.iter().map(|(name, t)| Field::new(*name, t.clone(), true)).collect();
    let mut table = TableSpec {
        name: "events".into(),
        schema: Arc::new(Schema::new(fields)),
        partitioned_by: vec![],
        options: Options::default(),
        folder: PathBuf::new(),
    };
    for (key, value) in options {
        table.options.set(*key, *value, None);
    }
    table
}

#[test]
fn a_wrong_column_or_option_is_refused() {
    let refused = |columns: &[(&str, DataType)], options: &[(&str, &str)]| {
        ShopConnector::default().source(&table(columns, options)).err().map(|error| error.to_string())
    };
    let id = [("event_id", DataType::Int64)];
    assert_eq!(refused(&id, &[("seed", "18446744073709551615"), ("start", "2020-01-01 00:00:00")]), None);
    assert!(refused(&[("price", DataType::Int64)], &[]).unwrap().contains("no column 'price'"));
    let seconds = DataType::Timestamp(TimeUnit::Microsecond, None);
    assert!(refused(&[("event_time", seconds)], &[]).unwrap().contains("TIMESTAMP"));
    for (key, value) in
        [("number-of-rows", "-1"), ("number-of-rows", "2000000000000"), ("rows-per-second", "0"), ("start", "monday")]
    {
        assert!(refused(&id, &[(key, value)]).unwrap().contains(value), "{key}");
    }
}

#[test]
fn options_come_before_the_defaults() {
    let mut given = Options::default();
    given.set("number-of-rows", "7", None);
    given.set("start", "1970-01-01 00:00:01", None);
    let defaults = Traffic { seed: 5, events_per_second: Some(3), ..Traffic::default() };
    let traffic = options::traffic(&given, &defaults).unwrap();
    assert_eq!(traffic, Traffic { events: 7, events_per_second: Some(3), seed: 5, start_ms: 1_000 });
}

#[test]
fn the_default_start_is_nine_in_the_morning() {
    let mut given = Options::default();
    given.set("start", "2026-11-02 09:00:00", None);
    assert_eq!(options::traffic(&given, &Traffic::default()).unwrap(), Traffic::default());
}
