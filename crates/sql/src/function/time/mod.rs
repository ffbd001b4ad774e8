//! Functions of dates and times, as Flink has them.
//!
//! What is asked of a `TIMESTAMP_LTZ` is asked of the clocks of the session's time zone. What tells the present time is
//! refused by name (`parse/time_call.rs`): its answer would be another in each run.

mod function;
mod pattern;
#[cfg(test)]
mod tests;
mod text;
mod unit;
mod value;

use std::any::Any;
use std::sync::Arc;

use datafusion::logical_expr::ScalarUDF;
use datafusion::logical_expr::expr::ScalarFunction;
use tidemill_core::Error;
use tidemill_runtime::time_zone::TimeZone;

use function::{Kind, TimeFunction};
pub(crate) use unit::Unit;

/// What stands behind `EXTRACT(unit FROM x)`: no name that a file can write without backticks.
pub(crate) const EXTRACT: &str = "extract ";
/// What stands behind `FLOOR(x TO unit)`.
pub(crate) const FLOOR: &str = "floor to ";
/// What stands behind `CEIL(x TO unit)`.
pub(crate) const CEIL: &str = "ceil to ";
/// What stands behind `TIMESTAMPADD(unit, n, x)`.
pub(crate) const ADD: &str = "timestampadd ";
/// What stands behind `TIMESTAMPDIFF(unit, from, to)`.
pub(crate) const DIFF: &str = "timestampdiff ";

/// What is wrong with the literals of a call, if it is one of these functions.
pub(crate) fn wrong_literal(call: &ScalarFunction) -> Option<Error> {
    let function = (call.func.inner().as_ref() as &dyn Any).downcast_ref::<TimeFunction>()?;
    function.wrong_pattern(&call.args)
}

/// Every function, in a time zone.
pub(crate) fn functions(zone: TimeZone) -> Vec<Arc<ScalarUDF>> {
    let function = |name: String, kind: Kind| Arc::new(ScalarUDF::from(TimeFunction::new(name, kind, zone)));
    let mut all = vec![];
    for (unit, name) in Unit::ALL {
        all.push(function(format!("{EXTRACT}{name}"), Kind::Extract(unit)));
        if unit.cuts() {
            all.push(function(format!("{FLOOR}{name}"), Kind::Floor(unit)));
            all.push(function(format!("{CEIL}{name}"), Kind::Ceil(unit)));
        }
        if unit.adds() {
            all.push(function(format!("{ADD}{name}"), Kind::Add(unit)));
            all.push(function(format!("{DIFF}{name}"), Kind::Difference(unit)));
        }
    }
    let named = [
        ("year", Kind::Extract(Unit::Year)),
        ("quarter", Kind::Extract(Unit::Quarter)),
        ("month", Kind::Extract(Unit::Month)),
        ("week", Kind::Extract(Unit::Week)),
        ("dayofyear", Kind::Extract(Unit::DayOfYear)),
        ("dayofmonth", Kind::Extract(Unit::Day)),
        ("dayofweek", Kind::Extract(Unit::DayOfWeek)),
        ("hour", Kind::Extract(Unit::Hour)),
        ("minute", Kind::Extract(Unit::Minute)),
        ("second", Kind::Extract(Unit::Second)),
        ("date_format", Kind::Format),
        ("to_timestamp", Kind::ToTimestamp),
        ("to_timestamp_ltz", Kind::ToInstant),
        ("to_date", Kind::ToDate),
        ("from_unixtime", Kind::FromUnixTime),
        ("unix_timestamp", Kind::UnixTimestamp),
        ("convert_tz", Kind::ConvertZone),
    ];
    all.extend(named.into_iter().map(|(name, kind)| function(name.to_owned(), kind)));
    all
}
