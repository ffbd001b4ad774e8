//! Expressions against the answers of a real Flink, recorded in `tests/flink` by `cargo xtask flink record`.
//!
//! Each file `<name>.sql` is a test. Where Tidemill answers otherwise, `<name>.differences.tsv` says what it answers,
//! under a line with the reason; `TIDEMILL_GOLDEN=accept` writes that file anew, and what has no reason yet stands
//! under `# ?`, which fails: write the reason, or correct the answer.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

mod answer;
mod differences;
mod engine;
mod value;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use answer::Answer;
use differences::Differences;
use engine::Engine;

fn main() -> ExitCode {
    let accepts = std::env::var("TIDEMILL_GOLDEN").is_ok_and(|value| value == "accept");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("flink");
    let mut recordings: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    recordings.retain(|path| path.to_string_lossy().ends_with(".expected.tsv"));
    recordings.sort();
    let trials = recordings.into_iter().map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().replace(".expected.tsv", "");
        Trial::test(name, move || check(&path, accepts))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn check(recording: &Path, accepts: bool) -> Result<(), Failed> {
    let questions = fs::read_to_string(recording.to_string_lossy().replace(".expected.tsv", ".sql")).unwrap();
    let questions: Vec<&str> = questions.lines().filter(|l| !l.is_empty() && !l.starts_with("--")).collect();
    let recorded = fs::read_to_string(recording).unwrap();
    let recorded: Vec<(&str, Answer)> = recorded.lines().map(Answer::recorded).collect();
    if !recorded.iter().map(|(expression, _)| *expression).eq(questions.iter().copied()) {
        return Err("the file was changed since it was recorded: cargo xtask flink record".into());
    }
    let mut engine = Engine::default();
    let mut found = vec![];
    for (expression, flink) in recorded {
        if engine.set(expression) {
            continue;
        }
        let ours = engine.answer(expression);
        if !ours.agrees_with(&flink) {
            found.push((expression, ours, flink));
        }
    }
    let path = PathBuf::from(recording.to_string_lossy().replace(".expected.tsv", ".differences.tsv"));
    let known = Differences::read(&path);
    if accepts {
        known.rewritten(&found).write(&path);
        return Ok(());
    }
    match known.compare(&found) {
        problems if problems.is_empty() => Ok(()),
        problems => Err(problems.join("\n").into()),
    }
}
