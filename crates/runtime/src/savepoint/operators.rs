//! The operators of a graph as takers of state: each knows in which form it keeps it, and makes that of what another has left.

use std::collections::BTreeMap;

use tidemill_core::{Error, ErrorKind, Result};
use tidemill_state::checkpoint::Owner;
use tidemill_state::{SpillFolder, State, StateChanges};

use crate::exchange::owner;
use crate::graph::{JobGraph, MakeOperator, TaskSpec};
use crate::job::owner::{node_operator, node_owner};
use crate::key_groups::{apart, rows_wait, together};
use crate::operator::{Dealer, Operator};

/// An operator of the graph, with all its subtasks.
pub(super) struct Taker<'a> {
    task: usize,
    node: usize,
    make: &'a MakeOperator,
    subtasks: usize,
    by_key_group: bool,
    /// Where states are put that were made for it, if not into memory.
    folder: Option<&'a SpillFolder>,
}

/// The operators of a graph, by their names.
pub(super) fn takers(graph: &JobGraph) -> BTreeMap<String, Taker<'_>> {
    let mut takers = BTreeMap::new();
    for (task, spec) in graph.tasks.iter().enumerate() {
        let TaskSpec { nodes, parallelism, .. } = spec;
        for (node, of_node) in nodes.iter().enumerate() {
            let by_key_group = graph.is_by_key_group(spec, node);
            let folder = graph.folder_to_take_up_from();
            let taker = Taker { task, node, make: &of_node.make, subtasks: *parallelism, by_key_group, folder };
            takers.insert(node_operator(task, node), taker);
        }
    }
    takers
}

/// What an operator has left.
pub(super) struct Left {
    /// By subtask; those that had none are left out.
    pub(super) states: BTreeMap<usize, State>,
    pub(super) subtasks: usize,
    pub(super) by_key_group: bool,
}

impl Taker<'_> {
    /// The states of the subtasks, made of what an operator with the same words has left.
    ///
    /// # Errors
    /// `Data` if the state has other columns; `Invalid` if rows wait in it for memory, and here none may.
    pub(super) fn take_up(&self, left: Left) -> Result<Vec<(Owner, State)>> {
        match (left.by_key_group, self.by_key_group) {
            (true, true) => self.by_owner(by_group(left.states)?),
            (true, false) => {
                let groups = by_group(left.states)?;
                if groups.iter().any(|(_, state)| rows_wait(state)) {
                    return Err(waits_for_memory());
                }
                let subtask = |(group, state): (usize, State)| (owner(group as u8, self.subtasks), state);
                self.made(groups.into_iter().map(subtask)).map_err(|e| match e.kind() {
                    // A group that was spilled may be behind the others.
                    ErrorKind::Data => waits_for_memory().because(e),
                    _ => e,
                })
            }
            (false, true) => {
                let dealt = self.dealt(left.states, &Dealer::to_key_groups())?;
                let groups = self.restored(dealt)?;
                self.by_owner(groups)
            }
            (false, false) if left.subtasks == self.subtasks => self.as_they_are(left.states),
            (false, false) => {
                let dealt = self.dealt(left.states, &Dealer::to_subtasks(self.subtasks))?;
                self.made(dealt)
            }
        }
    }

    fn owner(&self, subtask: usize) -> Owner {
        node_owner(self.task, subtask, self.node)
    }

    fn operator(&self) -> Result<Box<dyn Operator>> {
        (self.make)()
    }

    /// The states as they are, if an operator takes them.
    fn as_they_are(&self, states: BTreeMap<usize, State>) -> Result<Vec<(Owner, State)>> {
        for state in states.values() {
            self.operator()?.restore(state.clone())?;
        }
        Ok(states.into_iter().map(|(subtask, state)| (self.owner(subtask), state)).collect())
    }

    /// By part of the dealer, what each of the states has of it.
    fn dealt(&self, states: BTreeMap<usize, State>, dealer: &Dealer) -> Result<Vec<(usize, State)>> {
        let operator = self.operator()?;
        let mut dealt = vec![];
        for state in states.into_values() {
            dealt.extend(operator.deal(state, dealer)?.into_iter().enumerate());
        }
        Ok(dealt)
    }

    /// The states of the subtasks, each made of those that are its.
    fn made(&self, states: impl IntoIterator<Item = (usize, State)>) -> Result<Vec<(Owner, State)>> {
        let restored = self.restored(states)?;
        Ok(restored.into_iter().map(|(subtask, state)| (self.owner(subtask), state)).collect())
    }

    /// Of each number, one state made of all that have it.
    fn restored(&self, states: impl IntoIterator<Item = (usize, State)>) -> Result<Vec<(usize, State)>> {
        let mut by_number: BTreeMap<usize, Vec<State>> = BTreeMap::new();
        for (number, state) in states.into_iter().filter(|(_, state)| !state.is_empty()) {
            by_number.entry(number).or_default().push(state);
        }
        let one = |(number, states)| {
            let mut operator = self.operator()?;
            operator.restore_all(states)?;
            let mut changes = StateChanges::default();
            operator.snapshot(&mut changes)?;
            // All subtasks' states together may be more than there is memory for.
            let changes = match self.folder {
                Some(folder) => changes.spilled(folder)?,
                None => changes,
            };
            let mut state = State::default();
            state.apply(changes);
            Ok((number, state))
        };
        by_number.into_iter().map(one).collect()
    }

    /// Gives each subtask its key groups.
    fn by_owner(&self, groups: Vec<(usize, State)>) -> Result<Vec<(Owner, State)>> {
        let mut by_subtask: BTreeMap<usize, Vec<(usize, State)>> = BTreeMap::new();
        for (group, state) in groups {
            by_subtask.entry(owner(group as u8, self.subtasks)).or_default().push((group, state));
        }
        Ok(by_subtask.into_iter().map(|(subtask, groups)| (self.owner(subtask), together(groups))).collect())
    }
}

/// By key group, what it has.
fn by_group(states: BTreeMap<usize, State>) -> Result<Vec<(usize, State)>> {
    let apart: Vec<Vec<(usize, State)>> = states.into_values().map(apart).collect::<Result<_>>()?;
    Ok(apart.into_iter().flatten().collect())
}

fn waits_for_memory() -> Error {
    Error::invalid("the savepoint has rows or windows that wait for memory")
        .hint("begin from it with a --memory-limit, too; without one, from a savepoint of a job that has caught up")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::operator::Calc;

    fn state(section: &'static str) -> State {
        let mut changes = StateChanges::default();
        changes.replace_numbers(section, [1, 2]).unwrap();
        let mut state = State::default();
        state.apply(changes);
        state
    }

    /// What rows wait for is told; they are not dropped, and a job with a limit gets them as they are.
    #[test]
    fn rows_that_wait_for_memory_go_to_a_job_with_a_limit_only() {
        let make: MakeOperator = Arc::new(|| Ok(Box::new(Calc { predicate: None, projection: None })));
        let groups = || vec![(3, state("waiting since")), (127, state("waiting since"))];
        let left = || Left { states: [(0, together(groups()))].into(), subtasks: 1, by_key_group: true };
        let taker = |by_key_group| Taker { task: 5, node: 0, make: &make, subtasks: 2, by_key_group, folder: None };
        let error = taker(false).take_up(left()).unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::Invalid, "the savepoint has rows or windows that wait for memory")
        );
        let [low, high] = [0, 1].map(|group| together(vec![groups().swap_remove(group)]));
        let expected = vec![(node_owner(5, 0, 0), low), (node_owner(5, 1, 0), high)];
        assert_eq!(taker(true).take_up(left()).unwrap(), expected);
    }
}
