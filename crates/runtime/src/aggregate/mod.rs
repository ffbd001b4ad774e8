//! Groups and what they add up to.
//!
//! [`Table`] is the one grouping table: windows use it for their panes, and the two phases of a
//! `GROUP BY` without a window, [`PreGroup`] and [`GroupAggregate`], for a batch at a time. Where rows may
//! be taken back, [`RetractGroup`] keeps accumulators instead.

mod group;
mod keys;
mod pre_group;
mod retract;
#[cfg(test)]
pub(crate) mod sample;
mod slots;
mod table;

pub use group::GroupAggregate;
pub(crate) use keys::Keys;
pub use pre_group::PreGroup;
pub use retract::RetractGroup;
pub(crate) use table::Table;
pub use table::{AggregateCall, Aggregation};
