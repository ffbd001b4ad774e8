//! The loop of a task behind an exchange.

use std::time::Instant;

use futures::FutureExt;
use tidemill_core::Result;

use super::Reporter;
use super::chain::Chain;
use crate::exchange::{Gate, Received};

pub(crate) async fn run(mut gate: Gate, mut chain: Chain, reporter: Reporter) -> Result<()> {
    loop {
        let received = match gate.receive().now_or_never() {
            Some(received) => Some(received),
            None => {
                chain.pause()?;
                chain.send().await?;
                chain.next(None, gate.receive()).await?
            }
        };
        match received.transpose()? {
            None => {}
            Some(Received::Data { slot, batch }) => chain.data(slot, batch)?,
            Some(Received::Watermark { slot, watermark }) => chain.watermark(slot, watermark).await?,
            Some(Received::Barrier(epoch)) => {
                let begun = Instant::now();
                let changes = chain.barrier(epoch).await?;
                reporter.passed(epoch, changes, begun);
            }
            Some(Received::End) => {
                let changes = chain.end().await?;
                chain.send().await?;
                reporter.ended(changes);
                return Ok(());
            }
        }
        chain.on_timer()?;
        chain.send().await?;
    }
}
