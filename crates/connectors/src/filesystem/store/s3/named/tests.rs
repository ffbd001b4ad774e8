use super::*;

const KEYS: [&str; 10] = [
    "a.json",
    "in/.hidden",
    "in/_tmp/x.json",
    "in/a.json",
    "in/day=1/.x.json",
    "in/day=1/_x.json",
    "in/day=1/x.json",
    "in/day=1/y.csv",
    "in/day=2/deep/x.json",
    "in-other/a.json",
];

fn named(key: &str) -> Named {
    Named::new(&format!("s3://b/{key}").into(), key).unwrap()
}

/// The keys that are named, apart from that of one object.
fn keys(key: &str) -> Vec<&'static str> {
    let named = named(key);
    KEYS.into_iter().filter(|key| named.names(&Key::parse(key).unwrap())).collect()
}

#[test]
fn a_folder_is_all_that_is_not_hidden_below_it() {
    let below = ["in/a.json", "in/day=1/x.json", "in/day=1/y.csv", "in/day=2/deep/x.json"];
    for key in ["in", "in/"] {
        let named = named(key);
        let in_folder = |key: &&str| key.starts_with("in/") && named.names(&Key::parse(*key).unwrap());
        assert_eq!(KEYS.into_iter().filter(in_folder).collect::<Vec<_>>(), below);
        assert_eq!(named.folder().unwrap().as_ref(), "in");
    }
    assert_eq!(named("in").key().unwrap().as_ref(), "in");
    assert!(named("in/").key().is_none());
    assert!(named("").folder().is_none() && named("").key().is_none());
    assert_eq!(keys("").len(), 6);
}

#[test]
fn a_pattern_fits_a_name_or_a_folder_that_it_is_in() {
    assert_eq!(keys("in/day=*/x.json"), ["in/day=1/x.json"]);
    assert_eq!(keys("in/day=*"), ["in/day=1/x.json", "in/day=1/y.csv", "in/day=2/deep/x.json"]);
    assert_eq!(keys("in/day=*/"), keys("in/day=*"));
    assert_eq!(keys("in/**/x.json"), ["in/day=1/x.json", "in/day=2/deep/x.json"]);
    assert_eq!(keys("in/*.json"), ["in/a.json"]);
    assert_eq!(keys("in/day=[2-9]/"), ["in/day=2/deep/x.json"]);
    // Who writes out the '_' or '.' that a name begins with wants it.
    assert!(keys("in/day=1/?x.json").is_empty());
    assert_eq!(keys("in/day=1/_*"), ["in/day=1/_x.json"]);
    assert_eq!(keys("in/_tmp/*"), ["in/_tmp/x.json"]);
    assert_eq!(keys("in/.h*"), ["in/.hidden"]);
    assert!(keys("*/nothing").is_empty());
}

#[test]
fn only_the_folder_before_the_first_sign_of_a_pattern_is_listed() {
    let folder = |key: &str| named(key).folder().map(ToString::to_string);
    assert_eq!(folder("in/day=*/x.json").as_deref(), Some("in"));
    assert_eq!(folder("a/b/c?/d").as_deref(), Some("a/b"));
    assert_eq!(folder("*.json"), None);
}

#[test]
fn what_is_no_path_or_no_pattern_is_refused() {
    for key in ["a//b", "../b", "a[", "a/***/b"] {
        let error = Named::new(&format!("s3://b/{key}").into(), key).unwrap_err();
        assert!(error.message().contains(key) && error.hint_text().is_some(), "{error}");
    }
}
