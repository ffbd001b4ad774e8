//! The subtasks of an operator, for tests: seen from outside they are one operator, and those that are restored may be
//! others in number.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use arrow::array::BooleanArray;
use proptest::prelude::*;
use tidemill_core::{Epoch, EventBatch, Result, Watermark};
use tidemill_state::{Section, State, StateChanges};

use crate::exchange::{KEY_GROUPS, key_groups, owner};
use crate::graph::MakeOperator;
use crate::operator::{Dealer, Operator, Output};

/// The section that says how many subtasks there are.
const FORM: &str = "form";

/// How many subtasks there are; 0 for one a key group.
type Form = usize;

/// What those that are restored are, one after the other: `None` for what they were before.
pub(crate) type Forms = Vec<Option<Form>>;

pub(crate) fn forms() -> impl Strategy<Value = Forms> {
    let other = prop_oneof![14 => prop::sample::select(vec![1, 2, 3, 5]), 1 => Just(0)];
    prop::collection::vec(prop::option::weighted(0.7, other), 1..6)
}

/// Makes fleets, of which the first has three subtasks.
pub(crate) fn fleets(make: MakeOperator, key: Vec<usize>, mut forms: Forms) -> impl Fn() -> Fleet {
    forms.reverse();
    let forms = Arc::new(Mutex::new(forms));
    move || Fleet::new(Arc::clone(&make), key.clone(), Arc::clone(&forms))
}

pub(crate) struct Fleet {
    make: MakeOperator,
    /// The columns of the key.
    key: Vec<usize>,
    /// What comes next is the last, and goes first then.
    forms: Arc<Mutex<Forms>>,
    form: Form,
    subtasks: Vec<Box<dyn Operator>>,
    /// What was left in another form.
    stale: Vec<Section>,
}

impl Fleet {
    fn new(make: MakeOperator, key: Vec<usize>, forms: Arc<Mutex<Forms>>) -> Self {
        let mut fleet = Self { make, key, forms, form: 3, subtasks: vec![], stale: vec![] };
        fleet.staff(3);
        fleet
    }

    fn staff(&mut self, form: Form) {
        self.form = form;
        self.subtasks = (0..count(form)).map(|_| (self.make)().unwrap()).collect();
    }

    fn each(&mut self, mut act: impl FnMut(&mut (dyn Operator + 'static)) -> Result<()>) -> Result<()> {
        self.subtasks.iter_mut().try_for_each(|operator| act(operator.as_mut()))
    }

    fn next_form(&self) -> Option<Form> {
        let mut forms = self.forms.lock().unwrap();
        let next = forms.pop().unwrap();
        forms.insert(0, next);
        next
    }

    /// The states of others are dealt to so many.
    fn take_up(&mut self, left: Vec<State>, form: Form) -> Result<()> {
        let dealer = if form == 0 { Dealer::to_key_groups() } else { Dealer::to_subtasks(form) };
        let sample = (self.make)()?;
        let mut parts: Vec<Vec<State>> = vec![vec![]; dealer.parts()];
        for state in left {
            for (part, dealt) in parts.iter_mut().zip(sample.deal(state, &dealer)?) {
                part.push(dealt);
            }
        }
        self.staff(form);
        self.subtasks.iter_mut().zip(parts).try_for_each(|(operator, states)| operator.restore_all(states))
    }
}

fn count(form: Form) -> usize {
    if form == 0 { KEY_GROUPS } else { form }
}

fn prefix(subtask: usize) -> String {
    format!("subtask{subtask:03}")
}

impl Operator for Fleet {
    fn describe(&self) -> String {
        format!("{} subtasks", self.subtasks.len())
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        let key: Vec<_> = self.key.iter().map(|&column| batch.rows.column(column).clone()).collect();
        let groups = key_groups(&key, batch.num_rows())?;
        let of = |group: u8| if self.form == 0 { usize::from(group) } else { owner(group, self.form) };
        for subtask in 0..self.subtasks.len() {
            let own: BooleanArray = groups.iter().map(|&group| Some(of(group) == subtask)).collect();
            if own.true_count() > 0 {
                self.subtasks[subtask].on_batch(batch.filter(&own)?, out)?;
            }
        }
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<()> {
        self.each(|operator| {
            operator.on_watermark(watermark, out)?;
            while operator.unfinished() {
                operator.on_watermark(watermark, out)?;
            }
            Ok(())
        })
    }

    fn on_pause(&mut self, out: &mut Output) -> Result<()> {
        self.each(|operator| operator.on_pause(out))
    }

    fn timer(&self) -> Option<Instant> {
        self.subtasks.iter().filter_map(|operator| operator.timer()).min()
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) -> Result<()> {
        self.each(|operator| operator.on_timer(now, out))
    }

    fn on_barrier(&mut self, epoch: Epoch, out: &mut Output) -> Result<()> {
        self.each(|operator| operator.on_barrier(epoch, out))
    }

    fn snapshot(&mut self, changes: &mut StateChanges) -> Result<()> {
        self.stale.drain(..).for_each(|section| changes.remove(section));
        changes.replace_numbers(FORM, [self.form as i64])?;
        for (subtask, operator) in self.subtasks.iter_mut().enumerate() {
            let mut own = StateChanges::default();
            operator.snapshot(&mut own)?;
            changes.extend(own.under(&prefix(subtask)));
        }
        Ok(())
    }

    fn restore(&mut self, mut state: State) -> Result<()> {
        let sections = state.changes().into_changes().map(|(section, _)| section).collect();
        let before = state.take_numbers(FORM)?[0] as Form;
        let left: Vec<State> = (0..count(before)).map(|subtask| state.take_under(&prefix(subtask))).collect();
        state.finish()?;
        match self.next_form() {
            Some(form) => {
                self.stale = sections;
                self.take_up(left, form)
            }
            None => {
                self.staff(before);
                self.subtasks.iter_mut().zip(left).try_for_each(|(operator, state)| operator.restore(state))
            }
        }
    }
}
