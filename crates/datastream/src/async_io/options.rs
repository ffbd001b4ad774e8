//! How an asynchronous step goes about its requests.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tidemill_core::{Error, Result};

use super::queue::Order;
use super::retry::AsyncRetryStrategy;

/// What becomes of an element whose request takes too long.
pub(super) type OnTimeout<T, U> = Arc<dyn Fn(T) -> Result<Vec<U>> + Send + Sync>;

/// How an asynchronous step goes about its requests: for elements of type `T`, and results of type `U`.
///
/// ```
/// use std::time::Duration;
/// use tidemill_datastream::{AsyncOptions, AsyncRetryStrategy};
///
/// let options = AsyncOptions::unordered(100, Duration::from_secs(5))
///     .retry(AsyncRetryStrategy::fixed_delay(3, Duration::from_millis(200)))
///     .on_timeout(|order: u64| Ok([(order, None)]));
/// # let _: AsyncOptions<u64, (u64, Option<f64>)> = options;
/// ```
pub struct AsyncOptions<T, U> {
    pub(super) order: Order,
    pub(super) capacity: usize,
    pub(super) timeout: Duration,
    pub(super) retry: Option<AsyncRetryStrategy>,
    pub(super) on_timeout: Option<OnTimeout<T, U>>,
}

impl<T, U> AsyncOptions<T, U> {
    /// Results leave in the order of their elements: one that comes early waits for those before it.
    ///
    /// `capacity` is how many requests each subtask has under way at most, with results that wait to leave; more
    /// elements are not taken meanwhile. `timeout` is how long a request may take, with all that is tried again; then the
    /// run fails, unless [`AsyncOptions::on_timeout`] says better.
    #[must_use]
    pub fn ordered(capacity: usize, timeout: Duration) -> Self {
        Self { order: Order::Ordered, capacity, timeout, retry: None, on_timeout: None }
    }

    /// Results leave as they come, but none passes a watermark, so that windows and timers behind the step are not
    /// disturbed. The rest is as in [`AsyncOptions::ordered`].
    #[must_use]
    pub fn unordered(capacity: usize, timeout: Duration) -> Self {
        Self { order: Order::Unordered, ..Self::ordered(capacity, timeout) }
    }

    /// A request that has failed is made again.
    #[must_use]
    pub fn retry(self, strategy: AsyncRetryStrategy) -> Self {
        Self { retry: Some(strategy), ..self }
    }

    /// Makes the results of an element whose request has not ended within the timeout, and was dropped.
    #[must_use]
    pub fn on_timeout<I: IntoIterator<Item = U>>(
        self,
        handler: impl Fn(T) -> Result<I> + Send + Sync + 'static,
    ) -> Self {
        let handler = move |element| Ok(handler(element)?.into_iter().collect());
        Self { on_timeout: Some(Arc::new(handler)), ..self }
    }

    /// # Errors
    /// `Invalid` if a step can't work like that.
    pub(super) fn check(&self) -> Result<()> {
        if self.capacity == 0 {
            return Err(Error::invalid("a capacity of 0 is not possible: no request could be made")
                .hint("give it how many requests may be under way at the same time"));
        }
        if self.timeout.is_zero() {
            return Err(Error::invalid("a timeout of 0 is not possible: no request could be answered")
                .hint("give it how long a request may take"));
        }
        self.retry.as_ref().map_or(Ok(()), AsyncRetryStrategy::check)
    }
}

impl<T, U> fmt::Debug for AsyncOptions<T, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { order, capacity, timeout, retry, .. } = self;
        let mut options = f.debug_struct("AsyncOptions");
        options.field("order", order).field("capacity", capacity).field("timeout", timeout).field("retry", retry);
        options.finish_non_exhaustive()
    }
}
