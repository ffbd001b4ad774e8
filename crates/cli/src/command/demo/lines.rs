//! The demo where no screen is: a line for each minute, when all that is said of it is final.

use tidemill_connectors::console::Console;
use tidemill_core::Result;

use super::figures::{Figures, Minute};
use super::shown::{clock, counted, money};

/// How many of the trending products a line names.
const TRENDING: usize = 3;

/// The lines that have been printed.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Minutes that end here or earlier have their line.
    printed_ms: Option<i64>,
}

impl Lines {
    /// Prints a line for each minute that has become complete.
    pub(super) fn refresh(&mut self, figures: &Figures) -> Result<()> {
        let complete = figures.complete();
        let new = |end_ms: i64| complete.closes(end_ms) && self.printed_ms.is_none_or(|printed| end_ms > printed);
        let minutes: Vec<_> = figures.revenue.iter().filter(|(end_ms, _)| new(**end_ms)).collect();
        self.printed_ms = minutes.last().map(|(end_ms, _)| **end_ms).or(self.printed_ms);
        let lines: String = minutes.into_iter().map(|(end_ms, minute)| line(figures, *end_ms, *minute)).collect();
        Console::Output.write(lines.as_bytes())
    }
}

fn line(figures: &Figures, end_ms: i64, minute: Minute) -> String {
    let places = figures.trending.get(&end_ms).into_iter().flat_map(|places| places.values());
    let trending: Vec<&str> = places.take(TRENDING).map(|place| place.product.as_str()).collect();
    // Figures don't go back for ever: a flood of events can pass them before they are looked at.
    let users = figures.active.get(&end_ms).map_or("?".to_owned(), |users| counted(*users));
    format!(
        "{}  revenue {:>9} in {:>3} orders  {users:>5} users in 5 min  trending {}\n",
        clock(end_ms - 60_000),
        money(minute.cents),
        counted(minute.orders),
        if trending.is_empty() { "?".to_owned() } else { trending.join(", ") }
    )
}
