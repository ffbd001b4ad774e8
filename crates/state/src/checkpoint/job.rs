//! Which job checkpoints are of, and how another one finds its operators again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A job, as far as its state goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobIdentity {
    /// In words that tell it from others: a run with the same ones takes up its state as it is.
    pub plan: String,
    /// The operators that may have state, by a name that the job gives.
    pub operators: BTreeMap<String, OperatorIdentity>,
}

/// A job that is told by its words alone: no other can take up what it leaves.
impl From<String> for JobIdentity {
    fn from(plan: String) -> Self {
        Self { plan, operators: BTreeMap::new() }
    }
}

/// What an operator is known by in a job with another plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OperatorIdentity {
    /// Whose it is, for people: the kind of the operator, and the statement.
    pub name: String,
    /// What it does, in words: its state is of use to one that does the same.
    pub words: String,
    /// Its words and those of all that its rows come through, in one number.
    pub lineage: String,
    /// Where the columns of its rows come from, in one number; that some rows are left out on the way is no matter.
    pub derivation: String,
    /// How many subtasks it has.
    pub subtasks: usize,
    /// Its state is kept key group by key group.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_key_group: bool,
}
