//! Ctrl-C: the first stops cleanly, the second at once.

/// Completes at the first Ctrl-C (or SIGTERM); from then on the next one ends the program.
pub(crate) async fn interrupted() {
    signal().await;
    tokio::spawn(async {
        signal().await;
        std::process::exit(130);
    });
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
