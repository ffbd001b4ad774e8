//! Which requests are made again when they have failed, and when.

use std::fmt;
use std::iter::successors;
use std::sync::Arc;
use std::time::Duration;

use tidemill_core::{Error, Result};

/// Which requests are made again when they have failed, how often and when. As Flink's.
#[derive(Clone)]
pub struct AsyncRetryStrategy {
    max_retries: usize,
    delay: Duration,
    max_delay: Duration,
    multiplier: f64,
    applies: Arc<dyn Fn(&Error) -> bool + Send + Sync>,
}

impl AsyncRetryStrategy {
    /// After a request that has failed up to `max_retries` others are made, each so long after the last has failed.
    #[must_use]
    pub fn fixed_delay(max_retries: usize, delay: Duration) -> Self {
        Self::exponential_backoff(max_retries, delay, delay, 1.0)
    }

    /// The same with a delay that is `initial` first, and `multiplier` times as long each time, up to `max`.
    #[must_use]
    pub fn exponential_backoff(max_retries: usize, initial: Duration, max: Duration, multiplier: f64) -> Self {
        Self { max_retries, delay: initial, max_delay: max, multiplier, applies: Arc::new(|_| true) }
    }

    /// Only for errors of which this is true; else it is for all.
    #[must_use]
    pub fn if_error(self, applies: impl Fn(&Error) -> bool + Send + Sync + 'static) -> Self {
        Self { applies: Arc::new(applies), ..self }
    }

    pub(super) fn applies_to(&self, error: &Error) -> bool {
        (self.applies)(error)
    }

    /// How long to wait before each retry.
    pub(super) fn delays(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        let Self { delay, max_delay, multiplier, max_retries, .. } = *self;
        let longer = move |delay: &Duration| {
            let seconds = (delay.as_secs_f64() * multiplier).min(max_delay.as_secs_f64());
            Some(Duration::try_from_secs_f64(seconds).unwrap_or(max_delay))
        };
        successors(Some(delay.min(max_delay)), longer).take(max_retries)
    }

    /// # Errors
    /// `Invalid` if delays would get shorter, or be no times.
    pub(super) fn check(&self) -> Result<()> {
        if self.multiplier >= 1.0 && self.multiplier.is_finite() {
            return Ok(());
        }
        Err(Error::invalid(format!("a delay between retries can't be multiplied by {}", self.multiplier))
            .hint("give exponential_backoff a multiplier from 1"))
    }
}

impl fmt::Debug for AsyncRetryStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { max_retries, delay, max_delay, multiplier, .. } = self;
        let mut strategy = f.debug_struct("AsyncRetryStrategy");
        strategy.field("max_retries", max_retries).field("delay", delay).field("max_delay", max_delay);
        strategy.field("multiplier", multiplier).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_up_to_the_longest() {
        let ms = |strategy: AsyncRetryStrategy| strategy.delays().map(|delay| delay.as_millis()).collect::<Vec<_>>();
        let of = Duration::from_millis;
        assert_eq!(ms(AsyncRetryStrategy::fixed_delay(3, of(20))), [20, 20, 20]);
        assert_eq!(ms(AsyncRetryStrategy::fixed_delay(0, of(20))), [0; 0]);
        assert_eq!(ms(AsyncRetryStrategy::exponential_backoff(5, of(10), of(50), 2.0)), [10, 20, 40, 50, 50]);
        assert_eq!(ms(AsyncRetryStrategy::exponential_backoff(2, of(90), of(50), 2.0)), [50, 50]);
        assert_eq!(ms(AsyncRetryStrategy::exponential_backoff(2, of(1), of(50), 1e300)), [1, 50]);
    }
}
