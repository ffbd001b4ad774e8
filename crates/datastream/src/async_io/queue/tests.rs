//! The queue against plain rules, whatever comes in what order.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// What happens to a queue.
#[derive(Debug, Clone)]
enum Event {
    Element,
    Watermark,
    Begin,
    /// The request that began as the n-th of those under way ends.
    Ends(usize),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        4 => Just(Event::Element),
        1 => Just(Event::Watermark),
        4 => Just(Event::Begin),
        4 => (0..100_usize).prop_map(Event::Ends),
    ];
    prop::collection::vec(event, 0..200)
}

/// What went in, in order: elements by number, and watermarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum In {
    Element(i64),
    Watermark(i64),
}

/// Which of what went in has come out after this, by plain rules: what is done leaves if all that it may not pass has left.
fn left(order: Order, all: &[In], done: &[i64]) -> Vec<In> {
    let mut out = vec![];
    let mut complete = true;
    for came in all {
        match came {
            In::Watermark(_) if complete => out.push(*came),
            In::Watermark(_) => return out,
            In::Element(number) if done.contains(number) => out.push(*came),
            In::Element(_) if order == Order::Ordered => return out,
            In::Element(_) => complete = false,
        }
    }
    out
}

fn stamp(number: i64) -> Stamp {
    Stamp { time: number, watermark: number - 10 }
}

/// A queue, and what went in and came out.
struct Run {
    queue: Queue<i64, i64>,
    all: Vec<In>,
    done: Vec<i64>,
    out: Vec<In>,
    under_way: BTreeMap<i64, Place>,
    elements: i64,
    begun: i64,
}

impl Run {
    fn new(order: Order, capacity: usize) -> Self {
        let queue = Queue::new(order, capacity);
        let (all, done, out, under_way) = (vec![], vec![], vec![], BTreeMap::new());
        Self { queue, all, done, out, under_way, elements: 0, begun: 0 }
    }

    /// How many have begun, and not left.
    fn kept(&self) -> i64 {
        self.begun - self.out.iter().filter(|came| matches!(came, In::Element(_))).count() as i64
    }

    fn on(&mut self, event: &Event, capacity: i64) {
        match event {
            Event::Element => {
                self.queue.push(self.elements, stamp(self.elements));
                self.all.push(In::Element(self.elements));
                self.elements += 1;
            }
            // Of those that nothing stands between the last counts.
            Event::Watermark if matches!(self.all.last(), Some(In::Watermark(_))) => {}
            Event::Watermark => {
                let watermark = self.all.len() as i64;
                self.queue.push_watermark(Watermark(watermark));
                self.all.push(In::Watermark(watermark));
            }
            Event::Begin => match self.queue.begin() {
                Some((place, element)) => {
                    assert_eq!(element, self.begun, "requests begin in the order of elements");
                    assert!(self.kept() < capacity, "more than may be under way");
                    self.under_way.insert(element, place);
                    self.begun += 1;
                }
                None => assert!(self.begun == self.elements || self.kept() == capacity, "one may begin"),
            },
            Event::Ends(_) if self.under_way.is_empty() => {}
            Event::Ends(nth) => {
                let (&element, &place) = self.under_way.iter().nth(nth % self.under_way.len()).unwrap();
                self.under_way.remove(&element);
                self.queue.done(place, element * 2);
                self.done.push(element);
            }
        }
    }

    fn leave(&mut self) {
        let mut more = true;
        while more {
            more = self.queue.leave(|of, result| {
                assert_eq!(of, stamp(result / 2), "a result has the times of its element");
                self.out.push(In::Element(result / 2));
            });
            let reached = In::Watermark(self.queue.reached().0);
            if reached != In::Watermark(i64::MIN) && !self.out.contains(&reached) {
                self.out.push(reached);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn results_leave_as_the_order_allows(events in events(), ordered in any::<bool>(), capacity in 1..5_usize) {
        let order = if ordered { Order::Ordered } else { Order::Unordered };
        let mut run = Run::new(order, capacity);
        for event in &events {
            run.on(event, capacity as i64);
            run.leave();
            let left = left(order, &run.all, &run.done);
            if ordered {
                prop_assert_eq!(&run.out, &left);
            }
            prop_assert_eq!(between_watermarks(&run.out), between_watermarks(&left));
            prop_assert_eq!(run.queue.open(), left.len() < run.all.len());
            prop_assert_eq!(run.queue.waiting(), run.begun < run.elements);
        }
    }
}

/// The same, in order between watermarks.
fn between_watermarks(all: &[In]) -> Vec<In> {
    let mut sorted = all.to_vec();
    sorted.split_mut(|came| matches!(came, In::Watermark(_))).for_each(<[In]>::sort_unstable);
    sorted
}

#[test]
fn what_is_given_up_never_leaves() {
    let mut queue = Queue::<i64, i64>::new(Order::Unordered, 2);
    queue.push_watermark(Watermark(5));
    (0..4).for_each(|number| queue.push(number, stamp(number)));
    queue.push_watermark(Watermark(7));
    let (place, _) = queue.begin().unwrap();
    queue.give_up();
    queue.done(place, 0);
    queue.push(9, stamp(9));
    queue.push_watermark(Watermark::MAX);
    assert!(!queue.leave(|_, _| panic!("it left")));
    assert!(!queue.open() && !queue.waiting() && queue.begin().is_none());
    assert_eq!(queue.reached(), Watermark(5));
}
