//! One broadcast map in memory, and what it leaves in a checkpoint: its entries as serde writes them.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::Result;
use tidemill_state::backend::{Clocks, Entry};
use tidemill_state::keyed::{Codec, Postcard};
use tidemill_state::upserts::{self, UpsertsBuilder};

pub(super) struct Map<K, V> {
    pub(super) name: Arc<str>,
    pub(super) entries: BTreeMap<K, V>,
    /// What has changed since the last snapshot; `None`: nobody has heard of anything yet.
    noted: Option<BTreeMap<Vec<u8>, Option<Vec<u8>>>>,
}

impl<K, V> Map<K, V>
where
    K: Ord + Serialize + DeserializeOwned,
    V: Serialize + DeserializeOwned,
{
    pub(super) fn new(name: Arc<str>) -> Self {
        Self { name, entries: BTreeMap::new(), noted: None }
    }

    pub(super) fn put(&mut self, key: K, value: V) -> Result<()> {
        if let Some(noted) = &mut self.noted {
            noted.insert(written(&key)?, Some(written(&value)?));
        }
        self.entries.insert(key, value);
        Ok(())
    }

    pub(super) fn remove(&mut self, key: &K) -> Result<()> {
        if self.entries.remove(key).is_some()
            && let Some(noted) = &mut self.noted
        {
            noted.insert(written(key)?, None);
        }
        Ok(())
    }

    pub(super) fn clear(&mut self) -> Result<()> {
        let entries = std::mem::take(&mut self.entries);
        if let Some(noted) = &mut self.noted {
            for key in entries.keys() {
                noted.insert(written(key)?, None);
            }
        }
        Ok(())
    }
}

fn written<T: Serialize + DeserializeOwned>(value: &T) -> Result<Vec<u8>> {
    let mut bytes = vec![];
    Postcard.encode(value, &mut bytes)?;
    Ok(bytes)
}

/// A map of any types, as snapshots see it.
pub(super) trait AnyMap: Any + Send {
    fn name(&self) -> &str;

    /// Says what has changed since it last said so; the first time, all that there is.
    fn snapshot(&mut self) -> Result<RecordBatch>;

    /// Takes up what snapshots have left.
    fn restore(&mut self, batches: &[RecordBatch]) -> Result<()>;

    /// The next snapshot says what has changed since what was restored.
    fn note_from_now_on(&mut self);
}

impl<K, V> AnyMap for Map<K, V>
where
    K: Ord + Serialize + DeserializeOwned + Send + 'static,
    V: Serialize + DeserializeOwned + Send + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn snapshot(&mut self) -> Result<RecordBatch> {
        let mut rows = UpsertsBuilder::default();
        match self.noted.replace(BTreeMap::new()) {
            Some(noted) => {
                for (key, value) in noted {
                    rows.push(&key, value.map(Entry::new).as_ref())?;
                }
            }
            None => {
                for (key, value) in &self.entries {
                    rows.push(&written(key)?, Some(&Entry::new(written(value)?)))?;
                }
            }
        }
        rows.finish(Clocks::START)
    }

    fn restore(&mut self, batches: &[RecordBatch]) -> Result<()> {
        for batch in batches {
            for row in upserts::rows(batch)? {
                let (key, entry) = row?;
                let key = Postcard.decode(key)?;
                match entry {
                    Some(entry) => drop(self.entries.insert(key, Postcard.decode(&entry.value)?)),
                    None => drop(self.entries.remove(&key)),
                }
            }
        }
        Ok(())
    }

    fn note_from_now_on(&mut self) {
        self.noted = Some(BTreeMap::new());
    }
}
