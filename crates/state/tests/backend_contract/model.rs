//! What keyed state is, written as plainly as can be: maps that forget nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::steps::{By, Lasting, Op, TTL_MS};

/// A key and a namespace.
pub(crate) type Place = (u8, Option<u8>);

/// When something ends, by the clock that all go by.
type End = Option<i64>;

#[derive(Debug, Clone, Default)]
struct Kept {
    value: Option<(u32, End)>,
    list: Vec<(u16, End)>,
    map: BTreeMap<String, (i64, End)>,
    reduced: Option<(i64, End)>,
    /// The sum, and of how many.
    aggregate: Option<((i64, u32), End)>,
}

#[derive(Debug, Clone)]
pub(crate) struct Model {
    lasting: Lasting,
    pub(crate) processing_ms: i64,
    pub(crate) watermark: i64,
    /// Of the element that is processed.
    pub(crate) event_ms: i64,
    kept: BTreeMap<Place, Kept>,
    /// With the event time at which each was registered last.
    pub(crate) event_timers: BTreeMap<(i64, Place), i64>,
    pub(crate) processing_timers: BTreeSet<(i64, Place)>,
}

impl Model {
    pub(crate) fn new(lasting: Lasting) -> Self {
        Self {
            lasting,
            processing_ms: 1_000,
            watermark: 0,
            event_ms: 0,
            kept: BTreeMap::new(),
            event_timers: BTreeMap::new(),
            processing_timers: BTreeSet::new(),
        }
    }

    fn clock(&self) -> i64 {
        if self.lasting.by == By::EventTime { self.event_ms } else { self.processing_ms }
    }

    fn end(&self) -> End {
        (self.lasting.by != By::Nothing).then(|| self.clock() + TTL_MS)
    }

    fn live(&self, end: End) -> bool {
        end.is_none_or(|end| end > self.clock())
    }

    /// Does it, and says what was read.
    pub(crate) fn apply(&mut self, place: Place, op: &Op) -> String {
        let mut kept = self.kept.remove(&place).unwrap_or_default();
        let answer = self.apply_to(&mut kept, place, op);
        self.kept.insert(place, kept);
        answer
    }

    fn apply_to(&mut self, kept: &mut Kept, place: Place, op: &Op) -> String {
        let end = self.end();
        let clock = self.clock();
        let live = |end: &End| end.is_none_or(|end| end > clock);
        let prolong = |old: &mut End| {
            if self.lasting.prolonged_by_reading {
                *old = (*old).max(end);
            }
        };
        match op {
            Op::SetValue(value) => kept.value = Some((*value, end)),
            Op::AddToValue(more) => {
                let old = kept.value.filter(|(_, end)| live(end)).map_or(0, |(value, _)| value);
                kept.value = Some((old.wrapping_add(*more), end));
            }
            Op::ReadValue => {
                let Some((value, end)) = kept.value.as_mut().filter(|(_, end)| live(end)) else { return "none".into() };
                prolong(end);
                return value.to_string();
            }
            Op::ClearValue => kept.value = None,
            Op::AddToList(element) => add_to_list(kept, *element, end, live),
            Op::ReadList => {
                let mut read = vec![];
                for (element, end) in kept.list.iter_mut().filter(|(_, end)| live(end)) {
                    prolong(end);
                    read.push(*element);
                }
                return format!("{read:?}");
            }
            Op::UpdateList(elements) => kept.list = elements.iter().map(|element| (*element, end)).collect(),
            Op::ClearList => kept.list.clear(),
            Op::Put(key, value) => drop(kept.map.insert(key.clone(), (*value, end))),
            Op::Get(key) => {
                let Some((value, end)) = kept.map.get_mut(key).filter(|(_, end)| live(end)) else {
                    return "none".into();
                };
                prolong(end);
                return value.to_string();
            }
            Op::Contains(key) => {
                let found = kept.map.get_mut(key).filter(|(_, end)| live(end));
                return found.map(|(_, end)| prolong(end)).is_some().to_string();
            }
            Op::Remove(key) => drop(kept.map.remove(key)),
            Op::Entries => return read_entries(kept.map.iter_mut(), live, prolong),
            Op::Range(from, to) if from > to => return "[]".into(),
            Op::Range(from, to) => return read_entries(kept.map.range_mut(from.clone()..to.clone()), live, prolong),
            Op::IsEmpty => {
                // It reads the first entry, to see whether there is one.
                let first = kept.map.values_mut().find(|(_, end)| live(end));
                return first.map(|(_, end)| prolong(end)).is_none().to_string();
            }
            Op::ClearMap => kept.map.clear(),
            Op::Reduce(value) => {
                let old = kept.reduced.filter(|(_, end)| live(end));
                kept.reduced = Some((old.map_or(*value, |(old, _)| old.max(*value)), end));
            }
            Op::ReadReduced => {
                let Some((value, end)) = kept.reduced.as_mut().filter(|(_, end)| live(end)) else {
                    return "none".into();
                };
                prolong(end);
                return value.to_string();
            }
            Op::ClearReduced => kept.reduced = None,
            Op::Aggregate(value) => {
                let (sum, count) = kept.aggregate.filter(|(_, end)| live(end)).map_or((0, 0), |(old, _)| old);
                kept.aggregate = Some(((sum + value, count + 1), end));
            }
            Op::ReadAggregate => {
                let Some(((sum, count), end)) = kept.aggregate.as_mut().filter(|(_, end)| live(end)) else {
                    return "none".into();
                };
                prolong(end);
                return format!("{sum} of {count}");
            }
            Op::EventTimer(ahead) => {
                self.event_timers.insert((self.watermark + ahead, place), self.event_ms);
            }
            Op::DeleteEventTimer(ahead) => {
                self.event_timers.remove(&(self.watermark + ahead, place));
            }
            Op::ProcessingTimer(ahead) => {
                self.processing_timers.insert((self.processing_ms + ahead, place));
            }
            Op::DeleteProcessingTimer(ahead) => {
                self.processing_timers.remove(&(self.processing_ms + ahead, place));
            }
            Op::MergeNamespaces => return self.merge_namespaces(kept, place),
        }
        String::new()
    }

    /// What namespaces 0 and 1 have of sums and extremes goes to that of the element.
    fn merge_namespaces(&mut self, kept: &mut Kept, (key, namespace): Place) -> String {
        let end = self.end();
        let Some(target) = namespace else { return "no namespace".into() };
        let live = |model: &Self, end: End| model.live(end);
        let mut reduced = kept.reduced.take().filter(|(_, end)| live(self, *end)).map(|(value, _)| value);
        let mut aggregate = kept.aggregate.take().filter(|(_, end)| live(self, *end)).map(|(value, _)| value);
        let source = (key, Some(1 - target));
        let mut of_source = self.kept.remove(&source).unwrap_or_default();
        if let Some((value, _)) = of_source.reduced.take().filter(|(_, end)| live(self, *end)) {
            reduced = Some(reduced.map_or(value, |old: i64| old.max(value)));
        }
        if let Some(((sum, count), _)) = of_source.aggregate.take().filter(|(_, end)| live(self, *end)) {
            let old = aggregate.unwrap_or((0, 0));
            aggregate = Some((old.0 + sum, old.1 + count));
        }
        self.kept.insert(source, of_source);
        kept.reduced = reduced.map(|value| (value, end));
        kept.aggregate = aggregate.map(|value| (value, end));
        String::new()
    }
}

/// A list of which all elements have expired begins anew.
fn add_to_list(kept: &mut Kept, element: u16, end: End, live: impl Fn(&End) -> bool) {
    if !kept.list.iter().any(|(_, end)| live(end)) {
        kept.list.clear();
    }
    kept.list.push((element, end));
}

fn read_entries<'e>(
    entries: impl Iterator<Item = (&'e String, &'e mut (i64, End))>,
    live: impl Fn(&End) -> bool,
    prolong: impl Fn(&mut End),
) -> String {
    let mut read = vec![];
    for (key, (value, end)) in entries.filter(|(_, (_, end))| live(end)) {
        prolong(end);
        read.push((key.clone(), *value));
    }
    format!("{read:?}")
}
