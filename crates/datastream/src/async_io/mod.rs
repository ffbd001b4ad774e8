//! Asynchronous I/O: each element is a request to something outside, and many are under way at the same time.
//!
//! ```text
//! element ─► queue (what waits, what is under way, who may leave) ─► request (attempts, timeout) ─► results
//!                 operator: synchronous, drives the queue               the task polls it
//! ```

mod operator;
mod options;
mod queue;
mod request;
mod retry;

pub use options::AsyncOptions;
pub use retry::AsyncRetryStrategy;

use std::sync::Arc;

use tidemill_core::Result;

use crate::data_stream::DataStream;
use crate::timed::Element;

impl<T: Element> DataStream<T> {
    /// Asks something outside about each element (a database, a service), and makes one of each and its answer. Many
    /// requests are under way at the same time, and a result leaves as soon as it may. As Flink's `AsyncDataStream`.
    ///
    /// `name` is what errors speak of. `options` say in which order results leave, how many requests may be under way, and
    /// how long one may take; an error of `f`, or a panic, ends the run. `f` is called for one element after the other, and
    /// should give its future without waiting: what it awaits is polled by the runtime of the run (tokio's).
    ///
    /// The results have the times of their elements, and no result passes a watermark: windows behind the step are what
    /// they would be without it. In order, the results are a function of the input where the same question always has
    /// the same answer. At a checkpoint the requests that are under way are waited for; a run that goes on from it asks
    /// again for what came behind.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tidemill_datastream::{AsyncOptions, Environment};
    ///
    /// async fn price_of(item: &str) -> tidemill_datastream::Result<u32> {
    ///     // A request to a service stands here.
    ///     tokio::time::sleep(Duration::from_millis(10)).await;
    ///     Ok(item.len() as u32)
    /// }
    ///
    /// # fn main() -> tidemill_datastream::Result<()> {
    /// let env = Environment::new();
    /// let options = AsyncOptions::ordered(100, Duration::from_secs(5));
    /// let priced = env
    ///     .from_iter(["tea", "coffee"])
    ///     .async_map("prices", options, |item| async move { Ok((item, price_of(item).await?)) })
    ///     .collect();
    /// env.execute_live()?;
    /// assert_eq!(priced.take(), [("tea", 3), ("coffee", 6)]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn async_map<U, F>(
        self,
        name: &str,
        options: AsyncOptions<T, U>,
        f: impl Fn(T) -> F + Send + Sync + 'static,
    ) -> DataStream<U>
    where
        U: Element,
        F: Future<Output = Result<U>> + Send + 'static,
    {
        let ask = move |element| {
            let answer = f(element);
            async move { Ok([answer.await?]) }
        };
        self.async_flat_map(name, options, ask)
    }

    /// The same for any number of results of each element.
    #[must_use]
    pub fn async_flat_map<U, I, F>(
        self,
        name: &str,
        options: AsyncOptions<T, U>,
        f: impl Fn(T) -> F + Send + Sync + 'static,
    ) -> DataStream<U>
    where
        U: Element,
        I: IntoIterator<Item = U>,
        F: Future<Output = Result<I>> + Send + 'static,
    {
        self.env().plan(|plan| {
            plan.name(name);
            if let Err(error) = options.check() {
                plan.fail(error.context(format!("the step '{name}'")));
            }
        });
        let keeps_order = options.order.keeps();
        let make = operator::make(name, options, f);
        let (env, mut streams) = self.into_parts();
        env.plan(|plan| {
            for stream in &mut streams.streams {
                *stream = plan.graph.chain(*stream, Arc::clone(&make));
            }
        });
        // Where order is lost, an element's watermark is no clock any more.
        streams.one_partition &= keeps_order;
        DataStream::from_streams(env, streams, None)
    }
}
