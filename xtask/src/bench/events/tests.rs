use std::collections::HashMap;

use super::*;

fn lines(count: usize) -> Vec<String> {
    let (mut events, mut text) = (Events::new(), String::new());
    (0..count).for_each(|_| events.write(&mut text));
    text.lines().map(str::to_owned).collect()
}

fn field<'a>(line: &'a str, name: &str) -> &'a str {
    let value = line.split_once(&format!("\"{name}\":")).expect("the field is there").1;
    let end = value.find([',', '}']).expect("an end");
    value[..end].trim_matches('"')
}

#[test]
fn the_first_line_stays_what_it_is() {
    assert_eq!(
        lines(1)[0],
        concat!(
            r#"{"event_id":1,"event_type":"product.viewed","event_time":"2026-01-01 00:00:00.087","user_id":41389,"#,
            r#""payload":{"product_id":"p01294","category":"office","action":"view","quantity":1,"total_amount":17.96}}"#
        )
    );
}

#[test]
fn dates_are_those_of_the_calendar() {
    for (day, expected) in [
        (0, (1970, 1, 1)),
        (58, (1970, 2, 28)),
        (59, (1970, 3, 1)),
        (11_016, (2000, 2, 29)),
        (FIRST_DAY, (2026, 1, 1)),
        (20_512, (2026, 2, 28)),
        (20_513, (2026, 3, 1)),
        (20_818, (2026, 12, 31)),
        (21_244, (2028, 3, 1)),
    ] {
        assert_eq!(date(day), expected, "day {day}");
    }
}

#[test]
fn nothing_is_five_seconds_behind() {
    // Times of one month are ordered as their text is; a second is enough to tell.
    let seconds = |line: &str| {
        let time = field(line, "event_time").to_owned();
        let number = |range: std::ops::Range<usize>| time[range].parse::<u64>().expect("a number");
        ((number(8..10) * 24 + number(11..13)) * 60 + number(14..16)) * 60_000 + number(17..19) * 1_000 + number(20..23)
    };
    let mut latest = 0;
    for line in lines(50_000) {
        assert!(seconds(&line) + 5_000 > latest, "{line}");
        latest = latest.max(seconds(&line));
    }
}

#[test]
fn who_pays_has_ordered_and_some_do() {
    let mut last: HashMap<String, String> = HashMap::new();
    let mut paid = 0;
    for line in lines(200_000) {
        let action = field(&line, "action").to_owned();
        let before = last.insert(field(&line, "user_id").to_owned(), action.clone());
        // A user may be in two visits at once, which is rare.
        paid += usize::from(action == "complete" && before.as_deref() == Some("place"));
    }
    assert!((10_000..16_000).contains(&paid), "{paid}");
}
