//! What a part sends along its edges while it runs. Nothing of it counts before the part is done.

use std::sync::Arc;

use arrow::array::{ArrayRef, LargeBinaryArray, RecordBatch};
use tidemill_core::{Elements, Error, EventBatch, Result};
use tidemill_state::SpillWriter;

use super::{Block, Left, Run, Shuffle};
use crate::exchange::{ElementCodec, Keep, Partitioning, deal};
use crate::key_groups::saved;

/// How many rows wait at most until they are put in order and encoded.
const WAITING_ROWS: usize = 64 * 1024;

/// How many elements a block has at most: a merge has one of each run in memory.
const BLOCK_ROWS: usize = 512;

/// The column of a block of elements.
const ELEMENTS: &str = "elements";

/// What a part has written.
#[derive(Default)]
pub(in crate::batch) struct Written {
    /// For the stages behind it.
    pub(in crate::batch) left: Left,
    /// For sinks, by edge.
    pub(in crate::batch) for_sinks: Vec<(usize, Block)>,
}

/// Keeps what one part sends.
pub(in crate::batch) struct PartWriter {
    shuffle: Arc<Shuffle>,
    /// By edge, how rows are dealt; none where the edge leads to a sink.
    edges: Vec<Option<Dealt>>,
    waiting_rows: usize,
    file: Option<SpillWriter>,
    written: Written,
}

/// An edge to another stage.
struct Dealt {
    partitioning: Partitioning,
    /// By bucket, what waits.
    waiting: Vec<Vec<EventBatch>>,
}

impl PartWriter {
    /// `edges`: of each the way rows are dealt and the number of buckets; none where it leads to a sink.
    pub(in crate::batch) fn new(shuffle: Arc<Shuffle>, edges: Vec<Option<(Partitioning, usize)>>) -> Self {
        let left = edges.iter().map(|edge| (0..edge.as_ref().map_or(0, |(_, count)| *count)).map(|_| vec![]).collect());
        let left = left.collect();
        let dealt = |(partitioning, count)| Dealt { partitioning, waiting: vec![vec![]; count] };
        let edges = edges.into_iter().map(|edge| edge.map(dealt)).collect();
        Self { shuffle, edges, waiting_rows: 0, file: None, written: Written { left, for_sinks: vec![] } }
    }

    /// All that was sent. Nothing is kept from then on.
    pub(in crate::batch) fn finish(&mut self) -> Result<Written> {
        self.flush()?;
        Ok(std::mem::take(&mut self.written))
    }

    /// Puts what waits in order, and makes a run of it for each bucket.
    fn flush(&mut self) -> Result<()> {
        self.waiting_rows = 0;
        for (edge, dealt) in self.edges.iter_mut().enumerate() {
            let Some(Dealt { partitioning, waiting }) = dealt else { continue };
            for (bucket, waiting) in waiting.iter_mut().enumerate() {
                let batches = std::mem::take(waiting);
                if batches.is_empty() {
                    continue;
                }
                let mut keep = |rows| self.shuffle.keep(rows, &mut self.file);
                let (blocks, timed) = match partitioning {
                    Partitioning::Elements(codec) => {
                        let (blocks, timed) = blocks_of_elements(codec.as_ref(), batches)?;
                        (blocks.into_iter().map(&mut keep).collect::<Result<_>>()?, timed)
                    }
                    _ if batches.iter().any(|batch| batch.elements.is_some()) => {
                        (batches.into_iter().map(|batch| Block::Whole(Box::new(batch))).collect(), false)
                    }
                    _ => {
                        let rows = batches.iter().map(|batch| saved(batch, true).and_then(&mut keep));
                        (rows.collect::<Result<_>>()?, false)
                    }
                };
                self.written.left[edge][bucket].push(Run { blocks, timed });
            }
        }
        Ok(())
    }
}

impl Keep for PartWriter {
    fn keep(&mut self, edge: usize, batch: EventBatch) -> Result<()> {
        let Some(dealt) = self.edges.get_mut(edge).ok_or_else(|| Error::internal("a task has an edge too many"))?
        else {
            let block = match batch.elements {
                Some(_) => Block::Whole(Box::new(batch)),
                None => self.shuffle.keep(saved(&batch, true)?, &mut self.file)?,
            };
            self.written.for_sinks.push((edge, block));
            return Ok(());
        };
        self.waiting_rows += batch.num_rows();
        let count = dealt.waiting.len();
        for (waiting, part) in dealt.waiting.iter_mut().zip(deal(&dealt.partitioning, batch, count)?) {
            if part.num_rows() > 0 {
                waiting.push(part);
            }
        }
        if self.waiting_rows >= WAITING_ROWS { self.flush() } else { Ok(()) }
    }
}

/// Elements in the order of their times, and those of a time as they came; and whether they have times.
fn blocks_of_elements(codec: &dyn ElementCodec, batches: Vec<EventBatch>) -> Result<(Vec<RecordBatch>, bool)> {
    let missing = || Error::internal("rows have come where elements of a program's own type were expected");
    let runs: Vec<Elements> =
        batches.into_iter().map(|batch| batch.elements.ok_or_else(missing)).collect::<Result<_>>()?;
    let mut places: Vec<(i64, usize, usize)> = vec![];
    let (mut timed, mut sorted) = (false, true);
    for (run, elements) in runs.iter().enumerate() {
        let times = codec.times(elements)?;
        timed |= !times.is_empty();
        for place in 0..elements.len() {
            let time = times.get(place).copied().unwrap_or(i64::MIN);
            sorted &= places.last().is_none_or(|(last, ..)| *last <= time);
            places.push((time, run, place));
        }
    }
    if !sorted {
        places.sort_by_key(|(time, ..)| *time);
    }
    let picks: Vec<(usize, usize)> = places.into_iter().map(|(_, run, place)| (run, place)).collect();
    let blocks = picks.chunks(BLOCK_ROWS).map(|picks| block(&codec.write(&codec.gather(&runs, picks)?)?));
    Ok((blocks.collect::<Result<_>>()?, timed))
}

fn block(bytes: &[u8]) -> Result<RecordBatch> {
    let column: ArrayRef = Arc::new(LargeBinaryArray::from_vec(vec![bytes]));
    Ok(RecordBatch::try_from_iter([(ELEMENTS, column)])?)
}
