use super::*;

/// Operators, each with its name, words, lineage and derivation.
fn operators(all: &[(&str, [&str; 4])]) -> Operators {
    let operator = |(key, of): &(&str, [&str; 4])| {
        let [name, words, lineage, derivation] = of.map(str::to_owned);
        let identity = OperatorIdentity { name, words, lineage, derivation, subtasks: 1, by_key_group: false };
        ((*key).to_owned(), identity)
    };
    all.iter().map(operator).collect()
}

/// Which of `now` takes up whose state.
fn pairs(then: &[(&str, [&str; 4])], now: &[(&str, [&str; 4])]) -> Vec<(String, String)> {
    let (then, now) = (operators(then), operators(now));
    matched(&then, &now).into_iter().map(|(then, now)| (then.to_owned(), now.to_owned())).collect()
}

fn pair(then: &str, now: &str) -> (String, String) {
    (then.to_owned(), now.to_owned())
}

#[test]
fn an_operator_is_found_behind_others_that_were_added() {
    let then = [("1.0", ["group of a", "by (x)", "l1", "d"]), ("2.sink", ["sink a", "sink a", "s", "0"])];
    let now = [
        ("1.0", ["group of new", "by (z)", "l9", "d"]),
        ("4.0", ["group of a", "by (x)", "l1", "d"]),
        ("5.sink", ["sink a", "sink a", "s", "0"]),
    ];
    assert_eq!(pairs(&then, &now), [pair("1.0", "4.0"), pair("2.sink", "5.sink")]);
}

#[test]
fn one_whose_statement_has_another_name_is_found_by_its_lineage() {
    let (then, now) = ([("1.0", ["group of a", "w", "l", "d"])], [("3.0", ["group of b", "w", "l", "d"])]);
    assert_eq!(pairs(&then, &now), [pair("1.0", "3.0")]);
}

#[test]
fn one_whose_rows_come_another_way_is_found_by_its_name() {
    let (then, now) = ([("1.0", ["group of a", "w", "l1", "d"])], [("3.0", ["group of a", "w", "l2", "d"])]);
    assert_eq!(pairs(&then, &now), [pair("1.0", "3.0")]);
}

#[test]
fn one_that_does_something_else_or_whose_columns_come_from_others_is_not() {
    let then = [("1.0", ["group of a", "w", "l", "d"])];
    for now in [
        ["group of a", "w2", "l", "d"],
        ["group of a", "w", "l", "d2"],
        ["group of a", "w", "l2", "d2"],
        ["group of b", "w", "l2", "d"],
    ] {
        assert_eq!(pairs(&then, &[("1.0", now)]), [], "{now:?}");
    }
}

/// Their rows are exchanged: whose they were before says nothing, their names do.
#[test]
fn names_count_more_than_lineages_where_both_are_there() {
    let then = [("1.0", ["a", "w", "l1", "d"]), ("2.0", ["b", "w", "l2", "d"])];
    let now = [("1.0", ["a", "w", "l2", "d"]), ("2.0", ["b", "w", "l1", "d"])];
    assert_eq!(pairs(&then, &now), [pair("1.0", "1.0"), pair("2.0", "2.0")]);
    // One is gone, and the other has its rows: it stays itself.
    assert_eq!(pairs(&then, &[("1.0", ["b", "w", "l1", "d"])]), [pair("2.0", "1.0")]);
}

#[test]
fn what_could_be_one_of_two_is_nobodys_unless_they_are_alike_in_all() {
    let one = [("1.0", ["a", "w", "l", "d"])];
    assert_eq!(pairs(&one, &[("1.0", ["b", "w", "l", "d"]), ("2.0", ["c", "w", "l", "d"])]), []);
    let twins = [("1.0", ["a", "w", "l", "d"]), ("2.0", ["a", "w", "l", "d"])];
    let later = [("5.0", ["a", "w", "l", "d"]), ("7.0", ["a", "w", "l", "d"])];
    assert_eq!(pairs(&twins, &later), [pair("1.0", "5.0"), pair("2.0", "7.0")]);
    assert_eq!(pairs(&twins, &one), []);
}

/// Of two statements into one table the first is removed, and the other, which is the first now, has another condition.
#[test]
fn numbers_of_statements_say_nothing_where_one_is_gone() {
    let then = [("1.0", ["group of o", "w", "l1", "d"]), ("2.0", ["group of o#2", "w", "l2", "d"])];
    assert_eq!(pairs(&then, &[("1.0", ["group of o", "w", "l3", "d"])]), []);
    let both = [("1.0", ["group of o", "w", "l3", "d"]), ("2.0", ["group of o#2", "w", "l4", "d"])];
    assert_eq!(pairs(&then, &both), [pair("1.0", "1.0"), pair("2.0", "2.0")]);
}
