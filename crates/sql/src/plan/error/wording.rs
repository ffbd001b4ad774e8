//! What DataFusion says of the commonest mistakes, in our words.

use arrow::datatypes::DataType;
use tidemill_core::{Error, Excerpt};

use super::place;
use crate::types::flink_type_name;

/// The mistake in our words, if it is one of those that are known here.
pub(super) fn reworded(message: &str, excerpt: &Excerpt) -> Option<Error> {
    let error = condition(message, excerpt)
        .or_else(|| operator(message))
        .or_else(|| unary_operator(message))
        .or_else(|| nested(message))
        .or_else(|| widths(message))
        .or_else(|| tuple_in_set(message, excerpt))
        .or_else(|| columns_of_subquery(message, excerpt));
    error.map(|error| error.at(excerpt.clone()))
}

/// The cast of a value that is written in the statement, if that is what Arrow failed to compute.
pub(super) fn failed_cast(message: &str, excerpt: &Excerpt) -> Option<Error> {
    let (_, rest) = message.split_once("Can't cast value ")?;
    let (value, data_type) = rest.split_once(" to type ")?;
    let error = Error::invalid(format!("CAST: {value} is out of the range of {}", type_name(data_type)));
    Some(error.hint("TRY_CAST gives NULL for what can't be cast").at(place::word(excerpt, value)))
}

/// `GROUP BY ()`, where DataFusion reads a tuple.
pub(super) fn empty_tuple(message: &str, excerpt: &Excerpt) -> Option<Error> {
    message.starts_with("Empty tuple not supported").then(|| {
        Error::invalid("an empty () is not supported here yet")
            .hint("leave GROUP BY () out: aggregates without GROUP BY are over all rows")
            .at(excerpt.clone())
    })
}

/// The type that DataFusion writes in its form, in Flink's.
pub(super) fn type_name(written: &str) -> String {
    written.parse::<DataType>().map_or_else(|_| written.to_owned(), |known| flink_type_name(&known))
}

/// A condition that is not true or false.
fn condition(message: &str, excerpt: &Excerpt) -> Option<Error> {
    let rest = message.strip_prefix("Cannot create filter with non-boolean predicate '")?;
    let (predicate, data_type) = rest.rsplit_once("' returning ")?;
    let data_type = type_name(data_type);
    let column = predicate.rsplit('.').next().unwrap_or(predicate);
    let error = if column.chars().all(|c| c.is_alphanumeric() || c == '_') {
        Error::invalid(format!("a condition is BOOLEAN, and the column '{column}' is {data_type}"))
            .at(place::condition(excerpt, column))
    } else {
        Error::invalid(format!("a condition is BOOLEAN, and this one is {data_type}")).at(place::clause(excerpt))
    };
    Some(error.hint("compare it with a value, as in v <> 0"))
}

/// How DataFusion begins to say that an operator does not take its operands.
const OPERATIONS: [&str; 5] = [
    "Cannot coerce arithmetic expression ",
    "Cannot get result type for temporal operation ",
    "Cannot infer common argument type for comparison operation ",
    "Cannot infer common argument type for logical boolean operation ",
    "Cannot infer common string type for string concat operation ",
];

fn operator(message: &str) -> Option<Error> {
    let operation = OPERATIONS.iter().find_map(|begin| message.strip_prefix(begin))?;
    let operation = operation.strip_suffix(" to valid types").unwrap_or(operation);
    // Behind a colon Arrow says the same once more.
    let parts = operands(operation).or_else(|| operands(operation.split_once(": ")?.0));
    let (left, operator, right) = parts?;
    // A number in the text has not the type yet that it gets.
    let name = |t: &DataType| if t.is_numeric() { "a number".to_owned() } else { flink_type_name(t) };
    let error = Error::invalid(format!("there is no '{operator}' of {} and {}", name(&left), name(&right)));
    Some(error.hint(operator_hint(&left, operator, &right)))
}

/// The types left and right of an operator, which may be several words.
fn operands(operation: &str) -> Option<(DataType, &str, DataType)> {
    let spaces = || operation.match_indices(' ').map(|(at, _)| at);
    let (end, left) = spaces().find_map(|at| Some((at, operation[..at].parse::<DataType>().ok()?)))?;
    let mut behind = spaces().filter(|&at| at > end);
    let (start, right) = behind.find_map(|at| Some((at, operation[at + 1..].parse::<DataType>().ok()?)))?;
    Some((left, &operation[end + 1..start], right))
}

fn operator_hint(left: &DataType, operator: &str, right: &DataType) -> &'static str {
    let text = |t: &DataType| matches!(t, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let interval = |t: &DataType| matches!(t, DataType::Interval(_));
    match operator {
        "AND" | "OR" => "each side is a condition: compare what is none with a value, as in v <> 0",
        "||" => "CAST them AS STRING",
        "*" | "/" if interval(left) || interval(right) => "write the length itself, as in INTERVAL '2' DAY",
        "+" if text(left) || text(right) => "CAST the STRING to a number; strings are put together with ||",
        _ => "CAST one to the other's type",
    }
}

fn unary_operator(message: &str) -> Option<Error> {
    let rest = message.strip_prefix("Unary operator '")?;
    if let Some((_, data_type)) = rest.split_once("requires a boolean expression, got ") {
        let error = Error::invalid(format!("NOT takes a BOOLEAN, and this is {}", type_name(data_type)));
        return Some(error.hint("compare it with a value, as in NOT (v = 0)"));
    }
    let (operator, _) = rest.split_once("' only supports")?;
    Some(Error::invalid(format!("'{operator}' takes a number")).hint("CAST it to a number"))
}

/// A call within a call that can't have it.
fn nested(message: &str) -> Option<Error> {
    let (what, hint) = if message.starts_with("Aggregate function calls cannot be nested") {
        ("an aggregate stands within an aggregate", "compute the inner one in a subquery, and aggregate its column")
    } else if message.starts_with("Aggregate function calls cannot contain window function calls") {
        ("a call with OVER stands within an aggregate", "compute it in a subquery, and aggregate its column")
    } else if message.starts_with("Window function calls cannot be nested") {
        ("a call with OVER stands within another", "compute the inner one in a subquery, and use its column")
    } else {
        return None;
    };
    Some(Error::invalid(what).hint(hint))
}

/// `UNION`, `EXCEPT` or `INTERSECT` of queries with more and fewer columns.
fn widths(message: &str) -> Option<Error> {
    let (operator, _) = message.split_once(" queries have different number of columns")?;
    let error = Error::invalid(format!("the queries of {operator} have different numbers of columns"));
    Some(error.hint("select as many columns in each; CAST(NULL AS type) stands for one that a query has not"))
}

/// Several columns as one element of `ROLLUP` or `CUBE`.
fn tuple_in_set(message: &str, excerpt: &Excerpt) -> Option<Error> {
    let rest = message.strip_prefix("Tuple expressions ")?;
    let set = if rest.contains("Rollup") { "ROLLUP" } else { "CUBE" };
    let error = Error::invalid(format!("several columns as one element of {set} are not supported yet"));
    Some(error.hint("write the sets out: GROUPING SETS ((a, b, c), (a, b), ())").at(place::word(excerpt, set)))
}

fn columns_of_subquery(message: &str, excerpt: &Excerpt) -> Option<Error> {
    message.strip_prefix("Too many columns! The subquery should only return one column").map(|_| {
        Error::invalid("a subquery that stands for a value has more than one column")
            .hint("select one column in it")
            .at(place::scalar_subquery(excerpt))
    })
}
