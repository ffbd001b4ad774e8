//! Gives what a savepoint has to the operators, sources and sinks of a graph.

use std::collections::BTreeMap;

use tidemill_core::{Error, ErrorKind, Result};
use tidemill_state::State;
use tidemill_state::checkpoint::{OperatorIdentity, Owner, Savepoint};

use super::matched::{Operators, matched};
use super::operators::{Left, Taker, takers};
use crate::graph::JobGraph;
use crate::job::owner::{is_sink, operator_of};
use crate::task::sink::says_nothing;

/// What a job begins with.
#[derive(Debug)]
pub(crate) struct Carried {
    /// By owner, as the graph's own checkpoints have it.
    pub(crate) state: BTreeMap<Owner, State>,
    /// What of the savepoint nobody takes up, in words.
    pub(crate) left: Vec<String>,
}

/// Gives `state`, which the savepoint has, to the graph. `allow_non_restored`: what nobody takes up is left out.
///
/// # Errors
/// `Invalid`, with the names of the operators, if some of it can't be taken up and that is not allowed.
pub(crate) fn carry(
    savepoint: &Savepoint,
    state: BTreeMap<Owner, State>,
    graph: &JobGraph,
    allow_non_restored: bool,
) -> Result<Carried> {
    let (then, now) = (savepoint.operators(), graph.identity()?.operators);
    let takers = takers(graph);
    let matched = matched(then, &now);
    let mut carried = Carried { state: BTreeMap::new(), left: vec![] };
    for (operator, left) in by_operator(then, state)? {
        let name = &then[&operator].name;
        match matched.get(operator.as_str()) {
            Some(taker) => match taken_up(taker, takers.get(*taker), left) {
                Ok(states) => carried.state.extend(states),
                Err(e) if e.kind() == ErrorKind::Data => carried.left.push(format!("'{name}', as {}", e.message())),
                Err(e) => return Err(e.context(name)),
            },
            None if is_sink(&operator) && left.states.values().all(says_nothing) => {}
            None => carried.left.push(format!("'{name}'{}", why_nobody(&operator, &then[&operator], &now))),
        }
    }
    match carried.left.is_empty() || allow_non_restored {
        true => Ok(carried),
        false => Err(not_taken_up(savepoint, &carried.left)),
    }
}

/// `name`: of the one that takes it up. Sources and sinks have one state, which is told apart by nothing else.
fn taken_up(name: &str, operator: Option<&Taker<'_>>, left: Left) -> Result<Vec<(Owner, State)>> {
    match operator {
        Some(operator) => operator.take_up(left),
        None => Ok(left.states.into_values().map(|state| (name.to_owned(), state)).collect()),
    }
}

/// What each operator of the savepoint has left, if it has left anything.
fn by_operator(operators: &Operators, state: BTreeMap<Owner, State>) -> Result<BTreeMap<String, Left>> {
    let mut found: BTreeMap<String, Left> = BTreeMap::new();
    for (owner, state) in state.into_iter().filter(|(_, state)| !state.is_empty()) {
        let of = operator_of(&owner).filter(|(operator, _)| operators.contains_key(operator));
        let Some((operator, subtask)) = of else {
            return Err(Error::data(format!(
                "the savepoint has the state of '{owner}', which none of its operators is"
            )));
        };
        let identity = &operators[&operator];
        let left = found.entry(operator).or_insert_with(|| Left {
            states: BTreeMap::new(),
            subtasks: identity.subtasks,
            by_key_group: identity.by_key_group,
        });
        left.states.insert(subtask, state);
    }
    Ok(found)
}

/// What the job has in place of an operator that is not there any more: at the same place of a task with the same name.
fn why_nobody(operator: &str, then: &OperatorIdentity, now: &Operators) -> String {
    let place = |operator: &str| operator.rsplit_once('.').map(|(_, place)| place.to_owned());
    let in_place = now.iter().filter(|(other, identity)| identity.name == then.name && place(other) == place(operator));
    let in_place: Vec<&OperatorIdentity> = in_place.map(|(_, identity)| identity).collect();
    if in_place.is_empty() {
        return String::new();
    }
    if in_place.iter().any(|identity| identity.words == then.words && identity.derivation != then.derivation) {
        return ", whose columns come from others now, or in another order".to_owned();
    }
    let others: Vec<&str> =
        in_place.iter().map(|identity| &*identity.words).filter(|words| *words != then.words).collect();
    match others.is_empty() {
        true => String::new(),
        false => format!(", which was: {}; the job has instead: {}", then.words, others.join("; ")),
    }
}

fn not_taken_up(savepoint: &Savepoint, left: &[String]) -> Error {
    Error::invalid(format!(
        "the savepoint '{}' has state that no operator of this job takes up: {}",
        savepoint.place(),
        left.join(", ")
    ))
    .hint(
        "bring back the statement, window, key or setting that it was for, or leave that state out with \
         --allow-non-restored-state: what needs it then begins empty",
    )
}
