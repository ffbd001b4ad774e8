use datafusion::sql::sqlparser::ast::{Expr, SetExpr, TableFactor};

use super::{parse, query, show};
use crate::parse::{SqlText, Statement, WindowCall, WindowFunction, interval_ms, offset_ms, window_call};

fn call(from: &str) -> WindowCall {
    let query = query(&format!("SELECT * FROM {from}"));
    let SetExpr::Select(select) = *query.body else { panic!("{query}") };
    window_call(&select.from[0].relation).expect("valid").expect("a window")
}

fn summary(call: &WindowCall) -> String {
    let keys: Vec<_> = call.partition_by.iter().map(|k| k.value.as_str()).collect();
    let intervals: Vec<_> = call.intervals.iter().map(|(name, e)| format!("{name} {e}")).collect();
    format!("{} | {} | {} | {}", call.data, keys.join(","), call.time_column, intervals.join(", "))
}

#[test]
fn windows_are_read_by_position_and_by_name() {
    let minute = "t |  | ts | SIZE INTERVAL '1' MINUTE";
    let cases = [
        ("TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))", minute),
        ("TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)", minute),
        ("TABLE(tumble(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1' MINUTE))", minute),
        ("TABLE(TUMBLE(SIZE => INTERVAL '1' MINUTE, data => TABLE t, timecol => descriptor(ts)))", minute),
        (
            "TUMBLE(TABLE db.`t`, DESCRIPTOR(`ts`), INTERVAL '1' MINUTE, INTERVAL '-5' SECOND)",
            "db.`t` |  | `ts` | SIZE INTERVAL '1' MINUTE, OFFSET INTERVAL '-5' SECOND",
        ),
        (
            "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10' MINUTES)",
            "t |  | ts | SLIDE INTERVAL '1' MINUTE, SIZE INTERVAL '10' MINUTES",
        ),
        (
            "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' DAY)",
            "t |  | ts | STEP INTERVAL '1' MINUTE, SIZE INTERVAL '1' DAY",
        ),
        (
            "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '30' MINUTE)",
            "t | k | ts | GAP INTERVAL '30' MINUTE",
        ),
        (
            "SESSION(TABLE t PARTITION BY (k, `l`), DESCRIPTOR(ts), INTERVAL '30' MINUTE)",
            "t | k,l | ts | GAP INTERVAL '30' MINUTE",
        ),
        (
            "TABLE(SESSION(DATA => TABLE t PARTITION BY k, TIMECOL => DESCRIPTOR(ts), GAP => INTERVAL '1' HOUR))",
            "t | k | ts | GAP INTERVAL '1' HOUR",
        ),
        (
            "TUMBLE((SELECT Upper(a) AS a, ts FROM t), DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
            "(SELECT upper(a) AS a, ts FROM t) |  | ts | SIZE INTERVAL '1' MINUTE",
        ),
    ];
    for (from, expected) in cases {
        assert_eq!(summary(&call(from)), expected, "{from}");
    }
}

#[test]
fn a_call_keeps_its_alias_and_its_place() {
    let text = "SELECT * FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)) AS w";
    let call = call(text.trim_start_matches("SELECT * FROM "));
    assert_eq!(call.function, WindowFunction::Hop);
    assert_eq!(call.alias.expect("given").name.value, "w");
    let place = SqlText::new("", text).excerpt(call.span);
    assert_eq!(&text[place.span], "HOP");
}

#[test]
fn a_call_is_written_as_it_is_read() {
    let session = "SESSION(TABLE t PARTITION BY (k, l), DESCRIPTOR(ts), INTERVAL '30' MINUTE) AS w";
    let mut of_subquery = call(session);
    of_subquery.data = call("TUMBLE((SELECT 1), DESCRIPTOR(ts), INTERVAL '1' DAY)").data;
    let calls = [
        call("TUMBLE(TABLE db.t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' SECOND)"),
        call("HOP(DATA => (SELECT 1), TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '2' DAY, SLIDE => INTERVAL '1' DAY)"),
        call(session),
        of_subquery,
    ];
    for call in calls {
        let read = window_call(&call.clone().into_factor()).expect("valid").expect("a window");
        assert_eq!(summary(&read), summary(&call));
        assert_eq!((read.alias, read.span), (call.alias, call.span));
    }
}

#[test]
fn a_table_is_no_window() {
    for factor in ["t", "(SELECT 1) AS x"] {
        let query = query(&format!("SELECT * FROM {factor}"));
        let SetExpr::Select(select) = *query.body else { panic!("{query}") };
        assert!(window_call(&select.from[0].relation).expect("valid").is_none());
    }
}

#[test]
fn wrong_windows_show_the_right_form() {
    let tumble = "write TUMBLE(TABLE t, DESCRIPTOR(time_column), INTERVAL '10' MINUTE [, offset])";
    let cases = [
        ("TUMBLE(TABLE t, DESCRIPTOR(ts))", "TUMBLE lacks its argument SIZE | TUMBLE", tumble),
        ("TUMBLE()", "TUMBLE lacks its argument DATA | TUMBLE", tumble),
        ("TUMBLE(t, DESCRIPTOR(ts), INTERVAL '1' DAY)", "the first argument of TUMBLE is a table, found t | t", tumble),
        ("TUMBLE(TABLE t, ts, INTERVAL '1' DAY)", "TUMBLE needs DESCRIPTOR(time_column), found ts | ts", tumble),
        (
            "TUMBLE(TABLE t, DESCRIPTOR(a, b), INTERVAL '1' DAY)",
            "TUMBLE needs DESCRIPTOR(time_column), found DESCRIPTOR(a, b) | DESCRIPTOR",
            tumble,
        ),
        (
            "TUMBLE(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SLIDE => INTERVAL '1' DAY)",
            "TUMBLE has no parameter of this name; it has DATA, TIMECOL, SIZE, OFFSET | SLIDE",
            tumble,
        ),
        (
            "TUMBLE(TABLE t, DESCRIPTOR(ts), SIZE => INTERVAL '1' DAY)",
            "TUMBLE has both named and unnamed arguments | TUMBLE",
            tumble,
        ),
        (
            "TUMBLE(SIZE => INTERVAL '1' DAY, SIZE => INTERVAL '1' DAY)",
            "the argument SIZE is given twice | SIZE",
            tumble,
        ),
        (
            "TUMBLE(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' DAY)",
            "TUMBLE takes no PARTITION BY: only SESSION does | k",
            "remove it; GROUP BY the column instead",
        ),
        (
            "SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY, INTERVAL '1' DAY)",
            "SESSION has 4 arguments, at most 3 are known | SESSION",
            "write SESSION(TABLE t PARTITION BY key, DESCRIPTOR(time_column), INTERVAL '30' MINUTE /* gap */)",
        ),
    ];
    for (from, expected, hint) in cases {
        let error = parse(&format!("SELECT * FROM TABLE({from})")).expect_err(from);
        assert_eq!(show(&error), format!("{expected} | {hint}"), "{from}");
    }
}

fn interval(literal: &str) -> (Expr, SqlText) {
    let text = format!("SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), {literal})");
    let query = match super::parsed(&text).remove(0) {
        Statement::Query { query, .. } => query,
        other => panic!("{other:?}"),
    };
    let SetExpr::Select(select) = *query.body else { panic!("{query}") };
    let relation: &TableFactor = &select.from[0].relation;
    let call = window_call(relation).expect("valid").expect("a window");
    (call.interval("SIZE").expect("given").clone(), SqlText::new("test.sql", text))
}

#[test]
fn intervals_are_exact() {
    let cases = [
        ("INTERVAL '10' MINUTES", 600_000),
        ("INTERVAL '1' DAY", 86_400_000),
        ("INTERVAL '2' WEEK", 1_209_600_000),
        ("INTERVAL '0.5' SECOND", 500),
        ("INTERVAL '1.25' SECONDS", 1_250),
        ("INTERVAL '1:30' MINUTE TO SECOND", 90_000),
        ("INTERVAL '1:30' HOUR TO MINUTE", 5_400_000),
        ("INTERVAL '1:00:00.001' HOUR TO SECOND", 3_600_001),
        ("INTERVAL '1 10' DAY TO HOUR", 122_400_000),
        ("INTERVAL '1 10:30' DAY TO MINUTE", 124_200_000),
        ("INTERVAL '180' DAY(3)", 15_552_000_000),
        ("(INTERVAL '+1' HOUR)", 3_600_000),
    ];
    for (literal, ms) in cases {
        let (expr, sql) = interval(literal);
        assert_eq!(interval_ms(&expr, &sql).expect(literal), ms, "{literal}");
    }
    let (expr, sql) = interval("INTERVAL '-1' HOUR");
    assert_eq!(offset_ms(&expr, &sql).expect("an offset"), -3_600_000);
}

#[test]
fn no_window_has_a_length_that_is_not_one() {
    let form = "write it as INTERVAL '10' MINUTE";
    let cases = [
        ("INTERVAL '0' MINUTE", format!("a window needs a length above zero | '0' | {form}")),
        ("INTERVAL '-1' MINUTE", format!("a window needs a length above zero | '-1' | {form}")),
        ("INTERVAL -'1' MINUTE", format!("a window needs a length above zero | '1' | {form}")),
        ("INTERVAL '1' MONTH", "a window can't be months or years long: they differ in length | '1' | write it in days, hours, minutes or seconds".to_owned()),
        ("INTERVAL '1-2' YEAR TO MONTH", "a window can't be months or years long: they differ in length | '1-2' | write it in days, hours, minutes or seconds".to_owned()),
        ("5", format!("expected an interval | 5 | {form}")),
    ];
    for (literal, expected) in cases {
        let (expr, sql) = interval(literal);
        assert_eq!(show(&interval_ms(&expr, &sql).expect_err(literal)), expected, "{literal}");
    }
}

#[test]
fn malformed_intervals_are_refused_wherever_they_stand() {
    let cases = [
        ("INTERVAL 'x' MINUTE", "'x' is not a value of the interval MINUTE | 'x' | write it as INTERVAL '10' MINUTE"),
        (
            "INTERVAL '1.5' MINUTE",
            "'1.5' is not a value of the interval MINUTE | '1.5' | write it as INTERVAL '10' MINUTE",
        ),
        (
            "INTERVAL '1:60' MINUTE TO SECOND",
            "'1:60' is not a value of the interval MINUTE TO SECOND | '1:60' | write it as INTERVAL '1:30' MINUTE TO SECOND",
        ),
        (
            "INTERVAL '1 1' DAY TO MONTH",
            "an interval can't go from DAY to MONTH | '1 1' | DAY TO SECOND and what lies between, or YEAR TO MONTH",
        ),
        ("INTERVAL '5 minutes'", "the interval has no unit | '5 minutes' | write it as INTERVAL '10' MINUTE"),
        (
            "INTERVAL 5 MINUTE",
            "the value of an interval stands in quotes, found 5 | 5 | write it as INTERVAL '10' MINUTE; to compute one, write n * INTERVAL '1' MINUTE",
        ),
        (
            "INTERVAL '1000' DAY(3)",
            "1000 has more than 3 digits | '1000' | raise the precision that stands after the unit, or leave it away",
        ),
        (
            "INTERVAL '9999999999999999999' DAY",
            "'9999999999999999999' is not a value of the interval DAY | '9999999999999999999' | write it as INTERVAL '10' DAY",
        ),
        (
            "INTERVAL '5' MILLISECOND",
            "MILLISECOND is not a unit of an interval in Flink SQL | '5' | units are SECOND (with up to three decimals), MINUTE, HOUR, DAY, WEEK, MONTH, QUARTER and YEAR",
        ),
    ];
    for (literal, expected) in cases {
        let error = parse(&format!("SELECT {literal}")).expect_err(literal);
        assert_eq!(show(&error), expected, "{literal}");
    }
}
