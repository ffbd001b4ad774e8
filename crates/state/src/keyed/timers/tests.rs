use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::backend::MemoryBackend;

#[derive(Debug, Clone)]
enum Step {
    Register(u8, u8, i64),
    Delete(u8, u8, i64),
    Fire(i64),
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let time = || prop_oneof![9 => -10..30_i64, 1 => Just(i64::MAX)];
    prop_oneof![
        8 => (4..6_u8, 0..4_u8, time()).prop_map(|(group, key, time)| Step::Register(group, key, time)),
        2 => (4..6_u8, 0..4_u8, time()).prop_map(|(group, key, time)| Step::Delete(group, key, time)),
        2 => time().prop_map(Step::Fire),
        1 => Just(Step::Restart),
    ]
}

proptest! {
    /// Few are at hand in the tests, so that they go to the store and come back.
    #[test]
    fn timers_fire_once_and_in_order(steps in prop::collection::vec(step(), 1..120)) {
        let mut store = Store::new(Box::new(MemoryBackend::new()));
        let mut timers = Timers::new(0, 4..6);
        let mut model: BTreeSet<(i64, u8, u8)> = BTreeSet::new();
        for step in steps {
            match step {
                Step::Register(group, key, time) => {
                    timers.register(&mut store, (group, &[key]), time, 3).unwrap();
                    model.insert((time, group, key));
                }
                Step::Delete(group, key, time) => {
                    timers.delete(&mut store, (group, &[key]), time).unwrap();
                    model.remove(&(time, group, key));
                }
                Step::Fire(now) => {
                    while let Some(fired) = timers.fire(&mut store, now).unwrap() {
                        let expected = model.pop_first();
                        prop_assert_eq!(Some((fired.time_ms, fired.group, fired.place[0])), expected);
                        prop_assert_eq!(fired.registered_ms, fired.time_ms.max(3));
                    }
                    prop_assert!(model.first().is_none_or(|first| first.0 > now));
                    prop_assert_eq!(timers.next_ms().is_some(), !model.is_empty());
                }
                Step::Restart => {
                    timers = Timers::new(0, 4..6);
                    timers.restored(4);
                    timers.restored(5);
                }
            }
            if let (Some(next), Some(first)) = (timers.next_ms(), model.first()) {
                prop_assert!(next <= first.0);
            }
        }
    }
}
