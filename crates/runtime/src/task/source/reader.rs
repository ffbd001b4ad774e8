//! Reads a source's partitions, the one that is furthest behind first.

use std::future::pending;
use std::time::Duration;

use tidemill_core::Result;
use tokio::time::sleep;

use super::SourcePlan;
use crate::connector::{Discovery, PartitionReader, ScanRequest, Source};

/// `idle_after`: how long nothing must come before the source counts as idle.
pub(crate) async fn read(
    source: &dyn Source,
    request: &ScanRequest,
    plan: &SourcePlan,
    idle_after: Option<Duration>,
) -> Result<()> {
    let opened = source.open(request).await?;
    let mut discovery = opened.discovery;
    if discovery.is_some() {
        plan.follow();
    }
    // One that is read to its end is closed: its place stays, so that numbers stay.
    let mut partitions: Vec<Option<Box<dyn PartitionReader>>> = vec![];
    let mut found = opened.partitions;
    loop {
        plan.open(found.iter().map(|partition| (partition.partition(), partition.position())));
        partitions.extend(found.into_iter().map(Some));
        found = vec![];
        let next = tokio::select! {
            biased;
            more = discover(&mut discovery) => {
                found = more?;
                continue;
            }
            next = or_rest(plan, idle_after, plan.next_to_read()) => next,
        };
        let Some(index) = next else { break };
        let Some(partition) = &mut partitions[index] else { continue };
        let chunk = tokio::select! {
            biased;
            () = plan.stopped() => break,
            chunk = or_rest(plan, idle_after, partition.next_chunk()) => chunk?,
        };
        match chunk {
            Some(chunk) => plan.enqueue(index, partition.partition(), chunk, partition.position()),
            None => {
                partitions[index] = None;
                plan.read_to_end(index);
            }
        }
    }
    plan.all_read();
    Ok(())
}

/// Waits; when that takes long, the source rests.
async fn or_rest<T>(plan: &SourcePlan, idle_after: Option<Duration>, wait: impl Future<Output = T>) -> T {
    let mut wait = std::pin::pin!(wait);
    let Some(idle_after) = idle_after else { return wait.await };
    loop {
        tokio::select! {
            biased;
            done = &mut wait => return done,
            () = sleep(idle_after) => if plan.rest() {
                return wait.await;
            },
        }
    }
}

/// New partitions; waits for ever where none can appear.
async fn discover(discovery: &mut Option<Box<dyn Discovery>>) -> Result<Vec<Box<dyn PartitionReader>>> {
    match discovery {
        Some(discovery) => discovery.next().await,
        None => pending().await,
    }
}
