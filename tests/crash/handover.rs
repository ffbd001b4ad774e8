//! A job is handed over from process to process by savepoints: each is stopped or killed at some moment, and the next begins
//! from its savepoint in a data directory of its own, at another parallelism, with a limit of memory or without.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tidemill_tests::program::{Program, signal};

use super::job::Job;
use super::killer::Killer;

/// How often a job is handed over before it may come to its end.
const HANDOVERS: u64 = 6;

/// How the runs of a job have ended.
#[derive(Debug, Default)]
pub struct Handovers {
    pub stopped: u64,
    pub killed: u64,
    /// From or to a run whose keyed state is kept by key group.
    pub other_form: u64,
}

impl Handovers {
    /// Whether there was one of each kind.
    pub fn are_all_there(&self) -> bool {
        self.stopped > 0 && self.killed > 0 && self.other_form > 0
    }
}

/// Runs the job to its end; what it has committed then is the caller's to compare.
pub fn run(job: &Job, killer: &mut Killer, seen: &mut Handovers) {
    let program = Program::in_folder(job.folder());
    let mut limited_before = false;
    let mut handovers = 0;
    let mut from: Option<String> = None;
    loop {
        let (data, to) = (format!("data-{handovers}"), format!("savepoint-{handovers}"));
        let parallelism = (1 + killer.draw() % 4).to_string();
        let limited = coin(killer);
        let mut arguments = vec!["run", "q.sql", "--data-dir", &data, "--parallelism", &parallelism];
        arguments.extend(from.iter().flat_map(|from| ["--from-savepoint", from]));
        if limited {
            // It is large enough that no rows wait, which a run without a limit would refuse.
            arguments.extend(["--memory-limit", "2GB"]);
        }
        let Some(killed) = ended(program.command(&arguments), killer, handovers < HANDOVERS) else { return };
        let made = program.run(&["savepoint", "--data-dir", &data, &to]);
        if made.stderr.contains("the job has come to the end of its input") {
            return;
        }
        handovers += 1;
        if ["there are no checkpoints in", "there is no data directory"].iter().any(|none| made.stderr.contains(none)) {
            // It had not begun: the next one begins as it would have.
            continue;
        }
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        *if killed { &mut seen.killed } else { &mut seen.stopped } += 1;
        seen.other_form += u64::from(handovers > 1 && limited != limited_before);
        limited_before = limited;
        from = Some(to);
    }
}

/// Ends the process at a moment that is drawn, if it may be and does not end before; then whether it was killed.
fn ended(mut command: Command, killer: &mut Killer, may_end: bool) -> Option<bool> {
    let mut process = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let micros = (killer.draw() % 600_000) >> ((killer.draw() >> 32) % 3);
    let (begun, wait) = (Instant::now(), Duration::from_micros(20_000 + micros));
    while process.try_wait().unwrap().is_none() {
        if may_end && begun.elapsed() > wait {
            let killed = coin(killer);
            signal(&process, if killed { libc::SIGKILL } else { libc::SIGINT });
            let output = process.wait_with_output().unwrap();
            let messages = String::from_utf8_lossy(&output.stderr);
            // A signal that comes before the program waits for it kills it, too.
            assert!(matches!(output.status.code(), None | Some(0 | 130)), "{messages}");
            return Some(killed);
        }
        sleep(Duration::from_millis(1));
    }
    let output = process.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    None
}

/// The low bits of the numbers that are drawn one after the other are not drawn apart.
fn coin(killer: &mut Killer) -> bool {
    (killer.draw() >> 32).is_multiple_of(2)
}
