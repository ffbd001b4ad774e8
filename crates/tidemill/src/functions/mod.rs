//! What functions of a program are that its queries call: see [`Tables`](crate::Tables).

mod aggregate;
mod argument;
mod result;
mod scalar;
mod value;

pub use aggregate::Arguments;
pub(crate) use aggregate::aggregate_function;
pub use argument::Argument;
pub use result::FunctionResult;
pub use scalar::Function;
pub(crate) use scalar::scalar_function;
pub use value::Value;
