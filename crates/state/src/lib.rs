//! What a job remembers.
//!
//! **Owns** the form of state ([`State`], [`StateChanges`]: runs of Arrow batches, by section), checkpoints of it
//! ([`checkpoint`]) and the directory that a job calls its own ([`DataDir`]).
//! **Never** knows of operators, tasks or SQL.
//! **Start at** [`StateChanges`], then [`checkpoint::CheckpointStore`].

pub mod checkpoint;
mod data_dir;
mod section;
mod spill;

pub use data_dir::DataDir;
pub use section::{Change, Rows, Section, State, StateChanges};
pub use spill::{SpillFolder, SpillWriter, SpilledRows};
