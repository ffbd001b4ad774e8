//! Keyed state on a server that others can look at too: Redis.
//!
//! ```text
//! PREFIX:entry:KEY    the entry; Redis lets it go itself some time after it has expired in processing time
//! PREFIX:index        all keys, in order: a sorted set whose scores are all 0
//! PREFIX:processing   the keys of entries that end in processing time, by their end
//! PREFIX:event        the same for event time, which Redis knows nothing of
//! ```
//!
//! A key is in the index before its entry is there, so what an earlier run has left is found by the index.

use std::fmt;
use std::time::Duration;

use ::redis::{Client, Cmd, Connection, ConnectionLike, FromRedisValue, Pipeline, RedisError};
use tidemill_core::{Error, Result};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

use super::{Backend, Clocks, Entry, Expiry, KeyRange, Page, Write, expiry};

/// How long a server may take to answer to a connection, and to a call.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// Redis lets an entry go so long after it has expired by the clock of this machine: its own may run ahead.
const MARGIN_MS: i64 = 60_000;

/// How many expired entries a call of [`Backend::clean`] deletes, by each clock.
const CLEANED: usize = 1000;

/// How many keys a command has.
const KEYS_PER_COMMAND: usize = 1000;

/// How many bytes of commands are on their way before answers are read.
const PIPELINE_BYTES: usize = 4 << 20;

/// About what a command has beside keys and values.
const COMMAND_BYTES: usize = 64;

/// What is kept at hand of a server's entries has so many bytes of memory.
const AT_HAND_BYTES: usize = 64 << 20;

/// Scores are numbers of 64 bits with a point: ends beyond are not told apart, nor do they ever come.
const LAST_SCORE: i64 = 1 << 53;

/// Entries on a Redis, under a prefix that no other job uses; they are gone when a backend of this prefix begins.
pub struct RedisBackend {
    connection: Connection,
    address: String,
    prefix: String,
    clocks: Clocks,
    /// Whether an entry was ever written that ends.
    expiring: bool,
}

impl fmt::Debug for RedisBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisBackend({} at {})", self.prefix, self.address)
    }
}

impl RedisBackend {
    /// The server of a URL (`redis://user:password@host:port/database`). What is there under the prefix is deleted.
    ///
    /// # Errors
    /// `Invalid` if the URL is none, or the server may evict what it holds; `Unavailable` if it does not answer.
    pub fn connect(url: &str, prefix: &str) -> Result<Self> {
        let client = Client::open(url).map_err(|e| {
            Error::invalid(format!("the URL of the Redis for the state can't be read: {e}"))
                .because(e)
                .hint("write redis://host:port, with user:password@ before the host where they are needed")
        })?;
        let address = client.get_connection_info().addr().to_string();
        let connection = off_worker(|| {
            let connection = client.get_connection_with_timeout(CONNECT_TIMEOUT)?;
            connection.set_read_timeout(Some(ANSWER_TIMEOUT))?;
            connection.set_write_timeout(Some(ANSWER_TIMEOUT))?;
            Ok(connection)
        });
        let connection = connection.map_err(|e| failed("connect to", &address, e))?;
        let prefix = prefix.to_owned();
        let mut backend = Self { connection, address, prefix, clocks: Clocks::START, expiring: false };
        backend.refuse_eviction()?;
        backend.empty()?;
        Ok(backend)
    }

    /// State that vanishes when memory gets short would be a wrong answer that nobody sees.
    fn refuse_eviction(&mut self) -> Result<()> {
        let mut info = Cmd::new();
        info.arg("INFO").arg("memory");
        let info: String = self.query("ask", &info)?;
        let field = |name: &str| info.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let policy = field("maxmemory_policy:").unwrap_or("noeviction");
        if policy == "noeviction" || field("maxmemory:").is_none_or(|bytes| bytes == "0") {
            return Ok(());
        }
        let message =
            format!("the Redis at {} evicts entries when its memory is full (maxmemory-policy {policy})", self.address);
        Err(Error::invalid(message).hint("set its maxmemory-policy to noeviction: state must not vanish"))
    }

    fn empty(&mut self) -> Result<()> {
        loop {
            let mut first = Cmd::new();
            first.arg("ZRANGE").arg(self.index()).arg(0).arg(KEYS_PER_COMMAND - 1);
            let keys: Vec<Vec<u8>> = self.query("empty", &first)?;
            if keys.is_empty() {
                break;
            }
            let mut commands = Commands::default();
            self.delete(&mut commands, &keys);
            self.send("empty", &mut commands)?;
        }
        let mut rest = Cmd::new();
        rest.arg("DEL").arg(self.ends(PROCESSING)).arg(self.ends(EVENT));
        self.query("empty", &rest)
    }

    fn entry(&self, key: &[u8]) -> Vec<u8> {
        [self.prefix.as_bytes(), b":entry:", key].concat()
    }

    fn index(&self) -> String {
        format!("{}:index", self.prefix)
    }

    /// The name of the keys by their end.
    fn ends(&self, clock: &str) -> String {
        format!("{}:{clock}", self.prefix)
    }

    /// Deletes entries, then what tells of them.
    fn delete(&self, commands: &mut Commands, keys: &[Vec<u8>]) {
        for keys in keys.chunks(KEYS_PER_COMMAND) {
            let bytes = keys.iter().map(Vec::len).sum();
            let mut delete = Cmd::new();
            delete.arg("UNLINK");
            for key in keys {
                delete.arg(self.entry(key));
            }
            commands.add(delete, bytes);
            let mut names = vec![self.index()];
            if self.expiring {
                names.extend([self.ends(PROCESSING), self.ends(EVENT)]);
            }
            for name in names {
                let mut remove = Cmd::new();
                remove.arg("ZREM").arg(name).arg(keys);
                commands.add(remove, bytes);
            }
        }
    }

    fn put(&mut self, commands: &mut Commands, key: &[u8], entry: &Entry) {
        let mut index = Cmd::new();
        index.arg("ZADD").arg(self.index()).arg(0).arg(key);
        commands.add(index, key.len());
        let mut set = Cmd::new();
        set.arg("SET").arg(self.entry(key)).arg(expiry::encode(entry));
        if let Expiry::ProcessingTime(end_ms) = entry.expiry
            && self.clocks.processing_ms > i64::MIN
        {
            // A span, not a moment: this machine's clock says how long.
            let left_ms = end_ms.saturating_sub(self.clocks.processing_ms).max(0);
            set.arg("PX").arg(left_ms.saturating_add(MARGIN_MS).min(LAST_SCORE));
        }
        commands.add(set, key.len() + entry.value.len());
        self.expiring |= entry.expiry != Expiry::Never;
        if !self.expiring {
            return;
        }
        let by_clock = match entry.expiry {
            Expiry::Never => [(PROCESSING, None), (EVENT, None)],
            Expiry::ProcessingTime(end_ms) => [(PROCESSING, Some(end_ms)), (EVENT, None)],
            Expiry::EventTime(end_ms) => [(PROCESSING, None), (EVENT, Some(end_ms))],
        };
        for (clock, end_ms) in by_clock {
            let mut end = Cmd::new();
            match end_ms.filter(|end_ms| (1 - LAST_SCORE..LAST_SCORE).contains(end_ms)) {
                Some(end_ms) => end.arg("ZADD").arg(self.ends(clock)).arg(end_ms).arg(key),
                None => end.arg("ZREM").arg(self.ends(clock)).arg(key),
            };
            commands.add(end, key.len());
        }
    }

    fn query<T: FromRedisValue>(&mut self, what: &str, command: &Cmd) -> Result<T> {
        let connection: &mut dyn ConnectionLike = &mut self.connection;
        off_worker(|| command.query(connection)).map_err(|e| failed(what, &self.address, e))
    }

    /// Sends what is there; the answers say nothing but that it was done.
    fn send(&mut self, what: &str, commands: &mut Commands) -> Result<()> {
        let Commands { pipeline, .. } = std::mem::take(commands);
        let connection: &mut dyn ConnectionLike = &mut self.connection;
        off_worker(|| pipeline.exec(connection)).map_err(|e| failed(what, &self.address, e))
    }
}

const PROCESSING: &str = "processing";
const EVENT: &str = "event";

/// Commands that are sent together.
#[derive(Default)]
struct Commands {
    pipeline: Pipeline,
    bytes: usize,
}

impl Commands {
    /// With about so many bytes of keys and values.
    fn add(&mut self, command: Cmd, bytes: usize) {
        self.bytes += bytes + COMMAND_BYTES;
        self.pipeline.add_command(command).ignore();
    }
}

/// Waits for the server; a worker of the runtime gives its other tasks away first.
fn off_worker<T>(call: impl FnOnce() -> T) -> T {
    match Handle::try_current() {
        Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => block_in_place(call),
        _ => call(),
    }
}

fn failed(what: &str, address: &str, e: RedisError) -> Error {
    let error = Error::unavailable(format!("cannot {what} the Redis at {address} that keeps the state: {e}"));
    error.because(e).hint("see to it that it runs, then run again: the job goes on from its last checkpoint")
}

impl Backend for RedisBackend {
    fn name(&self) -> &'static str {
        "redis"
    }

    fn at_hand_bytes(&self) -> Option<usize> {
        Some(AT_HAND_BYTES)
    }

    fn get_many(&mut self, keys: &[&[u8]]) -> Result<Vec<Option<Entry>>> {
        if keys.is_empty() {
            return Ok(vec![]);
        }
        let mut pipeline = Pipeline::new();
        for keys in keys.chunks(KEYS_PER_COMMAND) {
            let mut get = Cmd::new();
            get.arg("MGET");
            for key in keys {
                get.arg(self.entry(key));
            }
            pipeline.add_command(get);
        }
        let connection: &mut dyn ConnectionLike = &mut self.connection;
        let read: Vec<Vec<Option<Vec<u8>>>> =
            off_worker(|| pipeline.query(connection)).map_err(|e| failed("read from", &self.address, e))?;
        let entry = |bytes: Option<Vec<u8>>| bytes.map(|bytes| expiry::decode(&bytes)).transpose();
        read.into_iter().flatten().map(entry).collect()
    }

    fn write(&mut self, writes: Vec<Write>) -> Result<()> {
        let mut commands = Commands::default();
        for (key, entry) in writes {
            match entry {
                Some(entry) => self.put(&mut commands, &key, &entry),
                None => self.delete(&mut commands, &[key]),
            }
            if commands.bytes > PIPELINE_BYTES {
                self.send("write to", &mut commands)?;
            }
        }
        if commands.bytes > 0 {
            self.send("write to", &mut commands)?;
        }
        Ok(())
    }

    fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Page> {
        let mut page = Page::default();
        if range.is_empty() {
            return Ok(page);
        }
        let limit = limit.min(KEYS_PER_COMMAND);
        let start = [b"[", range.start.as_slice()].concat();
        let end = range.end.as_ref().map_or(b"+".to_vec(), |end| [b"(", end.as_slice()].concat());
        let mut command = Cmd::new();
        command.arg("ZRANGEBYLEX").arg(self.index()).arg(start).arg(end).arg("LIMIT").arg(0).arg(limit + 1);
        let mut keys: Vec<Vec<u8>> = self.query("read from", &command)?;
        if keys.len() > limit {
            page.rest = keys.pop().map(|start| KeyRange { start, end: range.end.clone() });
        }
        let entries = self.get_many(&keys.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        // An entry that Redis has let go is in the index until it is deleted there.
        page.entries = keys.into_iter().zip(entries).filter_map(|(key, entry)| Some((key, entry?))).collect();
        Ok(page)
    }

    fn clean(&mut self, clocks: Clocks) -> Result<()> {
        self.clocks = clocks;
        if !self.expiring {
            return Ok(());
        }
        let mut ended = Pipeline::new();
        for (clock, now_ms) in [(PROCESSING, clocks.processing_ms), (EVENT, clocks.event_ms)] {
            let mut command = Cmd::new();
            command.arg("ZRANGEBYSCORE").arg(self.ends(clock)).arg("-inf").arg(now_ms.clamp(-LAST_SCORE, LAST_SCORE));
            command.arg("LIMIT").arg(0).arg(CLEANED);
            ended.add_command(command);
        }
        let connection: &mut dyn ConnectionLike = &mut self.connection;
        let ended: Vec<Vec<Vec<u8>>> =
            off_worker(|| ended.query(connection)).map_err(|e| failed("read from", &self.address, e))?;
        let mut commands = Commands::default();
        ended.iter().for_each(|keys| self.delete(&mut commands, keys));
        if commands.bytes > 0 {
            self.send("write to", &mut commands)?;
        }
        Ok(())
    }
}
