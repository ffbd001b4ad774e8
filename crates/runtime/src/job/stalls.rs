//! Watermarks that stand still: a window that is not printed is waiting for one, and it should be said for which.
//!
//! Pure: it is shown where the sources stand, with the time of each look, and says whose watermark has not moved for
//! long. The wait doubles each time that a stall is told, and begins anew when the watermark moves.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tidemill_core::Watermark;

/// Where a source with event time stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) table: Arc<str>,
    /// What it has published.
    pub(crate) watermark: Watermark,
    /// The partition that is furthest behind; `None` where there is none now.
    pub(crate) partition: Option<Arc<str>>,
    /// How many rows have been decoded.
    pub(crate) rows: u64,
    pub(crate) ended: bool,
}

/// Why a watermark stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StallCause {
    /// No row has come.
    NoRows,
    /// So many rows have come, and none moves it: their times are NULL, impossible, or behind it.
    NoLaterRow(u64),
}

/// A watermark that has not moved for long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stall {
    /// The source's table.
    pub table: Arc<str>,
    /// The partition that is furthest behind; `None` where there is none now (a followed folder without a file to read).
    pub partition: Option<Arc<str>>,
    /// Where it stands; [`Watermark::MIN`] before the first row with a time.
    pub watermark: Watermark,
    /// For how long.
    pub standing: Duration,
    /// Why.
    pub cause: StallCause,
    /// The furthest watermark of another source, if one is ahead: what meets both waits for this one.
    pub ahead: Option<(Arc<str>, Watermark)>,
}

/// What was seen of the sources so far.
#[derive(Debug)]
pub(crate) struct Stalls {
    after: Duration,
    sources: Vec<Seen>,
}

#[derive(Debug)]
struct Seen {
    watermark: Watermark,
    since: Instant,
    /// How many rows had come when it moved last.
    rows: u64,
    /// How long it may stand until that is told.
    patience: Duration,
}

impl Stalls {
    /// A watermark may stand for `after` before that is told.
    pub(crate) fn new(after: Duration) -> Self {
        Self { after, sources: vec![] }
    }

    /// Looks at all sources, the same and in the same order each time.
    pub(crate) fn look(&mut self, now: Instant, standings: &[Standing]) -> Vec<Stall> {
        let after = self.after;
        let seen = |s: &Standing| Seen { watermark: s.watermark, since: now, rows: s.rows, patience: after };
        if self.sources.len() != standings.len() {
            self.sources = standings.iter().map(seen).collect();
        }
        let mut stalls = vec![];
        for (source, standing) in self.sources.iter_mut().zip(standings) {
            if standing.watermark != source.watermark || standing.ended {
                *source = seen(standing);
                continue;
            }
            let stood = now.saturating_duration_since(source.since);
            if stood >= source.patience {
                source.patience = stood.saturating_mul(2);
                stalls.push(stall(source, stood, standing, standings));
            }
        }
        stalls
    }
}

fn stall(seen: &Seen, standing: Duration, at: &Standing, all: &[Standing]) -> Stall {
    let furthest = all.iter().filter(|other| !other.ended).max_by_key(|other| other.watermark);
    let ahead = furthest.filter(|other| other.watermark > at.watermark);
    Stall {
        table: Arc::clone(&at.table),
        partition: at.partition.clone(),
        watermark: at.watermark,
        standing,
        cause: match at.rows - seen.rows {
            0 => StallCause::NoRows,
            rows => StallCause::NoLaterRow(rows),
        },
        ahead: ahead.map(|other| (Arc::clone(&other.table), other.watermark)),
    }
}

#[cfg(test)]
mod tests;
