//! Which operator of a job takes up the state of which one of another: a pure function of what they are known by.
//!
//! An operator finds its state again where the statements around it have changed, as long as it does the same itself, with
//! columns that come from the same: by its name where its rows come another way, by its lineage where its table or view has
//! another name. What could be one of several is nobody's.

use std::collections::{BTreeMap, BTreeSet};

use tidemill_state::checkpoint::OperatorIdentity;

/// Operators, by the name that their job gives them.
pub(super) type Operators = BTreeMap<String, OperatorIdentity>;

/// Operators of one job that are alike in something.
type Alike<'a> = Vec<(&'a str, &'a OperatorIdentity)>;

/// Of `then`, those that have one of `now` to take their state up.
pub(super) fn matched<'a>(then: &'a Operators, now: &'a Operators) -> BTreeMap<&'a str, &'a str> {
    let mut found = Found::default();
    // Those that are alike in all are of the same use.
    let in_all = |o: &'a OperatorIdentity| vec![&*o.name, &*o.words, &*o.lineage, &*o.derivation];
    for (then, now) in found.left(then, now, in_all, |_, _| true) {
        if then.len() == now.len() {
            found.pairs.extend(then.iter().zip(&now).map(|((then, _), (now, _))| (*then, *now)));
        }
    }
    // The numbers of statements that write to one table say which is which only while all of them are there.
    let by_name = |o: &'a OperatorIdentity| vec![without_number(&o.name), &*o.words, &*o.derivation];
    for (then, now) in found.left(then, now, by_name, |_, _| true) {
        let (then, now) = (by_own_name(&then), by_own_name(&now));
        if then.keys().eq(now.keys()) && then.values().chain(now.values()).all(|all| all.len() == 1) {
            found.pairs.extend(then.values().zip(now.values()).map(|(then, now)| (then[0], now[0])));
        }
    }
    let names = |operators: &'a Operators| operators.values().map(|o| &*o.name).collect::<BTreeSet<&str>>();
    let (names_then, names_now) = (names(then), names(now));
    let renamed = |name: &str, is_then: bool| match is_then {
        true => !names_now.contains(name),
        false => !names_then.contains(name),
    };
    let by_lineage = |o: &'a OperatorIdentity| vec![&*o.words, &*o.lineage, &*o.derivation];
    for (then, now) in found.left(then, now, by_lineage, renamed) {
        if let (&[(then, _)], &[(now, _)]) = (&then[..], &now[..]) {
            found.pairs.insert(then, now);
        }
    }
    found.pairs
}

#[derive(Default)]
struct Found<'a> {
    pairs: BTreeMap<&'a str, &'a str>,
}

impl<'a> Found<'a> {
    /// Those that have no other yet, by what they are alike in; of each side those whose name is `wanted`.
    fn left(
        &self,
        then: &'a Operators,
        now: &'a Operators,
        key: impl Fn(&'a OperatorIdentity) -> Vec<&'a str>,
        wanted: impl Fn(&str, bool) -> bool,
    ) -> Vec<(Alike<'a>, Alike<'a>)> {
        let taken: BTreeSet<&str> = self.pairs.values().copied().collect();
        let (mut alike_then, mut alike_now): (BTreeMap<_, Alike<'a>>, BTreeMap<_, Alike<'a>>) = Default::default();
        for (operator, identity) in then.iter().filter(|(operator, _)| !self.pairs.contains_key(operator.as_str())) {
            if wanted(&identity.name, true) {
                alike_then.entry(key(identity)).or_default().push((operator, identity));
            }
        }
        for (operator, identity) in now.iter().filter(|(operator, _)| !taken.contains(operator.as_str())) {
            if wanted(&identity.name, false) {
                alike_now.entry(key(identity)).or_default().push((operator, identity));
            }
        }
        let both = |(key, then)| Some((then, alike_now.remove(&key)?));
        alike_then.into_iter().filter_map(both).collect()
    }
}

/// The name of the second statement that writes to `o` is `o#2`.
fn without_number(name: &str) -> &str {
    name.rsplit_once('#')
        .filter(|(_, number)| number.bytes().all(|b| b.is_ascii_digit()))
        .map_or(name, |(name, _)| name)
}

fn by_own_name<'a>(alike: &[(&'a str, &'a OperatorIdentity)]) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (operator, identity) in alike {
        by_name.entry(&identity.name).or_default().push(operator);
    }
    by_name
}

#[cfg(test)]
mod tests;
