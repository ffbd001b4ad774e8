//! The keys of entries, which is a storage format: checkpoints hold them.
//!
//! ```text
//! key group  1 byte
//! state      2 bytes, big-endian: its number in the catalog
//! [time]     8 bytes, of timers: so they are in the order of their times
//! place      the key and the namespace, each behind its length: so none begins another
//! [what]     of lists the number of the element (8 bytes, big-endian), of maps the key of the entry
//! ```

use tidemill_core::{Error, Result};

/// The number of a state.
pub(super) type StateId = u16;

/// Where the part behind the state begins.
pub(super) const HEAD_BYTES: usize = 3;

/// The beginning of the keys of a state in a key group.
pub(super) fn head(group: u8, state: StateId) -> [u8; HEAD_BYTES] {
    let [high, low] = state.to_be_bytes();
    [group, high, low]
}

/// The key of what a state has in a place.
pub(super) fn in_place(group: u8, state: StateId, place: &[u8]) -> Vec<u8> {
    [&head(group, state), place].concat()
}

/// The key of a timer.
pub(super) fn timer(group: u8, state: StateId, time_ms: i64, place: &[u8]) -> Vec<u8> {
    [&head(group, state), ordered(time_ms).as_slice(), place].concat()
}

/// The time and the place of a timer, of its key behind the head.
pub(super) fn timer_of(key: &[u8]) -> Result<(i64, &[u8])> {
    let (time, place) = key.split_first_chunk().ok_or_else(|| damaged("a timer has no time"))?;
    Ok(((u64::from_be_bytes(*time) ^ (1 << 63)) as i64, place))
}

fn ordered(time_ms: i64) -> [u8; 8] {
    (time_ms as u64 ^ (1 << 63)).to_be_bytes()
}

/// Adds a key, or a namespace, to a place.
pub(super) fn push(place: &mut Vec<u8>, part: &[u8]) {
    let mut length = part.len() as u64;
    while length >= 0x80 {
        place.push(length as u8 | 0x80);
        length >>= 7;
    }
    place.push(length as u8);
    place.extend_from_slice(part);
}

/// The key and the namespace of a place.
pub(super) fn parts(place: &[u8]) -> Result<(&[u8], &[u8])> {
    let (key, rest) = part(place)?;
    let (namespace, rest) = part(rest)?;
    if rest.is_empty() { Ok((key, namespace)) } else { Err(damaged("something stands behind a place")) }
}

fn part(place: &[u8]) -> Result<(&[u8], &[u8])> {
    let mut length = 0_u64;
    for (index, byte) in place.iter().enumerate().take(9) {
        length |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            let behind = &place[index + 1..];
            let parts = usize::try_from(length).ok().and_then(|length| behind.split_at_checked(length));
            return parts.ok_or_else(|| damaged("a place is cut off"));
        }
    }
    Err(damaged("a place is cut off"))
}

/// The state of a key, and what is behind it.
pub(super) fn state_of(key: &[u8]) -> Result<(StateId, &[u8])> {
    match key {
        [_, high, low, rest @ ..] => Ok((StateId::from_be_bytes([*high, *low]), rest)),
        _ => Err(damaged("it names no state")),
    }
}

fn damaged(why: &str) -> Error {
    Error::data(format!("a key of the state is damaged: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(key: &[u8], namespace: &[u8]) -> Vec<u8> {
        let mut place = vec![];
        push(&mut place, key);
        push(&mut place, namespace);
        place
    }

    /// A change here makes stored state unreadable.
    #[test]
    fn the_format_does_not_change() {
        assert_eq!(in_place(7, 258, &place(b"ab", b"")), [7, 1, 2, 2, b'a', b'b', 0]);
        assert_eq!(timer(7, 1, -1, &place(b"", b"n")), [7, 0, 1, 127, 255, 255, 255, 255, 255, 255, 255, 0, 1, b'n']);
        assert_eq!(place(&[9; 300], b"")[..3], [172, 2, 9]);
    }

    #[test]
    fn what_is_written_is_read() {
        for (key, namespace) in [(vec![], vec![]), (vec![1], vec![0; 200]), (vec![255; 20_000], vec![1])] {
            assert_eq!(parts(&place(&key, &namespace)).unwrap(), (key.as_slice(), namespace.as_slice()));
        }
        let key = timer(1, 2, i64::MIN, b"p");
        let (state, rest) = state_of(&key).unwrap();
        assert_eq!((state, timer_of(rest).unwrap()), (2, (i64::MIN, b"p".as_slice())));
    }

    #[test]
    fn damage_is_told() {
        for damaged in [&[][..], &[5, 1], &[0x80; 12], &[0, 0, 0]] {
            assert!(parts(damaged).is_err(), "{damaged:?}");
        }
        assert!(state_of(&[1, 2]).is_err() && timer_of(&[0; 7]).is_err());
    }

    #[test]
    fn timers_are_in_the_order_of_their_times() {
        let times = [i64::MIN, -5, -1, 0, 1, 300, i64::MAX];
        assert!(times.map(|time| timer(0, 0, time, b"")).is_sorted());
    }
}
