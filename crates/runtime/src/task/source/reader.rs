//! Reads a source's partitions, the one that is furthest behind first.

use tidemill_core::Result;

use super::SourcePlan;
use crate::connector::{ScanRequest, Source};

pub(crate) async fn read(source: &dyn Source, request: &ScanRequest, plan: &SourcePlan) -> Result<()> {
    let mut partitions = source.open(request).await?;
    plan.open(partitions.len());
    while let Some(index) = plan.next_to_read().await {
        let partition = &mut partitions[index];
        let chunk = tokio::select! {
            biased;
            () = plan.stopped() => break,
            chunk = partition.next_chunk() => chunk?,
        };
        match chunk {
            Some(chunk) => plan.enqueue(index, partition.partition(), chunk),
            None => plan.read_to_end(index),
        }
    }
    plan.all_read();
    Ok(())
}
