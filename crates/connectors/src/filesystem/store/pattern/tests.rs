use super::*;

const PATHS: [&str; 10] = [
    ".hidden.json",
    "_SUCCESS",
    "_tmp/a.json",
    "a.json",
    "day=1/._a.json",
    "day=1/_a.json",
    "day=1/a.json",
    "day=1/b.csv",
    "day=2/.x/a.json",
    "day=2/deep/a.json",
];

fn parsed(text: &str) -> (&str, PathPattern) {
    PathPattern::parse(text, text).unwrap()
}

fn names(path: &str) -> Vec<&str> {
    path.split('/').collect()
}

/// The paths that a pattern names, from the folder on that it begins in.
fn named(text: &str) -> Vec<&'static str> {
    let (_, pattern) = parsed(text);
    PATHS.into_iter().filter(|path| pattern.below(&names(path)).is_some()).collect()
}

#[test]
fn a_file_is_named_that_fits_or_is_in_a_folder_that_fits() {
    let visible = ["a.json", "day=1/a.json", "day=1/b.csv", "day=2/deep/a.json"];
    for text in ["*", "**", "**/*", "**/**", "in/*", "in//./*"] {
        assert_eq!(named(text), visible, "{text}");
    }
    assert_eq!(named("day=*/a.json"), ["day=1/a.json"]);
    assert_eq!(named("**/a.json"), ["a.json", "day=1/a.json", "day=2/deep/a.json"]);
    assert_eq!(named("*/**/deep"), ["day=2/deep/a.json"]);
    assert_eq!(named("*/"), ["day=1/a.json", "day=1/b.csv", "day=2/deep/a.json"], "only folders");
    assert_eq!(named("day=[!1]/?*"), ["day=2/deep/a.json"]);
    assert!(named("*.json/*").is_empty());
}

#[test]
fn no_sign_stands_for_the_beginning_of_a_hidden_name() {
    assert_eq!(named("*.json"), ["a.json"]);
    assert_eq!(named("*.*"), ["a.json"]);
    for text in ["?SUCCESS", "[_]SUCCESS", "[.]hidden.json", "?hidden.json", "**/._/*"] {
        assert!(named(text).is_empty(), "{text}");
    }
    assert_eq!(named("_*"), ["_SUCCESS", "_tmp/a.json"]);
    assert_eq!(named("[d]*/_*.json"), ["day=1/_a.json"]);
    assert_eq!(named("**/._*"), ["day=1/._a.json"]);
    assert_eq!(named("**/.x/*"), ["day=2/.x/a.json"]);
}

#[test]
fn whatever_is_named_is_in_folders_that_are_entered() {
    for text in ["*", "**", "**/*", "day=*/*", "day=*/**/a.json", "**/.x/*", "_*", "d*", "**/deep/*", "[d]*/_*.json"] {
        let (_, pattern) = parsed(text);
        for path in named(text) {
            let names = names(path);
            assert!((0..names.len()).all(|depth| pattern.may_fit_in(&names[..depth])), "{path} of {text}");
        }
    }
    let enters = |text: &str, folder: &str| parsed(text).1.may_fit_in(&names(folder));
    assert!(!enters("*.json", "day=1"));
    assert!(!enters("day=[1]/*", "day=2"));
    assert!(!enters("**/*", "_tmp"));
}

#[test]
fn the_folder_ends_before_the_first_sign() {
    for (text, folder) in
        [("in/day=*/x.json", "in/"), ("/a/b/c?/d", "/a/b/"), ("/*", "/"), ("*.json", ""), ("../[a]", "../")]
    {
        assert_eq!(parsed(text).0, folder);
    }
}

#[test]
fn what_is_no_pattern_is_refused() {
    for text in ["a[", "a/***/b", "a**/b", "in/x[/]y"] {
        let error = PathPattern::parse("written", text).unwrap_err();
        assert!(error.message().starts_with("'written' is not a pattern for files: "), "{error}");
        assert!(error.hint_text().is_some());
    }
}
