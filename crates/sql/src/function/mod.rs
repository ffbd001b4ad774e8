//! The functions of Tidemill's Flink SQL that DataFusion lacks, or answers differently from what is promised here.

pub mod aggregate;
mod arithmetic;
mod as_written;
mod cast;
mod chance;
mod collection;
mod current_watermark;
mod document;
mod json;
mod local_time;
mod present_time;
mod scalar;
#[cfg(test)]
mod tests;
pub(crate) mod time;

use std::sync::Arc;

use datafusion::logical_expr::{AggregateUDF, ScalarUDF};
use tidemill_runtime::time_zone::TimeZone;

pub(crate) use aggregate::Ordered;
pub use aggregate::aggregates;
pub(crate) use arithmetic::{Arithmetic, ArithmeticPlanner, decimal_of_integer, sql_text, with_types_of_operands};
pub(crate) use as_written::{AS_WRITTEN, AsWritten};
pub(crate) use cast::{cast_call, cast_in_zone};
pub(crate) use collection::{ARRAY, CollectionPlanner, EQUAL, ITEM, MAP, ROW, entry_types};
pub(crate) use current_watermark::CurrentWatermark;
pub use document::document;
pub(crate) use json::{
    ELEMENT as JSON_ELEMENT, IS_JSON, JsonPath, LIST as JSON_LIST, MEMBER as JSON_MEMBER, MEMBERS as JSON_MEMBERS,
    RAW as JSON_RAW,
};
pub(crate) use local_time::Clock;
pub(crate) use present_time::{UNIX_TIMESTAMP_NOW, is_processing_time};
pub use scalar::scalars;
pub(crate) use scalar::{BETWEEN_SYMMETRIC, BINARY, CHAR, Function, LIKE, SIMILAR_TO, VARBINARY, VARCHAR};

/// The scalar functions that are not in the table of [`scalars`]: of times by the clocks of a zone, and of chance.
pub(crate) fn of_time_and_chance(zone: TimeZone) -> Vec<Arc<ScalarUDF>> {
    time::functions(zone).into_iter().chain(present_time::functions(zone)).chain(chance::functions()).collect()
}

/// The names by which functions are called, sorted.
pub(crate) fn names() -> Vec<String> {
    let times = of_time_and_chance(TimeZone::UTC).into_iter().map(|f| f.name().to_owned());
    let called = |f: &Arc<AggregateUDF>| [vec![f.name().to_owned()], f.aliases().to_vec()].concat();
    let aggregates = aggregates().iter().flat_map(called).collect::<Vec<_>>();
    let all = scalar::names().into_iter().chain(times).chain(aggregates);
    // What a text can't write stands for a form of its own.
    let mut names: Vec<String> = all.filter(|name| !name.contains(' ')).collect();
    names.sort();
    names.dedup();
    names
}
