//! Tidemill's typed Rust API: streams of a program's own types, with keyed state, timers and windows of event time, on the
//! same tasks, exchange and checkpoints as SQL.
//!
//! ```text
//! Environment ─► DataStream<T> ─ key_by ─► KeyedStream<K, T> ─ process ─────────────► DataStream<Out>
//!                 map · filter · flat_map   │                                           ▲
//!                 async_map · union         └─ window ─► WindowedStream ─ aggregate · reduce · process
//! ```
//!
//! **Owns** the streams, the functions that programs write, and the harness that tests them.
//! **Never** runs anything itself: an [`Environment`] puts a graph of the runtime's together, whose operators these are.
//! **Start at** [`Environment`], then [`DataStream`], then [`KeyedProcessFunction`].

mod async_io;
mod broadcast;
mod codec;
mod collector;
mod connected;
mod data_stream;
mod environment;
mod execute;
mod execute_batch;
mod guard;
mod harness;
mod join;
mod keyed_stream;
mod output_tag;
mod process;
mod reduce;
pub mod rows;
mod sink;
mod source;
mod state_backend;
mod step;
mod timed;
mod watermark_strategy;
mod window;

pub use async_io::{AsyncOptions, AsyncRetryStrategy};
pub use broadcast::{
    BroadcastConnectedStream, BroadcastContext, BroadcastState, BroadcastStates, BroadcastStream,
    KeyedBroadcastProcessFunction,
};
pub use collector::Collector;
pub use connected::{ConnectedStreams, Either, KeyedCoProcessFunction};
pub use data_stream::DataStream;
pub use environment::{Environment, Settings};
pub use execute::Executed;
pub use execute_batch::ExecutedBatch;
pub use harness::{Snapshot, TestHarness};
pub use join::{CoGroupFunction, IntervalJoin, WindowJoin};
pub use keyed_stream::KeyedStream;
pub use output_tag::OutputTag;
pub use process::{Context, KeyedProcessFunction, Timer};
pub use sink::Collected;
pub use state_backend::StateBackend;
pub use tidemill_core::{Error, ErrorKind, EventTime, Result, RowKind, Watermark};
pub use tidemill_runtime::batch::{ReExecution, Straggler, StragglerListener};
pub use tidemill_state::keyed as state;
pub use tidemill_state::keyed::AggregateFunction;
pub use timed::Element;
pub use watermark_strategy::{WatermarkStrategy, WithoutTimestamps};
pub use window::{
    ContinuousEventTimeTrigger, CountTrigger, EventTimeTrigger, LateElement, NeverTrigger, ProcessWindowFunction,
    PurgingTrigger, TimeWindow, Trigger, TriggerContext, TriggerResult, WindowAssigner, Windowed, WindowedStream,
};
