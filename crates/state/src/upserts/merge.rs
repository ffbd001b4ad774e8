//! Makes few key-value parts of many, in which each key has one row, without having all in memory.
//!
//! ```text
//! run 0   a piece, then the one behind it ...   ─┐
//! run 1   ...                                    ├─ the least key of all, its row of the last run that has it ─► pieces
//! run 2   ...                                   ─┘
//! ```
//!
//! What comes out is a run again: its pieces have keys one behind the other. So of each run there is one piece at a time.

use arrow::array::{BinaryArray, RecordBatch};
use tidemill_core::{Error, Result};

use super::{UpsertsBuilder, clocks, columns};
use crate::backend::{Clocks, expiry};

/// A piece has about so many bytes, or one row.
const PIECE_BYTES: usize = if cfg!(test) { 64 } else { 64 << 20 };

/// What a merge asks of whoever drives it.
#[derive(Debug)]
pub(crate) enum Step {
    /// To [`Merge::give`] it the next piece of the run with this number.
    Wants(usize),
    /// To keep this piece.
    Piece(RecordBatch),
    /// Nothing more.
    Done,
}

/// Merges runs, of which later ones take the place of earlier ones. The pieces of a run have keys one behind the other, and
/// may be in any order within; of equal keys the last counts. Where nothing stands before the runs (`whole`), what was deleted
/// or has expired by the clocks of the last one needs no row.
#[derive(Debug)]
pub(crate) struct Merge {
    runs: Vec<Run>,
    whole: bool,
    clocks: Clocks,
    builder: UpsertsBuilder,
}

#[derive(Debug)]
enum Run {
    /// Its next piece is not there yet.
    Wanting,
    At(Box<Piece>),
    Ended,
}

impl Merge {
    pub(crate) fn new(runs: usize, whole: bool) -> Self {
        let wanting = (0..runs).map(|_| Run::Wanting).collect();
        Self { runs: wanting, whole, clocks: Clocks::START, builder: UpsertsBuilder::default() }
    }

    /// What it needs next.
    ///
    /// # Errors
    /// `Invalid` if a row is too large for any part.
    pub(crate) fn step(&mut self) -> Result<Step> {
        loop {
            let mut least: Option<(usize, &Piece)> = None;
            for (number, run) in self.runs.iter().enumerate() {
                match run {
                    Run::Wanting => return Ok(Step::Wants(number)),
                    // Of equal keys the one of the later run.
                    Run::At(piece) if least.is_none_or(|(_, other)| piece.key() <= other.key()) => {
                        least = Some((number, piece.as_ref()));
                    }
                    Run::At(_) | Run::Ended => {}
                }
            }
            let Some((number, piece)) = least else {
                if self.builder.is_empty() {
                    return Ok(Step::Done);
                }
                return Ok(Step::Piece(self.builder.finish(self.clocks)?));
            };
            let (key, stored) = (piece.key(), piece.stored());
            if !self.whole || stored.is_some_and(|stored| !expired(stored, self.clocks)) {
                let bytes = key.len() + stored.map_or(0, <[u8]>::len);
                if !self.builder.is_empty() && self.builder.bytes() + bytes > PIECE_BYTES {
                    return Ok(Step::Piece(self.builder.finish(self.clocks)?));
                }
                self.builder.push_stored(key, stored)?;
            }
            let key = key.to_vec();
            // No run behind it has the key.
            self.runs[..=number].iter_mut().for_each(|run| run.pass(&key));
        }
    }

    /// The next piece of a run that [`Merge::step`] has asked for; `None`: it has no more.
    ///
    /// # Errors
    /// `Data` if it has other columns; `Internal` if there is no such run.
    pub(crate) fn give(&mut self, run: usize, piece: Option<RecordBatch>) -> Result<()> {
        let is_last = run + 1 == self.runs.len();
        let run = self.runs.get_mut(run).ok_or_else(|| Error::internal("a merge has no such run"))?;
        *run = match piece {
            None => Run::Ended,
            Some(batch) => {
                if is_last {
                    self.clocks = clocks(&batch);
                }
                Piece::new(&batch)?.map_or(Run::Wanting, |piece| Run::At(Box::new(piece)))
            }
        };
        Ok(())
    }
}

fn expired(stored: &[u8], clocks: Clocks) -> bool {
    expiry::decode_expiry(stored).is_some_and(|(expiry, _)| expiry.past(clocks))
}

impl Run {
    /// Goes on behind this key, if it stands there.
    fn pass(&mut self, key: &[u8]) {
        let Self::At(piece) = self else { return };
        if piece.key() == key && !piece.advance() {
            *self = Self::Wanting;
        }
    }
}

/// The rows of a piece that are still to come.
#[derive(Debug)]
struct Piece {
    keys: BinaryArray,
    values: BinaryArray,
    /// The row that it stands at.
    at: usize,
    /// Those behind it, the last first.
    behind: Vec<usize>,
}

impl Piece {
    /// `None` if it has no rows.
    fn new(batch: &RecordBatch) -> Result<Option<Self>> {
        let (keys, values) = columns(batch)?;
        let mut behind: Vec<usize> = (0..batch.num_rows()).collect();
        behind.sort_unstable_by(|a, b| keys.value(*b).cmp(keys.value(*a)).then(b.cmp(a)));
        // Of equal keys the last row comes first here, and stays.
        behind.dedup_by(|a, b| keys.value(*a) == keys.value(*b));
        let (keys, values) = (keys.clone(), values.clone());
        Ok(behind.pop().map(|at| Self { keys, values, at, behind }))
    }

    fn key(&self) -> &[u8] {
        self.keys.value(self.at)
    }

    /// Its value, as it is stored; `None` if it was deleted.
    fn stored(&self) -> Option<&[u8]> {
        super::stored(&self.values, self.at)
    }

    /// Whether there is another row, which it stands at then.
    fn advance(&mut self) -> bool {
        match self.behind.pop() {
            Some(next) => {
                self.at = next;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests;
