//! Calls that block (files, standard output) made from asynchronous code.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Runs `call` on this thread, and lets the runtime move its other tasks away first.
///
/// Outside a multi-threaded runtime there is nowhere to move them, and the call just runs.
pub(crate) fn blocking<T>(call: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(call),
        _ => call(),
    }
}
