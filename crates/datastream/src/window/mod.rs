//! Windows of event time over keyed streams.

mod accumulate;
mod aligned;
mod assigner;
mod contents;
mod operator;
mod time_window;
mod trigger;
mod windowed_stream;

pub use assigner::WindowAssigner;
pub use contents::ProcessWindowFunction;
pub use time_window::{LateElement, TimeWindow, Windowed};
pub use trigger::{
    ContinuousEventTimeTrigger, CountTrigger, EventTimeTrigger, NeverTrigger, PurgingTrigger, Trigger, TriggerContext,
    TriggerResult,
};
pub use windowed_stream::WindowedStream;
