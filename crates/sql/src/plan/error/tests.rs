use datafusion::common::{Column, Diagnostic, Location, SchemaError, Span};
use datafusion::error::DataFusionError;
use tidemill_core::{Error, Excerpt};

use super::plan_error;

fn statement(text: &str) -> Excerpt {
    Excerpt { origin: "q.sql".into(), text: text.into(), span: 0..text.len() }
}

fn planned(text: &str, message: &str) -> Error {
    plan_error(DataFusionError::Plan(message.to_owned()), &statement(text))
}

fn unknown_column(name: &str) -> DataFusionError {
    let field = Box::new(Column::new_unqualified(name));
    let error = SchemaError::FieldNotFound { field, valid_fields: vec![Column::new_unqualified("v")] };
    DataFusionError::SchemaError(Box::new(error), Box::new(None))
}

/// The byte at which the place of the error begins, and what is there.
fn under(error: &Error) -> (usize, &str) {
    let excerpt = error.excerpt().unwrap();
    (excerpt.span.start, &excerpt.text[excerpt.span.clone()])
}

#[test]
fn a_word_in_a_string_or_a_comment_is_no_place() {
    let text = "SELECT 'nope' AS x /* nope */ FROM t -- nope\nWHERE é.`nope` = 1";
    let error = plan_error(unknown_column("nope"), &statement(text));
    assert_eq!(under(&error), (text.find("`nope`").unwrap(), "`nope`"));
    let absent = plan_error(unknown_column("other"), &statement(text));
    assert_eq!(under(&absent), (0, text));
}

#[test]
fn the_diagnosed_place_goes_before_the_first_one() {
    let text = "SELECT k, SUM(v), t.v FROM t GROUP BY k";
    let message = "Column in SELECT must be in GROUP BY or an aggregate function: While expanding wildcard, column \
                   \"t.v\" must appear in the GROUP BY clause";
    let diagnosed = |line, columns: (u64, u64)| {
        let location = |column| Location { line, column };
        let diagnostic = Diagnostic::new_error("", Some(Span::new(location(columns.0), location(columns.1))));
        let error = DataFusionError::Plan(message.to_owned()).with_diagnostic(diagnostic);
        plan_error(error, &statement(text))
    };
    assert_eq!(under(&diagnosed(1, (19, 22))), (20, "v"));
    // The end of the text stands for a place outside of it, and is no place.
    assert_eq!(under(&diagnosed(7, (1, 4))), (14, "v"));
}

#[test]
fn a_subquery_is_marked_where_only_one_can_be_meant() {
    let message = "Physical plan does not support logical expression ScalarSubquery(<subquery>)";
    let marked = |text: &str| {
        let error = plan_error(DataFusionError::NotImplemented(message.to_owned()), &statement(text));
        error.excerpt().unwrap().span.start
    };
    assert_eq!(marked("SELECT (SELECT MAX(v) FROM u) AS m FROM (SELECT v FROM t)"), 8);
    assert_eq!(marked("SELECT (SELECT 1), (SELECT 2) FROM t"), 0);
}

#[test]
fn the_commonest_mistakes_are_told_in_words_of_sql() {
    let cases = [
        (
            "SELECT k + 1 FROM t",
            "Cannot coerce arithmetic expression Utf8View + Int64 to valid types",
            "there is no '+' of STRING and a number",
        ),
        (
            "SELECT INTERVAL '1' DAY * 2",
            "Cannot coerce arithmetic expression Interval(MonthDayNano) * Int64 to valid types",
            "there is no '*' of INTERVAL and a number",
        ),
        (
            "SELECT v IS TRUE FROM t",
            "Cannot infer common argument type for comparison operation Int64 IS DISTINCT FROM Boolean",
            "there is no 'IS DISTINCT FROM' of a number and BOOLEAN",
        ),
        (
            "SELECT 1 FROM t WHERE v",
            "Cannot create filter with non-boolean predicate 't.v' returning Int32",
            "a condition is BOOLEAN, and the column 'v' is INT",
        ),
        (
            "SELECT 1 FROM t WHERE v + 1",
            "Cannot create filter with non-boolean predicate 't.v + Int64(1)' returning Int64",
            "a condition is BOOLEAN, and this one is BIGINT",
        ),
        (
            "SELECT NOT v FROM t",
            "Unary operator 'NOT' requires a boolean expression, got Int32",
            "NOT takes a BOOLEAN, and this is INT",
        ),
        (
            "SELECT SUM(SUM(v)) FROM t",
            "Aggregate function calls cannot be nested: 'sum(t.v)' is nested inside 'sum(sum(t.v))'",
            "an aggregate stands within an aggregate",
        ),
        (
            "SELECT 1 UNION SELECT 1, 2",
            "UNION queries have different number of columns",
            "the queries of UNION have different numbers of columns",
        ),
        (
            "SELECT 1 FROM t GROUP BY ROLLUP((k, g), v)",
            "Tuple expressions are not supported for Rollup expressions",
            "several columns as one element of ROLLUP are not supported yet",
        ),
    ];
    for (text, message, expected) in cases {
        let error = planned(text, message);
        assert_eq!(error.message(), expected, "{text}");
        assert!(error.hint_text().is_some(), "{text}");
    }
}

#[test]
fn a_condition_is_marked_behind_its_keyword() {
    let error =
        planned("SELECT v FROM t WHERE t.v", "Cannot create filter with non-boolean predicate 't.v' returning Int32");
    assert_eq!(under(&error), (24, "v"));
}

#[test]
fn a_cast_that_fails_names_its_value() {
    let text = "SELECT CAST(1e300 AS INT)";
    let failed = arrow::error::ArrowError::CastError("Can't cast value 1e300 to type Int32".to_owned());
    let error = plan_error(failed.into(), &statement(text));
    assert_eq!(error.message(), "CAST: 1e300 is out of the range of INT");
    assert_eq!(under(&error), (12, "1e300"));
}
