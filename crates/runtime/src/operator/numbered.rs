//! A place in the log for rows that have none: those of a stream that come in one order.

use std::sync::Arc;

use arrow::array::Int64Array;
use tidemill_core::{EventBatch, Lineage, Result, SourceRows};
use tidemill_state::{State, StateChanges};

use super::{Dealer, Derivation, Operator, Output};

const NEXT: &str = "next number";

/// Numbers rows as they come, as if they were the rows of one partition. All of them go through one subtask.
#[derive(Debug)]
pub struct Numbered {
    partition: Arc<str>,
    next: i64,
}

impl Numbered {
    /// `partition` is what they are a partition of.
    #[must_use]
    pub fn new(partition: Arc<str>) -> Self {
        Self { partition, next: 0 }
    }
}

impl Operator for Numbered {
    fn describe(&self) -> String {
        format!("number the rows of {}", self.partition)
    }

    fn derivation(&self) -> Derivation {
        Derivation::Same
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        let first = self.next;
        self.next += batch.num_rows() as i64;
        let source = SourceRows {
            rows: batch.rows.clone(),
            partition: Arc::clone(&self.partition),
            offsets: Int64Array::from_iter_values(first..self.next),
        };
        let lineage = Some(Lineage { source: Arc::new(source), indices: None });
        out.emit(EventBatch { lineage, ..batch });
        Ok(())
    }

    fn snapshot(&mut self, changes: &mut StateChanges) -> Result<()> {
        changes.replace_numbers(NEXT, [self.next])
    }

    fn restore(&mut self, state: State) -> Result<()> {
        self.restore_all(vec![state])
    }

    /// There is one subtask, whatever the parallelism of others.
    fn deal(&self, state: State, dealer: &Dealer) -> Result<Vec<State>> {
        let mut parts = vec![State::default(); dealer.parts()];
        parts[0] = state;
        Ok(parts)
    }

    fn restore_all(&mut self, states: Vec<State>) -> Result<()> {
        for mut state in states {
            self.next = state.take_numbers(NEXT)?.into_iter().fold(self.next, i64::max);
            state.finish()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
