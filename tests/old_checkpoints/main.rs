//! Checkpoints of every format that was ever written can be read: a job that an earlier build has begun goes on.
//!
//! ```text
//! tests/compat/checkpoints/v<format>/<case>/
//!   pipeline.sql   the job
//!   in/            its input when it was killed
//!   later/         files that come into in/ before it is run again
//!   data/, out/    what the killed run has left: its checkpoint, and the files of its sinks
//!   expected.rows  what its sinks hold at the end, as a run has written it that nobody killed
//! ```
//!
//! These folders are never written anew: that they are old is what they are there for. A new format gets its folder
//! with `TIDEMILL_GOLDEN=accept` ([`make`]).

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

mod make;

use std::fs;
use std::path::{Path, PathBuf};

use tidemill_state::checkpoint::FORMAT;
use tidemill_tests::folder::{copy_of, names};
use tidemill_tests::program::Program;
use tidemill_tests::rows::written_rows;
use xxhash_rust::xxh3::xxh3_64;

/// The job's plan is part of what must fit, and the number of subtasks of the plan.
const RUN: [&str; 6] = ["run", "pipeline.sql", "--data-dir", "data", "--parallelism", "2"];

fn formats() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("compat/checkpoints")
}

/// The folders of all cases of all formats; that of the present one is made first where that is wanted.
fn cases() -> Vec<PathBuf> {
    let present = formats().join(format!("v{FORMAT}"));
    for case in make::CASES {
        let folder = present.join(case.name);
        if !folder.exists() && std::env::var("TIDEMILL_GOLDEN").is_ok_and(|value| value == "accept") {
            make::make(case, &folder);
        }
        assert!(
            folder.exists(),
            "format {FORMAT} of checkpoints has no {}: TIDEMILL_GOLDEN=accept cargo test --test old_checkpoints makes it",
            folder.display()
        );
    }
    let cases = |format: PathBuf| names(&format).into_iter().map(move |name| format.join(name)).collect::<Vec<_>>();
    names(&formats()).into_iter().flat_map(|format| cases(formats().join(format))).collect()
}

/// Copies the files of `later/` to `in/`.
fn add_later_input(folder: &Path) {
    for name in names(&folder.join("later")) {
        fs::copy(folder.join("later").join(&name), folder.join("in").join(&name)).unwrap();
    }
}

#[test]
fn a_job_of_an_earlier_build_goes_on() {
    for case in cases() {
        let folder = copy_of(&case);
        let folder = folder.path();
        add_later_input(folder);
        let finished = Program::in_folder(folder).run(&RUN);
        assert_eq!(finished.code, Some(0), "{}: {}", case.display(), finished.stderr);
        assert!(finished.stderr.contains("goes on from checkpoint "), "{}: {}", case.display(), finished.stderr);
        let expected = fs::read_to_string(case.join("expected.rows")).unwrap();
        let found = written_rows(&folder.join("out"), |_| true);
        let differing = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
        assert_eq!(differing, None, "{}", case.display());
        assert_eq!(found.lines().count(), expected.lines().count(), "{}", case.display());
    }
}

#[test]
fn a_format_that_is_not_known_is_refused_with_what_to_do_and_nothing_is_touched() {
    for case in cases() {
        let folder = copy_of(&case);
        let checkpoints = folder.path().join("data/checkpoints");
        for manifest in names(&checkpoints).into_iter().filter(|name| name.ends_with(".manifest")) {
            let path = checkpoints.join(manifest);
            fs::write(&path, of_format(FORMAT + 1, &fs::read_to_string(&path).unwrap())).unwrap();
        }
        let before = (names(&checkpoints), written_rows_and_hidden(folder.path()));
        for arguments in [&RUN[..], &[&RUN[..], &["--allow-older-checkpoint"]].concat()] {
            let refused = Program::in_folder(folder.path()).run(arguments);
            assert_eq!(refused.code, Some(1), "{}", refused.stderr);
            let newer = FORMAT + 1;
            let says = format!("the checkpoint has format {newer}, and this program reads format {FORMAT}");
            let hint = "use the version that wrote it: tidemill ";
            assert!(refused.stderr.contains(&says) && refused.stderr.contains(hint), "{}", refused.stderr);
            assert_eq!((names(&checkpoints), written_rows_and_hidden(folder.path())), before);
        }
    }
}

/// The names of all files of sinks.
fn written_rows_and_hidden(folder: &Path) -> Vec<String> {
    let tables = names(&folder.join("out"));
    tables.iter().flat_map(|table| names(&folder.join("out").join(table))).collect()
}

/// The manifest with another format, and the checksum that it then has.
fn of_format(format: u32, manifest: &str) -> String {
    let (body, _) = manifest.split_once('\n').unwrap();
    let (_, rest) = body.split_once(',').unwrap();
    let body = format!("{{\"format\":{format},{rest}");
    let checksum = xxh3_64(body.as_bytes());
    format!("{body}\nxxh3 {checksum:016x}\n")
}
