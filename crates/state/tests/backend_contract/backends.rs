//! The backends that are built in, each empty.

use tidemill_state::backend::{Backend, MemoryBackend};

#[cfg(feature = "redis")]
use crate::redis::Server;

/// Where the backends of one test are; gone with it.
pub(crate) struct Backends {
    #[cfg(feature = "rocksdb")]
    folder: tempfile::TempDir,
    #[cfg(feature = "rocksdb")]
    memory: [tidemill_state::backend::RocksDbMemory; 2],
    #[cfg(feature = "redis")]
    server: Server,
    opened: std::cell::Cell<usize>,
}

/// The names of those that there are.
pub(crate) const ALL: &[&str] = &[
    "memory",
    #[cfg(feature = "rocksdb")]
    "rocksdb",
    #[cfg(feature = "redis")]
    "redis",
];

impl Backends {
    pub(crate) fn new() -> Self {
        Self {
            #[cfg(feature = "rocksdb")]
            folder: tempfile::tempdir().unwrap(),
            #[cfg(feature = "rocksdb")]
            // Every second has so little that hardly a key is at hand.
            memory: [8 << 20, 4 << 10].map(tidemill_state::backend::RocksDbMemory::new),
            #[cfg(feature = "redis")]
            server: Server::start(&[]),
            opened: std::cell::Cell::new(0),
        }
    }

    /// A backend that nobody else uses.
    pub(crate) fn open(&self, name: &str) -> Box<dyn Backend> {
        let number = self.opened.replace(self.opened.get() + 1);
        let backend: Box<dyn Backend> = match name {
            "memory" => Box::new(MemoryBackend::new()),
            #[cfg(feature = "rocksdb")]
            "rocksdb" => {
                let path = self.folder.path().join(number.to_string());
                let memory = &self.memory[number % 2];
                Box::new(tidemill_state::backend::RocksDbBackend::open(&path, memory).unwrap())
            }
            #[cfg(feature = "redis")]
            "redis" => Box::new(self.server.backend(&format!("test:{number}"))),
            other => panic!("no backend is called {other} ({number} are open)"),
        };
        assert_eq!(backend.name(), name);
        backend
    }
}
