//! Where keyed state is while a job runs: entries of bytes, in the order of their keys, behind one trait.
//!
//! A backend is a *working copy*. What counts is the checkpoint: a backend begins empty, is filled from the last checkpoint,
//! and nothing in it has to survive the process. So none writes ahead, none waits for a disk, and what a crash leaves behind
//! is thrown away.

pub(crate) mod expiry;
mod memory;
mod range;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "rocksdb")]
mod rocksdb;

use tidemill_core::Result;

pub use expiry::{Clocks, Expiry};
pub use memory::MemoryBackend;
pub use range::KeyRange;
#[cfg(feature = "redis")]
pub use redis::RedisBackend;
#[cfg(feature = "rocksdb")]
pub use rocksdb::{RocksDbBackend, RocksDbMemory};

/// A page of a scan ends once its entries have so many bytes.
const PAGE_BYTES: usize = 4 << 20;

/// What a key stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The bytes.
    pub value: Vec<u8>,
    /// When it ends.
    pub expiry: Expiry,
}

impl Entry {
    /// An entry that does not end by itself.
    #[must_use]
    pub fn new(value: Vec<u8>) -> Self {
        Self { value, expiry: Expiry::Never }
    }
}

/// A key, and what it stands for from now on: `None` deletes it.
pub type Write = (Vec<u8>, Option<Entry>);

/// Some entries of a range, in the order of their keys.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The entries.
    pub entries: Vec<(Vec<u8>, Entry)>,
    /// The rest of the range, if the page does not reach to its end; it can turn out to be empty.
    pub rest: Option<KeyRange>,
}

/// The keyed state of one subtask, as bytes.
///
/// # Contract
/// - Keys are ordered byte by byte; any bytes are a key, none too, and any a value.
/// - One owner calls, one call at a time, and each sees what the calls before it have written.
/// - A call does its work on the thread that makes it. It may wait for one round trip to a disk or a server, however many
///   keys it is given: so callers bring all the keys of a batch in one call. A backend that waits for a network gives its
///   worker's other tasks away first.
/// - An entry that has expired may be returned or not: callers judge it by [`Expiry::past`], and
///   [`Backend::clean`] is only told what may go. It never brings back an older entry of the key.
/// - After an error nothing is known of what was written; the job goes on from its last checkpoint.
pub trait Backend: Send {
    /// What it is, in a word.
    fn name(&self) -> &'static str;

    /// How much memory may be taken by what callers keep at hand of it, in bytes, where a read costs a disk or a server;
    /// `None` where it costs neither. It may change from call to call, as others come and go that share the memory.
    fn at_hand_bytes(&self) -> Option<usize>;

    /// What each of the keys stands for, in their order.
    ///
    /// # Errors
    /// `Unavailable` if a disk or a server does not do its part; the same holds for all calls.
    fn get_many(&mut self, keys: &[&[u8]]) -> Result<Vec<Option<Entry>>>;

    /// Applies writes, in their order.
    ///
    /// # Errors
    /// `Unavailable`.
    fn write(&mut self, writes: Vec<Write>) -> Result<()>;

    /// The first entries of a range, at most `limit` (which is not 0); fewer where they are large.
    ///
    /// # Errors
    /// `Unavailable`.
    fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Page>;

    /// What has expired by these clocks may go: in the background, or some of it at each call. They never go back.
    ///
    /// # Errors
    /// `Unavailable`.
    fn clean(&mut self, clocks: Clocks) -> Result<()>;
}
