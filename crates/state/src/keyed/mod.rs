//! State by key, for programs: what an operator remembers of each key, and when it wants to be called for it.
//!
//! ```
//! use tidemill_core::{EventTime, Watermark};
//! use tidemill_state::backend::MemoryBackend;
//! use tidemill_state::keyed::{KeyedState, StateDescriptor, ValueState};
//!
//! # fn main() -> tidemill_core::Result<()> {
//! let mut state = KeyedState::new(Box::new(MemoryBackend::new()), 0..128)?;
//! let visits: ValueState<u64> = state.value_state(StateDescriptor::new("visits"))?;
//!
//! // An element of the key "ann": one visit more, and a timer a minute later.
//! state.set_current_key("ann")?;
//! state.set_element_time(Some(EventTime(1_000)), Watermark::MIN);
//! visits.update_with(&mut state, |visits| *visits = Some(visits.unwrap_or(0) + 1))?;
//! state.register_event_time_timer(EventTime(61_000))?;
//!
//! // The watermark passes it: the timer fires, and its key is the current one.
//! state.advance_watermark(Watermark(70_000));
//! let fired = state.next_event_time_timer()?;
//! assert_eq!(fired, Some(EventTime(61_000)));
//! assert_eq!(state.current_key::<String>()?, "ann");
//! assert_eq!(visits.value(&mut state)?, Some(&1));
//! # Ok(())
//! # }
//! ```
//!
//! Values of one-value states are at hand as they are, by a number of their key ([`cells`]); bytes they are only in the
//! store ([`store`]), where the entries of lists and maps and the timers ([`timers`]) are too. Below it is a
//! [`Backend`](crate::backend::Backend).

mod aggregating;
mod catalog;
mod cells;
mod codec;
mod descriptor;
mod keyed_state;
mod keys;
mod layout;
mod list;
mod map;
mod reducing;
mod snapshot;
mod store;
mod time;
mod timers;
mod upkeep;
mod value;

pub use aggregating::{AggregateFunction, AggregatingState};
pub use codec::{Codec, Ordered, Postcard};
pub use descriptor::{MapStateDescriptor, StateDescriptor, StateTtlConfig, TtlTimeCharacteristic, UpdateType};
pub use keyed_state::{KeyedState, decode_key, encode_key, key_group};
pub use list::ListState;
pub use map::{MapEntries, MapState};
pub use reducing::ReducingState;
pub use value::ValueState;
