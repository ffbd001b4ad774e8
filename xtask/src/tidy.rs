//! `cargo xtask tidy`: rules for files that neither the compiler nor clippy knows.
//!
//! Words that the rules look for are put together with `concat!`, so that this file keeps them too.

use crate::Outcome;
use crate::checkout::{Checkout, TextFile};

/// Lines of a file, tests excluded, from which on it holds more than one thing.
const LINES_MAX: usize = 700;

/// Code that says of itself that it is not finished, or a test that does not run.
const UNFINISHED: [&str; 4] =
    [concat!("to", "do!("), concat!("unimple", "mented!("), concat!("db", "g!("), concat!("#[ig", "nore")];

/// Folders of one person's machine.
const MACHINE_PATHS: [&str; 3] = [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/")];

/// What the head of a library says, in this form.
const LIBRARY_HEAD: [&str; 3] = ["**Owns**", "**Never**", "**Start at**"];

pub(crate) fn run(checkout: &Checkout) -> Outcome {
    let files = checkout.text_files()?;
    let mut problems: Vec<String> = files.iter().flat_map(of_file).collect();
    problems.extend(without_heading(&checkout.crates()?, checkout.read("ARCHITECTURE.md")));
    if problems.is_empty() {
        println!("tidy: {} files", files.len());
        return Ok(());
    }
    Err(format!("{}\ntidy: {} problems", problems.join("\n"), problems.len()))
}

fn of_file(file: &TextFile) -> Vec<String> {
    let mut problems = machine_paths(file);
    if file.is_rust() {
        problems.extend(unfinished(file));
    }
    if file.is_rust() && !file.is_test() {
        problems.extend(head(file));
        problems.extend(size(file));
    }
    problems
}

/// Each crate is on the map.
fn without_heading(crates: &[String], architecture: Result<String, String>) -> Vec<String> {
    let architecture = match architecture {
        Ok(text) => text,
        Err(missing) => return vec![missing],
    };
    let headings: Vec<&str> = architecture.lines().filter(|line| line.starts_with('#')).collect();
    let named = |name: &str, heading: &str| {
        heading.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).any(|word| word == name)
    };
    let missing = crates.iter().filter(|name| !headings.iter().any(|heading| named(name, heading)));
    missing.map(|name| format!("ARCHITECTURE.md: no heading names the crate '{name}'")).collect()
}

/// A file says first why it exists.
fn head(file: &TextFile) -> Vec<String> {
    let mut problems = vec![];
    if !file.text.starts_with("//! ") {
        problems.push(format!("{}:1: the file must begin with //! and why it exists", file.path));
    }
    if file.path.starts_with("crates/") && file.path.ends_with("/src/lib.rs") {
        let head: String = file.text.lines().take_while(|line| line.starts_with("//!")).collect();
        let missing = LIBRARY_HEAD.iter().filter(|part| !head.contains(**part));
        problems.extend(missing.map(|part| format!("{}:1: the head of a library says {part}", file.path)));
    }
    problems
}

fn size(file: &TextFile) -> Option<String> {
    let lines = file.text.lines().take_while(|line| line.trim() != "#[cfg(test)]").count();
    (lines > LINES_MAX).then(|| format!("{}: {lines} lines, more than {LINES_MAX}: split it", file.path))
}

fn unfinished(file: &TextFile) -> Vec<String> {
    lines_with(file, &UNFINISHED, |word| format!("'{word}' must not stay"))
}

fn machine_paths(file: &TextFile) -> Vec<String> {
    lines_with(file, &MACHINE_PATHS, |path| format!("'{path}' is a folder of one machine"))
}

fn lines_with(file: &TextFile, words: &[&str], problem: impl Fn(&str) -> String) -> Vec<String> {
    let mut problems = vec![];
    for (index, line) in file.text.lines().enumerate() {
        for word in words.iter().filter(|word| line.contains(**word)) {
            problems.push(format!("{}:{}: {}", file.path, index + 1, problem(word)));
        }
    }
    problems
}

#[cfg(test)]
mod tests;
