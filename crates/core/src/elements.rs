//! Elements of a program's own type: the engine moves them between tasks, and knows nothing else of them.

use std::any::Any;
use std::fmt;

use crate::{Error, Result};

/// Some elements of one type, in order.
///
/// # Contract
/// - `take` and `slice` give elements in the order that is asked for, as a clone of the whole would hold them.
pub trait AnyElements: Any + Send + Sync {
    /// How many there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Those at `indices`, in that order.
    fn take(&self, indices: &mut dyn Iterator<Item = usize>) -> Elements;

    /// Of what type they are, for messages.
    fn type_name(&self) -> &'static str;
}

/// Elements of a type that only the steps of one program know.
pub struct Elements(Box<dyn AnyElements>);

impl Elements {
    /// These.
    #[must_use]
    pub fn new(elements: impl AnyElements) -> Self {
        Self(Box::new(elements))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those at `indices`, in that order.
    #[must_use]
    pub fn take(&self, indices: impl IntoIterator<Item = usize>) -> Self {
        self.0.take(&mut indices.into_iter())
    }

    /// As what they are.
    ///
    /// # Errors
    /// `Internal` if they are of another type.
    pub fn downcast<E: AnyElements>(self) -> Result<E> {
        let found = self.0.type_name();
        let elements: Box<dyn Any> = self.0;
        elements.downcast().map(|elements| *elements).map_err(|_| unexpected::<E>(found))
    }

    /// The same, as a reference.
    ///
    /// # Errors
    /// `Internal` if they are of another type.
    pub fn downcast_ref<E: AnyElements>(&self) -> Result<&E> {
        let elements: &dyn Any = self.0.as_ref();
        elements.downcast_ref().ok_or_else(|| unexpected::<E>(self.0.type_name()))
    }
}

impl Clone for Elements {
    fn clone(&self) -> Self {
        self.take(0..self.len())
    }
}

impl fmt::Debug for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements of {}", self.len(), self.0.type_name())
    }
}

fn unexpected<E>(found: &str) -> Error {
    Error::internal(format!("elements of {found} have come where {} were expected", std::any::type_name::<E>()))
}
