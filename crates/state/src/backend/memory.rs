//! Keyed state in memory: a sorted map.

use std::collections::BTreeMap;
use std::ops::Bound;

use tidemill_core::Result;

use super::{Backend, Clocks, Entry, Expiry, KeyRange, PAGE_BYTES, Page, Write};

/// How many entries a call of [`Backend::clean`] looks at: what has expired goes as rows come, and none waits long for it.
const SWEPT: usize = 256;

/// All entries in one sorted map.
#[derive(Debug, Default)]
pub struct MemoryBackend {
    entries: BTreeMap<Vec<u8>, Entry>,
    /// Whether an entry was ever written that ends: else there is nothing to look for.
    expiring: bool,
    /// Where the sweep goes on.
    swept_to: Vec<u8>,
}

impl MemoryBackend {
    /// With nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Backend for MemoryBackend {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn at_hand_bytes(&self) -> Option<usize> {
        None
    }

    fn get_many(&mut self, keys: &[&[u8]]) -> Result<Vec<Option<Entry>>> {
        Ok(keys.iter().map(|&key| self.entries.get(key).cloned()).collect())
    }

    fn write(&mut self, writes: Vec<Write>) -> Result<()> {
        for (key, entry) in writes {
            match entry {
                Some(entry) => {
                    self.expiring |= entry.expiry != Expiry::Never;
                    self.entries.insert(key, entry);
                }
                None => drop(self.entries.remove(&key)),
            }
        }
        Ok(())
    }

    fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Page> {
        let mut page = Page::default();
        if range.is_empty() {
            return Ok(page);
        }
        let mut bytes = 0;
        for (key, entry) in self.entries.range::<[u8], _>(range.bounds()) {
            if page.entries.len() == limit || bytes > PAGE_BYTES {
                page.rest = Some(KeyRange { start: key.clone(), end: range.end.clone() });
                break;
            }
            bytes += key.len() + entry.value.len();
            page.entries.push((key.clone(), entry.clone()));
        }
        Ok(page)
    }

    fn clean(&mut self, clocks: Clocks) -> Result<()> {
        if !self.expiring {
            return Ok(());
        }
        let from: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Included(&self.swept_to), Bound::Unbounded);
        let mut swept = self.entries.range::<[u8], _>(from);
        let looked_at = swept.by_ref().take(SWEPT);
        let gone: Vec<Vec<u8>> =
            looked_at.filter(|(_, entry)| entry.expiry.past(clocks)).map(|(key, _)| key.clone()).collect();
        self.swept_to = swept.next().map(|(key, _)| key.clone()).unwrap_or_default();
        for key in gone {
            self.entries.remove(&key);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_expired_is_gone_after_some_calls() {
        let mut backend = MemoryBackend::new();
        let entry = |i: i64| Entry { value: vec![], expiry: Expiry::EventTime(i) };
        backend.write((0..1000).map(|i: i64| (i.to_be_bytes().to_vec(), Some(entry(i % 100)))).collect()).unwrap();
        let clocks = Clocks { event_ms: 89, ..Clocks::START };
        for _ in 0..4 {
            backend.clean(clocks).unwrap();
        }
        assert_eq!(backend.entries.len(), 100);
        assert!(backend.entries.values().all(|entry| !entry.expiry.past(clocks)));
    }

    #[test]
    fn a_page_of_large_values_is_short() {
        let mut backend = MemoryBackend::new();
        let large = || Some(Entry::new(vec![0; PAGE_BYTES]));
        backend.write(vec![(vec![1], large()), (vec![2], large()), (vec![3], large())]).unwrap();
        let page = backend.scan(&KeyRange::all(), 10).unwrap();
        assert_eq!(page.entries.len(), 1);
        assert_eq!(page.rest, Some(KeyRange { start: vec![2], end: None }));
    }
}
