//! Which parts have failed, and whether they are tried again.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidemill_core::{Error, Result};

use super::ReExecution;
use super::shuffle::PartId;
use crate::graph::{Head, TaskSpec};

pub(super) struct Retries {
    /// How often a part is tried.
    attempts: usize,
    failed: BTreeMap<PartId, usize>,
    re_executed: Vec<ReExecution>,
}

impl Retries {
    pub(super) fn new(attempts: usize) -> Self {
        Self { attempts, failed: BTreeMap::new(), re_executed: vec![] }
    }

    /// A part of a task has failed. It is noted that it is tried again.
    ///
    /// # Errors
    /// Why, if it has failed too often.
    pub(super) fn failed(&mut self, task: &TaskSpec, part: PartId, error: Error) -> Result<()> {
        let times = self.failed.entry(part).or_default();
        *times += 1;
        let times = *times;
        self.failed_times(task, part, times, error)
    }

    /// The same of what has failed so many times in turn.
    pub(super) fn failed_times(&mut self, task: &TaskSpec, part: PartId, times: usize, error: Error) -> Result<()> {
        let again = match &task.head {
            Head::Source(spec, _) => spec.source.resumes(),
            _ => true,
        };
        if times >= self.attempts || !again {
            return Err(match times {
                1 => error,
                _ => error.context(format!("in {times} attempts, the last time")),
            });
        }
        self.re_executed.push(ReExecution { task: Arc::clone(&task.name), part: part.part, error });
        Ok(())
    }

    /// What was tried again so far, in order.
    pub(super) fn take(&mut self) -> Vec<ReExecution> {
        std::mem::take(&mut self.re_executed)
    }
}
