//! The screen as it looks, in a terminal of 80 and of 200 columns.

use tidemill_core::Watermark;

use super::*;
use crate::command::demo::figures::{ACTIVE, Place, TRENDING};

const NINE_MS: i64 = 9 * 60 * MINUTE_MS;

fn picture() -> Picture {
    let mut figures = Figures::default();
    for minute in 1..=12 {
        let end_ms = NINE_MS + minute * MINUTE_MS;
        figures.revenue.insert(end_ms, Minute { orders: 40 + minute, cents: 123_450 + i128::from(minute) * 10_011 });
        figures.active.insert(end_ms, 200 + 20 * minute);
        let places = ["headphones", "detective-story", "kite"].into_iter().zip(1..);
        let place =
            |(product, place): (&str, i64)| (place, Place { product: product.to_owned(), views: minute * 100 / place });
        figures.trending.insert(end_ms, places.map(place).collect());
    }
    figures.funnel = [5_312, 1_540, 1_021, 940];
    // Eleven minutes are complete, and the twelfth is half over.
    for statement in [REVENUE, ACTIVE, TRENDING] {
        figures.progress(statement, Watermark(NINE_MS + 11 * MINUTE_MS + 29_999));
    }
    Picture {
        figures,
        counters: Counters { events: 7_012, orders: 561, late_orders: 14 },
        seen: Some(Seen { mean: 0.46, least: 0.4, most: 0.55, minutes: 11 }),
        rate: Some(200),
        open: true,
    }
}

fn text(picture: &Picture, columns: u16, rows: u16) -> String {
    let lines = draw(picture, Size { columns, rows });
    assert!(lines.len() <= usize::from(rows), "{} lines", lines.len());
    assert!(lines.iter().all(|line| line.width() == usize::from(columns)), "a line of another width");
    let text = |line: &Line| line.0.iter().map(|span| span.text.as_str()).collect::<String>();
    lines.iter().map(|line| text(line).trim_end().to_owned() + "\n").collect()
}

/// The picture in the file `name`; with `TIDEMILL_GOLDEN=accept` it is written anew.
fn assert_drawn(name: &str, drawn: &str) {
    let file = format!("{}/src/command/demo/draw/tests/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("TIDEMILL_GOLDEN").is_some_and(|value| value == "accept") {
        std::fs::write(&file, drawn).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), drawn, "{file} holds another picture");
}

#[test]
fn eighty_columns() {
    assert_drawn("80x24.txt", &text(&picture(), 80, 24));
}

#[test]
fn two_hundred_columns() {
    assert_drawn("200x50.txt", &text(&picture(), 200, 50));
}

#[test]
fn the_last_picture() {
    assert_drawn("closed.txt", &text(&Picture { open: false, ..picture() }, 80, 40));
}

#[test]
fn before_the_first_event() {
    let nothing = Picture { figures: Figures::default(), counters: Counters::default(), seen: None, ..picture() };
    assert!(text(&nothing, 80, 24).contains("no event yet"));
}

#[test]
fn any_size_is_drawn() {
    for columns in [1, 2, 7, 20, 79, 149, 150, 300] {
        for rows in [1, 2, 5, 9, 13, 100] {
            let _ = text(&picture(), columns, rows);
        }
    }
}
