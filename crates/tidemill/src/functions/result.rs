//! What a function of a program gives: a value, NULL, or an error.

use std::fmt::Display;

use super::value::Value;

/// The result of a function: a [`Value`], an `Option` of one, whose `None` is NULL, or a `Result` of either, whose error ends the
/// run.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no result of a function in SQL",
    label = "a result is a bool, i8, i16, i32, i64, f32, f64, String, Vec<u8> or EventTime, an Option of one, or a Result"
)]
pub trait FunctionResult: 'static {
    /// What it is where it is neither NULL nor an error.
    #[doc(hidden)]
    type Value: Value;

    /// The value; `None` is NULL. An error is a text.
    #[doc(hidden)]
    fn into_value(self) -> Result<Option<Self::Value>, String>;
}

impl<T: Value> FunctionResult for T {
    type Value = T;

    fn into_value(self) -> Result<Option<T>, String> {
        Ok(Some(self))
    }
}

impl<T: Value> FunctionResult for Option<T> {
    type Value = T;

    fn into_value(self) -> Result<Option<T>, String> {
        Ok(self)
    }
}

impl<R: FunctionResult, E: Display + 'static> FunctionResult for Result<R, E> {
    type Value = R::Value;

    fn into_value(self) -> Result<Option<R::Value>, String> {
        self.map_err(|e| e.to_string())?.into_value()
    }
}
