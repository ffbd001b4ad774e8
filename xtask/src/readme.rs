//! `cargo xtask readme`: the console examples of the documents, run, so that none of them lies.
//!
//! ````text
//! <!-- run -->                 or <!-- run: exit 3 -->, where the commands end with another code
//! ```console
//! $ tidemill --version         a command; what follows is all that it prints, on both outputs
//! tidemill 0.1.0
//! ```
//! ````
//!
//! The commands of one document run in order in a fresh folder with a copy of `examples/`, with the
//! binary of this checkout first on the PATH.

mod document;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use walkdir::WalkDir;

use crate::checkout::Checkout;
use crate::{Outcome, process};
use document::{Document, Example};

/// What to do with what a command prints.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It must be what the document says.
    Compare,
    /// It is what the document says from now on.
    Accept,
}

pub(crate) fn run(checkout: &Checkout, mode: Mode) -> Outcome {
    process::build(checkout)?;
    let documents = checkout.text_files()?.into_iter().filter(|file| file.path.ends_with(".md"));
    let (mut commands, mut problems) = (0, vec![]);
    for file in documents {
        let mut document = Document::parse(&file.text).map_err(|e| format!("{}: {e}", file.path))?;
        if document.examples.is_empty() {
            continue;
        }
        let found = run_document(checkout, &file.path, &mut document, mode)?;
        problems.extend(found);
        commands += document.examples.len();
        if mode == Mode::Accept {
            let path = checkout.path(&file.path);
            fs::write(&path, document.text()).map_err(|e| format!("cannot write {}: {e}", file.path))?;
        }
    }
    if problems.is_empty() {
        println!("readme: {commands} commands");
        return Ok(());
    }
    Err(format!("{}\nreadme: cargo xtask readme --accept takes over what is printed", problems.join("\n")))
}

fn run_document(checkout: &Checkout, name: &str, document: &mut Document, mode: Mode) -> Result<Vec<String>, String> {
    let scratch = Scratch::new(checkout)?;
    let mut problems = vec![];
    for example in &mut document.examples {
        let (printed, code) = execute(&scratch.0, &example.command)?;
        let place = format!("{name}:{}: $ {}", example.line, example.command);
        if code != example.exit {
            problems.push(format!("{place}\nended with {code}, not {}; it printed:\n{printed}", example.exit));
        } else if mode == Mode::Accept {
            example.printed = printed;
        } else if printed != example.printed {
            problems.push(difference(&place, example, &printed));
        }
    }
    Ok(problems)
}

fn difference(place: &str, example: &Example, printed: &str) -> String {
    format!("{place}\nthe document says:\n{}and it printed:\n{printed}", example.printed)
}

/// Both outputs of a shell command, and its exit code.
fn execute(folder: &Path, command: &str) -> Result<(String, i32), String> {
    let own = env::current_exe().map_err(|e| format!("cannot tell where this program is: {e}"))?;
    let built = own.parent().map(Path::to_owned).into_iter();
    let inherited = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(built.chain(env::split_paths(&inherited))).map_err(|e| e.to_string())?;
    let output = Command::new("bash")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(folder)
        .env("PATH", path)
        // Sorted by bytes, whatever language the machine speaks.
        .env("LC_ALL", "C")
        .output()
        .map_err(|e| format!("bash could not be started: {e}"))?;
    let code = output.status.code().ok_or_else(|| format!("'{command}' was stopped: {}", output.status))?;
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), code))
}

/// A folder with a copy of `examples/`, gone at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(checkout: &Checkout) -> Result<Self, String> {
        let folder = env::temp_dir().join(format!("tidemill-readme-{}", std::process::id()));
        let scratch = Self(folder);
        for entry in WalkDir::new(checkout.path("examples")).into_iter().filter_entry(|e| e.file_name() != "out") {
            let entry = entry.map_err(|e| format!("cannot walk examples/: {e}"))?;
            let relative = entry.path().strip_prefix(checkout.root()).expect("the walk starts in the checkout");
            let copy = scratch.0.join(relative);
            let copied = if entry.file_type().is_dir() {
                fs::create_dir_all(&copy)
            } else {
                fs::copy(entry.path(), &copy).map(|_| ())
            };
            copied.map_err(|e| format!("cannot write {}: {e}", copy.display()))?;
        }
        Ok(scratch)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(e) = fs::remove_dir_all(&self.0) {
            eprintln!("cannot remove {}: {e}", self.0.display());
        }
    }
}

#[cfg(test)]
mod tests;
