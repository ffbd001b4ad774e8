use arrow::datatypes::{DataType, TimeUnit};

use super::{parsed, query};
use crate::parse::{ColumnKind, CreateTable, SqlText, Statement, parse};

fn table(text: &str) -> CreateTable {
    match parsed(text).remove(0) {
        Statement::CreateTable(table) => table,
        other => panic!("not a table: {other:?}"),
    }
}

const ORDERS: &str = "-- the shop's orders
CREATE TEMPORARY TABLE IF NOT EXISTS `order s` (
  id BIGINT NOT NULL COMMENT 'the ''key''',
  price DECIMAL(10, 2), /* in euro */
  tags ARRAY<ROW<k STRING, v MAP<STRING, ARRAY<INT>>>>,
  at TIMESTAMP_LTZ(3),
  long TIMESTAMP(3) WITH LOCAL TIME ZONE,
  twice AS price * 2 COMMENT 'computed',
  off BIGINT METADATA FROM 'offset' VIRTUAL,
  `timestamp` TIMESTAMP(3) NOT NULL METADATA,
  ts AS TO_TIMESTAMP(`timestamp`),
  CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED,
  WATERMARK FOR at AS at - INTERVAL '5' SECOND
) COMMENT 'all orders' PARTITIONED BY (price, id) WITH (
  'connector' = 'filesystem',
  'path' = 'a;b'
);";

#[test]
fn a_table_says_all_that_was_declared() {
    let table = table(ORDERS);
    assert_eq!(table.name.value, "order s");
    assert!(table.temporary && table.if_not_exists);
    assert_eq!(table.comment.as_deref(), Some("all orders"));
    let names: Vec<_> = table.columns.iter().map(|c| c.name.value.as_str()).collect();
    assert_eq!(names, ["id", "price", "tags", "at", "long", "twice", "off", "timestamp", "ts"]);
    assert_eq!(table.primary_key.iter().map(|k| k.value.as_str()).collect::<Vec<_>>(), ["id"]);
    assert_eq!(table.partitioned_by.len(), 2);
    let options: Vec<_> = table.options.iter().map(|(k, v, _)| (k.as_str(), v.as_str())).collect();
    assert_eq!(options, [("connector", "filesystem"), ("path", "a;b")]);
    let watermark = table.watermark.expect("declared");
    assert_eq!(
        (watermark.column.value.as_str(), watermark.expr.to_string().as_str()),
        ("at", "at - INTERVAL '5' SECOND")
    );
}

#[test]
fn columns_have_their_kind() {
    let table = table(ORDERS);
    let kind = |n: usize| &table.columns[n].kind;
    assert!(matches!(kind(0), ColumnKind::Physical { data_type: DataType::Int64, nullable: false }));
    assert_eq!(table.columns[0].comment.as_deref(), Some("the 'key'"));
    assert!(matches!(kind(1), ColumnKind::Physical { data_type: DataType::Decimal128(10, 2), nullable: true }));
    let ColumnKind::Physical { data_type, .. } = kind(2) else { panic!("{:?}", kind(2)) };
    assert_eq!(crate::types::flink_type_name(data_type), "ARRAY<ROW<k STRING, v MAP<STRING, ARRAY<INT>>>>");
    for n in [3, 4] {
        let ColumnKind::Physical { data_type, .. } = kind(n) else { panic!("{:?}", kind(n)) };
        assert_eq!(*data_type, DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())));
    }
    assert!(matches!(kind(5), ColumnKind::Computed(e) if e.to_string() == "price * 2"));
    assert!(
        matches!(kind(6), ColumnKind::Metadata { key: Some(k), read_only: true, nullable: true, .. } if k == "offset")
    );
    assert!(matches!(kind(7), ColumnKind::Metadata { key: None, read_only: false, nullable: false, .. }));
    assert!(matches!(kind(8), ColumnKind::Computed(e) if e.to_string() == "to_timestamp(`timestamp`)"));
}

#[test]
fn places_count_bytes_behind_wide_characters_tabs_and_a_byte_order_mark() {
    let text = "\u{feff}CREATE TABLE t (\r\n\t`größe` INT, /* 🦀 */ b INT, WATERMARK FOR b AS b)\nWITH ('k' = 'é', 'naïve' = 'v')";
    let table = table(text);
    let under = |e: &tidemill_core::Excerpt| e.text[e.span.clone()].to_owned();
    assert_eq!(under(&table.excerpt), text.trim_start_matches('\u{feff}'));
    assert_eq!(under(&table.columns[0].excerpt), "`größe` INT");
    assert_eq!(under(&table.columns[1].excerpt), "b INT");
    assert_eq!(under(&table.watermark.expect("declared").excerpt), "WATERMARK FOR b AS b");
    assert_eq!(table.options.iter().map(|o| under(&o.2)).collect::<Vec<_>>(), ["'k'", "'naïve'"]);
}

#[test]
fn a_key_may_stand_at_its_column_and_is_never_null() {
    let table = table("CREATE TABLE t (a INT PRIMARY KEY NOT ENFORCED, b INT NULL) WITH ('connector' = 'x')");
    assert_eq!(table.primary_key[0].value, "a");
    assert!(matches!(table.columns[0].kind, ColumnKind::Physical { nullable: false, .. }));
    assert!(matches!(table.columns[1].kind, ColumnKind::Physical { nullable: true, .. }));
}

#[test]
fn a_script_is_its_statements_in_order() {
    let text = "SET 'a.b' = 'it''s'; ;
        CREATE VIEW v (x, y) COMMENT 'c' AS SELECT a, B FROM t;
        CREATE TEMPORARY VIEW IF NOT EXISTS w AS WITH c AS (SELECT 1) SELECT * FROM c;
        INSERT INTO s SELECT * FROM v;
        INSERT OVERWRITE s (x, y) (SELECT a, b FROM v);
        INSERT INTO s (SELECT 1);
        INSERT INTO s (x) VALUES (1), (2);
        EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT CASE WHEN x THEN 1 END FROM t; END;
        BEGIN STATEMENT SET; INSERT INTO c SELECT 1; END;
        SELECT 1 UNION ALL SELECT 2 ORDER BY 1 LIMIT 3 OFFSET 1";
    let statements = parsed(text);
    assert_eq!(statements.len(), 11);
    let Statement::Set { key, value, excerpt } = &statements[0] else { panic!("{:?}", statements[0]) };
    assert_eq!((key.as_str(), value.as_str(), &text[excerpt.span.clone()]), ("a.b", "it's", "'a.b'"));
    let Statement::CreateView(view) = &statements[1] else { panic!("{:?}", statements[1]) };
    assert_eq!((view.columns.len(), view.comment.as_deref(), view.temporary), (2, Some("c"), false));
    assert_eq!(view.query.to_string(), "SELECT a, B FROM t");
    assert!(matches!(&statements[2], Statement::CreateView(view) if view.temporary && view.if_not_exists));
    let inserts = statements.iter().filter_map(|s| match s {
        Statement::Insert(i) => Some((i.target.value.as_str(), i.columns.len(), i.overwrite)),
        _ => None,
    });
    let expected = [
        ("s", 0, false),
        ("s", 2, true),
        ("s", 0, false),
        ("s", 1, false),
        ("a", 0, false),
        ("b", 0, false),
        ("c", 0, false),
    ];
    assert_eq!(inserts.collect::<Vec<_>>(), expected);
    let Statement::Query { excerpt, .. } = &statements[10] else { panic!("{:?}", statements[10]) };
    assert_eq!(&text[excerpt.span.clone()], "SELECT 1 UNION ALL SELECT 2 ORDER BY 1 LIMIT 3 OFFSET 1");
}

#[test]
fn an_empty_text_has_no_statements() {
    for text in ["", " \n\t", "-- only a comment", "/* a */ ; ;", "\u{feff}"] {
        assert!(parsed(text).is_empty(), "{text:?}");
    }
}

/// Queries come out in one form: function names in lower case, literals with their precision, intervals in one unit.
#[test]
fn queries_are_normalised() {
    let cases = [
        (
            "SELECT COUNT(*), Sum(DISTINCT X) FILTER (WHERE Y > 1) FROM T",
            "SELECT count(*), sum(DISTINCT X) FILTER (WHERE Y > 1) FROM T",
        ),
        ("SELECT `Weird``Name` FROM `T`", "SELECT `Weird``Name` FROM `T`"),
        (
            "SELECT FLOOR(a TO HOUR), TIMESTAMPADD(DAY, 1, a), YEAR(a)",
            "SELECT floor to hour(a), timestampadd day(1, a), year(a)",
        ),
        ("SELECT * FROM 'events.jsonl.gz'", "SELECT * FROM 'events.jsonl.gz'"),
        (
            "SELECT a FROM t WHERE ts > TIMESTAMP '2024-01-01 00:00:00'",
            "SELECT a FROM t WHERE ts > TIMESTAMP(0) '2024-01-01 00:00:00'",
        ),
        ("SELECT TIMESTAMP '2024-01-01 00:00:00.1234'", "SELECT TIMESTAMP(4) '2024-01-01 00:00:00.1234'"),
        ("SELECT INTERVAL '1:30' MINUTE TO SECOND", "SELECT INTERVAL '90.000' SECOND"),
        ("SELECT INTERVAL '1 10:30:15.5' DAY TO SECOND", "SELECT INTERVAL '124215.500' SECOND"),
        ("SELECT INTERVAL '-1-6' YEAR TO MONTH", "SELECT INTERVAL '-18' MONTH"),
        ("SELECT INTERVAL '100' DAY(3)", "SELECT INTERVAL '100' DAY"),
        (
            "SELECT a, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) AS n FROM t",
            "SELECT a, row_number() OVER (PARTITION BY a ORDER BY b) AS n FROM t",
        ),
        (
            "SELECT a FROM (SELECT A AS a FROM t) AS x GROUP BY CUBE (a)",
            "SELECT a FROM (SELECT A AS a FROM t) AS x GROUP BY CUBE (a)",
        ),
        ("SELECT CAST(a AS ROW<x INT>) FROM t", "SELECT CAST(a AS STRUCT<x INT>) FROM t"),
        (
            "SELECT CASE a WHEN 1 THEN 'x' ELSE 'y' END, a IN (1, 2), b LIKE 'a%', EXTRACT(DAY FROM c) FROM t",
            "SELECT CASE a WHEN 1 THEN 'x' ELSE 'y' END, a IN (1, 2), b LIKE 'a%', extract day(c) FROM t",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(query(text).to_string(), expected, "{text}");
    }
}

#[test]
fn an_origin_is_kept() {
    let error = parse(&SqlText::new("a/b.sql", "SELEC 1")).expect_err("a mistake");
    assert_eq!(&*error.excerpt().expect("a place").origin, "a/b.sql");
}
