//! Whatever the text, the answer is statements or an error, soon, and on a small stack.

use proptest::prelude::*;

use super::{parse, show};

const SCRIPT: &str = "SET 'a' = 'b'; CREATE TABLE t (a INT, r ROW<x INT, y ARRAY<STRING>>, at TIMESTAMP_LTZ(3), c AS a + 1, \
    m BIGINT METADATA FROM 'k' VIRTUAL, PRIMARY KEY (a) NOT ENFORCED, WATERMARK FOR at AS at - INTERVAL '5' SECOND) \
    PARTITIONED BY (a) WITH ('connector' = 'x', 'é' = '🦀'); \
    CREATE VIEW v AS SELECT a, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(at), INTERVAL '1' MINUTE)) GROUP BY a; \
    EXECUTE STATEMENT SET BEGIN INSERT INTO s SELECT * FROM v WHERE a IN (1, 2); \
    INSERT INTO u SELECT CASE WHEN a = 1 THEN 'x' END FROM SESSION(TABLE t PARTITION BY (a), DESCRIPTOR(at), INTERVAL '1:30' MINUTE TO SECOND); END; \
    SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY a ORDER BY c) AS n FROM t) WHERE n <= 3";

fn words() -> Vec<&'static str> {
    let mut words: Vec<&str> = SCRIPT.split(' ').collect();
    words.extend([
        "(", ")", "<", ">", ">>", ",", ";", "'", "`", "\"", "/*", "*/", "--", "\n", "::", "->", "{", "[", "]", "NOT",
    ]);
    words.extend([
        "JOIN",
        "LATERAL",
        "UNNEST(",
        "ARRAY[",
        "MAP[",
        "WITH ORDINALITY",
        "WITH",
        "AS",
        "TABLE",
        "ROW <",
        "UNION",
        "CAST(",
        "\u{feff}",
        "é",
        "$1",
        "?",
        "||",
    ]);
    words
}

/// Reads the text and, if there is a place, the part of the text that it names.
fn survives(text: &str) {
    if let Err(error) = parse(text) {
        show(&error);
    }
}

proptest! {
    #[test]
    fn soup_of_words(picks in prop::collection::vec(prop::sample::select(words()), 0..40)) {
        survives(&picks.join(" "));
    }

    #[test]
    fn soup_of_characters(text in "\\PC{0,80}") {
        survives(&text);
    }

    #[test]
    fn mutations_of_a_script(edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, prop::sample::select(words())), 1..6)) {
        let mut tokens: Vec<&str> = SCRIPT.split(' ').collect();
        for (index, kind, word) in edits {
            let at = index.index(tokens.len());
            match kind {
                0 => { tokens.remove(at); }
                1 => tokens.insert(at, word),
                2 => tokens[at] = word,
                _ => { let other = index.index(at + 1); tokens.swap(at, other); }
            }
        }
        survives(&tokens.join(" "));
    }

    #[test]
    fn cut_scripts(cut in 0..SCRIPT.len()) {
        if SCRIPT.is_char_boundary(cut) {
            survives(&SCRIPT[..cut]);
        }
    }
}

#[test]
fn the_script_itself_parses() {
    assert_eq!(super::parsed(SCRIPT).len(), 6);
}

#[test]
fn depth_is_an_error() {
    let repeat = |head: &str, tail: &str| format!("SELECT {}1{}", head.repeat(5_000), tail.repeat(5_000));
    let texts = [
        repeat("(", ")"),
        repeat("f(", ")"),
        repeat("CAST(", " AS INT)"),
        repeat("NOT ", ""),
        repeat("- ", ""),
        repeat("CASE WHEN ", " THEN 1 END"),
        repeat("(SELECT ", ")"),
        format!("SELECT * FROM {}t", "(".repeat(5_000)),
        format!("SELECT * FROM {}t", "(SELECT * FROM ".repeat(5_000)),
        format!("SELECT 1{}", " + 1".repeat(5_000)),
        format!("SELECT 1{}", " IS NULL".repeat(5_000)),
        format!("SELECT 1{}", " UNION SELECT 1".repeat(5_000)),
        format!("CREATE TABLE t (a {}INT{}) WITH ('a' = 'b')", "ARRAY<".repeat(5_000), ">".repeat(5_000)),
        format!("CREATE TABLE t (a {}INT{}) WITH ('a' = 'b')", "ROW<a ".repeat(5_000), ">".repeat(5_000)),
        format!("SELECT CAST(a AS {}INT{})", "ARRAY<".repeat(5_000), ">".repeat(5_000)),
    ];
    for text in texts {
        parse(&text).expect_err(&text[..40]);
    }
}

/// What parses can be dropped on the small stack of a test's thread.
#[test]
fn the_longest_chains_are_harmless() {
    for text in [format!("SELECT 1{}", " + 1".repeat(249)), format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(249))] {
        drop(super::parsed(&text));
    }
}

/// Their tree is flat.
#[test]
fn chains_of_what_may_be_put_in_any_brackets_have_no_limit() {
    for operator in [" AND a > 1", " OR a > 1", " || a"] {
        drop(super::parsed(&format!("SELECT a FROM t WHERE b{}", operator.repeat(20_000))));
    }
}

/// sqlparser tries and backs off: a mistake deep inside must not be tried in every combination.
#[test]
fn backtracking_is_bounded() {
    for depth in [10, 20, 40] {
        survives(&format!("SELECT {}", "CAST(a + ".repeat(depth)));
        survives(&format!("SELECT {}", "f(CASE WHEN ".repeat(depth)));
        survives(&format!("SELECT {}", "TRIM(SUBSTRING(".repeat(depth)));
        survives(&format!("SELECT * FROM {}", "(((SELECT * FROM ".repeat(depth)));
        survives(&format!("SELECT * FROM {}a JOIN", "(".repeat(depth)));
        survives(&format!("SELECT {}", "ARRAY[CURRENT_DATE(CONVERT(".repeat(depth)));
    }
}
