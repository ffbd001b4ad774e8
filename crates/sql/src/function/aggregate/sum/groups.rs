//! Totals and counts for groups.

use std::sync::Arc;

use arrow::{
    array::{Array, ArrayRef, AsArray, Int64Array},
    datatypes::{ArrowPrimitiveType, Int64Type},
};
use datafusion::common::Result;

use super::total::{Term, Total};
use crate::function::aggregate::{
    expect_array,
    grouped::{Grouped, Rows},
};

/// A type that is added up: what it is read from, what it is kept in, and what comes out.
pub(super) trait SumKind: Send + Sync + 'static {
    type Input: ArrowPrimitiveType<Native: Term<Self::Total>>;
    type Total: Total;

    /// The argument's scale.
    fn scale(&self) -> i8;

    /// The results of groups; NULL for a count of 0.
    fn finish(&self, slots: &[Slot<Self::Total>]) -> Result<ArrayRef>;
}

/// One group. Total and count share a cache line.
#[derive(Default)]
pub(super) struct Slot<T> {
    pub total: T,
    pub count: i64,
}

pub(super) struct SumGroups<K: SumKind> {
    kind: Arc<K>,
    slots: Vec<Slot<K::Total>>,
    /// The bytes that the totals hold outside their slots, kept so that `bytes` need not visit each.
    heap_bytes: usize,
}

impl<K: SumKind> SumGroups<K> {
    pub(super) fn new(kind: K) -> Self {
        Self { kind: Arc::new(kind), slots: Vec::new(), heap_bytes: 0 }
    }
}

impl<K: SumKind> Grouped for SumGroups<K> {
    fn fresh(&self) -> Box<dyn Grouped> {
        Box::new(Self { kind: Arc::clone(&self.kind), slots: Vec::new(), heap_bytes: 0 })
    }

    fn resize(&mut self, groups: usize) {
        if groups > self.slots.len() {
            self.slots.resize_with(groups, Slot::default);
        }
    }

    fn update(&mut self, rows: &Rows<'_>) -> Result<()> {
        let values = expect_array(rows.values[0].as_primitive_opt::<K::Input>())?.values();
        let (slots, mut allocated) = (&mut self.slots[..], 0);
        rows.for_each(|row, group| {
            let slot = &mut slots[group];
            allocated += values[row].add_to(&mut slot.total);
            slot.count += 1;
        });
        self.heap_bytes += allocated;
        Ok(())
    }

    fn retract(&mut self, rows: &Rows<'_>) -> Result<()> {
        let values = expect_array(rows.values[0].as_primitive_opt::<K::Input>())?.values();
        let (slots, mut allocated) = (&mut self.slots[..], 0);
        rows.for_each(|row, group| {
            let slot = &mut slots[group];
            allocated += values[row].subtract_from(&mut slot.total);
            slot.count -= 1;
        });
        self.heap_bytes += allocated;
        Ok(())
    }

    fn retractable(&self) -> bool {
        true
    }

    fn merge(&mut self, states: &[ArrayRef], groups: &[usize]) -> Result<()> {
        let totals = expect_array(states[0].as_any().downcast_ref::<<K::Total as Total>::Column>())?;
        let counts = expect_array(states[1].as_primitive_opt::<Int64Type>())?;
        for (row, &group) in groups.iter().enumerate() {
            let slot = &mut self.slots[group];
            self.heap_bytes += slot.total.merge(totals, row)?;
            slot.count = slot.count.wrapping_add(counts.value(row));
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.slots.len()
    }

    fn results(&self, n: usize) -> Result<ArrayRef> {
        self.kind.finish(&self.slots[..n])
    }

    fn states(&mut self, n: usize) -> Result<Vec<ArrayRef>> {
        let slots = &self.slots[..n];
        let totals = K::Total::write(slots.iter().map(|slot| &slot.total), self.kind.scale())?;
        let counts = Int64Array::from_iter_values(slots.iter().map(|slot| slot.count));
        Ok(vec![totals, Arc::new(counts)])
    }

    fn drop_first(&mut self, n: usize) -> Result<()> {
        self.heap_bytes -= self.slots[..n].iter().map(|slot| slot.total.heap_bytes()).sum::<usize>();
        self.slots.drain(..n);
        Ok(())
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.slots.capacity() * size_of::<Slot<K::Total>>() + self.heap_bytes
    }
}
