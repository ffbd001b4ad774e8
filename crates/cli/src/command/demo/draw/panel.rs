//! The panels below the revenue: complete minutes, trending products, active users, the funnel.

use super::{Line, MINUTE_MS, Tone};
use crate::command::demo::figures::{ACTIVE, Figures, REVENUE, STEPS, TRENDING};
use crate::command::demo::shown::{clock, counted, money, percent};

/// Columns between two panels.
const GAP: usize = 3;

/// The most entries of a list.
const ENTRIES: usize = 10;

/// The lines of a funnel: its title and its steps.
const FUNNEL_LINES: usize = 1 + STEPS.len();

/// All panels in so many lines: side by side, or two above two.
pub(super) fn panels(figures: &Figures, columns: usize, rows: usize, wide: bool) -> Vec<Line> {
    if wide {
        let width = ((columns + GAP) / 4).saturating_sub(GAP);
        let entries = rows.saturating_sub(1).min(ENTRIES);
        let all = [
            minutes(figures, entries),
            trending(figures, entries, width),
            users(figures, entries, width),
            funnel(figures, width),
        ];
        return beside(all, width);
    }
    let width = ((columns + GAP) / 2).saturating_sub(GAP);
    let entries = rows.saturating_sub(FUNNEL_LINES + 2).min(ENTRIES);
    let mut lines = beside([minutes(figures, entries), trending(figures, entries, width)], width);
    lines.push(Line(vec![]));
    lines.extend(beside([users(figures, FUNNEL_LINES - 1, width), funnel(figures, width)], width));
    lines
}

fn beside<const N: usize>(panels: [Vec<Line>; N], width: usize) -> Vec<Line> {
    let height = panels.iter().map(Vec::len).max().unwrap_or(0);
    let mut panels = panels.map(Vec::into_iter);
    let line = |_| {
        let mut line = Line(vec![]);
        for panel in &mut panels {
            let cell = panel.next().unwrap_or(Line(vec![])).fitted(width);
            line.0.extend(cell.0);
            line = line.and(Tone::Plain, " ".repeat(GAP));
        }
        line
    };
    (0..height).map(line).collect()
}

fn minutes(figures: &Figures, entries: usize) -> Vec<Line> {
    let watermark = figures.watermark(REVENUE);
    let complete = figures.revenue.iter().rev().filter(|(end_ms, _)| watermark.closes(**end_ms));
    let entry = |(end_ms, minute): (&i64, &super::Minute)| {
        let revenue = format!("{}  {:>11}", clock(end_ms - MINUTE_MS), money(minute.cents));
        Line::new(Tone::Final, revenue).and(Tone::Plain, format!("  {:>5} orders", counted(minute.orders)))
    };
    titled("COMPLETE MINUTES", complete.take(entries).map(entry))
}

fn trending(figures: &Figures, entries: usize, width: usize) -> Vec<Line> {
    let (watermark, last_ms) = (figures.watermark(TRENDING), figures.last_minute_ms());
    let latest = figures.trending.range(..=last_ms).rev().find(|(end_ms, _)| watermark.closes(**end_ms));
    let Some((end_ms, places)) = latest else { return titled("TRENDING THIS HOUR", []) };
    let most = places.values().map(|place| place.views).max().unwrap_or(0);
    let entry = |(place, product): (&i64, &crate::command::demo::figures::Place)| {
        let text = format!("{place:>2} {:<16}{:>6} ", product.product, counted(product.views));
        let share = product.views as f64 / most.max(1) as f64;
        let filled = "█".repeat(blocks(share, width.saturating_sub(text.len())));
        Line::new(Tone::Plain, text).and(Tone::Faint, filled)
    };
    titled(&format!("TRENDING THIS HOUR, UNTIL {}", clock(*end_ms)), places.iter().take(entries).map(entry))
}

fn users(figures: &Figures, entries: usize, width: usize) -> Vec<Line> {
    let (watermark, last_ms) = (figures.watermark(ACTIVE), figures.last_minute_ms());
    let complete: Vec<_> =
        figures.active.range(..=last_ms).rev().filter(|(end_ms, _)| watermark.closes(**end_ms)).take(entries).collect();
    let most = complete.iter().map(|(_, users)| **users).max().unwrap_or(0);
    let entry = |(end_ms, users): (&i64, &i64)| {
        let text = format!("until {} {:>6} ", clock(*end_ms), counted(*users));
        let filled = "█".repeat(blocks(*users as f64 / most.max(1) as f64, width.saturating_sub(text.len())));
        Line::new(Tone::Plain, text).and(Tone::Faint, filled)
    };
    titled("ACTIVE USERS IN 5 MINUTES", complete.into_iter().map(entry))
}

fn funnel(figures: &Figures, width: usize) -> Vec<Line> {
    let all = figures.funnel[0].max(1) as f64;
    let entry = |(step, users): (&str, &i64)| {
        let share = *users as f64 / all;
        let text = format!("{step:<8}{:>7} {:>6} ", counted(*users), percent(share));
        let filled = "█".repeat(blocks(share, width.saturating_sub(text.len())));
        Line::new(Tone::Plain, text).and(Tone::Faint, filled)
    };
    titled("FUNNEL, USERS UNTIL NOW", STEPS.into_iter().zip(&figures.funnel).map(entry))
}

fn titled(title: &str, entries: impl IntoIterator<Item = Line>) -> Vec<Line> {
    std::iter::once(Line::new(Tone::Title, title)).chain(entries).collect()
}

/// A share as a bar in brackets: `[███░░]`.
pub(super) fn bar(share: f64, width: usize) -> String {
    let filled = blocks(share, width);
    format!("[{}{}]", "█".repeat(filled), "░".repeat(width - filled))
}

/// How many of `width` columns a share fills.
fn blocks(share: f64, width: usize) -> usize {
    ((share.clamp(0.0, 1.0) * width as f64).round() as usize).min(width)
}
