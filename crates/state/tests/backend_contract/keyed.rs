//! Keyed state does what the model does, on every backend, through snapshots and crashes.

use proptest::prelude::*;
use std::time::Duration;

use tidemill_core::{EventTime, Watermark};
use tidemill_state::backend::Backend;
use tidemill_state::keyed::{
    AggregateFunction, AggregatingState, KeyedState, ListState, MapState, MapStateDescriptor, ReducingState,
    StateDescriptor, StateTtlConfig, TtlTimeCharacteristic, UpdateType, ValueState,
};
use tidemill_state::{State, StateChanges};

use crate::backends::{ALL, Backends};
use crate::model::{Model, Place};
use crate::steps::{By, Lasting, Op, Step, TTL_MS, lasting, steps};

/// A sum, and of how many.
struct Average;

impl AggregateFunction for Average {
    type In = i64;
    type Acc = (i64, u32);
    type Out = String;

    fn create_accumulator(&self) -> (i64, u32) {
        (0, 0)
    }

    fn add(&self, (sum, count): &mut (i64, u32), value: i64) {
        *sum += value;
        *count += 1;
    }

    fn result(&self, (sum, count): &(i64, u32)) -> String {
        format!("{sum} of {count}")
    }

    fn merge(&self, a: (i64, u32), b: (i64, u32)) -> (i64, u32) {
        (a.0 + b.0, a.1 + b.1)
    }
}

/// Keyed state with one of each.
pub(crate) struct Program {
    pub(crate) state: KeyedState,
    value: ValueState<u32>,
    list: ListState<u16>,
    map: MapState<String, i64>,
    reduced: ReducingState<i64>,
    average: AggregatingState<Average>,
}

pub(crate) fn ttl(lasting: Lasting) -> Option<StateTtlConfig> {
    let time = match lasting.by {
        By::Nothing => return None,
        By::ProcessingTime => TtlTimeCharacteristic::ProcessingTime,
        By::EventTime => TtlTimeCharacteristic::EventTime,
    };
    let update = if lasting.prolonged_by_reading { UpdateType::OnReadAndWrite } else { UpdateType::OnCreateAndWrite };
    let ttl = StateTtlConfig::new(Duration::from_millis(TTL_MS as u64));
    Some(ttl.update_type(update).time_characteristic(time))
}

fn described<T: serde::Serialize + serde::de::DeserializeOwned>(
    name: &'static str,
    lasting: Lasting,
) -> StateDescriptor<T> {
    let descriptor = StateDescriptor::new(name);
    ttl(lasting).into_iter().fold(descriptor, StateDescriptor::enable_time_to_live)
}

impl Program {
    pub(crate) fn new(backend: Box<dyn Backend>, lasting: Lasting, saved: Option<&State>) -> Self {
        let mut state = KeyedState::new(backend, 0..128).unwrap();
        if let Some(saved) = saved {
            let mut saved = saved.clone();
            state.restore(&mut saved).unwrap();
            saved.finish().unwrap();
        }
        let map =
            ttl(lasting).into_iter().fold(MapStateDescriptor::new("map"), MapStateDescriptor::enable_time_to_live);
        Self {
            value: state.value_state(described("value", lasting)).unwrap(),
            list: state.list_state(described("list", lasting)).unwrap(),
            map: state.map_state(map).unwrap(),
            reduced: state.reducing_state(described("reduced", lasting), i64::max).unwrap(),
            average: state.aggregating_state(described("average", lasting), Average).unwrap(),
            state,
        }
    }

    pub(crate) fn begin(&mut self, (key, namespace): Place) {
        self.state.set_current_key(&key).unwrap();
        if let Some(namespace) = namespace {
            self.state.set_current_namespace(&namespace).unwrap();
        }
    }

    /// Does it, and says what was read; times count from `watermark` and `processing_ms`.
    pub(crate) fn apply(&mut self, op: &Op, watermark: i64, processing_ms: i64) -> String {
        let state = &mut self.state;
        let shown = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
        let entries = |entries: Vec<Result<(String, i64), _>>| {
            let entries: Result<Vec<(String, i64)>, tidemill_core::Error> = entries.into_iter().collect();
            format!("{:?}", entries.unwrap())
        };
        match op {
            Op::SetValue(value) => self.value.update(state, *value).unwrap(),
            Op::AddToValue(more) => {
                let add = |value: &mut Option<u32>| *value = Some(value.unwrap_or(0).wrapping_add(*more));
                self.value.update_with(state, add).unwrap();
            }
            Op::ReadValue => return shown(self.value.value(state).unwrap().map(u32::to_string)),
            Op::ClearValue => self.value.clear(state).unwrap(),
            Op::AddToList(element) => drop(self.list.add(state, element).unwrap()),
            Op::ReadList => return format!("{:?}", self.list.get(state).unwrap()),
            Op::UpdateList(elements) => self.list.update(state, elements).unwrap(),
            Op::ClearList => self.list.clear(state).unwrap(),
            Op::Put(key, value) => self.map.put(state, key, value).unwrap(),
            Op::Get(key) => return shown(self.map.get(state, key).unwrap().map(|value| value.to_string())),
            Op::Contains(key) => return self.map.contains(state, key).unwrap().to_string(),
            Op::Remove(key) => self.map.remove(state, key).unwrap(),
            Op::Entries => return entries(self.map.entries(state).unwrap().collect()),
            Op::Range(from, to) => return entries(self.map.range(state, from.clone()..to.clone()).unwrap().collect()),
            Op::IsEmpty => return self.map.is_empty(state).unwrap().to_string(),
            Op::ClearMap => self.map.clear(state).unwrap(),
            Op::Reduce(value) => drop(self.reduced.add(state, *value).unwrap()),
            Op::ReadReduced => return shown(self.reduced.get(state).unwrap().map(i64::to_string)),
            Op::ClearReduced => self.reduced.clear(state).unwrap(),
            Op::Aggregate(value) => drop(self.average.add(state, *value).unwrap()),
            Op::ReadAggregate => return shown(self.average.get(state).unwrap()),
            Op::EventTimer(ahead) => state.register_event_time_timer(EventTime(watermark + ahead)).unwrap(),
            Op::DeleteEventTimer(ahead) => state.delete_event_time_timer(EventTime(watermark + ahead)).unwrap(),
            Op::ProcessingTimer(ahead) => state.register_processing_time_timer(processing_ms + ahead).unwrap(),
            Op::DeleteProcessingTimer(ahead) => state.delete_processing_time_timer(processing_ms + ahead).unwrap(),
            Op::MergeNamespaces => {
                let Ok(target) = state.current_namespace::<u8>() else { return "no namespace".into() };
                self.reduced.merge_namespaces(state, &target, &[1 - target]).unwrap();
                self.average.merge_namespaces(state, &target, &[1 - target]).unwrap();
            }
        }
        String::new()
    }

    fn place(&self) -> Place {
        (self.state.current_key().unwrap(), self.state.current_namespace().ok())
    }
}

/// What a timer reads, and now and then it registers another.
fn in_timer(time: i64) -> Vec<Op> {
    let mut ops = vec![Op::ReadValue, Op::ReadList, Op::Entries, Op::ReadReduced, Op::ReadAggregate];
    if time % 3 == 0 {
        ops.extend([Op::EventTimer(5), Op::ProcessingTimer(1), Op::AddToValue(1), Op::AddToList(7)]);
    }
    ops
}

struct Both<'b> {
    backends: &'b Backends,
    lasting: Lasting,
    program: Program,
    model: Model,
    saved: Option<(State, Model)>,
}

impl Both<'_> {
    fn run(&mut self, step: &Step) {
        match step {
            Step::Element { key, namespace, time, row_watermark, ops } => {
                let place = (*key, *namespace);
                // No row carries a watermark that is behind the operator's.
                let row_watermark = self.model.watermark + row_watermark;
                let time = self.model.watermark + time;
                self.program.begin(place);
                self.program.state.set_element_time(Some(EventTime(time)), Watermark(row_watermark));
                self.model.event_ms = time.max(row_watermark);
                self.ops(place, ops);
            }
            Step::Watermark(ahead) => {
                self.model.watermark += ahead;
                self.program.state.advance_watermark(Watermark(self.model.watermark));
                self.fire_event_timers();
            }
            Step::ProcessingTime(ahead) => {
                self.model.processing_ms += ahead;
                self.program.state.set_processing_time(self.model.processing_ms);
                self.fire_processing_timers();
            }
            Step::EndBatch => self.program.state.end_batch().unwrap(),
            Step::Prefetch(keys) => self.program.state.prefetch(keys).unwrap(),
            Step::Snapshot => {
                let mut saved = self.saved.take().map(|(saved, _)| saved).unwrap_or_default();
                let mut changes = StateChanges::default();
                self.program.state.snapshot(&mut changes).unwrap();
                saved.apply(changes);
                self.saved = Some((saved, self.model.clone()));
            }
            Step::Crash(backend) => self.crash(ALL[*backend]),
        }
    }

    fn ops(&mut self, place: Place, ops: &[Op]) {
        for op in ops {
            let read = self.program.apply(op, self.model.watermark, self.model.processing_ms);
            assert_eq!(read, self.model.apply(place, op), "{op:?} of {place:?}");
        }
    }

    fn fire_event_timers(&mut self) {
        while let Some(EventTime(time)) = self.program.state.next_event_time_timer().unwrap() {
            let place = self.program.place();
            let first = self.model.event_timers.keys().next().map(|(time, _)| *time);
            assert_eq!(first, Some(time), "in the order of their times");
            let registered = self.model.event_timers.remove(&(time, place)).expect("each fires once");
            assert!(time <= self.model.watermark);
            self.model.event_ms = time.max(registered);
            self.ops(place, &in_timer(time));
        }
        let due = self.model.event_timers.keys().find(|(time, _)| *time <= self.model.watermark);
        assert_eq!(due, None, "it has not fired");
    }

    fn fire_processing_timers(&mut self) {
        while let Some(time) = self.program.state.next_processing_time_timer().unwrap() {
            let place = self.program.place();
            assert_eq!(self.model.processing_timers.first().map(|(time, _)| *time), Some(time));
            assert!(self.model.processing_timers.remove(&(time, place)), "each fires once");
            self.model.event_ms = self.model.watermark;
            self.ops(place, &in_timer(time));
        }
        let next = self.model.processing_timers.first().map(|(time, _)| *time);
        assert!(next.is_none_or(|next| next > self.model.processing_ms), "it has not fired");
        assert!(next.is_none_or(|next| self.program.state.next_processing_time().is_some_and(|said| said <= next)));
    }

    fn crash(&mut self, backend: &str) {
        let processing_ms = self.model.processing_ms;
        let backend = self.backends.open(backend);
        match &self.saved {
            Some((saved, model)) => {
                self.program = Program::new(backend, self.lasting, Some(saved));
                self.model = model.clone();
            }
            None => {
                self.program = Program::new(backend, self.lasting, None);
                self.model = Model::new(self.lasting);
            }
        }
        self.model.processing_ms = processing_ms;
        self.program.state.set_processing_time(processing_ms);
        self.program.state.advance_watermark(Watermark(self.model.watermark));
    }
}

thread_local! {
    static SHARED: Backends = Backends::new();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn keyed_state_does_what_the_model_does(first in 0..ALL.len(), lasting in lasting(), steps in steps()) {
        SHARED.with(|backends| {
            let program = Program::new(backends.open(ALL[first]), lasting, None);
            let model = Model::new(lasting);
            let mut both = Both { backends, lasting, program, model, saved: None };
            both.program.state.set_processing_time(both.model.processing_ms);
            both.program.state.advance_watermark(Watermark(both.model.watermark));
            steps.iter().for_each(|step| both.run(step));
        });
    }
}
