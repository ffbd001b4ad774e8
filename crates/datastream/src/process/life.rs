//! Keyed state from its making to its snapshots: what all operators have in common that keep it.

use std::sync::Arc;

use tidemill_core::{Error, Result};
use tidemill_runtime::operator::Dealer;
use tidemill_state::key_group::KEY_GROUPS;
use tidemill_state::keyed::KeyedState;
use tidemill_state::{State, StateChanges};

use crate::guard::guarded;
use crate::state_backend::StateBackend;

/// Makes what a subtask does, and registers its states.
pub(crate) type Make<F> = Arc<dyn Fn(&mut KeyedState) -> Result<F> + Send + Sync>;

/// What a subtask does, with its state.
pub(crate) struct Made<F> {
    pub(crate) state: KeyedState,
    pub(crate) function: F,
}

/// A subtask is made when something comes for the first time: what snapshots have left is taken up before.
pub(crate) struct Life<F> {
    name: Arc<str>,
    make: Make<F>,
    backend: StateBackend,
    made: Option<Made<F>>,
}

impl<F> Life<F> {
    pub(crate) fn new(name: Arc<str>, make: Make<F>, backend: StateBackend) -> Self {
        Self { name, make, backend, made: None }
    }

    /// Makes it if it is not made yet.
    pub(crate) fn made(&mut self) -> Result<&mut Made<F>> {
        if self.made.is_none() {
            let state = self.empty()?;
            self.made = Some(self.function(state)?);
        }
        self.made.as_mut().ok_or_else(|| Error::internal("a function was not made"))
    }

    /// What there is, if it was made.
    pub(crate) fn now(&self) -> Option<&Made<F>> {
        self.made.as_ref()
    }

    /// Of all key groups: rows of others do not come.
    fn empty(&self) -> Result<KeyedState> {
        KeyedState::new(self.backend.make()?, 0..KEY_GROUPS)
    }

    fn function(&self, mut state: KeyedState) -> Result<Made<F>> {
        let function = guarded(&self.name, || (self.make)(&mut state))??;
        Ok(Made { state, function })
    }

    pub(crate) fn snapshot(&mut self, changes: &mut StateChanges) -> Result<()> {
        self.made()?.state.snapshot(changes)
    }

    pub(crate) fn restore(&mut self, mut left: State) -> Result<()> {
        let mut state = self.empty()?;
        state.restore(&mut left)?;
        left.finish()?;
        self.made = Some(self.function(state)?);
        Ok(())
    }

    pub(crate) fn restore_all(&mut self, states: Vec<State>) -> Result<()> {
        let Made { state, .. } = self.made()?;
        for mut left in states {
            state.import(&mut left)?;
            left.finish()?;
        }
        Ok(())
    }

    /// The parts of a state, by key group.
    pub(crate) fn deal(state: State, dealer: &Dealer) -> Result<Vec<State>> {
        KeyedState::deal(state, dealer.parts(), |group| dealer.part_of_group(group))
    }
}
