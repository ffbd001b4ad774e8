//! Calls of JSON functions: their clauses said and left out, and mistakes in them.

use super::{parse, query, show};

/// The expression of `SELECT expression FROM t`, as the planner sees it.
pub(super) fn planned(expression: &str) -> String {
    let query = query(&format!("SELECT {expression} FROM t")).to_string();
    query["SELECT ".len()..query.len() - " FROM t".len()].to_owned()
}

#[test]
fn clauses_become_arguments() {
    for (written, meant) in [
        ("JSON_EXISTS(j, '$.a')", "json_exists(j, '$.a', 'FALSE')"),
        ("json_exists(j, '$.a' unknown on error)", "json_exists(j, '$.a', 'UNKNOWN')"),
        ("JSON_VALUE(j, '$.a')", "json_value(j, '$.a', 'NULL', NULL, 'NULL', NULL)"),
        ("JSON_VALUE(j, '$.a' RETURNING VARCHAR)", "json_value(j, '$.a', 'NULL', NULL, 'NULL', NULL)"),
        (
            "JSON_VALUE(j, '$.a' RETURNING INTEGER DEFAULT n + 1 ON EMPTY ERROR ON ERROR)",
            "json_value returning int(j, '$.a', 'DEFAULT', n + 1, 'ERROR', NULL)",
        ),
        ("JSON_VALUE(j, '$.a' DEFAULT 'x' ON ERROR)", "json_value(j, '$.a', 'NULL', NULL, 'DEFAULT', 'x')"),
        ("JSON_QUERY(j, '$.a')", "json_query(j, '$.a', 'WITHOUT', 'NULL', 'NULL')"),
        (
            "JSON_QUERY(j, '$.a' RETURNING ARRAY<STRING> WITH CONDITIONAL ARRAY WRAPPER EMPTY OBJECT ON ERROR)",
            "json_query returning array<string>(j, '$.a', 'CONDITIONAL', 'NULL', 'EMPTY OBJECT')",
        ),
        ("JSON_QUERY(j, '$' WITH UNCONDITIONAL WRAPPER)", "json_query(j, '$', 'WITH', 'NULL', 'NULL')"),
        ("JSON_OBJECT()", "json_object('NULL')"),
        ("JSON_OBJECT(ABSENT ON NULL)", "json_object('ABSENT')"),
        ("JSON_OBJECT(KEY 'a' VALUE b, 'c' : d)", "json_object('NULL', 'a', b, false, 'c', d, false)"),
        (
            "JSON_OBJECT('a' VALUE JSON_ARRAY(NULL NULL ON NULL), 'b' VALUE JSON(j))",
            "json_object('NULL', 'a', json_array('NULL', NULL, false), true, 'b', json raw(j), true)",
        ),
        (
            "JSON_ARRAYAGG(a NULL ON NULL) FILTER (WHERE b)",
            "json list(array_agg(json element('NULL', a, false)) FILTER (WHERE b) IGNORE NULLS)",
        ),
        (
            "JSON_OBJECTAGG(KEY k VALUE JSON_ARRAY(v))",
            "json members(array_agg(json member('NULL', k, json_array('ABSENT', v, false), true)) IGNORE NULLS)",
        ),
        ("j IS NOT JSON ARRAY AND a IS JSON", "NOT is json(j, 'ARRAY') AND is json(a, 'VALUE')"),
    ] {
        assert_eq!(planned(written), meant, "{written}");
    }
}

#[test]
fn mistakes_are_where_they_stand() {
    for (expression, wanted) in [
        ("JSON_VALUE(j, '$a')", "'$a' is not a path into JSON: '.' or '[' must stand before 'a' | '$a' | "),
        ("JSON_VALUE(j, path)", "the path of JSON_VALUE is no constant text | path | "),
        ("JSON_VALUE(j)", "expected ,, found ) | ) | "),
        ("JSON_VALUE(j, '$.a' RETURNING BIGINT)", "JSON_VALUE does not return BIGINT | JSON_VALUE | "),
        ("JSON_VALUE(j, '$.a' EMPTY ARRAY ON EMPTY)", "expected NULL, ERROR, DEFAULT, found EMPTY | EMPTY | "),
        ("JSON_VALUE(j, '$.a' NULL ON ERROR NULL ON ERROR)", "expected ERROR, found ERROR | ERROR | "),
        ("JSON_EXISTS(j, '$.a' TRUE ON EMPTY)", "expected ERROR, found EMPTY | EMPTY | "),
        ("JSON_QUERY(j, '$.a' WITH)", "expected WRAPPER, found ) | ) | "),
        ("JSON_OBJECT(a VALUE 1)", "expected the name of a member in single quotes, found a | a | "),
        ("JSON_OBJECT('a', 1)", "expected VALUE, found , | , | "),
        ("JSON_OBJECTAGG(a, b)", "expected VALUE, found , | , | "),
        ("JSON_ARRAY(1,)", "expected an expression, found ) | ) | "),
    ] {
        let error = parse(&format!("SELECT {expression} FROM t;")).unwrap_err();
        assert!(show(&error).starts_with(wanted), "{expression}\n{}\n{wanted}", show(&error));
    }
}

#[test]
fn a_long_chain_is_refused() {
    let error = parse(&format!("SELECT a{} FROM t;", " IS JSON".repeat(300))).unwrap_err();
    assert!(error.message().contains("operators"), "{}", show(&error));
}
