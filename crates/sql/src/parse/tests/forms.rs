//! Forms that sqlparser does not read, as what the planner sees.

use super::json::planned;

#[test]
fn several_values_of_a_when_ask_for_the_branch_first() {
    for (written, meant) in [
        ("CASE a WHEN 1 THEN b ELSE c END", "CASE a WHEN 1 THEN b ELSE c END"),
        ("CASE a WHEN 1, 2 THEN b END", "CASE CASE a WHEN 1 THEN 0 WHEN 2 THEN 0 END WHEN 0 THEN b END"),
        ("a BETWEEN ASYMMETRIC 1 AND 2", "a BETWEEN 1 AND 2"),
        ("NOT a NOT BETWEEN SYMMETRIC 1 AND 2 AND b", "NOT NOT between symmetric(a, 1, 2) AND b"),
        ("EXTRACT(HOUR FROM INTERVAL '-1 10:30' DAY TO MINUTE)", "CAST(-10 AS BIGINT)"),
        ("CEILING(a) + PI + `pi`", "CEIL(a) + pi() + `pi`"),
    ] {
        assert_eq!(planned(written), meant, "{written}");
    }
}
