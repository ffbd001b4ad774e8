//! A source in splits: some chunks of one partition each, which can be read again where they begin.

use std::collections::VecDeque;
use std::sync::Arc;

use tidemill_core::{Error, Result};

use crate::connector::{Chunk, PartitionReader, ReadPartition, ScanRequest};
use crate::graph::SourceSpec;

/// How many chunks a split has at most. A chunk is some thousand rows, or about a megabyte.
const CHUNKS: usize = 8;

/// Where a split is.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) partition: Arc<str>,
    /// From here to there, as the partition's reader counts.
    pub(super) start: u64,
    end: u64,
    /// The names of all.
    all: Arc<[Arc<str>]>,
}

/// Some chunks that follow each other.
pub(super) struct Split {
    pub(super) place: Place,
    pub(super) chunks: Vec<Box<dyn Chunk>>,
}

/// Reads a source, partition by partition.
pub(super) struct Splits {
    spec: SourceSpec,
    batch_rows: usize,
    opened: bool,
    partitions: VecDeque<Box<dyn PartitionReader>>,
    all: Arc<[Arc<str>]>,
    /// Those that were read to their end.
    ended: Vec<Arc<str>>,
    /// The split that is being read.
    start: Option<u64>,
    chunks: Vec<Box<dyn Chunk>>,
    failed: bool,
}

impl Splits {
    pub(super) fn new(spec: SourceSpec, batch_rows: usize) -> Self {
        Self {
            spec,
            batch_rows,
            opened: false,
            partitions: VecDeque::new(),
            all: Arc::new([]),
            ended: vec![],
            start: None,
            chunks: vec![],
            failed: false,
        }
    }

    /// The next split; none at the end. It may be called again after an error: then what is left is opened once more.
    pub(super) async fn next(&mut self) -> Result<Option<Split>> {
        if self.failed {
            self.again().await?;
            self.failed = false;
        }
        let next = self.read_on().await;
        self.failed = next.is_err();
        next
    }

    async fn read_on(&mut self) -> Result<Option<Split>> {
        if !self.opened {
            let opened = self.spec.source.open(&request(&self.spec, self.batch_rows, [].into())).await?;
            self.partitions = opened.partitions.into();
            self.all = self.partitions.iter().map(|partition| partition.partition()).collect();
            self.opened = true;
        }
        while let Some(partition) = self.partitions.front_mut() {
            let start = *self.start.get_or_insert_with(|| partition.position());
            let chunk = partition.next_chunk().await?;
            let ended = chunk.is_none();
            self.chunks.extend(chunk);
            let place = Place {
                partition: partition.partition(),
                start,
                end: partition.position(),
                all: Arc::clone(&self.all),
            };
            if ended {
                self.ended.push(partition.partition());
                self.partitions.pop_front();
            }
            if ended || self.chunks.len() >= CHUNKS {
                self.start = None;
                let chunks = std::mem::take(&mut self.chunks);
                if !chunks.is_empty() {
                    return Ok(Some(Split { place, chunks }));
                }
            }
        }
        Ok(None)
    }

    async fn again(&mut self) -> Result<()> {
        self.chunks.clear();
        if !self.opened {
            return Ok(());
        }
        let begun = self.partitions.iter().enumerate().map(|(number, partition)| ReadPartition {
            name: partition.partition(),
            // The first has given chunks of a split that is not complete.
            position: self.start.filter(|_| number == 0).or(Some(partition.position())),
            until: None,
        });
        let ended = self.ended.iter().map(|name| ReadPartition { name: Arc::clone(name), position: None, until: None });
        let resume: Arc<[ReadPartition]> = begun.chain(ended).collect();
        // Nobody may wait to the end: until then all that is known stays.
        let opened = open_again(&self.spec, self.batch_rows, resume).await?;
        // What has come since is no part of the input: splits must be found again by the names that there are.
        self.partitions = opened.into_iter().filter(|opened| self.all.contains(&opened.partition())).collect();
        self.start = None;
        Ok(())
    }
}

impl Place {
    /// Reads the split again.
    pub(super) async fn read(&self, spec: &SourceSpec, batch_rows: usize) -> Result<Split> {
        let read = |name: &Arc<str>| {
            let own = *name == self.partition;
            let (position, until) = (own.then_some(self.start), own.then_some(self.end));
            ReadPartition { name: Arc::clone(name), position, until }
        };
        let opened = open_again(spec, batch_rows, self.all.iter().map(read).collect()).await?;
        let mut found = opened.into_iter().filter(|partition| partition.partition() == self.partition);
        let mut partition = found.next().ok_or_else(|| changed(&self.partition))?;
        let mut chunks = vec![];
        while partition.position() < self.end {
            chunks.push(partition.next_chunk().await?.ok_or_else(|| changed(&self.partition))?);
        }
        if partition.position() != self.end {
            return Err(changed(&self.partition));
        }
        Ok(Split { place: self.clone(), chunks })
    }

    /// How many offsets of the partition come before it: for messages, as it takes to decode all that.
    pub(super) async fn first_offset(&self, spec: &SourceSpec, batch_rows: usize) -> Result<u64> {
        let opened = spec.source.open(&request(spec, batch_rows, [].into())).await?;
        let mut found = opened.partitions.into_iter().filter(|partition| partition.partition() == self.partition);
        let mut partition = found.next().ok_or_else(|| changed(&self.partition))?;
        let mut offset = 0;
        while partition.position() < self.start {
            let Some(chunk) = partition.next_chunk().await? else { break };
            offset += chunk.decode().map_err(|e| e.error)?.offset_count;
        }
        Ok(offset)
    }
}

async fn open_again(
    spec: &SourceSpec,
    batch_rows: usize,
    resume: Arc<[ReadPartition]>,
) -> Result<Vec<Box<dyn PartitionReader>>> {
    if !spec.source.resumes() {
        return Err(Error::unavailable(format!("what was read of {} can't be read again", spec.table)));
    }
    Ok(spec.source.open(&request(spec, batch_rows, resume)).await?.partitions)
}

fn request(spec: &SourceSpec, batch_rows: usize, resume: Arc<[ReadPartition]>) -> ScanRequest {
    let columns = Arc::clone(&spec.decoded);
    ScanRequest { columns, batch_rows, keep_rejected: spec.keep_rejected, follow: false, resume }
}

fn changed(partition: &str) -> Error {
    Error::unavailable(format!("{partition} has changed since it was read"))
        .hint("leave the input of a batch alone while it runs")
}
