//! The picture of a running demo, as lines of text: a pure function, so that a test can look at it.

mod panel;

use super::Counters;
use super::expected::Seen;
use super::figures::{Figures, Minute, REVENUE};
use super::shown::{clock, clock_with_seconds, counted, grouped, money, percent};

const MINUTE_MS: i64 = 60_000;

/// Events a second at which the shop's clock goes as fast as ours.
const REAL_TIME_RATE: u64 = (1_000 / tidemill_connectors::shop::EVENT_SPACING_MS) as u64;

/// From this width on all panels stand side by side.
const WIDE_COLUMNS: usize = 150;

/// What is to be drawn.
pub(super) struct Picture {
    pub(super) figures: Figures,
    pub(super) counters: Counters,
    /// How full the open minute is likely to be.
    pub(super) seen: Option<Seen>,
    /// Events a second; `None`: as many as can be made.
    pub(super) rate: Option<u64>,
    /// False at the end, when nothing is provisional any more.
    pub(super) open: bool,
}

/// The size of the terminal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) columns: u16,
    pub(super) rows: u16,
}

/// What a piece of text is, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Title,
    Faint,
    Final,
    Provisional,
}

pub(super) struct Span {
    pub(super) tone: Tone,
    pub(super) text: String,
}

/// A line of the picture; every character is one column wide.
pub(super) struct Line(pub(super) Vec<Span>);

impl Line {
    fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self(vec![Span { tone, text: text.into() }])
    }

    fn and(mut self, tone: Tone, text: impl Into<String>) -> Self {
        self.0.push(Span { tone, text: text.into() });
        self
    }

    fn width(&self) -> usize {
        self.0.iter().map(|span| span.text.chars().count()).sum()
    }

    /// Exactly so wide: cut, or filled with blanks.
    fn fitted(mut self, width: usize) -> Self {
        let missing = width.saturating_sub(self.width());
        let mut left = width;
        for span in &mut self.0 {
            span.text = span.text.chars().take(left).collect();
            left -= span.text.chars().count();
        }
        self.and(Tone::Plain, " ".repeat(missing))
    }
}

/// The end of the minute that is open at a watermark, and how far the watermark is in it, both in milliseconds.
/// `None` before the first event and after the last.
pub(super) fn open_minute(watermark_ms: i64) -> Option<(i64, i64)> {
    let reached_ms = watermark_ms.checked_add(1).filter(|&ms| ms > i64::MIN / 2 && ms < i64::MAX / 2)?;
    let start_ms = reached_ms.div_euclid(MINUTE_MS) * MINUTE_MS;
    Some((start_ms + MINUTE_MS, reached_ms - start_ms))
}

/// Lines of at most the terminal's width, and no more than it has rows.
pub(super) fn draw(picture: &Picture, size: Size) -> Vec<Line> {
    let (columns, rows) = (usize::from(size.columns), usize::from(size.rows));
    let mut lines = vec![head(picture), Line(vec![])];
    lines.extend(if picture.open { now(picture, columns) } else { total(picture) });
    lines.push(Line(vec![]));
    let left = rows.saturating_sub(lines.len() + 1);
    lines.extend(panel::panels(&picture.figures, columns, left, columns >= WIDE_COLUMNS));
    lines.truncate(rows.saturating_sub(1));
    if picture.open {
        lines.push(Line::new(Tone::Faint, "Ctrl-C closes the shop; then the batch over the same events is compared."));
    }
    lines.into_iter().map(|line| line.fitted(columns)).collect()
}

fn head(picture: &Picture) -> Line {
    let pace = match picture.rate {
        Some(rate) => format!("{} a second, {:.3} x real time", grouped(rate), rate as f64 / REAL_TIME_RATE as f64)
            .replace(".000 x", " x"),
        None => "as fast as they can be made".to_owned(),
    };
    let events = format!("   {} events, {pace}", grouped(picture.counters.events));
    Line::new(Tone::Title, "tidemill demo").and(Tone::Faint, events)
}

/// The revenue of the open minute: provisional, and how provisional.
fn now(picture: &Picture, columns: usize) -> Vec<Line> {
    let watermark_ms = picture.figures.watermark(REVENUE).0;
    let Some((end_ms, _)) = open_minute(watermark_ms) else {
        return vec![Line::new(Tone::Title, "REVENUE NOW").and(Tone::Faint, "   no event yet")];
    };
    let none = Minute { orders: 0, cents: 0 };
    let minute = picture.figures.revenue.get(&end_ms).copied().unwrap_or(none);
    let span = format!(" {} - {}   ", clock(end_ms - MINUTE_MS), clock(end_ms));
    let amount = format!("{} in {} orders so far", money(minute.cents), counted(minute.orders));
    let mut lines = vec![
        Line::new(Tone::Title, "REVENUE NOW")
            .and(Tone::Plain, span)
            .and(Tone::Provisional, format!("{amount} (provisional)")),
    ];
    lines.extend(completeness(picture.seen, columns));
    let Counters { orders, late_orders, .. } = picture.counters;
    let share = if orders > 0 { late_orders as f64 * 100.0 / orders as f64 } else { 0.0 };
    lines.push(Line::new(
        Tone::Plain,
        format!(
            "  watermark {}   late {} of {} orders ({share:.1} %), in the late output",
            clock_with_seconds(watermark_ms),
            grouped(late_orders),
            grouped(orders)
        ),
    ));
    lines
}

/// How much is still to come, and how that is known.
fn completeness(seen: Option<Seen>, columns: usize) -> [Line; 2] {
    let Some(Seen { mean, least, most, minutes }) = seen else {
        return [
            Line::new(Tone::Faint, "  how many orders are still to come is not known yet:"),
            Line::new(Tone::Faint, "  three complete minutes are needed to tell"),
        ];
    };
    let bar = panel::bar(mean, (columns / 4).min(40));
    let expected = format!(
        " {} of its orders still to come ({} to {})",
        percent(1.0 - mean),
        percent(1.0 - most),
        percent(1.0 - least)
    );
    let basis = format!("  estimated from how full the last {minutes} minutes were at this point");
    [Line::new(Tone::Provisional, format!("  {bar}")).and(Tone::Plain, expected), Line::new(Tone::Faint, basis)]
}

/// The revenue of all minutes, when they are complete.
fn total(picture: &Picture) -> Vec<Line> {
    let minutes = picture.figures.revenue.values();
    let (orders, cents) = minutes.fold((0, 0), |(orders, cents), m| (orders + m.orders, cents + m.cents));
    let amount = format!("   {} in {} orders, every minute complete", money(cents), counted(orders));
    vec![Line::new(Tone::Title, "REVENUE").and(Tone::Final, amount)]
}

#[cfg(test)]
mod tests;
