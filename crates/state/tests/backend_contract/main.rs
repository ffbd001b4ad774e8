//! What every backend has to do, and keyed state on each: one suite for all.

#![allow(clippy::unwrap_used, clippy::panic)]

mod backends;
mod bytes;
mod checkpoints;
mod hostile;
mod keyed;
mod model;
#[cfg(feature = "redis")]
mod redis;
mod rescale;
mod steps;
mod time_to_live;
