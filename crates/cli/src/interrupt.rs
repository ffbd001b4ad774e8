//! Ctrl-C: the first stops cleanly, the second at once.

use tidemill_connectors::console::Console;
use tokio::sync::oneshot;

/// Completes at the first Ctrl-C (or SIGTERM); from then on the next one ends the program.
///
/// The signal is waited for by a task of its own: what waits for this future may be busy with a write that nobody reads,
/// and that is what the first signal gives up.
pub(crate) fn interrupted() -> impl Future<Output = ()> {
    let (stop, stopped) = oneshot::channel();
    tokio::spawn(async {
        signal().await;
        Console::stop_waiting();
        // What was to be stopped may have come to its end.
        let _ = stop.send(());
        signal().await;
        std::process::exit(130);
    });
    async {
        if stopped.await.is_err() {
            // The task ends with the program.
            std::future::pending::<()>().await;
        }
    }
}

async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
        }
        // Without a handler the default holds: the signal ends the program.
        Err(_) => std::future::pending().await,
    }
}
