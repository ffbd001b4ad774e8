//! A job begins from the savepoint of another: which operator takes up whose state, and how that is dealt to its subtasks.
//!
//! ```text
//! the savepoint's operators ─┐
//!                            ├─ matched (pure) ─► carry: for each operator its states, in the form that it keeps them
//! the graph's operators ─────┘
//! ```

mod carry;
mod matched;
mod operators;

pub(crate) use carry::{Carried, carry};
