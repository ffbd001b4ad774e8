//! Requests run on a thread of their own.
//!
//! Who needs their answer may be a thread of the engine's runtime that blocks: were the request a task of the same
//! runtime, all its threads could wait for what none of them is left to do.

use std::io;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll};

use futures::executor::block_on;
use tidemill_core::{Error, Result};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// The thread of all requests of this process.
static REQUESTS: LazyLock<io::Result<Runtime>> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).thread_name("tidemill-s3").enable_all().build());

/// The answer to a request that is under way. Dropping it gives the request up.
pub(super) struct Answer<T>(JoinHandle<Result<T>>);

/// Begins a request.
///
/// # Errors
/// `Unavailable` if the system gives no thread.
pub(super) fn begin<T: Send + 'static>(request: impl Future<Output = Result<T>> + Send + 'static) -> Result<Answer<T>> {
    match &*REQUESTS {
        Ok(runtime) => Ok(Answer(runtime.spawn(request))),
        Err(e) => Err(Error::unavailable(format!("cannot start a thread for requests: {e}"))),
    }
}

/// Makes a request, and blocks until the answer is there.
pub(super) fn ask<T: Send + 'static>(request: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    begin(request)?.wait()
}

impl<T> Answer<T> {
    /// Blocks until it is there.
    pub(super) fn wait(self) -> Result<T> {
        block_on(self)
    }
}

impl<T> Future for Answer<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|done| match done {
            Ok(answer) => answer,
            Err(e) => Err(Error::internal(format!("a request has failed: {e}"))),
        })
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
