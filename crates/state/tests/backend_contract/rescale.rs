//! Keyed state that is dealt anew to other subtasks, on other backends.

use proptest::prelude::*;
use tidemill_core::{EventTime, Watermark};
use tidemill_state::keyed::{KeyedState, ListState, MapState, MapStateDescriptor, StateDescriptor, ValueState};
use tidemill_state::{State, StateChanges};

use crate::backends::{ALL, Backends};

struct Subtask {
    state: KeyedState,
    value: ValueState<u32>,
    list: ListState<u32>,
    map: MapState<u32, u32>,
}

impl Subtask {
    /// States are registered before, and in another order: their numbers are others.
    fn new(backends: &Backends, backend: &str, groups: std::ops::Range<usize>, turned: bool) -> Self {
        let mut state = KeyedState::new(backends.open(backend), groups).unwrap();
        let first = turned.then(|| state.map_state(MapStateDescriptor::new("map")).unwrap());
        let list = state.list_state(StateDescriptor::new("list")).unwrap();
        let value = state.value_state(StateDescriptor::new("value")).unwrap();
        let map = first.unwrap_or_else(|| state.map_state(MapStateDescriptor::new("map")).unwrap());
        Self { state, value, list, map }
    }

    fn saved(&mut self) -> State {
        let (mut changes, mut saved) = (StateChanges::default(), State::default());
        self.state.snapshot(&mut changes).unwrap();
        saved.apply(changes);
        saved
    }

    fn write(&mut self, key: u32) {
        self.state.set_current_key(&key).unwrap();
        self.value.update(&mut self.state, key).unwrap();
        for i in 0..key % 4 {
            self.list.add(&mut self.state, &(key + i)).unwrap();
            self.map.put(&mut self.state, &i, &key).unwrap();
        }
        self.state.register_event_time_timer(EventTime(i64::from(key))).unwrap();
        self.state.register_processing_time_timer(i64::from(key)).unwrap();
    }

    /// Whether the key is this subtask's; it has then what was written.
    fn has(&mut self, key: u32) -> bool {
        if self.state.set_current_key(&key).is_err() {
            return false;
        }
        assert_eq!(self.value.value(&mut self.state).unwrap(), Some(&key));
        assert_eq!(self.list.get(&mut self.state).unwrap(), (0..key % 4).map(|i| key + i).collect::<Vec<_>>());
        let map: Vec<(u32, u32)> = self.map.entries(&mut self.state).unwrap().map(Result::unwrap).collect();
        assert_eq!(map, (0..key % 4).map(|i| (i, key)).collect::<Vec<_>>());
        true
    }

    fn fired(&mut self) -> Vec<u32> {
        self.state.advance_watermark(Watermark::MAX);
        self.state.set_processing_time(i64::MAX);
        let mut fired: [Vec<u32>; 2] = [vec![], vec![]];
        while let Some(time) = self.state.next_event_time_timer().unwrap() {
            fired[0].push(self.state.current_key().unwrap());
            assert_eq!(i64::from(fired[0][fired[0].len() - 1]), time.0);
        }
        while let Some(time) = self.state.next_processing_time_timer().unwrap() {
            fired[1].push(self.state.current_key().unwrap());
            assert_eq!(i64::from(fired[1][fired[1].len() - 1]), time);
        }
        assert!(fired[0].is_sorted());
        assert_eq!(fired[0], fired[1]);
        fired[0].clone()
    }
}

thread_local! {
    static SHARED: Backends = Backends::new();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn each_key_goes_to_the_subtask_that_owns_its_group(
        keys in prop::collection::btree_set(0..10_000_u32, 1..100),
        (then, now) in (1..127_usize, 1..127_usize),
        backend in prop::collection::vec(0..ALL.len(), 5),
    ) {
        SHARED.with(|backends| {
            let open = |number: usize, groups, turned| Subtask::new(backends, ALL[backend[number]], groups, turned);
            let mut before = [open(0, 0..then, false), open(1, then..128, false)];
            for key in &keys {
                let owner = before.iter_mut().find_map(|subtask| subtask.state.set_current_key(key).is_ok().then_some(subtask));
                owner.unwrap().write(*key);
            }
            let saved = before.each_mut().map(Subtask::saved);
            let mut after = [open(2, 0..now, true), open(3, now..128, true)];
            for subtask in &mut after {
                for saved in &saved {
                    subtask.state.import(&mut saved.clone()).unwrap();
                }
            }
            // Their own first snapshots tell all.
            let mut saved = after.each_mut().map(Subtask::saved);
            let mut last = open(4, 0..128, false);
            saved.iter_mut().for_each(|saved| last.state.import(saved).unwrap());
            for key in &keys {
                assert_eq!(after.iter_mut().filter_map(|subtask| subtask.has(*key).then_some(())).count(), 1);
                assert!(last.has(*key));
            }
            let fired = last.fired();
            assert_eq!(fired, keys.iter().copied().collect::<Vec<_>>());
            let mut by_both = after.each_mut().map(Subtask::fired).concat();
            by_both.sort_unstable();
            assert_eq!(by_both, fired);
        });
    }
}
