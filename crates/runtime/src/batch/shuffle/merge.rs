//! The rows of one bucket: what all parts of the stages before have left for it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use arrow::array::{Array, AsArray, Int64Array, RecordBatch};
use tidemill_core::{Elements, Error, EventBatch, Result, Watermark};

use super::{Block, Left, PartId};
use crate::batch::Failure;
use crate::exchange::ElementCodec;
use crate::key_groups::restored;

/// What one part has left for the bucket, along one edge.
pub(in crate::batch) struct Source {
    pub(in crate::batch) part: PartId,
    pub(in crate::batch) left: Arc<Left>,
    pub(in crate::batch) edge: usize,
    /// What every bucket is given, before all that is its own.
    pub(in crate::batch) for_all: bool,
}

/// Reads a bucket: elements with times in the order of these, all others as the parts have left them, part by part.
/// Of a time come first those of the first part.
pub(in crate::batch) struct Merge {
    /// What all buckets are given.
    first: VecDeque<Reading>,
    /// How elements are written, if these are elements.
    codec: Option<Arc<dyn ElementCodec>>,
    /// What is read from one end to the other.
    rest: VecDeque<Reading>,
    /// What is merged: each run with its first block, if there is one left.
    runs: Vec<Reading>,
    blocks: Vec<Option<(Elements, Vec<i64>, usize)>>,
    /// The next of each run.
    heap: BinaryHeap<Reverse<(i64, usize)>>,
    batch_rows: usize,
}

/// Where a run is read.
struct Reading {
    source: Source,
    bucket: usize,
    run: usize,
    block: usize,
}

impl Reading {
    fn next(&mut self, codec: Option<&dyn ElementCodec>) -> Result<Option<EventBatch>, Failure> {
        let blocks = &self.source.left[self.source.edge][self.bucket][self.run].blocks;
        let Some(block) = blocks.get(self.block) else { return Ok(None) };
        self.block += 1;
        let rows = match block {
            Block::Whole(batch) => return Ok(Some(batch.as_ref().clone())),
            // What can't be read is lost, and can be made again.
            Block::Encoded { rows, .. } => rows.clone().read().map_err(|e| {
                let Source { part, left, .. } = &self.source;
                Failure::Lost(*part, Arc::clone(left), e)
            })?,
        };
        match codec {
            Some(codec) => Ok(Some(EventBatch::of_elements(elements(codec, &rows)?))),
            None => Ok(Some(restored(&rows)?)),
        }
    }
}

/// The next of what is read from one end to the other.
fn next_of(readings: &mut VecDeque<Reading>, codec: Option<&dyn ElementCodec>) -> Result<Option<EventBatch>, Failure> {
    while let Some(reading) = readings.front_mut() {
        match reading.next(codec)? {
            Some(batch) => return Ok(Some(batch)),
            None => drop(readings.pop_front()),
        }
    }
    Ok(None)
}

impl Merge {
    pub(in crate::batch) fn open(
        sources: Vec<Source>,
        bucket: usize,
        codec: Option<Arc<dyn ElementCodec>>,
        batch_rows: usize,
    ) -> Result<Self, Failure> {
        let (mut all, mut first) = (vec![], VecDeque::new());
        let mut timed = false;
        for Source { part, left, edge, for_all } in sources {
            let bucket = if for_all { 0 } else { bucket };
            for (run, of_run) in left[edge][bucket].iter().enumerate() {
                timed |= of_run.timed;
                let source = Source { part, left: Arc::clone(&left), edge, for_all };
                let reading = Reading { source, bucket, run, block: 0 };
                if for_all { first.push_back(reading) } else { all.push(reading) }
            }
        }
        let (runs, rest) = if timed { (all, vec![]) } else { (vec![], all) };
        let blocks = runs.iter().map(|_| None).collect();
        let mut merge = Self { first, codec, rest: rest.into(), runs, blocks, heap: BinaryHeap::new(), batch_rows };
        (0..merge.runs.len()).try_for_each(|run| merge.load(run))?;
        Ok(merge)
    }

    /// The next rows, and the watermark behind them if they have times.
    pub(in crate::batch) fn next(&mut self) -> Result<Option<(EventBatch, Option<Watermark>)>, Failure> {
        if let Some(batch) = next_of(&mut self.first, None)? {
            return Ok(Some((batch, None)));
        }
        if !self.heap.is_empty() {
            return self.merged().map(Some);
        }
        Ok(next_of(&mut self.rest, self.codec.as_deref())?.map(|batch| (batch, None)))
    }

    /// Elements in the order of their times, up to the end of the first block that ends. Each has as its watermark what is
    /// known of the order: nothing before its own time is still to come.
    fn merged(&mut self) -> Result<(EventBatch, Option<Watermark>), Failure> {
        let codec = Arc::clone(self.codec.as_ref().ok_or_else(|| Error::internal("rows have times"))?);
        let (mut picks, mut times) = (vec![], vec![]);
        let mut ended = None;
        while picks.len() < self.batch_rows
            && ended.is_none()
            && let Some(Reverse((time, run))) = self.heap.pop()
        {
            let Some((_, of_block, at)) = &mut self.blocks[run] else { continue };
            picks.push((run, *at));
            times.push(time);
            *at += 1;
            match of_block.get(*at) {
                Some(&next) => self.heap.push(Reverse((next, run))),
                None => ended = Some(run),
            }
        }
        // Runs are taken out and put back, as elements are picked of several at once.
        let mut numbers = vec![usize::MAX; self.blocks.len()];
        let (mut taken, mut of_runs) = (vec![], vec![]);
        for (run, _) in &picks {
            if numbers[*run] == usize::MAX
                && let Some((elements, times, at)) = self.blocks[*run].take()
            {
                numbers[*run] = taken.len();
                taken.push(elements);
                of_runs.push((*run, times, at));
            }
        }
        picks.iter_mut().for_each(|(run, _)| *run = numbers[*run]);
        let gathered = codec.gather(&taken, &picks)?;
        for (elements, (run, times, at)) in taken.into_iter().zip(of_runs) {
            self.blocks[run] = Some((elements, times, at));
        }
        if let Some(run) = ended {
            self.load(run)?;
        }
        let last = times.last().copied().filter(|time| *time != i64::MIN).map(before);
        let watermarks = Int64Array::from_iter_values(times.iter().map(|time| before(*time).0));
        Ok((EventBatch { watermarks: Some(watermarks), ..EventBatch::of_elements(gathered) }, last))
    }

    /// Reads a run's next block, if it has one.
    fn load(&mut self, run: usize) -> Result<(), Failure> {
        self.blocks[run] = None;
        let codec = self.codec.as_ref().ok_or_else(|| Error::internal("rows have times"))?;
        let Some(batch) = self.runs[run].next(Some(codec.as_ref()))? else { return Ok(()) };
        let elements = batch.elements.ok_or_else(|| Error::internal("a run of elements has none"))?;
        let mut times = codec.times(&elements)?.to_vec();
        times.resize(elements.len(), i64::MIN);
        if let Some(&first) = times.first() {
            self.heap.push(Reverse((first, run)));
            self.blocks[run] = Some((elements, times, 0));
        }
        Ok(())
    }
}

/// What is known before an element of that time: all that comes happened then, or later. The end of time is the end of the
/// input, so that elements of the last moment are no later than any window.
fn before(time: i64) -> Watermark {
    Watermark(time.saturating_sub(1).min(i64::MAX - 2))
}

fn elements(codec: &dyn ElementCodec, block: &RecordBatch) -> Result<Elements> {
    let column = block.columns().first().and_then(|column| column.as_binary_opt::<i64>());
    let bytes = column.filter(|column| column.len() == 1).map(|column| column.value(0));
    codec.read(bytes.ok_or_else(|| Error::internal("a block of elements is none"))?)
}
