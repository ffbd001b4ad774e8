//! Keyed state, key group by key group: they take turns where there is not memory for all of them.
//!
//! ```text
//!                        ┌─► group 17, in memory ─────────────► results at once
//! rows ─ by key group ───┼─► group 18, in memory ─────────────► results at once
//!                        │
//!                        └─► group 19, spilled: rows and watermarks wait in its inbox
//!                                   │  its turn comes when enough wait, when nothing else
//!                                   ▼  is to be done, or after a while
//!                            read, fed what waits, perhaps spilled again ─► results
//! ```
//!
//! A group has an operator of its own, which sees its rows and watermarks in their order, only later; so what it emits does
//! not depend on whether it was ever spilled. What comes behind learns of a watermark when the last group has got it.
//! Rows are read and written in runs, never key by key: a turn's work is in proportion to the rows that it brings.

mod at_rest;
mod by_key_group;
mod deal;
mod inbox;
mod key_group;
mod limit;
mod together;
mod waiting;

pub use at_rest::{apart, together};
pub(crate) use by_key_group::ByKeyGroup;
pub use inbox::rows_wait;
pub use limit::{MemoryLimit, Spill};
/// What a [`Spill`] folder gives.
pub use tidemill_state::{SpillWriter, SpilledRows};
pub(crate) use waiting::{restored, saved};
