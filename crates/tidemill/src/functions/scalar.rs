//! Functions of a program that make one value of each row.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use tidemill_core::{Error, Result};
use tidemill_datastream::rows::caught;
use tidemill_sql::ScalarFunction;

use super::{Argument, FunctionResult, Value};

/// A closure or function of up to six arguments that queries can call: each is an [`Argument`], and what it gives is a
/// [`FunctionResult`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no function that a query can call",
    label = "it takes up to six arguments whose types are written: |a: f64, b: Option<i64>| ...",
    note = "an argument is a bool, i8, i16, i32, i64, f32, f64, String, Vec<u8> or EventTime, or an Option of one; the result \
            is one too, or a Result of one"
)]
pub trait Function<Arguments>: Send + Sync + 'static {
    /// What it gives.
    #[doc(hidden)]
    type Result: FunctionResult;

    /// The types of its arguments.
    #[doc(hidden)]
    fn parameters() -> Vec<DataType>;

    /// Its values for these columns, of which each has so many rows.
    ///
    /// # Errors
    /// What the function says.
    #[doc(hidden)]
    fn values(&self, arguments: &[ArrayRef], rows: usize) -> Result<Vec<Option<ValueOf<Self, Arguments>>>, String>;
}

/// What a function gives where that is neither NULL nor an error.
type ValueOf<F, Arguments> = <<F as Function<Arguments>>::Result as FunctionResult>::Value;

/// The function as queries call it.
pub(crate) fn scalar_function<A: 'static, F: Function<A>>(name: &str, deterministic: bool, f: F) -> ScalarFunction {
    let called = name.to_owned();
    let evaluate = move |arguments: &[ArrayRef], rows: usize| {
        let values = caught(format_args!("the function '{called}'"), || f.values(arguments, rows))?;
        let values = values.map_err(|e| Error::data(format!("the function '{called}' failed: {e}")))?;
        Ok(ValueOf::<F, A>::into_column(values))
    };
    ScalarFunction {
        name: name.to_owned(),
        parameters: F::parameters(),
        result: ValueOf::<F, A>::column_type(),
        deterministic,
        evaluate: Arc::new(evaluate),
    }
}

macro_rules! function {
    ($($argument:ident $column:ident $index:literal),*) => {
        impl<F, R, $($argument),*> Function<($($argument,)*)> for F
        where
            F: Fn($($argument),*) -> R + Send + Sync + 'static,
            R: FunctionResult,
            $($argument: Argument,)*
        {
            type Result = R;

            fn parameters() -> Vec<DataType> {
                vec![$($argument::data_type()),*]
            }

            fn values(&self, arguments: &[ArrayRef], rows: usize) -> Result<Vec<Option<R::Value>>, String> {
                // Without an argument nothing is read of the columns.
                let _ = arguments;
                $(let $column = $argument::column(&arguments[$index]).map_err(|e| e.to_string())?;)*
                // In a row with a NULL that is no argument the function is not called.
                let call = |row: usize| {
                    let _ = row;
                    Some((self)($($argument::read($column, row)?),*))
                };
                (0..rows).map(|row| call(row).map_or(Ok(None), R::into_value)).collect()
            }
        }
    };
}

function!();
function!(A a 0);
function!(A a 0, B b 1);
function!(A a 0, B b 1, C c 2);
function!(A a 0, B b 1, C c 2, D d 3);
function!(A a 0, B b 1, C c 2, D d 3, E e 4);
function!(A a 0, B b 1, C c 2, D d 3, E e 4, G g 5);
