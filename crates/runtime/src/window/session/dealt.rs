//! The state of a session aggregate, dealt out anew by its keys: what speaks of a session goes where that goes.

use std::sync::Arc;

use tidemill_core::Result;
use tidemill_state::{Section, State};

use super::operator::SessionAggregate;
use super::pending::Pending;
use super::snapshot::{ROWS, STATES, TOLD, no_session, schema_with_sessions};
use crate::operator::fitting;
use crate::operator::hands::{Hands, to_take_up};

impl SessionAggregate {
    pub(super) fn deal_sessions(&self, state: &mut State, hands: &mut Hands<'_>) -> Result<()> {
        Pending::deal(&self.spec.key_columns, state, hands)?;
        let places = self.sessions.deal(state, hands)?;
        let sections = [
            (ROWS, schema_with_sessions(&self.buffer.rows_schema)),
            (STATES, Arc::clone(&self.buffer.states_schema)),
            (TOLD, schema_with_sessions(&self.schema)),
        ];
        for (name, schema) in sections {
            for (number, batches) in state.take_all(name)? {
                for rows in fitting(name, batches, &schema)? {
                    places.deal(&Section::new(name, number), &rows, hands, |id| no_session(name, id))?;
                }
            }
        }
        Ok(())
    }

    /// Takes up the states of several as a new one would have it: no snapshot has any of it.
    pub(super) fn load_anew(&mut self, states: Vec<State>) -> Result<()> {
        let states = to_take_up(states, !self.spec.key_columns.is_empty())?;
        states.into_iter().try_for_each(|state| self.load(state))?;
        self.pending.forget_saved();
        self.sessions.forget_saved();
        self.buffer.saved_rows = None;
        self.told.unsaved = Default::default();
        Ok(())
    }
}
