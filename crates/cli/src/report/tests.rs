//! What is said of a watermark that stands still.

use std::sync::Arc;
use std::time::Duration;

use super::*;

const NINE: Watermark = Watermark(1_793_610_000_000);

fn stall(watermark: Watermark, cause: StallCause, ahead: Option<Watermark>) -> Stall {
    Stall {
        table: "orders".into(),
        partition: Some("stdin".into()),
        watermark,
        standing: Duration::from_millis(30_200),
        cause,
        ahead: ahead.map(|watermark| (Arc::from("clicks"), watermark)),
    }
}

#[test]
fn it_is_told_where_the_watermark_stands_why_and_what_waits() {
    for (stall, state, help) in [
        (
            stall(NINE, StallCause::NoRows, None),
            "orders: the watermark has stood at 2026-11-02T09:00 for 31 seconds: no row has come from 'stdin'; \
             windows that end later wait",
            "the input ends",
        ),
        (
            stall(Watermark::MIN, StallCause::NoRows, Some(NINE)),
            "orders: there has been no watermark for 31 seconds: no row has come from 'stdin'; 'clicks' is at \
             2026-11-02T09:00, and what reads both waits",
            "'table.exec.source.idle-timeout'",
        ),
        (
            stall(Watermark::MIN, StallCause::NoLaterRow(5), None),
            "orders: there has been no watermark for 31 seconds: of 5 rows from 'stdin' none has a time that is \
             possible; windows that end later wait",
            "seconds for milliseconds",
        ),
        (
            stall(NINE, StallCause::NoLaterRow(1), None),
            "orders: the watermark has stood at 2026-11-02T09:00 for 31 seconds: of 1 row from 'stdin' none has a \
             later time; windows that end later wait",
            "far ahead of all others would have put it there; SET 'tidemill.watermark.max-ahead'",
        ),
    ] {
        let (told, hint) = stalled(&stall);
        assert_eq!(told, state);
        assert!(hint.contains(help), "{hint}");
    }
    let nowhere = Stall { partition: None, ..stall(NINE, StallCause::NoRows, None) };
    assert!(stalled(&nowhere).0.contains(": no row has come; windows"));
}
