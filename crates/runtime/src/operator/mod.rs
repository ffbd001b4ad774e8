//! Synchronous work on batches: the trait, and the operators that know no window.

mod calc;
mod dealer;
mod derivation;
pub(crate) mod hands;
mod identity;
pub(crate) mod noted;
mod numbered;
pub(crate) mod pages;
mod pre_top_n;
mod requests;
mod restored;
mod row_watermark;
mod top_n;
mod unnest;

pub use calc::Calc;
pub(crate) use calc::evaluate;
pub use dealer::Dealer;
pub(crate) use derivation::without_places;
pub use derivation::{Derivation, DerivedColumn};
pub use identity::WithIdentity;
pub use numbered::Numbered;
pub use pre_top_n::PreTopN;
pub use requests::{Request, Requests};
pub(crate) use restored::fitting;
pub use row_watermark::{WithRowWatermark, watermark_column};
pub use top_n::{TopN, TopNSpec};
pub use unnest::Unnest;

use std::time::Instant;

use tidemill_core::{Epoch, EventBatch, Result, Watermark};
use tidemill_state::{State, StateChanges};

/// Which output of an operator a batch leaves by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port(pub u8);

impl Port {
    /// The output that every operator has.
    pub const MAIN: Self = Self(0);
    /// The side output of rows that missed a window.
    pub const LATE: Self = Self(1);
    /// The side output of a source: what could not be decoded.
    pub const REJECTED: Self = Self(2);
}

/// One subtask's part of one step of a pipeline.
///
/// # Contract
/// - A call does its work on the thread that makes it and returns; it starts no task and waits for
///   nothing (nobody checks this; `async` can't be called from here).
/// - Calls come one at a time; watermarks never go back (asserted by the task loop).
/// - What `on_watermark` emits leaves before the watermark does, what `on_barrier` emits before
///   the barrier.
/// - After `on_barrier` everything that arrived before the barrier has been emitted or is in the
///   operator's state; none of it is in buffers that a snapshot would miss.
/// - An operator that is restored from the snapshots of another, made alike, does with every input what
///   that one would do. What depends on processing time alone may differ.
pub trait Operator: Send {
    /// What it does, in a few words, for plans that people read.
    fn describe(&self) -> String;

    /// What its state is of, in words: one that says the same, and whose columns derive alike, can take it up. Beside what
    /// the operator does, the settings that what it has told depends on.
    fn state_words(&self) -> String {
        self.describe()
    }

    /// Where the columns that it emits come from.
    fn derivation(&self) -> Derivation {
        Derivation::All
    }

    /// What of its state is never freed, in a few words, for people: what there is one of, and for what. `None` where
    /// the watermark frees all of it, or its size has a bound.
    fn unbounded_state(&self) -> Option<String> {
        None
    }

    /// Whether it needs the source's rows that the rows it takes were made from ([`EventBatch::lineage`]).
    fn needs_source(&self) -> bool {
        false
    }

    /// Rows will come in the order of their event time, as a batch gives them: each row's own watermark is a clock that
    /// stands just before its time. Comes before anything else, if at all.
    fn in_order(&mut self) {}

    /// Takes rows.
    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()>;

    /// All inputs have reached `watermark`. [`Watermark::MAX`] comes once, at the end of bounded
    /// input; a run that is stopped ends without it.
    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<()> {
        let _ = (watermark, out);
        Ok(())
    }

    /// Whether the last watermark completes more than one call should emit: then `on_watermark` is called
    /// again with the same one, once what was emitted has been sent, and before anything else.
    fn unfinished(&self) -> bool {
        false
    }

    /// The watermark that what it emits has reached once it has taken this one: earlier, where a result can
    /// come later than the input that completes it. May grow while rows or timers come.
    fn reached(&self, watermark: Watermark) -> Watermark {
        watermark
    }

    /// Nothing more is there for the moment, or at all: what an operator holds back only to do it
    /// with more rows at once, it does now.
    fn on_pause(&mut self, out: &mut Output) -> Result<()> {
        let _ = out;
        Ok(())
    }

    /// When, in processing time, the operator wants to be called again if nothing happens before.
    fn timer(&self) -> Option<Instant> {
        None
    }

    /// What [`Operator::timer`] said has come: `now` is then or later. Afterwards it says another time,
    /// or none.
    fn on_timer(&mut self, now: Instant, out: &mut Output) -> Result<()> {
        let _ = (now, out);
        Ok(())
    }

    /// Its requests to something outside; `None`: it makes none, now and later.
    fn requests(&mut self) -> Option<&mut dyn Requests> {
        None
    }

    /// The cut `epoch` has reached this operator on all its inputs.
    fn on_barrier(&mut self, epoch: Epoch, out: &mut Output) -> Result<()> {
        let _ = (epoch, out);
        Ok(())
    }

    /// Says what has changed in its state since it last said so, or was made or restored. Comes after
    /// [`Operator::on_barrier`], if at all: the batches are shared, not copied, and written while rows are
    /// processed on. An operator without state leaves this as it is.
    fn snapshot(&mut self, changes: &mut StateChanges) -> Result<()> {
        let _ = changes;
        Ok(())
    }

    /// Takes up the state that snapshots have left. Comes at most once, before anything else.
    ///
    /// # Errors
    /// `Data` if the state is not that of such an operator.
    fn restore(&mut self, state: State) -> Result<()> {
        state.finish()
    }

    /// Splits the state that snapshots of an operator made alike have left, by key: part after part of `dealer`, each what
    /// an operator would have left that had only been given rows of the part's keys. Takes time in proportion to the
    /// state, and has no effect on the operator.
    ///
    /// # Errors
    /// `Data` if the state is not that of such an operator.
    fn deal(&self, state: State, dealer: &Dealer) -> Result<Vec<State>> {
        state.finish()?;
        Ok(vec![State::default(); dealer.parts()])
    }

    /// Takes up the states that several operators have left, each of which was given rows of other keys: instead of
    /// [`Operator::restore`]. A state may be empty, and there may be none. The next snapshot tells all that there is, as
    /// the first of a new operator does: nobody has it in this form.
    ///
    /// # Errors
    /// `Data` if a state is not that of such an operator, or what they say can't be told by one.
    fn restore_all(&mut self, states: Vec<State>) -> Result<()> {
        states.into_iter().try_for_each(State::finish)
    }
}

/// Where an operator puts what it emits.
#[derive(Debug, Default)]
pub struct Output {
    emitted: Vec<(Port, EventBatch)>,
}

impl Output {
    /// Emits by the main output. Empty batches go nowhere.
    pub fn emit(&mut self, batch: EventBatch) {
        self.emit_to(Port::MAIN, batch);
    }

    /// Emits by the given output.
    pub fn emit_to(&mut self, port: Port, batch: EventBatch) {
        if batch.num_rows() > 0 {
            self.emitted.push((port, batch));
        }
    }

    /// How many rows were emitted since the last [`Output::take`].
    #[must_use]
    pub fn rows(&self) -> usize {
        self.emitted.iter().map(|(_, batch)| batch.num_rows()).sum()
    }

    /// Takes what was emitted so far, in order.
    pub fn take(&mut self) -> Vec<(Port, EventBatch)> {
        std::mem::take(&mut self.emitted)
    }
}
