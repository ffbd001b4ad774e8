//! What happens to keyed state in a test: elements that read and write it, time that passes, crashes.

use proptest::prelude::*;

use crate::backends::ALL;

/// What lasts how long; the span is always [`TTL_MS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lasting {
    pub(crate) by: By,
    pub(crate) prolonged_by_reading: bool,
}

/// Which clock values go by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Nothing,
    ProcessingTime,
    EventTime,
}

pub(crate) const TTL_MS: i64 = 20;

/// What an element does with the state of its key.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    SetValue(u32),
    AddToValue(u32),
    ReadValue,
    ClearValue,
    AddToList(u16),
    ReadList,
    UpdateList(Vec<u16>),
    ClearList,
    Put(String, i64),
    Get(String),
    Contains(String),
    Remove(String),
    Entries,
    Range(String, String),
    IsEmpty,
    ClearMap,
    Reduce(i64),
    ReadReduced,
    ClearReduced,
    Aggregate(i64),
    ReadAggregate,
    EventTimer(i64),
    DeleteEventTimer(i64),
    ProcessingTimer(i64),
    DeleteProcessingTimer(i64),
    MergeNamespaces,
}

/// Times are told from what has been reached.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Element {
        key: u8,
        namespace: Option<u8>,
        time: i64,
        row_watermark: i64,
        ops: Vec<Op>,
    },
    Watermark(i64),
    ProcessingTime(i64),
    EndBatch,
    Prefetch(Vec<u8>),
    Snapshot,
    /// All since the last snapshot is lost; it goes on with the backend of this number.
    Crash(usize),
}

fn map_key() -> impl Strategy<Value = String> {
    "[ab\\x00]{0,3}"
}

fn op() -> impl Strategy<Value = Op> {
    let time = || -15..40_i64;
    prop_oneof![
        2 => any::<u32>().prop_map(Op::SetValue),
        2 => (0..9_u32).prop_map(Op::AddToValue),
        3 => Just(Op::ReadValue),
        1 => Just(Op::ClearValue),
        3 => any::<u16>().prop_map(Op::AddToList),
        2 => Just(Op::ReadList),
        1 => prop::collection::vec(any::<u16>(), 0..4).prop_map(Op::UpdateList),
        1 => Just(Op::ClearList),
        4 => (map_key(), any::<i64>()).prop_map(|(key, value)| Op::Put(key, value)),
        2 => map_key().prop_map(Op::Get),
        1 => map_key().prop_map(Op::Contains),
        2 => map_key().prop_map(Op::Remove),
        2 => Just(Op::Entries),
        2 => (map_key(), map_key()).prop_map(|(from, to)| Op::Range(from, to)),
        1 => Just(Op::IsEmpty),
        1 => Just(Op::ClearMap),
        2 => (-5..5_i64).prop_map(Op::Reduce),
        1 => Just(Op::ReadReduced),
        1 => Just(Op::ClearReduced),
        2 => (-5..5_i64).prop_map(Op::Aggregate),
        2 => Just(Op::ReadAggregate),
        4 => time().prop_map(Op::EventTimer),
        1 => time().prop_map(Op::DeleteEventTimer),
        3 => time().prop_map(Op::ProcessingTimer),
        1 => time().prop_map(Op::DeleteProcessingTimer),
        1 => Just(Op::MergeNamespaces),
    ]
}

fn element() -> impl Strategy<Value = Step> {
    let namespace = prop_oneof![3 => Just(None), 1 => (0..2_u8).prop_map(Some)];
    let ops = prop::collection::vec(op(), 1..6);
    (0..5_u8, namespace, -10..25_i64, 0..12_i64, ops).prop_map(|(key, namespace, time, row_watermark, ops)| {
        Step::Element { key, namespace, time, row_watermark, ops }
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => element(),
        3 => (0..15_i64).prop_map(Step::Watermark),
        3 => (0..15_i64).prop_map(Step::ProcessingTime),
        4 => Just(Step::EndBatch),
        1 => prop::collection::vec(0..5_u8, 0..5).prop_map(Step::Prefetch),
        2 => Just(Step::Snapshot),
        1 => (0..ALL.len()).prop_map(Step::Crash),
    ]
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 1..60)
}

pub(crate) fn lasting() -> impl Strategy<Value = Lasting> {
    let by = prop_oneof![Just(By::Nothing), Just(By::ProcessingTime), Just(By::EventTime)];
    (by, any::<bool>()).prop_map(|(by, prolonged_by_reading)| Lasting { by, prolonged_by_reading })
}
