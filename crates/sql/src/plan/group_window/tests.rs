use tidemill_core::Error;

use super::rewrite_group_windows;
use crate::parse::{SqlText, Statement, parse};

/// The query as it is planned.
fn rewritten(text: &str) -> Result<String, Error> {
    let sql = SqlText::new("test.sql", text);
    match parse(&sql)?.as_slice() {
        [Statement::Query { query, excerpt }] => {
            let mut query = (**query).clone();
            rewrite_group_windows(&mut query, excerpt)?;
            Ok(query.to_string())
        }
        other => panic!("not one query: {other:?}"),
    }
}

/// `message | text under the caret | hint`
fn show(error: &Error) -> String {
    let under = error.excerpt().map_or("no place", |e| &e.text[e.span.clone()]);
    format!("{} | {} | {}", error.message(), under, error.hint_text().unwrap_or("no hint"))
}

fn assert_rewritten(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        match rewritten(text) {
            Ok(found) => assert_eq!(&found, expected, "{text}"),
            Err(error) => panic!("{text}\n{}", show(&error)),
        }
    }
}

/// `TABLE t PARTITION BY (k)` shows as `TABLE((t), (k))`, the form that stands for it.
#[test]
fn windows_become_table_functions() {
    assert_rewritten(&[
        (
            "SELECT k, TUMBLE_START(ts, INTERVAL '1' MINUTE) AS s, COUNT(*) FROM t GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE)",
            "SELECT k, t.window_start AS s, count(*) FROM TUMBLE(TABLE((t)), DESCRIPTOR(ts), INTERVAL '1' MINUTE) AS t \
             GROUP BY k, t.window_start, t.window_end",
        ),
        (
            "SELECT hop_end(ts, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE) FROM t AS x \
             GROUP BY HOP(x.ts, INTERVAL '1' MINUTE, INTERVAL '5' MINUTES), x.k",
            "SELECT x.window_end FROM HOP(TABLE((t)), DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTES) AS x \
             GROUP BY x.window_start, x.window_end, x.k",
        ),
        (
            "SELECT SESSION_ROWTIME(ts, INTERVAL '1' HOUR) FROM `a t` GROUP BY k, SESSION(ts, INTERVAL '1' HOUR), `a t`.l",
            "SELECT `a t`.window_time FROM SESSION(TABLE((`a t`), (k, l)), DESCRIPTOR(ts), INTERVAL '1' HOUR) AS `a t` \
             GROUP BY k, `a t`.window_start, `a t`.window_end, `a t`.window_time, `a t`.l",
        ),
        (
            "SELECT COUNT(*) FROM t GROUP BY SESSION(ts, INTERVAL '1' HOUR)",
            "SELECT count(*) FROM SESSION(TABLE((t)), DESCRIPTOR(ts), INTERVAL '1' HOUR) AS t \
             GROUP BY t.window_start, t.window_end",
        ),
    ]);
}

#[test]
fn bounds_are_columns_within_expressions_having_and_order_by() {
    assert_rewritten(&[(
        "SELECT DATE_FORMAT(TUMBLE_START(ts, INTERVAL '60' SECOND), 'HH') FROM t GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE) \
         HAVING TUMBLE_END(t.ts, INTERVAL '1' MINUTE) > x ORDER BY TUMBLE_ROWTIME(ts, INTERVAL '1' MINUTES) DESC",
        "SELECT date_format(t.window_start, 'HH') FROM TUMBLE(TABLE((t)), DESCRIPTOR(ts), INTERVAL '1' MINUTE) AS t \
         GROUP BY t.window_start, t.window_end, t.window_time HAVING t.window_end > x ORDER BY t.window_time DESC",
    )]);
}

#[test]
fn where_goes_below_the_window() {
    assert_rewritten(&[
        (
            "SELECT COUNT(*) FROM t AS x WHERE x.a > 1 GROUP BY k, SESSION(ts, INTERVAL '1' HOUR)",
            "SELECT count(*) FROM SESSION(TABLE((SELECT * FROM t AS x WHERE x.a > 1), (k)), DESCRIPTOR(ts), INTERVAL '1' HOUR) AS x \
             GROUP BY k, x.window_start, x.window_end",
        ),
        (
            "SELECT COUNT(*) FROM t AS x (a, ts) GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)",
            "SELECT count(*) FROM TUMBLE((SELECT * FROM t AS x (a, ts)), DESCRIPTOR(ts), INTERVAL '1' HOUR) AS x \
             GROUP BY x.window_start, x.window_end",
        ),
    ]);
}

#[test]
fn processing_time_that_is_no_column_becomes_one() {
    assert_rewritten(&[(
        "SELECT TUMBLE_START(PROCTIME(), INTERVAL '1' HOUR) FROM t GROUP BY k, TUMBLE(proctime(), INTERVAL '1' HOUR)",
        "SELECT t.window_start FROM TUMBLE((SELECT *, proctime() AS __tidemill_proctime FROM t), \
         DESCRIPTOR(__tidemill_proctime), INTERVAL '1' HOUR) AS t GROUP BY k, t.window_start, t.window_end",
    )]);
}

#[test]
fn nested_queries_are_rewritten_each_by_itself() {
    assert_rewritten(&[
        (
            "SELECT TUMBLE_END(r, INTERVAL '1' HOUR) FROM (SELECT TUMBLE_ROWTIME(ts, INTERVAL '1' MINUTE) AS r FROM t \
             GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)) GROUP BY TUMBLE(r, INTERVAL '1' HOUR)",
            "SELECT window_end FROM TUMBLE((SELECT t.window_time AS r FROM TUMBLE(TABLE((t)), DESCRIPTOR(ts), INTERVAL '1' MINUTE) AS t \
             GROUP BY t.window_start, t.window_end, t.window_time), DESCRIPTOR(r), INTERVAL '1' HOUR) \
             GROUP BY window_start, window_end",
        ),
        (
            "SELECT 1 FROM t GROUP BY TUMBLE(ts, INTERVAL '1' DAY) UNION ALL SELECT 2 FROM u GROUP BY TUMBLE(ts, INTERVAL '2' DAY)",
            "SELECT 1 FROM TUMBLE(TABLE((t)), DESCRIPTOR(ts), INTERVAL '1' DAY) AS t GROUP BY t.window_start, t.window_end \
             UNION ALL SELECT 2 FROM TUMBLE(TABLE((u)), DESCRIPTOR(ts), INTERVAL '2' DAY) AS u GROUP BY u.window_start, u.window_end",
        ),
        (
            "WITH w AS (SELECT ts FROM t) SELECT (SELECT TUMBLE_END(ts, INTERVAL '2' DAY) FROM u GROUP BY TUMBLE(ts, INTERVAL '2' DAY)) \
             FROM w GROUP BY TUMBLE(ts, INTERVAL '1' DAY)",
            "WITH w AS (SELECT ts FROM t) SELECT (SELECT u.window_end FROM TUMBLE(TABLE((u)), DESCRIPTOR(ts), INTERVAL '2' DAY) AS u \
             GROUP BY u.window_start, u.window_end) FROM TUMBLE(TABLE((w)), DESCRIPTOR(ts), INTERVAL '1' DAY) AS w \
             GROUP BY w.window_start, w.window_end",
        ),
    ]);
}

#[test]
fn queries_without_a_grouped_window_stay_as_they_are() {
    let texts = [
        "SELECT a, count(*) FROM t WHERE b GROUP BY a HAVING c ORDER BY d",
        "SELECT * FROM TUMBLE((SELECT 1), descriptor(ts), INTERVAL '1' DAY) AS w",
    ];
    assert_rewritten(&texts.map(|text| (text, text)));
}

#[test]
fn mistakes_name_the_place_and_the_remedy() {
    let cases = [
        (
            "SELECT TUMBLE_START(ts, INTERVAL '1' MINUTE) FROM t",
            "TUMBLE_START stands in SELECT, HAVING and ORDER BY of a query that is grouped by TUMBLE | TUMBLE_START | add GROUP BY TUMBLE(time_column, INTERVAL '10' MINUTE) with the same arguments",
        ),
        (
            "SELECT 1 FROM t WHERE hop_end(ts, INTERVAL '1' MINUTE, INTERVAL '1' MINUTE) > a GROUP BY HOP(ts, INTERVAL '1' MINUTE, INTERVAL '1' MINUTE)",
            "HOP_END stands in SELECT, HAVING and ORDER BY of a query that is grouped by HOP | hop_end | add GROUP BY HOP(time_column, INTERVAL '1' MINUTE /* slide */, INTERVAL '10' MINUTE /* size */) with the same arguments",
        ),
        (
            "SELECT TUMBLE(ts, INTERVAL '1' MINUTE) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)",
            "TUMBLE is a key of GROUP BY, or stands in FROM | TUMBLE | GROUP BY TUMBLE(time_column, INTERVAL '10' MINUTE), and select TUMBLE_START or TUMBLE_END of the same arguments",
        ),
        (
            "SELECT 1 FROM t GROUP BY ROLLUP (a, SESSION(ts, INTERVAL '1' MINUTE))",
            "SESSION is a key of GROUP BY, or stands in FROM | SESSION | GROUP BY SESSION(time_column, INTERVAL '30' MINUTE /* gap */), and select SESSION_START or SESSION_END of the same arguments",
        ),
        (
            "SELECT TUMBLE_PROCTIME(ts, INTERVAL '1' MINUTE) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)",
            "TUMBLE_PROCTIME is not supported | TUMBLE_PROCTIME | PROCTIME() is the present time; TUMBLE_ROWTIME is the last moment of the window",
        ),
        (
            "SELECT TUMBLE_END(ts, INTERVAL '2' MINUTE) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)",
            "TUMBLE_END is of another window than the one in GROUP BY | TUMBLE_END | write TUMBLE_END(ts, INTERVAL '1' MINUTE)",
        ),
        (
            "SELECT TUMBLE_START(tz, INTERVAL '1' MINUTE) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)",
            "TUMBLE_START is of another window than the one in GROUP BY | TUMBLE_START | write TUMBLE_START(ts, INTERVAL '1' MINUTE)",
        ),
        (
            "SELECT HOP_ROWTIME(ts, INTERVAL '1' MINUTE, INTERVAL '1' MINUTE) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)",
            "HOP_ROWTIME is of another window than the one in GROUP BY | HOP_ROWTIME | write TUMBLE_ROWTIME(ts, INTERVAL '1' MINUTE)",
        ),
        (
            "SELECT 1 FROM t GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE), HOP(ts, INTERVAL '1' MINUTE, INTERVAL '1' MINUTE)",
            "GROUP BY has a second window | HOP | keep one; group its result by the other in an outer query",
        ),
        (
            "SELECT 1 FROM t GROUP BY HOP(ts, INTERVAL '1' MINUTE)",
            "HOP has 3 arguments, found 2 | HOP | write HOP(time_column, INTERVAL '1' MINUTE /* slide */, INTERVAL '10' MINUTE /* size */)",
        ),
        (
            "SELECT 1 FROM t GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE, INTERVAL '1' MINUTE)",
            "TUMBLE has 2 arguments, found 3 | TUMBLE | write TUMBLE(time_column, INTERVAL '10' MINUTE)",
        ),
        (
            "SELECT 1 FROM t GROUP BY TUMBLE()",
            "TUMBLE lacks its arguments | TUMBLE | write TUMBLE(time_column, INTERVAL '10' MINUTE)",
        ),
        (
            "SELECT 1 FROM t GROUP BY TUMBLE(DISTINCT ts, INTERVAL '1' MINUTE)",
            "TUMBLE takes its arguments and nothing else | TUMBLE | write TUMBLE(time_column, INTERVAL '10' MINUTE)",
        ),
        (
            "SELECT 1 FROM t GROUP BY TUMBLE(u.ts, INTERVAL '1' MINUTE)",
            "the first argument of TUMBLE is a column with event time or PROCTIME(), found u.ts | u | write TUMBLE(time_column, INTERVAL '10' MINUTE)",
        ),
        ("SELECT 1 FROM t GROUP BY TUMBLE(ts, 5)", "expected an interval | 5 | write it as INTERVAL '10' MINUTE"),
        (
            "SELECT 1 FROM t GROUP BY k, UPPER(l), SESSION(ts, INTERVAL '1' MINUTE)",
            "beside SESSION a key of GROUP BY is a column, found upper(l) | UPPER | compute it in a subquery: FROM (SELECT ..., expression AS name FROM t)",
        ),
        (
            "SELECT 1 FROM t GROUP BY a + 1, SESSION(ts, INTERVAL '1' MINUTE)",
            "beside SESSION a key of GROUP BY is a column, found a + 1 | SESSION | compute it in a subquery: FROM (SELECT ..., expression AS name FROM t)",
        ),
        (
            "SELECT * FROM t GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)",
            "* can't be selected with GROUP BY TUMBLE | * | list the keys and the aggregates",
        ),
        (
            "SELECT 1 GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)",
            "GROUP BY TUMBLE needs a table in FROM | TUMBLE | write FROM t, or FROM (SELECT ...) AS t",
        ),
        (
            "SELECT 1 FROM t GROUP BY CUMULATE(ts, INTERVAL '1' MINUTE, INTERVAL '1' MINUTE)",
            "CUMULATE is not Flink SQL outside of FROM | CUMULATE | write FROM TABLE(CUMULATE(TABLE t, ...)) and GROUP BY window_start, window_end",
        ),
        (
            "SELECT CUMULATE_START(ts, INTERVAL '1' MINUTE, INTERVAL '1' MINUTE) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)",
            "CUMULATE_START is not Flink SQL outside of FROM | CUMULATE_START | write FROM TABLE(CUMULATE(TABLE t, ...)) and GROUP BY window_start, window_end",
        ),
    ];
    let mut wrong = String::new();
    for (text, expected) in cases {
        let shown = rewritten(text).map_or_else(|error| show(&error), |found| format!("became {found}"));
        if shown != expected {
            wrong += &format!("{text}\n  said {shown}\n  not  {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
