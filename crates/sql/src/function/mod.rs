//! The functions of Tidemill's Flink SQL that DataFusion lacks, or answers differently from what is promised here.

pub mod aggregate;
mod arithmetic;
mod cast;
mod collection;
mod document;
mod local_time;
mod scalar;
pub(crate) mod time;

pub(crate) use aggregate::Ordered;
pub use aggregate::aggregates;
pub(crate) use arithmetic::{Arithmetic, ArithmeticPlanner, decimal_of_integer, sql_text};
pub(crate) use cast::cast_call;
pub(crate) use collection::{ARRAY, CollectionPlanner, EQUAL, ITEM, MAP, ROW, entry_types};
pub use document::document;
pub(crate) use local_time::Clock;
pub(crate) use scalar::names as scalar_names;
pub use scalar::scalars;
pub(crate) use scalar::{BINARY, CHAR, Function, LIKE, SIMILAR_TO, VARBINARY, VARCHAR};
