//! Which windows an element is in.

use std::time::Duration;

use tidemill_core::{Error, Result};

use super::TimeWindow;

/// Which windows an element is in. They are aligned to 1970 in UTC, moved by the offset. In whole milliseconds.
///
/// ```
/// use std::time::Duration;
/// use tidemill_datastream::WindowAssigner;
///
/// let minutes = WindowAssigner::tumbling(Duration::from_secs(60));
/// let of_a_visit = WindowAssigner::session(Duration::from_secs(30 * 60));
/// # let _ = (minutes, of_a_visit);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowAssigner {
    kind: Kind,
    offset_ms: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tumbling { size: i64 },
    Sliding { size: i64, slide: i64 },
    Cumulating { max_size: i64, step: i64 },
    Session { gap: i64 },
    Global,
}

fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

impl WindowAssigner {
    fn new(kind: Kind) -> Self {
        Self { kind, offset_ms: 0 }
    }

    /// One window after the other, each of this size.
    #[must_use]
    pub fn tumbling(size: Duration) -> Self {
        Self::new(Kind::Tumbling { size: ms(size) })
    }

    /// Windows of this size, one begun every `slide`: an element is in several where that is shorter.
    #[must_use]
    pub fn sliding(size: Duration, slide: Duration) -> Self {
        Self::new(Kind::Sliding { size: ms(size), slide: ms(slide) })
    }

    /// Windows that begin together and grow by a step, up to `max_size`: the totals of a day, hour by hour.
    #[must_use]
    pub fn cumulating(max_size: Duration, step: Duration) -> Self {
        Self::new(Kind::Cumulating { max_size: ms(max_size), step: ms(step) })
    }

    /// Elements of a key of which each follows another within `gap`: two that are exactly a gap apart are in one session. It
    /// ends a gap behind its last element.
    #[must_use]
    pub fn session(gap: Duration) -> Self {
        Self::new(Kind::Session { gap: ms(gap) })
    }

    /// One window of all, also of elements without event time; it is complete when the input ends. With a
    /// [`CountTrigger`](crate::CountTrigger), windows of so many elements.
    #[must_use]
    pub fn global() -> Self {
        Self::new(Kind::Global)
    }

    /// Windows begin so much later: those of a day at 04:00, say. Of no meaning for sessions and the global window.
    #[must_use]
    pub fn with_offset(self, offset: Duration) -> Self {
        Self { offset_ms: ms(offset), ..self }
    }

    /// Whether an element without event time is in no window.
    pub(crate) fn needs_time(self) -> bool {
        !matches!(self.kind, Kind::Global)
    }

    pub(crate) fn merges(self) -> bool {
        matches!(self.kind, Kind::Session { .. })
    }

    /// What can't be is told before anything runs.
    pub(crate) fn check(self) -> Result<()> {
        let wrong = |what: String, hint: &str| Err(Error::invalid(what).hint(hint));
        let positive = |length: i64| length > 0;
        match self.kind {
            Kind::Tumbling { size } | Kind::Session { gap: size } if !positive(size) => {
                wrong("a window of 0 ms is not possible".into(), "give it a millisecond at least")
            }
            Kind::Sliding { size, slide } if !positive(size) || !positive(slide) => wrong(
                format!("windows of {size} ms every {slide} ms are not possible"),
                "give both a millisecond at least",
            ),
            Kind::Cumulating { max_size, step } if !positive(step) || max_size % step != 0 || max_size < step => wrong(
                format!("windows that grow by {step} ms up to {max_size} ms are not possible"),
                "the largest size is a multiple of the step",
            ),
            _ => Ok(()),
        }
    }

    /// The windows that an element of this time is in, the first to end first.
    pub(crate) fn assign(self, time: i64) -> impl Iterator<Item = TimeWindow> {
        let (first, count, size_step, start_step) = match self.kind {
            Kind::Tumbling { size } => (window(self.start(time, size), size), 1, 0, 0),
            Kind::Session { gap } => (window(time, gap), 1, 0, 0),
            Kind::Global => (TimeWindow::GLOBAL, 1, 0, 0),
            Kind::Cumulating { max_size, step } => {
                let start = self.start(time, max_size);
                let past = time.saturating_sub(start) / step;
                (window(start, (past + 1).saturating_mul(step)), max_size / step - past, step, 0)
            }
            Kind::Sliding { size, slide } => {
                let last = self.start(time, slide);
                // The windows that began at `last`, a slide before, and so on, as long as they reach `time`.
                let behind = time.saturating_sub(last);
                let count = if behind < size { (size - 1 - behind) / slide + 1 } else { 0 };
                (window(last.saturating_sub((count - 1).saturating_mul(slide)), size), count, 0, slide)
            }
        };
        (0..count).map(move |number| TimeWindow {
            start: first.start.saturating_add(number.saturating_mul(start_step)),
            end: first.end.saturating_add(number.saturating_mul(start_step.saturating_add(size_step))),
        })
    }

    /// The last beginning of a window that is not after `time`.
    fn start(self, time: i64, period: i64) -> i64 {
        time.saturating_sub(time.saturating_sub(self.offset_ms).rem_euclid(period))
    }
}

fn window(start: i64, size: i64) -> TimeWindow {
    TimeWindow { start, end: start.saturating_add(size) }
}
