//! Who belongs together: the sessions of every key, open and lately closed.

mod dealt;
mod snapshot;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::hint::black_box;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{FieldRef, Schema, SchemaRef};
use tidemill_core::{Result, Watermark};

use snapshot::Unsaved;

use crate::aggregate::Keys;
use crate::metrics::LateReason;
use crate::window::Window;

/// The table of keys is made anew when it has so many keys more than twice those that have a session.
const SLACK_KEYS: usize = if cfg!(test) { 2 } else { 1024 };

/// A session's number; reused once nothing speaks of it any more.
pub(super) type SessionId = u32;

/// How far behind its watermark a row may be, beyond its own window, and still join a session that
/// others keep open.
///
/// Flink sets no such bound, and a row could touch any session that ever closed: to tell, they would
/// all have to be kept. With it the sessions of the last 17 gaps are.
#[must_use]
pub const fn session_reach_ms(gap_ms: i64) -> i64 {
    gap_ms.saturating_mul(16)
}

/// So many rows are looked at before they are judged: what they need stays in the nearest cache until then.
const BLOCK_ROWS: usize = 256;

/// So many sessions are in a cache anyway.
const CACHED_SESSIONS: usize = if cfg!(test) { 2 } else { 8 * 1024 };

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    In(SessionId),
    /// It missed the window.
    Late(Window, LateReason),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It waits for its end.
    Open,
    /// It is complete, and still takes rows that come within the allowed lateness.
    Fired,
    /// It takes no more rows.
    Done,
    /// It became part of another.
    Merged(SessionId),
    Free,
}

impl State {
    /// Whether it takes rows.
    fn is_live(self) -> bool {
        matches!(self, Self::Open | Self::Fired)
    }
}

#[derive(Debug, Clone, Copy)]
struct Session {
    window: Window,
    state: State,
    /// The number of its key.
    key: u32,
    /// The next session of the key, or [`NONE`].
    next: SessionId,
}

/// No session has this number.
const NONE: SessionId = SessionId::MAX;

impl Session {
    const FREE: Self = Self { window: Window { start_ms: 0, end_ms: 0 }, state: State::Free, key: 0, next: NONE };
}

/// The sessions of all keys of one subtask.
pub(super) struct Sessions {
    gap_ms: i64,
    /// How long after its end a session takes rows.
    lateness_ms: i64,
    /// Whether somebody asks which sessions have got rows.
    tracks_changes: bool,
    key_schema: SchemaRef,
    /// `None` where there is no key: then there is one, with number 0.
    keys: Option<Keys>,
    /// By key: the first of its sessions, open and remembered, in no order; each names the next. Few: mostly one.
    by_key: Vec<SessionId>,
    sessions: Vec<Session>,
    free: Vec<SessionId>,
    /// By when it ends or takes no more rows, as it was once; checked against how it is when that is due.
    due: BinaryHeap<Reverse<(i64, SessionId)>>,
    /// Those that have got rows since it was last asked, if somebody does.
    changed: BTreeSet<SessionId>,
    unsaved: Unsaved,
    /// Scratch space.
    key_numbers: Vec<usize>,
}

impl Sessions {
    /// `tracks_changes`: whether [`Sessions::take_changed`] is called.
    pub(super) fn new(gap_ms: i64, lateness_ms: i64, tracks_changes: bool, key: Vec<FieldRef>) -> Result<Self> {
        let key_schema = Arc::new(Schema::new(key));
        Ok(Self {
            keys: (!key_schema.fields().is_empty()).then(|| Keys::new(&key_schema)).transpose()?,
            gap_ms,
            lateness_ms,
            tracks_changes,
            key_schema,
            by_key: vec![],
            sessions: vec![],
            free: vec![],
            due: BinaryHeap::new(),
            changed: BTreeSet::new(),
            unsaved: Unsaved::default(),
            key_numbers: vec![],
        })
    }

    /// Judges rows, in the order that counts.
    pub(super) fn assign(&mut self, key: &[ArrayRef], times: &[i64], watermarks: &[i64]) -> Result<Vec<Verdict>> {
        match &mut self.keys {
            Some(keys) => {
                let known = keys.len();
                keys.intern(key, &mut self.key_numbers)?;
                self.note_new_keys(key, known)?;
            }
            None => {
                self.key_numbers.clear();
                self.key_numbers.resize(times.len(), 0);
            }
        }
        let keys = self.keys.as_ref().map_or(1, Keys::len);
        self.by_key.resize(keys.max(self.by_key.len()), NONE);
        let key_numbers = std::mem::take(&mut self.key_numbers);
        let mut verdicts = Vec::with_capacity(times.len());
        let mut rows = times.iter().zip(watermarks);
        for keys in key_numbers.chunks(BLOCK_ROWS) {
            self.look_ahead(keys);
            for (&key, (&time, &watermark)) in keys.iter().zip(&mut rows) {
                verdicts.push(self.assign_row(key, time, Watermark(watermark)));
            }
        }
        self.key_numbers = key_numbers;
        Ok(verdicts)
    }

    /// Reads what judging rows with these keys will read first: without a branch between them the reads of many rows are
    /// under way at once, where those of one row would be waited for before the next.
    fn look_ahead(&self, keys: &[usize]) {
        if self.sessions.len() > CACHED_SESSIONS {
            let end = |&key: &usize| self.sessions.get(self.by_key[key] as usize).map_or(0, |s| s.window.end_ms);
            black_box(keys.iter().map(end).fold(0, |all, end| all ^ end));
        }
    }

    fn assign_row(&mut self, key: usize, time_ms: i64, clock: Watermark) -> Verdict {
        let own = Window { start_ms: time_ms, end_ms: time_ms + self.gap_ms };
        if self.ends_for(clock, own.end_ms.saturating_add(session_reach_ms(self.gap_ms))) {
            return Verdict::Late(own, LateReason::Late);
        }
        let mut found: Option<SessionId> = None;
        let mut closed: Option<Window> = None;
        let mut next = self.by_key[key];
        while let Some(session) = self.sessions.get(next as usize) {
            let id = std::mem::replace(&mut next, session.next);
            // Two that touch are one, as in Flink.
            if session.window.start_ms > own.end_ms || session.window.end_ms < own.start_ms {
                continue;
            }
            if self.ends_for(clock, session.window.end_ms) {
                closed = closed.into_iter().chain([session.window]).min();
            } else if found.is_none() {
                found = Some(id);
            }
        }
        if let Some(window) = closed {
            return Verdict::Late(window, LateReason::SessionClosed);
        }
        let Some(id) = found else {
            if self.ends_for(clock, own.end_ms) {
                return Verdict::Late(own, LateReason::Late);
            }
            let id = self.open(own, key);
            self.mark_changed(id);
            return Verdict::In(id);
        };
        self.extend(id, own, key);
        self.mark_changed(id);
        Verdict::In(id)
    }

    /// Whether a session with this end takes no more rows at that time.
    fn ends_for(&self, clock: Watermark, end_ms: i64) -> bool {
        clock.closes(end_ms.saturating_add(self.lateness_ms))
    }

    fn mark_changed(&mut self, id: SessionId) {
        if self.tracks_changes && self.changed.insert(id) {
            self.unsaved.session(id);
        }
    }

    fn open(&mut self, window: Window, key: usize) -> SessionId {
        let session = Session { window, state: State::Open, key: number(key), next: self.by_key[key] };
        let id = match self.free.pop() {
            Some(id) => {
                self.sessions[id as usize] = session;
                id
            }
            None => {
                self.sessions.push(session);
                number(self.sessions.len() - 1)
            }
        };
        self.by_key[key] = id;
        self.due.push(Reverse((window.end_ms, id)));
        self.unsaved.session(id);
        id
    }

    /// Adds a row's window to a session, and merges those that it now touches. None is closed: the
    /// row would have touched it too.
    fn extend(&mut self, id: SessionId, own: Window, key: usize) {
        let mut window = self.sessions[id as usize].window;
        if own.start_ms >= window.start_ms && own.end_ms <= window.end_ms {
            return;
        }
        window.start_ms = window.start_ms.min(own.start_ms);
        window.end_ms = window.end_ms.max(own.end_ms);
        let fired_ms = |session: &Session| if session.state == State::Fired { session.window.end_ms } else { i64::MIN };
        // What of them is complete goes up to here.
        let mut complete_ms = fired_ms(&self.sessions[id as usize]);
        let (mut before, mut next) = (NONE, self.by_key[key]);
        while let Some(session) = self.sessions.get_mut(next as usize) {
            let other = std::mem::replace(&mut next, session.next);
            let touches = session.window.start_ms <= own.end_ms && session.window.end_ms >= own.start_ms;
            if other == id || !session.state.is_live() || !touches {
                before = other;
                continue;
            }
            window.start_ms = window.start_ms.min(session.window.start_ms);
            window.end_ms = window.end_ms.max(session.window.end_ms);
            complete_ms = complete_ms.max(fired_ms(session));
            session.state = State::Merged(id);
            self.changed.remove(&other);
            self.unsaved.session(other);
            match self.sessions.get_mut(before as usize) {
                Some(before) => before.next = next,
                None => self.by_key[key] = next,
            }
        }
        self.unsaved.session(id);
        // Whichever of them it is that takes in the others: in what order a key's sessions stand depends on the past.
        let session = &mut self.sessions[id as usize];
        let state = if complete_ms >= window.end_ms { State::Fired } else { State::Open };
        if session.state == State::Fired && state == State::Open {
            self.due.push(Reverse((window.end_ms, id)));
        }
        (session.window, session.state) = (window, state);
    }

    /// The session that this one has become part of, or itself.
    pub(super) fn resolve(&self, id: SessionId) -> SessionId {
        match self.sessions[id as usize].state {
            State::Merged(into) => self.resolve(into),
            _ => id,
        }
    }

    pub(super) fn window(&self, id: SessionId) -> Window {
        self.sessions[id as usize].window
    }

    /// Whether the session takes rows.
    pub(super) fn is_live(&self, id: SessionId) -> bool {
        self.sessions[id as usize].state.is_live()
    }

    /// Whether the session waits for its end.
    pub(super) fn is_open(&self, id: SessionId) -> bool {
        self.sessions[id as usize].state == State::Open
    }

    /// The sessions that have got rows and are `wanted`: they are not changed any more.
    pub(super) fn take_changed(&mut self, wanted: impl Fn(&Self, SessionId) -> bool) -> Vec<SessionId> {
        let changed = std::mem::take(&mut self.changed);
        let (taken, left): (Vec<_>, Vec<_>) = changed.into_iter().partition(|&id| wanted(self, id));
        taken.iter().for_each(|&id| self.unsaved.session(id));
        self.changed = left.into_iter().collect();
        taken
    }

    /// The open sessions that the watermark completes; from now on they have fired. Those that it puts
    /// behind the allowed lateness take no more rows.
    pub(super) fn close(&mut self, watermark: Watermark) -> Vec<SessionId> {
        let mut complete = vec![];
        while let Some(&Reverse((_, id))) = self.due.peek().filter(|Reverse((due_ms, _))| watermark.closes(*due_ms)) {
            self.due.pop();
            let Session { window, state, .. } = &mut self.sessions[id as usize];
            let before = *state;
            if *state == State::Open && watermark.closes(window.end_ms) {
                *state = State::Fired;
                self.changed.remove(&id);
                complete.push(id);
            }
            let last_ms = window.end_ms.saturating_add(self.lateness_ms);
            match *state {
                State::Open => self.due.push(Reverse((window.end_ms, id))),
                State::Fired if watermark.closes(last_ms) => *state = State::Done,
                State::Fired => self.due.push(Reverse((last_ms, id))),
                State::Done | State::Merged(_) | State::Free => {}
            }
            if *state != before {
                self.unsaved.session(id);
            }
        }
        complete
    }

    /// Forgets what no row to come can touch, and keys without a session. Call it when nothing
    /// outside speaks of a session that is not live.
    ///
    /// A row to come has a watermark of at least `watermark`, and is judged by the sessions that it
    /// touches only if it is within reach of that: what a session closed before that said of it does
    /// not depend on when this is called.
    pub(super) fn forget(&mut self, watermark: Watermark) -> Result<()> {
        let reach_ms = watermark.0.saturating_sub(session_reach_ms(self.gap_ms)).saturating_sub(self.gap_ms);
        let reach_ms = reach_ms.saturating_sub(self.lateness_ms);
        self.by_key.fill(NONE);
        let mut kept = vec![false; self.sessions.len()];
        for (id, session) in self.sessions.iter_mut().enumerate() {
            let remembered = session.state == State::Done && session.window.end_ms >= reach_ms;
            if session.state.is_live() || remembered {
                kept[id] = true;
                session.next = std::mem::replace(&mut self.by_key[session.key as usize], number(id));
            }
        }
        // An end that was superseded may still name a session: keep it until then.
        self.due.retain(|Reverse((_, id))| kept[*id as usize]);
        for (id, kept) in kept.into_iter().enumerate() {
            if !kept && self.sessions[id].state != State::Free {
                self.sessions[id] = Session::FREE;
                self.free.push(number(id));
                self.unsaved.session(number(id));
            }
        }
        let used = self.by_key.iter().filter(|first| **first != NONE).count();
        if self.by_key.len() > 2 * used + SLACK_KEYS { self.forget_keys() } else { Ok(()) }
    }

    /// Rebuilds the table of keys with those that have a session: it can't remove one.
    fn forget_keys(&mut self) -> Result<()> {
        let Some(keys) = &mut self.keys else { return Ok(()) };
        let used: Vec<usize> = (0..self.by_key.len()).filter(|&key| self.by_key[key] != NONE).collect();
        let indices: UInt32Array = used.iter().map(|&key| number(key)).collect();
        let columns = keys.take()?;
        let columns = columns.iter().map(|c| take(c, &indices, None)).collect::<Result<Vec<_>, _>>()?;
        keys.intern(&columns, &mut self.key_numbers)?;
        let mut by_key = vec![NONE; used.len()];
        for (old, &new) in used.iter().zip(&self.key_numbers) {
            by_key[new] = self.by_key[*old];
            let mut next = by_key[new];
            while let Some(session) = self.sessions.get_mut(next as usize) {
                session.key = number(new);
                next = session.next;
            }
        }
        let schema = Arc::clone(&self.key_schema);
        self.unsaved.other_keys(|| Ok(RecordBatch::try_new(schema, columns)?), self.sessions.len())?;
        self.by_key = by_key;
        Ok(())
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("a subtask has fewer than 2^32 sessions and keys")
}

#[cfg(test)]
mod tests;
