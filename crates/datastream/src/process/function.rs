//! What a program writes that has state and timers.

use tidemill_core::{EventTime, Result};

use super::Context;
use crate::collector::Collector;
use crate::timed::Element;

/// A timer that has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The watermark has reached this time.
    EventTime(EventTime),
    /// The clock has reached this time, in milliseconds since 1970.
    ProcessingTime(i64),
}

/// A function that is called for each element of a keyed stream, and for each timer that it has registered, with the state
/// of the element's or the timer's key. As Flink's.
///
/// # Contract
/// - What it remembers between calls is in keyed state: what is in its own fields is lost when a run goes on from a
///   checkpoint, and is shared by the keys of a subtask (nobody checks this).
/// - The same calls with the same state do the same. Where that holds, and elements come from one partition, what it emits
///   is a function of the input alone: a timer of event time comes before the first element whose own watermark has reached
///   it. Where several partitions meet, it comes when the slowest has. One for a time
///   that is past comes at once.
/// - An error, or a panic, ends the run; it goes on from its last checkpoint when it is started again.
pub trait KeyedProcessFunction<K, T>: Send + 'static {
    /// What it emits.
    type Out: Element;

    /// An element of the key has come.
    ///
    /// # Errors
    /// What the function says, and what its states say.
    fn process_element(
        &mut self,
        key: &K,
        value: T,
        context: &mut Context<'_>,
        out: &mut Collector<Self::Out>,
    ) -> Result<()>;

    /// A timer of the key has come. The element's time in the context is the timer's.
    ///
    /// # Errors
    /// What the function says, and what its states say.
    fn on_timer(
        &mut self,
        key: &K,
        timer: Timer,
        context: &mut Context<'_>,
        out: &mut Collector<Self::Out>,
    ) -> Result<()> {
        let _ = (key, timer, context, out);
        Ok(())
    }
}
