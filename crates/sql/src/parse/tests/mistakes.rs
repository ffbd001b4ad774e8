use super::{parse, show};

/// Prints every answer: a run with `--nocapture` shows what a user would read.
fn assert_mistakes(cases: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (text, expected) in cases {
        let shown = match parse(text) {
            Ok(statements) => format!("parsed: {statements:?}"),
            Err(error) => show(&error),
        };
        if shown != *expected {
            wrong += &format!("{text}\n  said {shown}\n  not  {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn tables() {
    assert_mistakes(&[
        (
            "CREATE TABLE t (a INT b INT) WITH ('c' = 'd')",
            "expected , or ), found b | b | is a comma missing before it?",
        ),
        ("CREATE TABLE t (a INT,) WITH ('c' = 'd')", "expected a column, found ) | ) | remove the comma before )"),
        (
            "CREATE TABLE t (a) WITH ('c' = 'd')",
            "expected the type of the column a, found ) | ) | write name TYPE, or name AS expression",
        ),
        (
            "CREATE TABLE t ('a' INT) WITH ('c' = 'd')",
            "expected a column, found the string 'a' | 'a' | a name stands in backticks, not in quotes: `a`",
        ),
        (
            "CREATE TABLE t (\"a\" INT) WITH ('c' = 'd')",
            "double quotes are not Flink SQL: \"a\" | \"a\" | write a string in single quotes ('...') and a name in backticks (`...`)",
        ),
        ("CREATE TABLE t (a INT, a STRING) WITH ('c' = 'd')", "the column a is declared twice | a | no hint"),
        ("CREATE TABLE t (a TEXT) WITH ('c' = 'd')", "TEXT is not a Flink type | TEXT | write STRING"),
        (
            "CREATE TABLE t (a ARRAY<INT NOT NULL>) WITH ('c' = 'd')",
            "expected >, found NOT | NOT | NOT NULL within ROW, ARRAY and MAP is not supported: leave it away",
        ),
        (
            "CREATE TABLE t (a MULTISET<INT>) WITH ('c' = 'd')",
            "the type MULTISET is not supported | MULTISET | use STRING, ARRAY or MAP",
        ),
        (
            "CREATE TABLE t (a INT DEFAULT 1) WITH ('c' = 'd')",
            "DEFAULT is not Flink SQL | DEFAULT | write COALESCE(column, value) in the query",
        ),
        (
            "CREATE TABLE t (a INT)",
            "the table t has no WITH (...) | t | add WITH ('connector' = '...', ...): it says where the rows are",
        ),
        (
            "CREATE TABLE t (a INT) WITH (connector = 'x')",
            "expected an option's key in single quotes, found connector | connector | write it in single quotes: 'connector'",
        ),
        (
            "CREATE TABLE t (a INT) WITH ('n' = 5)",
            "expected the value of 'n' in single quotes, found 5 | 5 | write it in single quotes: '5'",
        ),
        (
            "CREATE TABLE t (a INT) WITH ('n' '5')",
            "expected = after 'n', found the string '5' | '5' | write ('connector' = '...', 'key' = 'value')",
        ),
        (
            "CREATE TABLE t (a INT) WITH ('n' = '5' 'm' = '6')",
            "expected , or ), found the string 'm' | 'm' | is a comma missing before it?",
        ),
        ("CREATE TABLE t (a INT) WITH ('n' = '5', 'n' = '6')", "the option 'n' is given twice | 'n' | keep one"),
        (
            "CREATE TABLE t LIKE u (OVERWRITING PARTITIONS)",
            "OVERWRITING PARTITIONS is not Flink SQL | PARTITIONS | write INCLUDING PARTITIONS or EXCLUDING PARTITIONS",
        ),
        (
            "CREATE TABLE t LIKE u (EXCLUDING OPTION)",
            "expected a feature, found OPTION | OPTION | features are ALL, CONSTRAINTS, GENERATED, METADATA, OPTIONS, PARTITIONS, WATERMARKS",
        ),
        (
            "CREATE TABLE t LIKE u (COLUMNS)",
            "expected INCLUDING, EXCLUDING or OVERWRITING, found COLUMNS | COLUMNS | no hint",
        ),
        (
            "CREATE TABLE t AS SELECT 1",
            "CREATE TABLE ... AS SELECT is not supported yet | AS | declare the table with its columns, then INSERT INTO it",
        ),
        (
            "CREATE TABLE t (a INT PRIMARY KEY) WITH ('c' = 'd')",
            "expected NOT ENFORCED after the primary key, found ) | ) | write PRIMARY KEY (column, ...) NOT ENFORCED",
        ),
        (
            "CREATE TABLE t (a INT, PRIMARY KEY (a) ENFORCED) WITH ('c' = 'd')",
            "a primary key can't be enforced | ENFORCED | write PRIMARY KEY (column, ...) NOT ENFORCED",
        ),
        (
            "CREATE TABLE t (a INT, PRIMARY KEY (b) NOT ENFORCED) WITH ('c' = 'd')",
            "the table has no column b | b | its columns are a",
        ),
        (
            "CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts ts - INTERVAL '5' SECOND) WITH ('c' = 'd')",
            "expected AS, found ts | ts | write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND",
        ),
        (
            "CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR tz AS tz) WITH ('c' = 'd')",
            "the table has no column tz | tz | its columns are ts",
        ),
        (
            "CREATE TABLE db.t (a INT) WITH ('c' = 'd')",
            "the name of a table has one part: catalogs, databases and nested fields are not supported here | . | if the dot belongs to the name, write it in backticks: `db.…`",
        ),
        (
            "CREATE TABLE t (a INT WITH ('c' = 'd')",
            "expected , or ), found WITH | WITH | is a comma missing before it?",
        ),
    ]);
}

#[test]
fn statements() {
    const SUPPORTED: &str = "supported are CREATE TABLE, CREATE VIEW, INSERT INTO, INSERT OVERWRITE, EXECUTE STATEMENT SET, SET, SELECT, EXPLAIN, DESCRIBE and SHOW";
    let refused = |what: &str, under: &str| format!("{what} is not supported yet | {under} | {SUPPORTED}");
    assert_mistakes(&[
        ("DELETE FROM t", &refused("DELETE", "DELETE")),
        ("drop table t", &refused("DROP TABLE", "drop table")),
        ("CREATE FUNCTION f AS 'x'", &refused("CREATE FUNCTION", "CREATE FUNCTION")),
        ("SHOW JOBS", &refused("SHOW JOBS", "SHOW JOBS")),
        ("SELEC 1", &format!("expected a statement, found SELEC | SELEC | {SUPPORTED}")),
        (
            "SELECT 1 SELECT 2",
            "expected a ; after the statement, found SELECT | SELECT | is a comma, an operator or a ; missing before it?",
        ),
        (
            "SET a = b",
            "expected a key in single quotes, found a | a | write SET 'key' = 'value', both in single quotes",
        ),
        (
            "SET",
            "expected a key in single quotes, found the end of the text |  | write SET 'key' = 'value', both in single quotes",
        ),
        (
            "INSERT INTO s PARTITION (d = '1') SELECT 1",
            "PARTITION (...) in INSERT is not supported yet | PARTITION | give their values in the query, as columns of the table",
        ),
        (
            "INSERT s SELECT 1",
            "expected INTO or OVERWRITE, found s | s | is a comma, an operator or a ; missing before it?",
        ),
        ("EXECUTE STATEMENT SET BEGIN END", "the statement set is empty | END | no hint"),
        (
            "EXECUTE STATEMENT SET BEGIN SELECT 1; END",
            "expected INSERT or END, found SELECT | SELECT | a statement set holds INSERT statements, each closed with ;, and ends with END",
        ),
        (
            "SELECT 'a",
            "this string is not closed | ' | close it with a single quote; a quote within a string is written twice ('')",
        ),
        ("SELECT `a", "this name is not closed | ` | close it with a backtick (`)"),
        ("SELECT 1 /* a", "this comment is not closed | /* | close it with */"),
        ("SELECT (1 + 2", "expected ), found the end of the text |  | the ( in line 1, column 8 is not closed"),
        ("SELECT a, FROM t", "expected an expression, found FROM | FROM | remove the comma before it"),
    ]);
}

#[test]
fn queries() {
    assert_mistakes(&[
        ("SELECT * FROM a JOIN b ON a.x = b.x", "JOIN is not supported yet | JOIN | no hint"),
        ("SELECT * FROM (SELECT * FROM a LEFT JOIN b ON TRUE)", "JOIN is not supported yet | JOIN | no hint"),
        ("SELECT * FROM a CROSS JOIN UNNEST(x) AS u (y) JOIN b ON TRUE", "JOIN is not supported yet | JOIN | no hint"),
        (
            "SELECT * FROM a RIGHT JOIN UNNEST(x) AS u (y) ON TRUE",
            "UNNEST is joined by CROSS JOIN, or by LEFT JOIN or JOIN with ON TRUE | UNNEST | put other conditions into WHERE",
        ),
        (
            "SELECT * FROM a, UNNEST(x, y)",
            "UNNEST takes one ARRAY or MAP | UNNEST | write UNNEST(array) [WITH ORDINALITY] AS t(column)",
        ),
        ("SELECT [1]", "[...] is not Flink SQL | SELECT | write ARRAY[value, ...]"),
        ("SELECT a[1:2] FROM t", "a slice [a:b] is not Flink SQL | a | write ARRAY_SLICE(array, first, last)"),
        ("SELECT * FROM a, b", "a join of several tables in FROM is not supported yet | b | no hint"),
        ("SELECT * FROM a, LATERAL TABLE(f(x))", "LATERAL is not supported yet | LATERAL | no hint"),
        ("SELECT * FROM LATERAL (SELECT 1)", "LATERAL is not supported yet | LATERAL | no hint"),
        (
            "SELECT * FROM a FOR SYSTEM_TIME AS OF p",
            "FOR SYSTEM_TIME AS OF is not supported yet | FOR SYSTEM_TIME | no hint",
        ),
        (
            "SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS x > 1)",
            "MATCH_RECOGNIZE is not supported yet | MATCH_RECOGNIZE | no hint",
        ),
        ("SELECT * FROM t TABLESAMPLE BERNOULLI (5)", "TABLESAMPLE is not supported yet | TABLESAMPLE | no hint"),
        (
            "SELECT SUM(a) OVER (ORDER BY b) FROM t",
            "SUM OVER (...) is not supported yet | SUM | ROW_NUMBER() OVER (...) is, to find the first rows",
        ),
        (
            "SELECT * FROM t /*+ OPTIONS('a' = 'b') */",
            "the hint /*+ OPTIONS('a' = 'b') */ is not supported yet | /*+ OPTIONS('a' = 'b') */ | write the options in the WITH clause of CREATE TABLE, or remove the + to make it a comment",
        ),
        (
            "SELECT TABLE t FROM t",
            "TABLE stands only before the input of a window function | TABLE | write FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(time_column), INTERVAL '10' MINUTE))",
        ),
        (
            "SELECT a FROM t QUALIFY x = 1",
            "QUALIFY is not Flink SQL | QUALIFY | filter on the column in an outer query",
        ),
        (
            "SELECT a FROM t FETCH FIRST 5 ROWS WITH TIES",
            "WITH TIES is not Flink SQL | WITH TIES | write FETCH FIRST n ROWS ONLY",
        ),
        (
            "SELECT a FROM t FETCH FIRST ROW ONLY",
            "FETCH without a number is not Flink SQL | FETCH | write FETCH FIRST n ROWS ONLY",
        ),
        (
            "SELECT a FROM t LIMIT 1 FETCH FIRST 5 ROWS ONLY",
            "LIMIT and FETCH together is not Flink SQL | FETCH | remove one of them",
        ),
        (
            "SELECT EXTRACT(DAY FROM INTERVAL '1' MONTH) FROM t",
            "there is no DAY in this interval | '1' | its units are YEAR, QUARTER, MONTH",
        ),
        ("SELECT CASE WHEN a, b THEN 1 END FROM t", "expected THEN, found , | , | no hint"),
        (
            "SELECT a BETWEEN SYMMETRIC 1 OR 2 FROM t",
            "expected AND, found OR | OR | is a comma, an operator or a ; missing before it?",
        ),
        (
            "SELECT DISTINCT ON (a) b FROM t",
            "DISTINCT ON is not Flink SQL | DISTINCT ON | number the rows with ROW_NUMBER()",
        ),
        ("SELECT TOP 5 a FROM t", "TOP is not Flink SQL | TOP | write LIMIT n"),
        ("SELECT a INTO b FROM t", "INTO is not Flink SQL | INTO | write INSERT INTO target SELECT ..."),
        ("SELECT a FROM t GROUP BY ALL", "GROUP BY ALL is not Flink SQL | GROUP BY | list the columns"),
        ("SELECT a FROM t FOR UPDATE", "FOR is not Flink SQL | FOR | remove the clause"),
        (
            "WITH RECURSIVE c AS (SELECT 1) SELECT * FROM c",
            "WITH RECURSIVE is not Flink SQL | WITH RECURSIVE | write the steps out",
        ),
        ("SELECT a::INT FROM t", "the cast :: is not Flink SQL | :: | write CAST(value AS type)"),
        ("SELECT CAST(a AS INT64) FROM t", "INT64 is not a Flink type | a | write BIGINT"),
        ("SELECT a ILIKE 'x' FROM t", "ILIKE is not Flink SQL | a | write LOWER(a) LIKE b"),
        ("SELECT ? FROM t", "a placeholder is not Flink SQL | ? | write the value"),
        ("SELECT N'x'", "this form of a string is not Flink SQL | N'x' | write it in single quotes"),
    ]);
}
