//! What is kept of the elements in a window where one value will do.

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_state::keyed::AggregateFunction;

use crate::timed::Element;

/// How elements become one value.
pub(super) trait Accumulate<T>: Clone + Send + Sync + 'static {
    type Acc: Serialize + DeserializeOwned + Send + 'static;
    type Out: Element;

    /// Of one element.
    fn first(&self, value: T) -> Self::Acc;

    fn add(&self, acc: &mut Self::Acc, value: T);

    /// What there is to tell.
    fn result(&self, acc: &Self::Acc) -> Option<Self::Out>;
}

#[derive(Clone)]
pub(super) struct ByAggregate<A>(pub(super) A);

impl<T, A> Accumulate<T> for ByAggregate<A>
where
    A: AggregateFunction<In = T, Acc: Serialize + DeserializeOwned, Out: Element> + Clone + Sync,
{
    type Acc = A::Acc;
    type Out = A::Out;

    fn first(&self, value: T) -> A::Acc {
        let mut acc = self.0.create_accumulator();
        self.0.add(&mut acc, value);
        acc
    }

    fn add(&self, acc: &mut A::Acc, value: T) {
        self.0.add(acc, value);
    }

    fn result(&self, acc: &A::Acc) -> Option<A::Out> {
        Some(self.0.result(acc))
    }
}

#[derive(Clone)]
pub(super) struct ByReduce<F>(pub(super) F);

impl<T, F> Accumulate<T> for ByReduce<F>
where
    T: Element + Serialize + DeserializeOwned,
    F: Fn(T, T) -> T + Clone + Send + Sync + 'static,
{
    /// There is one, but while another becomes part of it.
    type Acc = Option<T>;
    type Out = T;

    fn first(&self, value: T) -> Option<T> {
        Some(value)
    }

    fn add(&self, acc: &mut Option<T>, value: T) {
        *acc = acc.take().map(|acc| (self.0)(acc, value));
    }

    fn result(&self, acc: &Option<T>) -> Option<T> {
        acc.clone()
    }
}
