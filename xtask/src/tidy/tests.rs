use super::*;

fn problems(path: &str, text: &str) -> Vec<String> {
    of_file(&TextFile { path: path.to_owned(), text: text.to_owned() })
}

#[test]
fn a_file_says_why_it_exists_unless_it_is_a_test() {
    assert_eq!(problems("crates/a/src/b.rs", "//! Why.\nfn f() {}\n"), Vec::<String>::new());
    assert_eq!(problems("crates/a/src/b.rs", "fn f() {}\n").len(), 1);
    assert_eq!(problems("crates/a/src/b/tests.rs", "fn f() {}\n"), Vec::<String>::new());
}

#[test]
fn a_library_says_what_it_owns_what_it_never_does_and_where_to_start() {
    let head = "//! Words.\n//!\n//! **Owns** a.\n//! **Never** b.\n//! **Start at** c.\n";
    assert_eq!(problems("crates/a/src/lib.rs", head), Vec::<String>::new());
    assert_eq!(problems("crates/a/src/lib.rs", "//! Words.\n").len(), 3);
}

#[test]
fn what_is_unfinished_is_named_with_its_line() {
    let text = format!("//! Why.\nfn f() {{ {}) }}\n", UNFINISHED[0]);
    let found = problems("crates/a/src/b.rs", &text);
    assert!(found[0].starts_with("crates/a/src/b.rs:2: "), "{found:?}");
}

#[test]
fn paths_of_a_machine_are_found_in_any_text() {
    assert_eq!(problems("README.md", &format!("see {}me", MACHINE_PATHS[1])).len(), 1);
}

#[test]
fn sizes_leave_tests_out() {
    let long = "//! Why.\n".to_owned() + &"fn f() {}\n".repeat(LINES_MAX);
    assert_eq!(problems("crates/a/src/b.rs", &long).len(), 1);
    let tests = "//! Why.\n#[cfg(test)]\n".to_owned() + &"fn f() {}\n".repeat(LINES_MAX);
    assert_eq!(problems("crates/a/src/b.rs", &tests), Vec::<String>::new());
}

#[test]
fn every_crate_is_on_the_map() {
    let crates = ["core".to_owned(), "sql".to_owned()];
    let map = Ok("# Map\n### `crates/core`: the words\ncrates/sql\n".to_owned());
    assert_eq!(without_heading(&crates, map), ["ARCHITECTURE.md: no heading names the crate 'sql'"]);
}
