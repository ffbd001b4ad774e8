//! What the program tells when nothing happens to it, by loops over its events.

use std::collections::BTreeMap;

use crate::job::{EVENTS, Event, JOINED_WITHIN, Told, event};

fn events() -> impl Iterator<Item = Event> {
    (0..EVENTS).map(event)
}

fn told(key: i64, time: i64, value: i64) -> Told {
    Told { key, time, value }
}

/// What the files in the folder of that name have, in order.
pub fn expected(name: &str) -> Vec<Told> {
    let mut expected = match name {
        "timers" => by_timer(),
        "windows" => by_window(),
        "pairs" => pairs().0,
        "alone" => pairs().1,
        _ => answers(),
    };
    expected.sort();
    expected
}

/// With each element's own watermark as the clock.
fn by_timer() -> Vec<Told> {
    let (mut all, mut open, mut watermark) = (vec![], BTreeMap::<i64, (i64, i64)>::new(), i64::MIN);
    let mut fire = |until: i64, open: &mut BTreeMap<i64, (i64, i64)>| {
        all.extend(open.extract_if(.., |_, (due, _)| *due <= until).map(|(key, (due, sum))| told(key, due, sum)));
    };
    for (key, time, value) in events() {
        fire(watermark, &mut open);
        open.entry(key).or_insert((time + 20, 0)).1 += value;
        watermark = watermark.max(time - 14);
    }
    fire(i64::MAX, &mut open);
    all
}

/// Nothing is late.
fn by_window() -> Vec<Told> {
    let mut windows = BTreeMap::new();
    events().for_each(|(key, time, value)| *windows.entry((key, time.div_euclid(100) * 100)).or_insert(0) += value);
    windows.into_iter().map(|((key, time), sum)| told(key, time, sum)).collect()
}

/// The pairs, and the even numbers that are in none.
fn pairs() -> (Vec<Told>, Vec<Told>) {
    let (mut pairs, mut alone) = (vec![], vec![]);
    for (key, time, value) in events().filter(|event| event.2 % 2 == 0) {
        let meets = |odd: &Event| odd.2 % 2 == 1 && odd.0 == key && (odd.1 - time).abs() <= JOINED_WITHIN;
        let before = pairs.len();
        pairs.extend(events().filter(meets).map(|odd| told(key, time, value * odd.2)));
        if pairs.len() == before {
            alone.push(told(key, time, value));
        }
    }
    (pairs, alone)
}

fn answers() -> Vec<Told> {
    let mut counts = BTreeMap::<i64, i64>::new();
    let answer = |(key, _, value)| {
        let count = counts.entry(key).or_default();
        *count += 1;
        told(key, *count - 1, 2 * value)
    };
    events().map(answer).collect()
}
