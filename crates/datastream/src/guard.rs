//! A program's own code may panic: that is an error of the program, and names the step.

use std::any::Any;
use std::fmt::Display;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use tidemill_core::{Error, Result};

/// Does what a step of the program does.
///
/// What it has changed when it panics is not looked at again: the run fails.
pub(crate) fn guarded<R>(step: &str, work: impl FnOnce() -> R) -> Result<R> {
    caught(format_args!("the step '{step}'"), work)
}

/// The same for other code of a program's: `what` is what it is called.
///
/// # Errors
/// `Data` if it panics.
pub fn caught<R>(what: impl Display, work: impl FnOnce() -> R) -> Result<R> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        Error::data(format!("{what} panicked: {}", message(panic.as_ref())))
            .hint("the line is told above; code that can fail returns an error instead")
    })
}

/// The same for work that can fail: its error names the step, too.
pub(crate) fn in_step<R>(step: &str, work: impl FnOnce() -> Result<R>) -> Result<R> {
    guarded(step, work)?.map_err(|e| e.context(format!("the step '{step}'")))
}

/// Awaits what a step of the program does.
pub(crate) async fn guarded_future<F: Future>(step: &str, work: F) -> Result<F::Output> {
    let mut work = pin!(work);
    poll_fn(|context| match guarded(step, || work.as_mut().poll(context)) {
        Ok(poll) => poll.map(Ok),
        Err(panicked) => Poll::Ready(Err(panicked)),
    })
    .await
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
