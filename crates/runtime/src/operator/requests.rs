//! What an operator asks of something outside. It waits for nothing itself: the task has its requests under way.

use futures::future::BoxFuture;
use tidemill_core::Result;

use super::Output;

/// A request on its way. What it comes to it leaves with the operator that has begun it; its error ends the run.
pub type Request = BoxFuture<'static, Result<()>>;

/// The requests of one operator.
///
/// # Contract
/// - The task polls what [`Requests::begin`] gives on the runtime of the job, all at the same time; it drops what is under
///   way when the run fails, or is stopped and nothing is kept.
/// - Each request ends some time, whatever it waits for: a barrier waits for all that came before it.
/// - The watermark behind an element is held back ([`super::Operator::reached`]) until what came of the element has left.
/// - Before a barrier, and at the end, the task waits until nothing is [`Requests::open`]: so there is nothing to snapshot.
pub trait Requests {
    /// The next request, if an element waits for one and it may be under way now.
    ///
    /// # Errors
    /// What the operator says of the element.
    fn begin(&mut self) -> Result<Option<Request>>;

    /// Whether elements wait whose requests may not begin yet: then nothing more is taken from the task's inputs.
    fn waiting(&self) -> bool;

    /// Whether something of what the operator was given has not left it yet.
    fn open(&self) -> bool;

    /// Emits what may leave, up to the next watermark, now that requests have ended. Gives whether it is to be called
    /// again, once the watermark that it has reached is passed on.
    ///
    /// # Errors
    /// What the operator says.
    fn on_answers(&mut self, out: &mut Output) -> Result<bool>;

    /// The run is stopped, and nobody goes on with it: nothing is open any more, and nothing more is begun or emitted.
    fn give_up(&mut self);
}
