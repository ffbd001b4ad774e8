//! Compiled regular expressions: a pattern is nearly always the same for all rows.
//!
//! Java's regular expressions look around and refer back, so they are read by `fancy-regex`, which leaves all that do
//! neither to `regex`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use fancy_regex::Regex;

/// How many patterns a thread keeps; where there are more, they come from a column, and none is kept long.
const KEPT: usize = 64;

thread_local! {
    static COMPILED: RefCell<HashMap<String, Option<Rc<Regex>>>> = RefCell::default();
}

/// The compiled pattern; `None` where it is no regular expression.
pub(crate) fn compiled(pattern: &str) -> Option<Rc<Regex>> {
    COMPILED.with_borrow_mut(|compiled| {
        if let Some(known) = compiled.get(pattern) {
            return known.clone();
        }
        if compiled.len() >= KEPT {
            compiled.clear();
        }
        let regex = Regex::new(pattern).ok().map(Rc::new);
        compiled.insert(pattern.to_owned(), regex.clone());
        regex
    })
}
