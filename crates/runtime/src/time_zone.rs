//! The session's time zone: between instants and the local times that clocks there show.
//!
//! ```text
//! Europe/Berlin, 2026-10-25: the hour from two to three comes twice
//!   instant   00:00Z ──── 01:00Z ──── 02:00Z
//!   local     02:00 ───── 02:00 ───── 03:00
//! ```
//!
//! A local time is counted in milliseconds since 1970-01-01T00:00:00 on that clock. It can be shown
//! by no instant (a clock was put forward) or by two (it was put back): what becomes of it then is
//! said by each function.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, MappedLocalTime, NaiveDateTime, Offset, TimeZone as _};
use chrono_tz::{GapInfo, TZ_VARIANTS, Tz};
use tidemill_core::{Error, Result};

use crate::connector::nearest;

/// A time zone, by the name or the offset that Flink's `table.local-time-zone` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TimeZone(Rules);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
enum Rules {
    #[default]
    Utc,
    /// Always so many milliseconds before UTC.
    Offset(i64),
    /// As the IANA database has it.
    Region(Tz),
}

impl TimeZone {
    /// Local times are instants.
    pub const UTC: Self = Self(Rules::Utc);

    /// Whether local times are instants.
    #[must_use]
    pub fn is_utc(self) -> bool {
        self == Self::UTC
    }

    /// What clocks show at an instant. Where no calendar reaches, the instant itself.
    #[must_use]
    #[inline]
    pub fn local_ms(self, instant_ms: i64) -> i64 {
        match self.0 {
            Rules::Utc => instant_ms,
            Rules::Offset(offset_ms) => instant_ms.saturating_add(offset_ms),
            Rules::Region(zone) => calendar(instant_ms).map_or(instant_ms, |utc| {
                instant_ms + offset_ms(zone.offset_from_utc_datetime(&utc).fix().local_minus_utc())
            }),
        }
    }

    /// The instant at which clocks show a local time: the first of two, and where there is none the
    /// one that is as long after the gap's begin as the local time is. So does Java, and so Flink.
    #[must_use]
    pub fn instant_ms(self, local_ms: i64) -> i64 {
        self.resolve(local_ms, |local| match local {
            Local::Twice { first_ms, .. } => first_ms,
            Local::Skipped { offset_before_ms, .. } => local_ms - offset_before_ms,
        })
    }

    /// The first instant from which on clocks show the local time or a later one, and never again an
    /// earlier one: then whatever ends at that local time is complete.
    #[must_use]
    pub fn passed_ms(self, local_ms: i64) -> i64 {
        let last_before_ms = local_ms.saturating_sub(1);
        let last_ms = self.resolve(last_before_ms, |local| match local {
            Local::Twice { second_ms, .. } => second_ms,
            Local::Skipped { end_ms, .. } => end_ms - 1,
        });
        last_ms.saturating_add(1)
    }

    fn resolve(self, local_ms: i64, special: impl Fn(Local) -> i64) -> i64 {
        let zone = match self.0 {
            Rules::Utc => return local_ms,
            Rules::Offset(offset_ms) => return local_ms.saturating_sub(offset_ms),
            Rules::Region(zone) => zone,
        };
        let Some(local) = calendar(local_ms) else { return local_ms };
        match zone.from_local_datetime(&local) {
            MappedLocalTime::Single(at) => at.timestamp_millis(),
            MappedLocalTime::Ambiguous(first, second) => {
                special(Local::Twice { first_ms: first.timestamp_millis(), second_ms: second.timestamp_millis() })
            }
            MappedLocalTime::None => match gap(zone, &local) {
                Some(skipped) => special(skipped),
                None => local_ms,
            },
        }
    }
}

/// A local time that not just one instant shows.
enum Local {
    Twice { first_ms: i64, second_ms: i64 },
    Skipped { offset_before_ms: i64, end_ms: i64 },
}

fn gap(zone: Tz, local: &NaiveDateTime) -> Option<Local> {
    let GapInfo { begin, end } = GapInfo::new(local, &zone)?;
    let offset_before_ms = offset_ms(begin?.1.fix().local_minus_utc());
    Some(Local::Skipped { offset_before_ms, end_ms: end?.timestamp_millis() })
}

fn calendar(ms: i64) -> Option<NaiveDateTime> {
    DateTime::from_timestamp_millis(ms).map(|at| at.naive_utc())
}

fn offset_ms(seconds: i32) -> i64 {
    i64::from(seconds) * 1_000
}

impl FromStr for TimeZone {
    type Err = Error;

    /// `UTC`, `Europe/Berlin`, `GMT+02:00`.
    fn from_str(name: &str) -> Result<Self> {
        if let Some(offset_ms) = name.strip_prefix("GMT").and_then(offset) {
            return Ok(if offset_ms == 0 { Self::UTC } else { Self(Rules::Offset(offset_ms)) });
        }
        match Tz::from_str(name) {
            Ok(Tz::UTC | Tz::GMT) => Ok(Self::UTC),
            Ok(zone) => Ok(Self(Rules::Region(zone))),
            Err(_) => Err(unknown(name)),
        }
    }
}

/// `+2`, `-08:00`: as far as Java goes, 18 hours.
fn offset(text: &str) -> Option<i64> {
    let (sign, clock) = match text.split_at_checked(1)? {
        ("+", clock) => (1, clock),
        ("-", clock) => (-1, clock),
        _ => return None,
    };
    let (hours, minutes) = clock.split_once(':').unwrap_or((clock, "00"));
    let digits = |text: &str| !text.is_empty() && text.len() <= 2 && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(hours) || !digits(minutes) || minutes.len() != 2 {
        return None;
    }
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok().filter(|m| *m < 60)?);
    let total = hours * 60 + minutes;
    (total <= 18 * 60).then_some(sign * total * 60_000)
}

fn unknown(name: &str) -> Error {
    let error = Error::invalid(format!("'{name}' is not a time zone"));
    let bare = name.strip_prefix("UTC").unwrap_or(name);
    if offset(bare).is_some() {
        return error.hint(format!("write 'GMT{bare}'"));
    }
    match nearest(name, TZ_VARIANTS.iter().map(|zone| zone.name())) {
        Some(near) => error.hint(format!("did you mean '{near}'?")),
        None => {
            error.hint("give a name of the IANA database, such as 'Europe/Berlin', or an offset, such as 'GMT+02:00'")
        }
    }
}

impl fmt::Display for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Rules::Utc => write!(f, "UTC"),
            Rules::Offset(offset_ms) => {
                let minutes = offset_ms.abs() / 60_000;
                let sign = if offset_ms < 0 { '-' } else { '+' };
                write!(f, "GMT{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
            Rules::Region(zone) => write!(f, "{}", zone.name()),
        }
    }
}

#[cfg(test)]
mod tests;
