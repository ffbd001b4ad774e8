//! A typed program is killed at drawn moments, again and again: its files have each row once in the end.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

mod expected;
mod job;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use expected::expected;
use job::Told;
use tidemill::{Environment, Table};

/// Where the process that is to be killed works: the test starts itself with it.
const JOB: &str = "TIDEMILL_TYPED_JOB";

/// The process that is killed: of no use by itself.
#[test]
fn the_job() {
    if let Some(folder) = env::var_os(JOB) {
        job::run(&PathBuf::from(folder)).unwrap();
    }
}

/// The program in a process of its own.
fn started(folder: &Path) -> Child {
    let this = env::current_exe().unwrap();
    Command::new(this).args(["--exact", "the_job"]).env(JOB, folder).stdout(Stdio::null()).spawn().unwrap()
}

/// Runs the program, and kills it after so long; `None`: it was.
fn run_for(folder: &Path, time: Duration) -> Option<ExitStatus> {
    let mut job = started(folder);
    std::thread::sleep(time);
    match job.try_wait().unwrap() {
        Some(status) => Some(status),
        None => {
            job.kill().unwrap();
            job.wait().unwrap();
            None
        }
    }
}

fn rows(folder: &Path) -> Vec<Told> {
    let env = Environment::new();
    let table = Table::new("filesystem").with("path", folder.to_string_lossy()).with("format", "json");
    let rows = table.read::<Told>(&env, "rows").unwrap().collect();
    env.execute_live().unwrap();
    let mut rows = rows.take();
    rows.sort();
    rows
}

#[test]
fn a_program_that_is_killed_goes_on_as_if_nothing_had_happened() {
    let folder = tempfile::tempdir().unwrap();
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let seed = env::var("TIDEMILL_CRASH_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(now);
    println!("TIDEMILL_CRASH_SEED={seed}");
    let (mut drawn, mut kills) = (seed, 0);
    loop {
        drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // From before the first checkpoint to some of them behind; later runs have more time, on a slow machine too.
        let time = Duration::from_millis(30 + (drawn >> 33) % 300 + 20 * kills);
        match run_for(folder.path(), time) {
            None => kills += 1,
            Some(status) => {
                assert!(status.success());
                break;
            }
        }
        assert!(kills < 200, "no run gets on");
    }
    assert!(kills > 2, "only {kills} kills");
    check(folder.path());
}

fn check(folder: &Path) {
    for name in ["timers", "windows", "pairs", "alone", "answers"] {
        let expected = expected(name);
        assert!(expected.len() > 100, "{name} tests little");
        assert_eq!(rows(&folder.join(name)), expected, "{name}");
    }
}

#[test]
fn a_program_that_is_asked_to_end_makes_a_last_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = started(folder.path());
    while !folder.path().join("job/checkpoints").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(100));
    assert!(Command::new("kill").arg(job.id().to_string()).status().unwrap().success());
    assert!(job.wait().unwrap().success(), "SIGTERM is no crash");
    assert!(started(folder.path()).wait().unwrap().success());
    check(folder.path());
}
