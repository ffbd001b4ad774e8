//! Sessions by a function with timers, and by a plain loop.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tidemill_datastream::state::{KeyedState, ListState, StateDescriptor, ValueState};
use tidemill_datastream::{Collector, Context, EventTime, KeyedProcessFunction, Result, Timer};

/// Ends a session, in milliseconds behind its last event.
const GAP: i64 = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Event {
    pub key: u8,
    pub time: i64,
    pub number: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Session {
    pub key: u8,
    pub end: i64,
    pub numbers: Vec<usize>,
}

/// Tells a session when nothing has come for a while. It knows nothing of elements out of order.
pub struct Sessions {
    numbers: ListState<usize>,
    due: ValueState<i64>,
}

impl Sessions {
    pub fn open(states: &mut KeyedState) -> Result<Self> {
        Ok(Self {
            numbers: states.list_state(StateDescriptor::new("numbers"))?,
            due: states.value_state(StateDescriptor::new("due"))?,
        })
    }
}

impl KeyedProcessFunction<u8, Event> for Sessions {
    type Out = Session;

    fn process_element(
        &mut self,
        _: &u8,
        event: Event,
        context: &mut Context<'_>,
        _: &mut Collector<Session>,
    ) -> Result<()> {
        if let Some(due) = self.due.value(context.state())?.copied() {
            context.delete_event_time_timer(EventTime(due))?;
        }
        self.numbers.add(context.state(), &event.number)?;
        self.due.update(context.state(), event.time + GAP)?;
        context.register_event_time_timer(EventTime(event.time + GAP))
    }

    fn on_timer(
        &mut self,
        key: &u8,
        timer: Timer,
        context: &mut Context<'_>,
        out: &mut Collector<Session>,
    ) -> Result<()> {
        let Timer::EventTime(EventTime(end)) = timer else { return Ok(()) };
        let numbers = self.numbers.get(context.state())?;
        self.numbers.clear(context.state())?;
        self.due.clear(context.state())?;
        out.collect(Session { key: *key, end, numbers });
        Ok(())
    }
}

/// The same by sorting each key's events.
pub fn expected_sessions(events: &[Event]) -> Vec<Session> {
    let mut by_key: BTreeMap<u8, Vec<Event>> = BTreeMap::new();
    events.iter().for_each(|event| by_key.entry(event.key).or_default().push(*event));
    let mut sessions: Vec<Session> = vec![];
    for (key, mut events) in by_key {
        events.sort_by_key(|event| (event.time, event.number));
        let mut last: Option<Session> = None;
        for event in events {
            match &mut last {
                Some(session) if event.time <= session.end => {
                    session.end = event.time + GAP;
                    session.numbers.push(event.number);
                }
                _ => {
                    let session = Session { key, end: event.time + GAP, numbers: vec![event.number] };
                    sessions.extend(last.replace(session));
                }
            }
        }
        sessions.extend(last);
    }
    sessions.sort();
    sessions
}
