//! `table.exec.emit...`: when a window tells its results. Flink marks these keys as experimental.

use std::time::Duration;

use tidemill_core::{Error, Excerpt, Result};

pub(crate) const EARLY_FIRE: &str = "table.exec.emit.early-fire.enabled";
pub(crate) const ALLOW_LATENESS: &str = "table.exec.emit.allow-lateness";

/// When windows tell their results.
#[derive(Debug, Clone, Default)]
pub(crate) struct Emit {
    /// How long after its end a window takes rows.
    pub(crate) allowed_lateness: Duration,
    pub(super) early: Firing,
    pub(super) late: Firing,
}

/// `...enabled` and `...delay` of one sort of firing.
#[derive(Debug, Clone, Default)]
pub(super) struct Firing {
    /// Where it was switched on.
    pub(super) enabled: Option<Excerpt>,
    pub(super) delay: Option<Duration>,
}

impl Firing {
    fn interval(&self) -> Option<Duration> {
        self.enabled.as_ref().and(self.delay)
    }

    fn check(&self, name: &str) -> Result<()> {
        match (&self.enabled, self.delay) {
            (Some(place), None) => {
                Err(Error::invalid(format!("{name} firing is switched on, and nothing says how often"))
                    .hint(format!("add SET 'table.exec.emit.{name}-fire.delay' = '10 s'"))
                    .at(place.clone()))
            }
            _ => Ok(()),
        }
    }
}

impl Emit {
    /// How long after its end a window takes rows, in milliseconds.
    pub(crate) fn lateness_ms(&self) -> i64 {
        i64::try_from(self.allowed_lateness.as_millis()).unwrap_or(0)
    }

    /// How often a window tells provisional results before its end.
    pub(crate) fn early_fire(&self) -> Option<Duration> {
        self.early.interval()
    }

    /// How often a window that has fired tells what late rows change; `None`: at the next watermark.
    pub(crate) fn late_fire(&self) -> Option<Duration> {
        self.late.interval()
    }

    /// Checks what is known only when every `SET` has been read.
    pub(super) fn check(&self) -> Result<()> {
        self.early.check("early")?;
        self.late.check("late")?;
        let (Some(delay), Some(place)) = (self.late_fire(), &self.late.enabled) else { return Ok(()) };
        if self.allowed_lateness.is_zero() {
            return Err(Error::invalid("late firing is switched on, and no window takes late rows")
                .hint(format!("add SET '{ALLOW_LATENESS}' = '1 min'"))
                .at(place.clone()));
        }
        if delay > self.allowed_lateness {
            return Err(Error::invalid("the delay of late firing is longer than windows take late rows")
                .hint(format!("give 'table.exec.emit.late-fire.delay' at most what '{ALLOW_LATENESS}' gives"))
                .at(place.clone()));
        }
        Ok(())
    }
}
