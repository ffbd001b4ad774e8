//! From a time to its pane, and from a pane to the windows that share it.
//!
//! ```text
//! HOP size 3 slide 1   pane:  0   1   2   3   4
//!                            [0 ───────── 3)
//!                                [1 ───────── 4)
//!                                    [2 ───────── 5)
//! ```
//!
//! A pane is the longest slice of time that no window's edge cuts, so all of its rows are in the
//! same windows and their partial results can be shared.
//!
//! Panes and windows are slices of *local* time, as clocks in the session's time zone show it: a day
//! is from midnight to midnight, however long that takes. Where a clock is put back, the local times
//! that come twice are in the same window both times, and it is complete after the second: so Flink
//! does it, and so does a `GROUP BY window_start, window_end`. A window's edges turn into instants only
//! by [`WindowAssigner::closes_at`], which is monotone.

use std::fmt;

use tidemill_core::{Error, Result};

use crate::time_zone::TimeZone;

/// A range of local time, in milliseconds since 1970-01-01T00:00:00 there; the end is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Window {
    /// The first moment that is in.
    pub start_ms: i64,
    /// The first moment that is no longer in.
    pub end_ms: i64,
}

impl Window {
    /// A window between instants, such as a session, in the local times of a zone.
    #[must_use]
    pub fn told_in(self, zone: TimeZone) -> Self {
        Self { start_ms: zone.local_ms(self.start_ms), end_ms: zone.local_ms(self.end_ms) }
    }
}

/// Which windows a time is in. All are aligned to 1970-01-01T00:00:00 local time plus an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WindowAssigner {
    kind: Kind,
    /// How long a window is; for cumulating windows, the longest.
    size_ms: i64,
    /// The length of a pane.
    pane_ms: i64,
    offset_ms: i64,
    zone: TimeZone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// One window after the other: a pane is a window.
    Tumble,
    /// A window starts at every pane.
    Hop,
    /// A window ends at every pane; all between two multiples of the size start together.
    Cumulate,
}

impl WindowAssigner {
    /// Tumbling windows.
    pub fn tumble(size_ms: i64, offset_ms: i64) -> Result<Self> {
        Self::new(Kind::Tumble, size_ms, size_ms, offset_ms)
    }

    /// Hopping windows: one of `size_ms` starts every `slide_ms`. As in Flink, the size is a
    /// multiple of the slide.
    pub fn hop(slide_ms: i64, size_ms: i64, offset_ms: i64) -> Result<Self> {
        Self::new(Kind::Hop, slide_ms, size_ms, offset_ms)
    }

    /// Cumulating windows: they start every `size_ms` and grow by `step_ms` up to `size_ms`. As
    /// in Flink, the size is a multiple of the step.
    pub fn cumulate(step_ms: i64, size_ms: i64, offset_ms: i64) -> Result<Self> {
        Self::new(Kind::Cumulate, step_ms, size_ms, offset_ms)
    }

    fn new(kind: Kind, pane_ms: i64, size_ms: i64, offset_ms: i64) -> Result<Self> {
        let step = match kind {
            Kind::Tumble => "size",
            Kind::Hop => "slide",
            Kind::Cumulate => "step",
        };
        if pane_ms <= 0 || size_ms <= 0 {
            return Err(Error::invalid(format!("a window's {step} must be 1 millisecond or more")));
        }
        if size_ms > MAX_SIZE_MS {
            return Err(Error::invalid(format!("a window of {size_ms} ms is longer than 1,000 years")));
        }
        if size_ms % pane_ms != 0 {
            return Err(Error::invalid(format!(
                "the window's size, {size_ms} ms, is not a multiple of its {step}, {pane_ms} ms"
            ))
            .hint(format!("choose a {step} that divides the size")));
        }
        let period_ms = if kind == Kind::Hop { pane_ms } else { size_ms };
        Ok(Self { kind, size_ms, pane_ms, offset_ms: offset_ms.rem_euclid(period_ms), zone: TimeZone::UTC })
    }

    /// The same windows on the clocks of a time zone.
    #[must_use]
    pub fn in_zone(self, zone: TimeZone) -> Self {
        Self { zone, ..self }
    }

    /// The zone whose clocks the windows go by.
    #[must_use]
    pub fn zone(&self) -> TimeZone {
        self.zone
    }

    /// Whether a row can be in more than one window.
    #[must_use]
    pub fn overlapping(&self) -> bool {
        self.pane_ms < self.size_ms
    }

    /// The start of the pane that holds the instant `time_ms`.
    #[must_use]
    pub fn pane(&self, time_ms: i64) -> i64 {
        floor(self.zone.local_ms(time_ms), self.pane_ms, self.offset_ms)
    }

    /// The panes of many instants. They mostly come in runs of one pane, and a division costs more
    /// than a comparison.
    pub fn panes(&self, times_ms: &[i64]) -> Vec<i64> {
        let (mut start, mut end) = (0, 0);
        let pane_of = |&time_ms: &i64| {
            let local_ms = self.zone.local_ms(time_ms);
            if !(start..end).contains(&local_ms) {
                start = floor(local_ms, self.pane_ms, self.offset_ms);
                end = self.pane_end(start);
            }
            start
        };
        times_ms.iter().map(pane_of).collect()
    }

    /// The instant at which a window that ends at `end_ms` is complete: no later one is in it.
    #[must_use]
    pub fn closes_at(&self, end_ms: i64) -> i64 {
        self.zone.passed_ms(end_ms)
    }

    /// The end of the pane that starts at `pane_ms`: also the end of the first window that holds it.
    #[must_use]
    pub fn pane_end(&self, pane_ms: i64) -> i64 {
        pane_ms + self.pane_ms
    }

    /// The windows that hold the pane, by their end.
    pub fn windows(&self, pane_ms: i64) -> impl Iterator<Item = Window> + use<> {
        let Self { kind, size_ms, pane_ms: step_ms, offset_ms, .. } = *self;
        let last_end_ms = self.last_end(pane_ms);
        let cycle_ms = floor(pane_ms, size_ms, offset_ms);
        (0..).map(move |i| pane_ms + (i + 1) * step_ms).take_while(move |end_ms| *end_ms <= last_end_ms).map(
            move |end_ms| Window { start_ms: if kind == Kind::Cumulate { cycle_ms } else { end_ms - size_ms }, end_ms },
        )
    }

    /// The end of the last window that holds the pane: then it can be forgotten.
    #[must_use]
    pub fn last_end(&self, pane_ms: i64) -> i64 {
        match self.kind {
            Kind::Tumble | Kind::Hop => pane_ms + self.size_ms,
            Kind::Cumulate => floor(pane_ms, self.size_ms, self.offset_ms) + self.size_ms,
        }
    }

    /// The first window of the pane that ends after `after_ms`.
    #[must_use]
    pub fn next_window(&self, pane_ms: i64, after_ms: i64) -> Option<Window> {
        let first_end_ms = self.pane_end(pane_ms);
        let passed = after_ms.saturating_sub(first_end_ms).max(-1).div_euclid(self.pane_ms) + 1;
        let end_ms = first_end_ms + passed * self.pane_ms;
        (end_ms <= self.last_end(pane_ms)).then(|| Window {
            start_ms: match self.kind {
                Kind::Tumble | Kind::Hop => end_ms - self.size_ms,
                Kind::Cumulate => floor(pane_ms, self.size_ms, self.offset_ms),
            },
            end_ms,
        })
    }
}

impl fmt::Display for WindowAssigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, size_ms, pane_ms, offset_ms, zone } = *self;
        match kind {
            Kind::Tumble => write!(f, "TUMBLE(size {size_ms} ms")?,
            Kind::Hop => write!(f, "HOP(slide {pane_ms} ms, size {size_ms} ms")?,
            Kind::Cumulate => write!(f, "CUMULATE(step {pane_ms} ms, size {size_ms} ms")?,
        }
        if offset_ms != 0 {
            write!(f, ", offset {offset_ms} ms")?;
        }
        if !zone.is_utc() {
            write!(f, ", in {zone}")?;
        }
        write!(f, ")")
    }
}

/// Longer windows than any calendar has use for, and far from where the arithmetic would overflow.
const MAX_SIZE_MS: i64 = 1_000 * 366 * 86_400_000;

/// The last multiple of `step`, shifted by `offset`, that is not after `time`.
fn floor(time: i64, step: i64, offset: i64) -> i64 {
    time - (time - offset).rem_euclid(step)
}

#[cfg(test)]
mod tests;
