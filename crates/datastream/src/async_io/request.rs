//! What is done for one element: the request, those that are made again, and the end of patience.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tidemill_core::{Error, Result};
use tokio::time::{sleep, timeout};

use super::options::{AsyncOptions, OnTimeout};
use super::retry::AsyncRetryStrategy;
use crate::guard::{guarded, guarded_future};
use crate::timed::Element;

/// What a program awaits.
type Answer<U> = Pin<Box<dyn Future<Output = Result<Vec<U>>> + Send>>;

/// Asks for elements of one step.
pub(super) struct Asks<T, U> {
    pub(super) name: Arc<str>,
    ask: Box<dyn Fn(T) -> Answer<U> + Send + Sync>,
    timeout: Duration,
    retry: Option<AsyncRetryStrategy>,
    on_timeout: Option<OnTimeout<T, U>>,
}

impl<T: Element, U: Element> Asks<T, U> {
    pub(super) fn new<I, F>(
        name: &str,
        options: &AsyncOptions<T, U>,
        f: impl Fn(T) -> F + Send + Sync + 'static,
    ) -> Self
    where
        I: IntoIterator<Item = U>,
        F: Future<Output = Result<I>> + Send + 'static,
    {
        let ask = move |element| -> Answer<U> {
            let answer = f(element);
            Box::pin(async move { Ok(answer.await?.into_iter().collect()) })
        };
        Self {
            name: name.into(),
            ask: Box::new(ask),
            timeout: options.timeout,
            retry: options.retry.clone(),
            on_timeout: options.on_timeout.clone(),
        }
    }

    /// Begins to ask for an element: what it gives awaits the results.
    ///
    /// # Errors
    /// If the program panics before there is anything to await.
    pub(super) fn begin(
        self: &Arc<Self>,
        element: T,
    ) -> Result<impl Future<Output = Result<Vec<U>>> + Send + use<T, U>> {
        // What may be needed again is kept: a request takes its element.
        let kept = (self.retry.is_some() || self.on_timeout.is_some()).then(|| element.clone());
        let first = guarded(&self.name, || (self.ask)(element))?;
        let asks = Arc::clone(self);
        Ok(async move {
            match timeout(asks.timeout, asks.attempts(first, kept.as_ref())).await {
                Ok(answer) => answer,
                Err(_) => asks.timed_out(kept),
            }
        })
    }

    /// Asks until there is an answer, or nobody asks again.
    async fn attempts(&self, first: Answer<U>, element: Option<&T>) -> Result<Vec<U>> {
        let mut answer = guarded_future(&self.name, first).await?;
        let (mut attempts, mut delays) = (1, self.retry.as_ref().map(AsyncRetryStrategy::delays));
        while let (Err(error), Some(retry), Some(element)) = (&answer, &self.retry, element)
            && guarded(&self.name, || retry.applies_to(error))?
            && let Some(delay) = delays.as_mut().and_then(Iterator::next)
        {
            sleep(delay).await;
            let again = guarded(&self.name, || (self.ask)(element.clone()))?;
            answer = guarded_future(&self.name, again).await?;
            attempts += 1;
        }
        answer.map_err(|e| match attempts {
            1 => e.context(format!("the step '{}'", self.name)),
            _ => e.context(format!("the step '{}', at the last of {attempts} attempts", self.name)),
        })
    }

    fn timed_out(&self, element: Option<T>) -> Result<Vec<U>> {
        let (Some(handler), Some(element)) = (&self.on_timeout, element) else {
            let seconds = self.timeout.as_secs_f64();
            return Err(Error::unavailable(format!(
                "the step '{}': a request was not answered within {seconds} s",
                self.name
            ))
            .hint(
                "see to it that what it asks answers, allow a longer timeout, or give the step's options an on_timeout",
            ));
        };
        guarded(&self.name, || handler(element))?.map_err(|e| e.context(format!("the step '{}'", self.name)))
    }
}
