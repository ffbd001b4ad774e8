//! Reads a source's partitions, the one that is furthest behind first.

use std::future::pending;

use tidemill_core::Result;

use super::SourcePlan;
use crate::connector::{Discovery, PartitionReader, ScanRequest, Source};

pub(crate) async fn read(source: &dyn Source, request: &ScanRequest, plan: &SourcePlan) -> Result<()> {
    let opened = source.open(request).await?;
    let mut discovery = opened.discovery;
    if discovery.is_some() {
        plan.follow();
    }
    // One that is read to its end is closed: its place stays, so that numbers stay.
    let mut partitions: Vec<Option<Box<dyn PartitionReader>>> = vec![];
    let mut found = opened.partitions;
    loop {
        plan.open(found.len());
        partitions.extend(found.into_iter().map(Some));
        found = vec![];
        let next = tokio::select! {
            biased;
            more = discover(&mut discovery) => {
                found = more?;
                continue;
            }
            next = plan.next_to_read() => next,
        };
        let Some(index) = next else { break };
        let Some(partition) = &mut partitions[index] else { continue };
        let chunk = tokio::select! {
            biased;
            () = plan.stopped() => break,
            chunk = partition.next_chunk() => chunk?,
        };
        match chunk {
            Some(chunk) => plan.enqueue(index, partition.partition(), chunk),
            None => {
                partitions[index] = None;
                plan.read_to_end(index);
            }
        }
    }
    plan.all_read();
    Ok(())
}

/// New partitions; waits for ever where none can appear.
async fn discover(discovery: &mut Option<Box<dyn Discovery>>) -> Result<Vec<Box<dyn PartitionReader>>> {
    match discovery {
        Some(discovery) => discovery.next().await,
        None => pending().await,
    }
}
