//! Decides which element's request begins, and which results may leave: knows elements, watermarks and their order alone.
//!
//! ```text
//! segment       segment            segment        waiting
//! done          1 open, 2 done     2 open         5 elements
//!      then W1             then W2
//! ```
//!
//! What is in a segment leaves in any order, but only once all segments before it are complete. Between two
//! watermarks there is one, or, where the order is kept, one for each element.

use std::collections::VecDeque;

use tidemill_core::Watermark;

/// In which order results leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// In that of their elements.
    Ordered,
    /// As they come, but none passes a watermark.
    Unordered,
}

impl Order {
    /// Whether it is that of the elements.
    pub(super) fn keeps(self) -> bool {
        self == Self::Ordered
    }
}

/// An element's time and watermark, in milliseconds since 1970; `i64::MIN` where it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) time: i64,
    pub(super) watermark: i64,
}

/// An element's place while its request is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    segment: u64,
    stamp: Stamp,
}

#[derive(Debug)]
struct Segment<R> {
    /// How many elements have no result yet.
    open: usize,
    /// Results that have not left.
    done: Vec<(Stamp, R)>,
    /// What is reached when all have left.
    then: Option<Watermark>,
}

/// Elements of one subtask: those that wait, and those that are under way, with results that may not leave yet.
#[derive(Debug)]
pub(super) struct Queue<T, R> {
    order: Order,
    capacity: usize,
    waiting: VecDeque<(Place, T)>,
    /// How many have begun, and their results not left.
    begun: usize,
    segments: VecDeque<Segment<R>>,
    /// The number of the first segment.
    first: u64,
    reached: Watermark,
    given_up: bool,
}

impl<T, R> Queue<T, R> {
    /// At most `capacity` requests are under way, or have results that may not leave yet.
    pub(super) fn new(order: Order, capacity: usize) -> Self {
        Self {
            order,
            capacity,
            waiting: VecDeque::new(),
            begun: 0,
            segments: VecDeque::new(),
            first: 0,
            reached: Watermark::MIN,
            given_up: false,
        }
    }

    /// An element comes.
    pub(super) fn push(&mut self, element: T, stamp: Stamp) {
        if self.given_up {
            return;
        }
        let joins = |last: &Segment<R>| self.order == Order::Unordered && last.then.is_none();
        if !self.segments.back().is_some_and(joins) {
            self.segments.push_back(Segment { open: 0, done: vec![], then: None });
        }
        let segment = self.first + self.segments.len() as u64 - 1;
        if let Some(last) = self.segments.back_mut() {
            last.open += 1;
        }
        self.waiting.push_back((Place { segment, stamp }, element));
    }

    /// A watermark comes behind the elements.
    pub(super) fn push_watermark(&mut self, watermark: Watermark) {
        match self.segments.back_mut() {
            Some(last) => last.then = Some(watermark),
            // It would pass what was given up.
            None if self.given_up => {}
            None => self.reached = watermark,
        }
    }

    /// The next element whose request is to begin.
    pub(super) fn begin(&mut self) -> Option<(Place, T)> {
        if self.begun == self.capacity {
            return None;
        }
        let next = self.waiting.pop_front()?;
        self.begun += 1;
        Some(next)
    }

    /// The request of an element has come to this.
    pub(super) fn done(&mut self, Place { segment, stamp }: Place, result: R) {
        let index = segment.checked_sub(self.first).and_then(|index| usize::try_from(index).ok());
        // One that was given up is not there.
        if let Some(segment) = index.and_then(|index| self.segments.get_mut(index)) {
            segment.open -= 1;
            segment.done.push((stamp, result));
        }
    }

    /// Takes out what may leave before the next watermark is passed on. Gives whether one is reached now: then there may be
    /// more behind it.
    pub(super) fn leave(&mut self, mut take: impl FnMut(Stamp, R)) -> bool {
        while let Some(segment) = self.segments.front_mut() {
            self.begun -= segment.done.len();
            segment.done.drain(..).for_each(|(stamp, result)| take(stamp, result));
            if segment.open > 0 {
                return false;
            }
            let then = segment.then;
            self.segments.pop_front();
            self.first += 1;
            if let Some(watermark) = then {
                self.reached = watermark;
                return true;
            }
        }
        false
    }

    /// What is there is forgotten, and so is all that comes: also results of what is under way.
    pub(super) fn give_up(&mut self) {
        self.given_up = true;
        self.first += self.segments.len() as u64;
        self.segments.clear();
        self.waiting.clear();
        self.begun = 0;
    }

    /// The watermark behind the last that has left.
    pub(super) fn reached(&self) -> Watermark {
        self.reached
    }

    /// Whether elements wait.
    pub(super) fn waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether there is an element that waits or is under way, or a result that has not left.
    pub(super) fn open(&self) -> bool {
        !self.segments.is_empty()
    }
}

#[cfg(test)]
mod tests;
