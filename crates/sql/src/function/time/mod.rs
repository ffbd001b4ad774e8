//! Functions of dates and times, as Flink has them.
//!
//! What is asked of a `TIMESTAMP_LTZ` is asked of the clocks of the session's time zone. What tells the
//! present time stands beside this ([`super::present_time`]).

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

/// How the functions are called, what they give, and where that is not Flink's.
pub(super) const USAGES: [(&str, &str, &str); 13] = [
    (
        "CEIL(time TO unit)",
        "the next time at which a unit begins; also CEILING",
        "a time at which one begins is its own",
    ),
    ("CONVERT_TZ(string, from, to)", "what the clocks of one zone show when those of another show this", ""),
    (
        "DATE_FORMAT(time, pattern)",
        "the time in the letters of Java's DateTimeFormatter",
        "not the letters Q, u, e, w, W and Y",
    ),
    ("EXTRACT(unit FROM time)", "a part of a time or an interval", BEFORE_1970),
    ("FLOOR(time TO unit)", "the time at which its unit began", BEFORE_1970),
    ("FROM_UNIXTIME(seconds[, pattern])", "the moment as text, in the session's zone", ""),
    ("TIMESTAMPADD(unit, number, time)", "so many units later", ""),
    (
        "TIMESTAMPDIFF(unit, from, to)",
        "how many whole units lie between",
        "backwards too a last month counts only if it is whole",
    ),
    ("TO_DATE(string[, pattern])", "the date that it shows; NULL if it shows none", ""),
    ("TO_TIMESTAMP(string[, pattern])", "the TIMESTAMP(3) that it shows; NULL if it shows none", ""),
    (
        "TO_TIMESTAMP_LTZ(number[, precision]), TO_TIMESTAMP_LTZ(string[, pattern[, zone]])",
        "the moment so many seconds or milliseconds after 1970, or that the string shows",
        "",
    ),
    ("UNIX_TIMESTAMP(string[, pattern])", "the seconds since 1970 of the moment that it shows", ""),
    (
        "YEAR(time), QUARTER, MONTH, WEEK, DAYOFYEAR, DAYOFMONTH, DAYOFWEEK, HOUR, MINUTE, SECOND",
        "short for EXTRACT",
        BEFORE_1970,
    ),
];

const BEFORE_1970: &str = "of times before 1970 too; Flink rounds those up to the next day, hour or second";

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
