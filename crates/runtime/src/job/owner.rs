//! What checkpoints call a state: by its task, the subtask, and the operator within.

use tidemill_state::checkpoint::Owner;

const SOURCE: &str = "source";
const SINK: &str = "sink";

/// Whose state is that of an operator's subtask.
pub(crate) fn node_owner(task: usize, subtask: usize, node: usize) -> Owner {
    format!("{task}.{subtask}.{node}")
}

/// Whose state is what was read of a source.
pub(crate) fn source_owner(task: usize) -> Owner {
    format!("{task}.{SOURCE}")
}

/// Whose state is what a sink has prepared.
pub(crate) fn sink_owner(task: usize) -> Owner {
    format!("{task}.{SINK}")
}

pub(crate) fn is_sink(owner: &str) -> bool {
    owner.ends_with(SINK)
}

/// An operator, with all its subtasks.
pub(crate) fn node_operator(task: usize, node: usize) -> String {
    format!("{task}.{node}")
}

/// A source; it has one state for all its subtasks.
pub(crate) fn source_operator(task: usize) -> String {
    source_owner(task)
}

/// A sink; it has one subtask.
pub(crate) fn sink_operator(task: usize) -> String {
    sink_owner(task)
}

/// The operator and the subtask that a state is of. `None`: it has no name of this form.
pub(crate) fn operator_of(owner: &str) -> Option<(String, usize)> {
    match owner.split('.').collect::<Vec<_>>()[..] {
        [task, subtask, node] => Some((node_operator(task.parse().ok()?, node.parse().ok()?), subtask.parse().ok()?)),
        [_, SOURCE | SINK] => Some((owner.to_owned(), 0)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_tells_its_operator_and_subtask() {
        assert_eq!(operator_of(&node_owner(3, 1, 0)), Some((node_operator(3, 0), 1)));
        assert_eq!(operator_of(&source_owner(12)), Some((source_operator(12), 0)));
        assert_eq!(operator_of(&sink_owner(4)), Some((sink_operator(4), 0)));
        assert_eq!(operator_of("a.b"), None);
    }
}
