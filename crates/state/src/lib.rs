//! What a job remembers.
//!
//! **Owns** the form of state ([`State`], [`StateChanges`]: runs of Arrow batches, by section), checkpoints of it
//! ([`checkpoint`]), state by key with timers ([`keyed`]), the places where that is while a job runs ([`backend`]), and the
//! directory that a job calls its own ([`DataDir`]).
//! **Never** knows of operators, tasks or SQL.
//! **Start at** [`StateChanges`], then [`checkpoint::CheckpointStore`]; for programs at [`keyed::KeyedState`].

pub mod backend;
pub mod checkpoint;
mod data_dir;
pub mod key_group;
pub mod keyed;
mod section;
mod spill;
pub mod upserts;

pub use data_dir::DataDir;
pub use section::{Change, Rows, Section, State, StateChanges};
pub use spill::{SpillFolder, SpillWriter, SpilledRows};
