//! Elements with their times: the payload that flows between the steps of a program.

use tidemill_core::{AnyElements, Elements, EventBatch, Result};

/// What a stream can be of: whatever can be cloned (where a stream is split) and sent to another thread.
///
/// It is implemented for all such types. What can't be is refused where it is written:
///
/// ```compile_fail,E0277
/// use tidemill_datastream::Environment;
///
/// struct Order(u64); // no Clone
///
/// Environment::new().from_iter(0..3).map(Order).for_each("orders", |_| ());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be an element of a stream",
    label = "an element can be cloned and sent to another thread",
    note = "derive Clone for it; what is shared between threads is an Arc, not an Rc"
)]
pub trait Element: Clone + Send + Sync + 'static {}

impl<T: Clone + Send + Sync + 'static> Element for T {}

/// Some elements, in order.
#[derive(Debug, Clone)]
pub(crate) struct Timed<T> {
    pub(crate) values: Vec<T>,
    /// When each happened, in milliseconds since 1970; empty where elements have no time.
    pub(crate) times: Vec<i64>,
}

impl<T> Timed<T> {
    pub(crate) fn new() -> Self {
        Self { values: vec![], times: vec![] }
    }
}

impl<T: Element> AnyElements for Timed<T> {
    fn len(&self) -> usize {
        self.values.len()
    }

    fn take(&self, indices: &mut dyn Iterator<Item = usize>) -> Elements {
        let mut taken = Self::new();
        for index in indices {
            taken.values.push(self.values[index].clone());
            taken.times.extend(self.times.get(index));
        }
        Elements::new(taken)
    }

    fn type_name(&self) -> &'static str {
        std::any::type_name::<T>()
    }
}

/// A batch as the steps of a program see it.
#[derive(Debug)]
pub(crate) struct Batch<T> {
    pub(crate) elements: Timed<T>,
    /// Each element's watermark, in milliseconds since 1970: the highest that followed from the elements before it in its
    /// partition. Empty where none has reached its element's time.
    pub(crate) watermarks: Vec<i64>,
}

impl<T: Element> Batch<T> {
    pub(crate) fn of(batch: EventBatch) -> Result<Self> {
        let watermarks = batch.watermarks.map_or_else(Vec::new, |watermarks| watermarks.values().to_vec());
        let elements = batch.elements.map_or_else(|| Ok(Timed::new()), Elements::downcast)?;
        Ok(Self { elements, watermarks })
    }

    pub(crate) fn into_event_batch(self) -> EventBatch {
        let watermarks = (!self.watermarks.is_empty()).then(|| self.watermarks.into());
        EventBatch { watermarks, ..EventBatch::of_elements(Elements::new(self.elements)) }
    }
}
