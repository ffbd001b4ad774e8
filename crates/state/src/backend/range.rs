//! Ranges of keys.

use std::ops::Bound;

/// The keys from `start` on and before `end`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRange {
    /// The first key that is in.
    pub start: Vec<u8>,
    /// The first key behind it; `None`: it has no end.
    pub end: Option<Vec<u8>>,
}

impl KeyRange {
    /// All keys.
    #[must_use]
    pub fn all() -> Self {
        Self { start: vec![], end: None }
    }

    /// The keys that begin with `prefix`.
    #[must_use]
    pub fn prefix(prefix: &[u8]) -> Self {
        let mut end = prefix.to_vec();
        // The next key that does not begin so: the last byte that can be raised is, and those behind it go.
        while let Some(last) = end.pop() {
            if last < u8::MAX {
                end.push(last + 1);
                return Self { start: prefix.to_vec(), end: Some(end) };
            }
        }
        Self { start: prefix.to_vec(), end: None }
    }

    /// What is left of the range behind `key`.
    #[must_use]
    pub fn behind(&self, key: &[u8]) -> Self {
        // The next key of all is the same with a zero behind it.
        Self { start: [key, &[0]].concat(), end: self.end.clone() }
    }

    /// Whether no key can be in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }

    /// The bounds, as a sorted map wants them; the range must not be empty.
    #[must_use]
    pub fn bounds(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        (Bound::Included(&self.start), self.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_where_keys_begin_otherwise() {
        let end = |prefix: &[u8]| KeyRange::prefix(prefix).end;
        assert_eq!(end(&[1, 2]), Some(vec![1, 3]));
        assert_eq!(end(&[1, 255, 255]), Some(vec![2]));
        assert_eq!(end(&[255, 255]), None);
        assert_eq!(end(&[]), None);
        assert_eq!(KeyRange::prefix(&[]), KeyRange::all());
    }

    #[test]
    fn nothing_is_between_a_key_and_what_is_behind_it() {
        let range = KeyRange { start: vec![1], end: Some(vec![1, 0]) };
        assert!(!range.is_empty());
        assert!(range.behind(&[1]).is_empty());
    }
}
