//! The loop of a task behind an exchange.

use futures::FutureExt;
use tidemill_core::Result;

use super::Reporter;
use super::chain::Chain;
use crate::exchange::{Gate, Received};

pub(crate) async fn run(mut gate: Gate, mut chain: Chain, reporter: Reporter) -> Result<()> {
    loop {
        let received = match gate.receive().now_or_never() {
            Some(received) => received,
            None => {
                chain.pause()?;
                chain.send().await?;
                gate.receive().await
            }
        };
        match received? {
            Received::Data { slot, batch } => chain.data(slot, batch)?,
            Received::Watermark { slot, watermark } => chain.watermark(slot, watermark)?,
            Received::Barrier(epoch) => {
                chain.barrier(epoch)?;
                reporter.passed(epoch);
            }
            Received::End => {
                chain.end()?;
                chain.send().await?;
                reporter.ended();
                return Ok(());
            }
        }
        chain.send().await?;
    }
}
