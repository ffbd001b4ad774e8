//! Keyed state that is larger than memory: a RocksDB in a folder of this machine.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use ::rocksdb::{
    BlockBasedOptions, Cache, CompactionDecision, DB, DBCompressionType, LogLevel, Options, ReadOptions, WriteBatch,
    WriteBufferManager, WriteOptions,
};
use tidemill_core::{Error, Result};

use super::{Backend, Clocks, Entry, KeyRange, PAGE_BYTES, Page, Write, expiry};

/// One key in a hundred that is not there is looked for on the disk.
const BLOOM_BITS_PER_KEY: f64 = 10.0;

/// The largest buffer of one database; smaller where the memory is.
const WRITE_BUFFER_BYTES: usize = 64 << 20;

/// Files that no write touches are compacted after so long, so that what has expired in them goes too.
const PERIODIC_COMPACTION_SECONDS: u64 = 12 * 60 * 60;

/// The memory that all databases of a process share, within one limit: a half is for what callers keep at hand, the other
/// for blocks that were read and writes that wait to be.
#[derive(Clone)]
pub struct RocksDbMemory {
    cache: Cache,
    buffers: WriteBufferManager,
    limit_bytes: usize,
    /// How many databases are open.
    open: Arc<AtomicUsize>,
}

impl RocksDbMemory {
    /// So many bytes, of which writes take up to a quarter.
    #[must_use]
    pub fn new(limit_bytes: usize) -> Self {
        let cache = Cache::new_lru_cache(limit_bytes - limit_bytes / 2);
        // Buffers are charged to the cache, so that one limit holds for both. No stall: over the limit they are flushed
        // earlier, and nobody waits for it.
        let buffers = WriteBufferManager::new_write_buffer_manager_with_cache(limit_bytes / 4, false, cache.clone());
        Self { cache, buffers, limit_bytes, open: Arc::default() }
    }

    /// How many bytes the databases use, without what callers keep at hand.
    #[must_use]
    pub fn used_bytes(&self) -> usize {
        self.cache.get_usage()
    }

    /// How many bytes the callers of one database may keep at hand.
    fn at_hand_bytes(&self) -> usize {
        self.limit_bytes / 2 / self.open.load(Ordering::Relaxed).max(1)
    }
}

impl fmt::Debug for RocksDbMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RocksDbMemory({} of {} bytes)", self.used_bytes(), self.limit_bytes)
    }
}

/// What the compaction filter goes by, which runs in threads of RocksDB.
struct SharedClocks {
    processing_ms: AtomicI64,
    event_ms: AtomicI64,
}

/// Entries in a RocksDB, which begins empty.
pub struct RocksDbBackend {
    db: DB,
    path: PathBuf,
    memory: RocksDbMemory,
    unlogged: WriteOptions,
    clocks: Arc<SharedClocks>,
}

impl Drop for RocksDbBackend {
    fn drop(&mut self) {
        self.memory.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl RocksDbBackend {
    /// A database in a folder that no other uses; one that an earlier run has left there is deleted.
    ///
    /// # Errors
    /// `Unavailable` if the folder can't be made or written.
    pub fn open(path: &Path, memory: &RocksDbMemory) -> Result<Self> {
        fs::create_dir_all(path).map_err(|e| {
            Error::unavailable(format!("cannot create the folder '{}' for RocksDB: {e}", path.display()))
                .because(e)
                .hint(WRITABLE)
        })?;
        let Clocks { processing_ms, event_ms } = Clocks::START;
        let clocks = SharedClocks { processing_ms: processing_ms.into(), event_ms: event_ms.into() };
        let clocks = Arc::new(clocks);
        let options = options(memory, &clocks);
        // Only files of RocksDB: a folder that was named by mistake keeps what it has.
        DB::destroy(&options, path).map_err(|e| failed("empty", path, e))?;
        let db = DB::open(&options, path).map_err(|e| failed("open", path, e))?;
        let mut unlogged = WriteOptions::default();
        unlogged.disable_wal(true);
        memory.open.fetch_add(1, Ordering::Relaxed);
        Ok(Self { db, path: path.to_owned(), memory: memory.clone(), unlogged, clocks })
    }

    fn failed(&self, what: &str, e: ::rocksdb::Error) -> Error {
        failed(what, &self.path, e)
    }
}

const WRITABLE: &str = "give --data-dir a folder that the user who runs tidemill can write to, with room on its disk";

fn failed(what: &str, path: &Path, e: ::rocksdb::Error) -> Error {
    Error::unavailable(format!("cannot {what} the RocksDB in '{}': {e}", path.display())).because(e).hint(WRITABLE)
}

fn options(memory: &RocksDbMemory, clocks: &Arc<SharedClocks>) -> Options {
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(&memory.cache);
    blocks.set_bloom_filter(BLOOM_BITS_PER_KEY, false);
    // Indexes and filters count towards the limit too; the newest stay, as every read asks them.
    blocks.set_cache_index_and_filter_blocks(true);
    blocks.set_pin_l0_filter_and_index_blocks_in_cache(true);
    blocks.set_format_version(5);

    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_block_based_table_factory(&blocks);
    options.set_write_buffer_manager(&memory.buffers);
    options.set_write_buffer_size((memory.limit_bytes / 4).clamp(64 << 10, WRITE_BUFFER_BYTES));
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_max_background_jobs(2);
    options.set_periodic_compaction_seconds(PERIODIC_COMPACTION_SECONDS);
    options.set_log_level(LogLevel::Warn);
    options.set_keep_log_file_num(1);
    options.set_stats_dump_period_sec(0);
    let clocks = Arc::clone(clocks);
    options.set_compaction_filter("tidemill.expiry", move |_, _, value| {
        let clocks = Clocks {
            processing_ms: clocks.processing_ms.load(Ordering::Relaxed),
            event_ms: clocks.event_ms.load(Ordering::Relaxed),
        };
        match expiry::decode_expiry(value) {
            Some((expiry, _)) if expiry.past(clocks) => CompactionDecision::Remove,
            _ => CompactionDecision::Keep,
        }
    });
    options
}

impl Backend for RocksDbBackend {
    fn name(&self) -> &'static str {
        "rocksdb"
    }

    fn at_hand_bytes(&self) -> Option<usize> {
        Some(self.memory.at_hand_bytes())
    }

    fn get_many(&mut self, keys: &[&[u8]]) -> Result<Vec<Option<Entry>>> {
        if let [key] = keys {
            let read = self.db.get_pinned(key).map_err(|e| self.failed("read", e))?;
            return Ok(vec![read.map(|bytes| expiry::decode(&bytes)).transpose()?]);
        }
        let entry = |read: Result<Option<Vec<u8>>, ::rocksdb::Error>| {
            let bytes = read.map_err(|e| self.failed("read", e))?;
            bytes.map(|bytes| expiry::decode(&bytes)).transpose()
        };
        self.db.multi_get(keys).into_iter().map(entry).collect()
    }

    fn write(&mut self, writes: Vec<Write>) -> Result<()> {
        let mut batch = WriteBatch::default();
        for (key, entry) in writes {
            match entry {
                Some(entry) => batch.put(key, expiry::encode(&entry)),
                None => batch.delete(key),
            }
        }
        self.db.write_opt(batch, &self.unlogged).map_err(|e| self.failed("write to", e))
    }

    fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Page> {
        let mut page = Page::default();
        if range.is_empty() {
            return Ok(page);
        }
        let mut options = ReadOptions::default();
        if let Some(end) = &range.end {
            options.set_iterate_upper_bound(end.clone());
        }
        let mut entries = self.db.raw_iterator_opt(options);
        entries.seek(&range.start);
        let mut bytes = 0;
        while let Some((key, value)) = entries.item() {
            if page.entries.len() == limit || bytes > PAGE_BYTES {
                page.rest = Some(KeyRange { start: key.to_vec(), end: range.end.clone() });
                break;
            }
            bytes += key.len() + value.len();
            page.entries.push((key.to_vec(), expiry::decode(value)?));
            entries.next();
        }
        entries.status().map_err(|e| self.failed("read", e))?;
        Ok(page)
    }

    fn clean(&mut self, clocks: Clocks) -> Result<()> {
        self.clocks.processing_ms.store(clocks.processing_ms, Ordering::Relaxed);
        self.clocks.event_ms.store(clocks.event_ms, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
