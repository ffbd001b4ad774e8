//! Which operator of a job takes up the state of which one of another: a pure function of what they are known by.
//!
//! An operator finds its state again where the statements around it have changed, as long as it does the same itself: by its
//! lineage where its table or view has another name, by its name and words where its rows come another way. What could be
//! one of several is nobody's.

use std::collections::BTreeMap;

use tidemill_state::checkpoint::OperatorIdentity;

/// Operators, by the name that their job gives them.
pub(super) type Operators = BTreeMap<String, OperatorIdentity>;

/// What has to be alike, the strictest first.
const KEYS: [fn(&OperatorIdentity) -> Vec<&str>; 3] = [
    |operator| vec![&operator.name, &operator.words, &operator.lineage],
    |operator| vec![&operator.words, &operator.lineage],
    |operator| vec![&operator.name, &operator.words],
];

/// Of `then`, those that have one of `now` to take their state up.
pub(super) fn matched<'a>(then: &'a Operators, now: &'a Operators) -> BTreeMap<&'a str, &'a str> {
    let mut found: BTreeMap<&str, &str> = BTreeMap::new();
    for (strictness, key) in KEYS.iter().enumerate() {
        let left: Vec<_> = then.iter().filter(|(name, _)| !found.contains_key(name.as_str())).collect();
        let taken: Vec<&str> = found.values().copied().collect();
        let free: Vec<_> = now.iter().filter(|(name, _)| !taken.contains(&name.as_str())).collect();
        let (then, now) = (by_key(&left, *key), by_key(&free, *key));
        for (key, then) in then {
            let now = now.get(&key).map(Vec::as_slice).unwrap_or_default();
            // Those that are alike in all are of the same use.
            if then.len() == now.len() && (then.len() == 1 || strictness == 0) {
                found.extend(then.into_iter().zip(now.iter().copied()));
            }
        }
    }
    found
}

fn by_key<'a>(
    operators: &[(&'a String, &'a OperatorIdentity)],
    key: fn(&OperatorIdentity) -> Vec<&str>,
) -> BTreeMap<Vec<&'a str>, Vec<&'a str>> {
    let mut by_key: BTreeMap<Vec<&str>, Vec<&str>> = BTreeMap::new();
    for (name, operator) in operators {
        by_key.entry(key(operator)).or_default().push(name);
    }
    by_key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operators(all: &[(&str, &str, &str, &str)]) -> Operators {
        let operator = |&(key, name, words, lineage): &(&str, &str, &str, &str)| {
            let [name, words, lineage] = [name, words, lineage].map(str::to_owned);
            (key.to_owned(), OperatorIdentity { name, words, lineage, subtasks: 1, by_key_group: false })
        };
        all.iter().map(operator).collect()
    }

    fn pairs(then: &[(&str, &str, &str, &str)], now: &[(&str, &str, &str, &str)]) -> Vec<(String, String)> {
        let (then, now) = (operators(then), operators(now));
        matched(&then, &now).into_iter().map(|(then, now)| (then.to_owned(), now.to_owned())).collect()
    }

    fn pair(then: &str, now: &str) -> (String, String) {
        (then.to_owned(), now.to_owned())
    }

    #[test]
    fn an_operator_is_found_behind_others_that_were_added() {
        let then = [("1.0", "group of a", "by (x)", "l1"), ("2.sink", "sink a", "sink a", "s")];
        let now = [
            ("1.0", "group of new", "by (z)", "l9"),
            ("4.0", "group of a", "by (x)", "l1"),
            ("5.sink", "sink a", "sink a", "s"),
        ];
        assert_eq!(pairs(&then, &now), [pair("1.0", "4.0"), pair("2.sink", "5.sink")]);
    }

    #[test]
    fn one_whose_statement_has_another_name_is_found_by_its_lineage() {
        assert_eq!(pairs(&[("1.0", "group of a", "w", "l")], &[("3.0", "group of b", "w", "l")]), [pair("1.0", "3.0")]);
    }

    #[test]
    fn one_whose_rows_come_another_way_is_found_by_its_name() {
        assert_eq!(
            pairs(&[("1.0", "group of a", "w", "l1")], &[("3.0", "group of a", "w", "l2")]),
            [pair("1.0", "3.0")]
        );
    }

    #[test]
    fn one_that_does_something_else_is_not() {
        assert_eq!(pairs(&[("1.0", "group of a", "w1", "l1")], &[("1.0", "group of a", "w2", "l1")]), []);
        // Nor is one that has nothing else in common.
        assert_eq!(pairs(&[("1.0", "group of a", "w", "l1")], &[("1.0", "group of b", "w", "l2")]), []);
    }

    #[test]
    fn the_closest_is_taken_first() {
        let then = [("1.0", "a", "w", "l1"), ("2.0", "b", "w", "l2")];
        let now = [("1.0", "b", "w", "l2"), ("2.0", "a", "w", "l1")];
        assert_eq!(pairs(&then, &now), [pair("1.0", "2.0"), pair("2.0", "1.0")]);
    }

    #[test]
    fn what_could_be_one_of_two_is_nobodys_unless_they_are_alike_in_all() {
        let one = [("1.0", "a", "w", "l")];
        assert_eq!(pairs(&one, &[("1.0", "b", "w", "l"), ("2.0", "c", "w", "l")]), []);
        let twins = [("1.0", "a", "w", "l"), ("2.0", "a", "w", "l")];
        let later = [("5.0", "a", "w", "l"), ("7.0", "a", "w", "l")];
        assert_eq!(pairs(&twins, &later), [pair("1.0", "5.0"), pair("2.0", "7.0")]);
        assert_eq!(pairs(&twins, &one), []);
    }
}
