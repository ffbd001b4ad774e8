//! What a step of a program emits.

use std::fmt;

use tidemill_runtime::operator::{Output, Port};

use crate::timed::{Batch, Element, Timed};

/// Takes what a function emits. An element has the time of the one, or of the timer, for which the function was called.
pub struct Collector<T> {
    batch: Batch<T>,
    time: i64,
    watermark: i64,
}

impl<T> Default for Collector<T> {
    fn default() -> Self {
        let batch = Batch { elements: Timed::new(), watermarks: vec![] };
        Self { batch, time: i64::MIN, watermark: i64::MIN }
    }
}

impl<T> Collector<T> {
    /// Emits an element.
    pub fn collect(&mut self, value: T) {
        self.batch.elements.values.push(value);
        self.batch.elements.times.push(self.time);
        self.batch.watermarks.push(self.watermark);
    }

    /// What follows has this time and watermark, in milliseconds since 1970; `i64::MIN` where it has none.
    pub(crate) fn at(&mut self, time: i64, watermark: i64) {
        self.time = time;
        self.watermark = watermark;
    }

    pub(crate) fn emit_to(&mut self, port: Port, out: &mut Output)
    where
        T: Element,
    {
        let empty = Batch { elements: Timed::new(), watermarks: vec![] };
        let mut batch = std::mem::replace(&mut self.batch, empty);
        if batch.elements.times.iter().all(|&time| time == i64::MIN) {
            batch.elements.times.clear();
        }
        if batch.watermarks.iter().all(|&watermark| watermark == i64::MIN) {
            batch.watermarks.clear();
        }
        out.emit_to(port, batch.into_event_batch());
    }
}

impl<T> fmt::Debug for Collector<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Collector of {} elements", self.batch.elements.values.len())
    }
}
