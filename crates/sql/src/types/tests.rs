use arrow::datatypes::DataType;
use datafusion::{
    logical_expr::planner::TypePlanner,
    sql::sqlparser::{ast, dialect::GenericDialect, parser::Parser},
};

use super::{FlinkTypePlanner, arrow_type, flink_type_name};

/// The types here are written so that sqlparser's generic dialect reads them too.
fn sql_type(text: &str) -> ast::DataType {
    Parser::new(&GenericDialect {}).try_with_sql(text).and_then(|mut p| p.parse_data_type()).expect(text)
}

#[test]
fn every_type_becomes_arrow_and_back() {
    let cases = [
        ("BOOLEAN", "BOOLEAN"),
        ("TINYINT", "TINYINT"),
        ("SMALLINT", "SMALLINT"),
        ("INTEGER", "INT"),
        ("BIGINT", "BIGINT"),
        ("FLOAT", "FLOAT"),
        ("DOUBLE PRECISION", "DOUBLE"),
        ("DOUBLE", "DOUBLE"),
        ("DECIMAL", "DECIMAL(10, 0)"),
        ("DEC(5)", "DECIMAL(5, 0)"),
        ("NUMERIC(38, 38)", "DECIMAL(38, 38)"),
        ("CHAR", "STRING"),
        ("CHAR(3)", "STRING"),
        ("VARCHAR(10)", "STRING"),
        ("STRING", "STRING"),
        ("BYTES", "BYTES"),
        ("BINARY(4)", "BYTES"),
        ("VARBINARY(4)", "BYTES"),
        ("DATE", "DATE"),
        ("TIME", "TIME"),
        ("TIME(3) WITHOUT TIME ZONE", "TIME"),
        ("TIMESTAMP", "TIMESTAMP(6)"),
        ("TIMESTAMP(0)", "TIMESTAMP(3)"),
        ("TIMESTAMP(3) WITHOUT TIME ZONE", "TIMESTAMP(3)"),
        ("TIMESTAMP(4)", "TIMESTAMP(6)"),
        ("TIMESTAMP(9)", "TIMESTAMP(9)"),
        ("TIMESTAMP_LTZ", "TIMESTAMP_LTZ(6)"),
        ("TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(3)"),
        ("ARRAY<INT>", "ARRAY<INT>"),
        ("STRUCT<a INT, b ARRAY<STRING>>", "ROW<a INT, b ARRAY<STRING>>"),
        ("STRUCT<INT, STRING>", "ROW<f0 INT, f1 STRING>"),
    ];
    for (text, expected) in cases {
        let arrow = arrow_type(&sql_type(text)).expect(text);
        assert_eq!(flink_type_name(&arrow), expected, "{text}");
    }
}

#[test]
fn what_flink_has_not_is_refused_with_what_it_has() {
    let cases = [
        ("TEXT", "TEXT is not a Flink type (write STRING)"),
        ("INT64", "INT64 is not a Flink type (write BIGINT)"),
        ("DATETIME", "DATETIME is not a Flink type (write TIMESTAMP(3))"),
        ("INT UNSIGNED", "INT UNSIGNED is not a Flink type (write INT)"),
        ("BIGINT(20)", "BIGINT(20) is not a Flink type (write BIGINT)"),
        (
            "DECIMAL(39)",
            "DECIMAL(39, 0) is not a valid type (the precision is from 1 to 38, the scale from 0 to the precision)",
        ),
        (
            "DECIMAL(5, 6)",
            "DECIMAL(5, 6) is not a valid type (the precision is from 1 to 38, the scale from 0 to the precision)",
        ),
        ("TIMESTAMP(10)", "TIMESTAMP(10) is not a valid type (the precision is from 0 to 9)"),
        (
            "TIMESTAMP WITH TIME ZONE",
            "the type TIMESTAMP WITH TIME ZONE is not supported (use TIMESTAMP_LTZ(3), an instant in UTC)",
        ),
        ("MULTISET", "the type MULTISET is not supported (use STRING, ARRAY or MAP)"),
    ];
    for (text, expected) in cases {
        assert_eq!(arrow_type(&sql_type(text)).expect_err(text).to_string(), expected, "{text}");
    }
}

#[test]
fn lengths_have_flinks_range() {
    for (name, free) in [("CHAR", "STRING"), ("VARCHAR", "STRING"), ("BINARY", "BYTES"), ("VARBINARY", "BYTES")] {
        for length in ["1", "2147483647"] {
            let text = format!("{name}({length})");
            assert_eq!(flink_type_name(&arrow_type(&sql_type(&text)).expect(&text)), free);
        }
        for length in ["0", "2147483648", "18446744073709551615"] {
            let text = format!("{name}({length})");
            let expected = format!(
                "{text} is not a valid type (the length is a whole number from 1 to 2147483647; {free} has no length)"
            );
            assert_eq!(arrow_type(&sql_type(&text)).expect_err(&text).to_string(), expected);
        }
    }
}

#[test]
fn casts_in_queries_mean_the_same_types() {
    let field = FlinkTypePlanner.plan_type_field(&sql_type("TINYINT")).expect("a type").expect("planned");
    assert_eq!((field.data_type(), field.is_nullable()), (&DataType::Int8, true));
    assert!(FlinkTypePlanner.plan_type_field(&sql_type("INT64")).is_err());
}
