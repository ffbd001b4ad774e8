//! Functions of a program that make one value of many rows: an [`AggregateFunction`] for each group of a query.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::{Error, Result};
use tidemill_datastream::AggregateFunction;
use tidemill_datastream::rows::caught;
use tidemill_datastream::state::{Codec, Postcard};
use tidemill_sql::Accumulators;

use super::{Argument, FunctionResult, Value};

/// What an aggregate function takes of a row: an [`Argument`], or a tuple of up to six.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what columns of SQL give",
    label = "In is a bool, i8, i16, i32, i64, f32, f64, String, Vec<u8> or EventTime, an Option of one, or a tuple of these"
)]
pub trait Arguments: Sized {
    /// The types of the arguments.
    #[doc(hidden)]
    fn parameters() -> Vec<DataType>;

    /// Calls `add` with the arguments of each row and the row's group, but for rows with a NULL that is no argument.
    ///
    /// # Errors
    /// `Internal` if the columns are of other types.
    #[doc(hidden)]
    fn for_each(
        columns: &[ArrayRef],
        rows: &mut dyn Iterator<Item = (usize, usize)>,
        add: impl FnMut(usize, Self),
    ) -> Result<()>;
}

impl<A: Argument> Arguments for A {
    fn parameters() -> Vec<DataType> {
        vec![A::data_type()]
    }

    fn for_each(
        columns: &[ArrayRef],
        rows: &mut dyn Iterator<Item = (usize, usize)>,
        mut add: impl FnMut(usize, Self),
    ) -> Result<()> {
        let column = A::column(&columns[0])?;
        rows.for_each(|(row, group)| A::read(column, row).into_iter().for_each(|argument| add(group, argument)));
        Ok(())
    }
}

macro_rules! arguments {
    ($($argument:ident $column:ident $index:literal),*) => {
        impl<$($argument: Argument),*> Arguments for ($($argument,)*) {
            fn parameters() -> Vec<DataType> {
                vec![$($argument::data_type()),*]
            }

            fn for_each(
                columns: &[ArrayRef],
                rows: &mut dyn Iterator<Item = (usize, usize)>,
                mut add: impl FnMut(usize, Self),
            ) -> Result<()> {
                $(let $column = $argument::column(&columns[$index])?;)*
                let read = |row: usize| Some(($($argument::read($column, row)?,)*));
                rows.for_each(|(row, group)| read(row).into_iter().for_each(|arguments| add(group, arguments)));
                Ok(())
            }
        }
    };
}

arguments!(A a 0);
arguments!(A a 0, B b 1);
arguments!(A a 0, B b 1, C c 2);
arguments!(A a 0, B b 1, C c 2, D d 3);
arguments!(A a 0, B b 1, C c 2, D d 3, E e 4);
arguments!(A a 0, B b 1, C c 2, D d 3, E e 4, G g 5);

/// What a function gives where that is neither NULL nor an error.
type ValueOf<A> = <<A as AggregateFunction>::Out as FunctionResult>::Value;

/// The function as queries call it.
pub(crate) fn aggregate_function<A>(name: &str, function: A) -> tidemill_sql::AggregateFunction
where
    A: AggregateFunction<In: Arguments, Acc: Serialize + DeserializeOwned + Sync, Out: FunctionResult> + Sync,
{
    let (called, function): (Arc<str>, Arc<A>) = (name.into(), Arc::new(function));
    tidemill_sql::AggregateFunction {
        name: name.to_owned(),
        parameters: A::In::parameters(),
        result: ValueOf::<A>::column_type(),
        accumulators: Arc::new(move || {
            Box::new(Groups { name: Arc::clone(&called), function: Arc::clone(&function), accumulators: vec![] })
        }),
    }
}

/// An accumulator for each group.
struct Groups<A: AggregateFunction> {
    name: Arc<str>,
    function: Arc<A>,
    /// `None` for a group of which no row has come yet.
    accumulators: Vec<Option<A::Acc>>,
}

impl<A: AggregateFunction> Groups<A> {
    /// Does what the function does, which may panic.
    fn in_function<R>(name: &str, work: impl FnOnce() -> R) -> Result<R> {
        caught(format_args!("the aggregate function '{name}'"), work)
    }

    /// Does something with the accumulator of a group, or with one of no rows.
    fn with<R>(function: &A, accumulator: Option<&A::Acc>, read: impl FnOnce(&A::Acc) -> R) -> R {
        match accumulator {
            Some(accumulator) => read(accumulator),
            None => read(&function.create_accumulator()),
        }
    }
}

impl<A> Accumulators for Groups<A>
where
    A: AggregateFunction<In: Arguments, Acc: Serialize + DeserializeOwned + Sync, Out: FunctionResult> + Sync,
{
    fn fresh(&self) -> Box<dyn Accumulators> {
        Box::new(Self { name: Arc::clone(&self.name), function: Arc::clone(&self.function), accumulators: vec![] })
    }

    fn resize(&mut self, groups: usize) {
        self.accumulators.resize_with(groups.max(self.accumulators.len()), || None);
    }

    fn add(&mut self, arguments: &[ArrayRef], rows: &mut dyn Iterator<Item = (usize, usize)>) -> Result<()> {
        let Self { name, function, accumulators } = self;
        Self::in_function(name, || {
            A::In::for_each(arguments, rows, |group, arguments| {
                let accumulator = accumulators[group].get_or_insert_with(|| function.create_accumulator());
                function.add(accumulator, arguments);
            })
        })?
    }

    fn merge(&mut self, group: usize, state: &[u8]) -> Result<()> {
        let Self { name, function, accumulators } = self;
        let other: A::Acc =
            Postcard.decode(state).map_err(|e| e.context(format!("the aggregate function '{name}'")))?;
        let own = accumulators[group].take();
        let merged = Self::in_function(name, || match own {
            Some(own) => function.merge(own, other),
            None => other,
        })?;
        accumulators[group] = Some(merged);
        Ok(())
    }

    fn write_state(&self, group: usize, out: &mut Vec<u8>) -> Result<()> {
        let Self { name, function, accumulators } = self;
        let accumulator = accumulators[group].as_ref();
        let written = Self::in_function(name, || {
            Self::with(function, accumulator, |accumulator| Postcard.encode(accumulator, out))
        })?;
        written.map_err(|e| e.context(format!("the aggregate function '{name}'")))
    }

    fn results(&self, groups: usize) -> Result<ArrayRef> {
        let Self { name, function, accumulators } = self;
        let result = |accumulator: &Option<A::Acc>| {
            Self::with(function, accumulator.as_ref(), |accumulator| function.result(accumulator)).into_value()
        };
        let results: std::result::Result<Vec<_>, String> =
            Self::in_function(name, || accumulators[..groups].iter().map(result).collect())?;
        let results = results.map_err(|e| Error::data(format!("the aggregate function '{name}' failed: {e}")))?;
        Ok(ValueOf::<A>::into_column(results))
    }

    fn drop_first(&mut self, groups: usize) {
        self.accumulators.drain(..groups);
    }

    fn len(&self) -> usize {
        self.accumulators.len()
    }

    /// What an accumulator has elsewhere, only the program knows.
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.accumulators.capacity() * size_of::<Option<A::Acc>>()
    }
}
