//! When an entry ends, by which clock, and how that is written before its value.

use tidemill_core::{Error, Result};

use super::Entry;

/// When an entry ends: from this millisecond on it is not there any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Expiry {
    /// When it is deleted.
    #[default]
    Never,
    /// In processing time, milliseconds since the Unix epoch.
    ProcessingTime(i64),
    /// In event time, milliseconds since the Unix epoch.
    EventTime(i64),
}

/// How late it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clocks {
    /// Processing time, in milliseconds since the Unix epoch.
    pub processing_ms: i64,
    /// Event time, in milliseconds since the Unix epoch.
    pub event_ms: i64,
}

impl Clocks {
    /// Nothing is known yet: nothing has ended.
    pub const START: Self = Self { processing_ms: i64::MIN, event_ms: i64::MIN };
}

impl Expiry {
    /// Whether the end has come.
    #[must_use]
    pub fn past(self, clocks: Clocks) -> bool {
        match self {
            Self::Never => false,
            Self::ProcessingTime(end_ms) => end_ms <= clocks.processing_ms,
            Self::EventTime(end_ms) => end_ms <= clocks.event_ms,
        }
    }

    /// The later of two ends by the same clock.
    #[must_use]
    pub fn later(self, other: Self) -> Self {
        match (self, other) {
            (Self::ProcessingTime(a), Self::ProcessingTime(b)) => Self::ProcessingTime(a.max(b)),
            (Self::EventTime(a), Self::EventTime(b)) => Self::EventTime(a.max(b)),
            (Self::Never, _) => Self::Never,
            _ => other,
        }
    }
}

const NEVER: u8 = 0;
const PROCESSING_TIME: u8 = 1;
const EVENT_TIME: u8 = 2;

/// The bytes of an entry: which clock, the end if there is one, the value.
pub(crate) fn encode(entry: &Entry) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(entry.value.len() + 9);
    let (tag, end_ms) = match entry.expiry {
        Expiry::Never => (NEVER, None),
        Expiry::ProcessingTime(end_ms) => (PROCESSING_TIME, Some(end_ms)),
        Expiry::EventTime(end_ms) => (EVENT_TIME, Some(end_ms)),
    };
    bytes.push(tag);
    bytes.extend(end_ms.map(i64::to_le_bytes).iter().flatten());
    bytes.extend_from_slice(&entry.value);
    bytes
}

/// The end of an entry, and where its value begins.
pub(crate) fn decode_expiry(bytes: &[u8]) -> Option<(Expiry, &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    if *tag == NEVER {
        return Some((Expiry::Never, rest));
    }
    let (end_ms, value) = rest.split_first_chunk()?;
    let end_ms = i64::from_le_bytes(*end_ms);
    match *tag {
        PROCESSING_TIME => Some((Expiry::ProcessingTime(end_ms), value)),
        EVENT_TIME => Some((Expiry::EventTime(end_ms), value)),
        _ => None,
    }
}

/// The entry that was written as these bytes.
///
/// # Errors
/// `Data` if nobody writes such bytes.
pub(crate) fn decode(bytes: &[u8]) -> Result<Entry> {
    let (expiry, value) =
        decode_expiry(bytes).ok_or_else(|| Error::data("an entry of the state is damaged: it has no value"))?;
    Ok(Entry { value: value.to_vec(), expiry })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_ends_with_its_own_clock() {
        let clocks = Clocks { processing_ms: 5, event_ms: -5 };
        assert!(Expiry::ProcessingTime(5).past(clocks) && !Expiry::ProcessingTime(6).past(clocks));
        assert!(Expiry::EventTime(-5).past(clocks) && !Expiry::EventTime(-4).past(clocks));
        assert!(!Expiry::Never.past(Clocks { processing_ms: i64::MAX, event_ms: i64::MAX }));
    }

    #[test]
    fn what_is_written_is_read_and_damage_is_told() {
        for expiry in [Expiry::Never, Expiry::ProcessingTime(i64::MIN), Expiry::EventTime(7)] {
            for value in [vec![], vec![0], vec![2; 20]] {
                let entry = Entry { value, expiry };
                assert_eq!(decode(&encode(&entry)).unwrap(), entry);
            }
        }
        for damaged in [vec![], vec![1, 2, 3], vec![9; 20]] {
            let error = decode(&damaged).unwrap_err();
            assert_eq!(error.message(), "an entry of the state is damaged: it has no value");
        }
    }
}
