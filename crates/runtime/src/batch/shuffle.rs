//! What the parts of stages have left for the stages behind them: in memory while there is room, then in files.

mod merge;
mod writer;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use arrow::array::RecordBatch;
use tidemill_core::{EventBatch, Result};
use tidemill_state::{Rows, SpillFolder, SpillWriter};

use crate::key_groups::restored;
pub(super) use merge::{Merge, Source};
pub(super) use writer::{PartWriter, Written};

/// A part of a stage: the task, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct PartId {
    pub(super) task: usize,
    pub(super) part: usize,
}

/// Some rows.
#[derive(Debug)]
pub(super) enum Block {
    /// Encoded: in memory, which is held as long, or in a file.
    Encoded { rows: Rows, _held: Option<Held> },
    /// Elements of a program that nobody knows how to write: those that all subtasks hear of, which are few, and those for
    /// sinks.
    Whole(Box<EventBatch>),
}

impl Block {
    /// The rows, where they are no encoded elements.
    ///
    /// # Errors
    /// If they are in a file that can't be read.
    pub(super) fn read(self) -> Result<EventBatch> {
        match self {
            Self::Encoded { rows, .. } => restored(&rows.read()?),
            Self::Whole(batch) => Ok(*batch),
        }
    }
}

/// Rows of one part for one bucket, in the order in which they are to be read.
#[derive(Debug, Default)]
pub(super) struct Run {
    blocks: Vec<Block>,
    /// They are elements with times, and in that order.
    timed: bool,
}

/// What one part has left, by edge and bucket.
pub(super) type Left = Vec<Vec<Vec<Run>>>;

/// What all have left so far.
pub(super) struct Shuffle {
    memory: Arc<Memory>,
    /// Where files are made.
    parent: PathBuf,
    folder: OnceLock<SpillFolder>,
    spilled: AtomicU64,
    left: Mutex<BTreeMap<PartId, Arc<Left>>>,
}

impl Shuffle {
    /// `limit`: how many bytes stay in memory.
    pub(super) fn new(limit: u64, parent: PathBuf) -> Self {
        Self {
            memory: Arc::new(Memory { limit, used: AtomicU64::new(0) }),
            parent,
            folder: OnceLock::new(),
            spilled: AtomicU64::new(0),
            left: Mutex::default(),
        }
    }

    /// A part is done: what it had left before, if it did, is replaced.
    pub(super) fn put(&self, part: PartId, left: Left) {
        self.lock().insert(part, Arc::new(left));
    }

    /// What a part has left.
    pub(super) fn get(&self, part: PartId) -> Option<Arc<Left>> {
        self.lock().get(&part).cloned()
    }

    /// How many bytes went to files.
    pub(super) fn spilled_bytes(&self) -> u64 {
        self.spilled.load(Ordering::Relaxed)
    }

    /// Keeps rows: in memory, or behind what `file` has.
    fn keep(&self, rows: RecordBatch, file: &mut Option<SpillWriter>) -> Result<Block> {
        let bytes = rows.get_array_memory_size() as u64;
        if let Some(held) = self.memory.take(bytes) {
            return Ok(Block::Encoded { rows: Rows::Here(rows), _held: Some(held) });
        }
        let file = match file {
            Some(file) => file,
            None => file.insert(self.folder()?.file()?),
        };
        let rows = file.write(&rows)?;
        self.spilled.fetch_add(rows.length(), Ordering::Relaxed);
        Ok(Block::Encoded { rows: Rows::Spilled(rows), _held: None })
    }

    fn folder(&self) -> Result<&SpillFolder> {
        if let Some(folder) = self.folder.get() {
            return Ok(folder);
        }
        let made = SpillFolder::within(&self.parent)?;
        // Of two that are made at the same time the second goes away again.
        Ok(self.folder.get_or_init(|| made))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PartId, Arc<Left>>> {
        // What a part has left is put there in one step.
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How much of it is in memory.
#[derive(Debug)]
struct Memory {
    limit: u64,
    used: AtomicU64,
}

impl Memory {
    /// Room for so many bytes, if there is any.
    fn take(self: &Arc<Self>, bytes: u64) -> Option<Held> {
        let room = |used: u64| used.checked_add(bytes).filter(|used| *used <= self.limit);
        let taken = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room);
        taken.is_ok().then(|| Held { memory: Arc::clone(self), bytes })
    }
}

/// Room in memory, until it is dropped.
#[derive(Debug)]
pub(super) struct Held {
    memory: Arc<Memory>,
    bytes: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.memory.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
