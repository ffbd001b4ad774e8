//! A program's aggregate function, as DataFusion and the runtime call it: what it remembers of a group travels as bytes.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::ptr_eq::PtrEq;
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
};

use super::arguments::coerced;
use crate::function::aggregate::grouped::{Grouped, OneGroup, Rows, Vectorized, not_retractable};

/// What a function remembers: an accumulator for each of the groups 0, 1, 2, ...
///
/// # Contract
/// - What `add` and `merge` lead to depends on the rows alone, not on their order nor on the tree of merges.
/// - What `write_state` writes, `merge` reads, in later versions of the program too.
pub trait Accumulators: Send + Sync {
    /// The same function with no groups.
    fn fresh(&self) -> Box<dyn Accumulators>;

    /// Makes room for so many groups.
    fn resize(&mut self, groups: usize);

    /// Adds rows, each with its group, of a column for each argument.
    ///
    /// # Errors
    /// What the function says.
    fn add(
        &mut self,
        arguments: &[ArrayRef],
        rows: &mut dyn Iterator<Item = (usize, usize)>,
    ) -> tidemill_core::Result<()>;

    /// Merges a state that was written into a group.
    ///
    /// # Errors
    /// `Data` if the bytes are none.
    fn merge(&mut self, group: usize, state: &[u8]) -> tidemill_core::Result<()>;

    /// Writes the state of a group behind what is in `out`.
    ///
    /// # Errors
    /// `Invalid` if it can't be written.
    fn write_state(&self, group: usize, out: &mut Vec<u8>) -> tidemill_core::Result<()>;

    /// What the first groups come to, of which there are so many or more.
    ///
    /// # Errors
    /// What the function says.
    fn results(&self, groups: usize) -> tidemill_core::Result<ArrayRef>;

    /// Forgets the first groups, and numbers the others from 0.
    fn drop_first(&mut self, groups: usize);

    /// How many groups there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// About how much memory is in use.
    fn bytes(&self) -> usize;
}

/// A function of a program that makes one value of many rows.
#[derive(Clone)]
pub struct AggregateFunction {
    /// What queries call it.
    pub name: String,
    /// The types of its arguments.
    pub parameters: Vec<DataType>,
    /// The type of its value.
    pub result: DataType,
    /// Of no groups.
    pub accumulators: Arc<dyn Fn() -> Box<dyn Accumulators> + Send + Sync>,
}

impl AggregateFunction {
    pub(super) fn udf(self: &Arc<Self>) -> AggregateUDF {
        let signature = Signature::user_defined(Volatility::Immutable);
        AggregateUDF::from(ProgramAggregate { function: Arc::clone(self).into(), signature })
    }
}

impl fmt::Debug for AggregateFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AggregateFunction").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Two are the same if they are of one registered function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct ProgramAggregate {
    function: PtrEq<Arc<AggregateFunction>>,
    signature: Signature,
}

impl ProgramAggregate {
    /// The function that DataFusion calls, if it is a program's.
    pub(super) fn of(function: &AggregateUDF) -> Option<&Self> {
        (function.inner().as_ref() as &dyn Any).downcast_ref()
    }

    /// The types of its arguments.
    pub(super) fn parameters(&self) -> &[DataType] {
        &self.function.parameters
    }

    fn groups(&self) -> Box<dyn Grouped> {
        Box::new(Groups((self.function.accumulators)()))
    }
}

impl AggregateUDFImpl for ProgramAggregate {
    fn name(&self) -> &str {
        &self.function.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        coerced(&self.function.name, &self.function.parameters, given)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.function.result.clone())
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format_state_name(args.name, "accumulator"), DataType::Binary, false))])
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(OneGroup::new(self.groups())))
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Vectorized(self.groups())))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}

/// A program's accumulators, as those of our own functions are used.
struct Groups(Box<dyn Accumulators>);

impl Grouped for Groups {
    fn fresh(&self) -> Box<dyn Grouped> {
        Box::new(Self(self.0.fresh()))
    }

    fn resize(&mut self, groups: usize) {
        self.0.resize(groups);
    }

    /// Which NULLs count, the function knows.
    fn update(&mut self, rows: &Rows<'_>) -> Result<()> {
        let all = rows.groups.iter().copied().enumerate();
        let added = match rows.filter {
            None => self.0.add(rows.values, &mut { all }),
            Some(filter) => {
                let mut kept = all.filter(|(row, _)| !filter.is_null(*row) && filter.value(*row));
                self.0.add(rows.values, &mut kept)
            }
        };
        added.map_err(external)
    }

    fn retract(&mut self, _: &Rows<'_>) -> Result<()> {
        not_retractable("the function")
    }

    fn retractable(&self) -> bool {
        false
    }

    fn merge(&mut self, states: &[ArrayRef], groups: &[usize]) -> Result<()> {
        let states = states[0].as_binary::<i32>();
        groups.iter().enumerate().try_for_each(|(row, &group)| self.0.merge(group, states.value(row)).map_err(external))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn results(&self, n: usize) -> Result<ArrayRef> {
        self.0.results(n).map_err(external)
    }

    fn states(&mut self, n: usize) -> Result<Vec<ArrayRef>> {
        let (mut states, mut state) = (BinaryBuilder::new(), vec![]);
        for group in 0..n {
            state.clear();
            self.0.write_state(group, &mut state).map_err(external)?;
            states.append_value(&state);
        }
        Ok(vec![Arc::new(states.finish())])
    }

    fn drop_first(&mut self, n: usize) -> Result<()> {
        self.0.drop_first(n);
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

fn external(error: tidemill_core::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
