//! `kill -9` at any moment loses nothing and doubles nothing: what a job has committed in the end, killed again and again,
//! is what it commits when nobody kills it.
//!
//! A real process over files, with windows, sessions, an updating Top-N and updating groups. Half of the kills come at
//! times drawn by a seed, the others when a file appears that tells what the process is at. What a kill has hit is told
//! afterwards by what it has left. And a folder that is followed, whose sink somebody looks at meanwhile ([`followed`]).
//! `cargo xtask crash --rounds N --seed S` draws more, or the same again.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

mod broken_commit;
mod followed;
mod handover;
mod job;
mod killer;
mod output;

use std::collections::BTreeMap;
use std::env;
use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use libtest_mimic::{Arguments, Trial};
use tidemill_tests::folder::{fresh, names};
use tidemill_tests::program::Program;

use handover::Handovers;
use job::{Job, Kept};
use killer::{Hit, Killer};

/// How often a job is killed before it may come to its end.
const KILLS_A_JOB: u64 = 7;

fn main() -> ExitCode {
    if let Some(code) = broken_commit::program() {
        return code;
    }
    let trials = vec![
        trial("a_killed_job_goes_on_as_if_nothing_had_happened", || a_killed_job_goes_on(Kept::InFiles, 50)),
        trial("a_killed_job_with_delta_tables_goes_on", || a_killed_job_goes_on(Kept::InDelta, 30)),
        trial("a_commit_that_is_not_atomic_is_caught", || a_broken_commit_is_caught(Kept::InFiles)),
        trial("a_commit_to_delta_that_is_not_atomic_is_caught", || a_broken_commit_is_caught(Kept::InDelta)),
        trial("a_job_is_handed_over_by_savepoints", || a_job_is_handed_over(Kept::InFiles, 4)),
        trial("a_job_with_delta_tables_is_handed_over_by_savepoints", || a_job_is_handed_over(Kept::InDelta, 2)),
        trial("a_followed_folder_is_written_whole_at_every_moment", a_followed_folder_is_written_whole),
        trial("a_reader_catches_a_commit_that_is_not_atomic", a_reader_catches_a_broken_commit),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn trial(name: &str, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}

fn variable(name: &str) -> Option<u64> {
    env::var(name).ok().map(|value| value.parse().unwrap_or_else(|_| panic!("{name} is no number: {value}")))
}

/// The seed of this run, printed so that it can be drawn again.
fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs());
    let seed = variable("TIDEMILL_CRASH_SEED").unwrap_or(now);
    println!("TIDEMILL_CRASH_SEED={seed}");
    seed
}

/// More kills than `usual_rounds`, if some kind was not among them: on a busy machine the moments that are short are missed.
fn a_killed_job_goes_on(kept: Kept, usual_rounds: u64) {
    const HITS: [Hit; 4] = [Hit::Processing, Hit::Barrier, Hit::Commit, Hit::Recovery];
    let rounds = variable("TIDEMILL_CRASH_ROUNDS").unwrap_or(usual_rounds);
    let mut killer = Killer::new(seed());
    let mut hits: BTreeMap<Hit, u64> = BTreeMap::new();
    let mut round = 0;
    let all_hit = |hits: &BTreeMap<Hit, u64>| rounds < usual_rounds || HITS.iter().all(|hit| hits.contains_key(hit));
    while round < rounds || (!all_hit(&hits) && round < 4 * rounds) {
        let job = Job::new(killer.draw(), kept);
        let program = Program::in_folder(job.folder());
        let expected = job.uncrashed();
        let mut kills = 0;
        loop {
            let command = program.command(&["run", "q.sql", "--data-dir", "data", "--parallelism", job.parallelism()]);
            let may_kill = kills < KILLS_A_JOB;
            match killer.run(command, &job, may_kill) {
                Some(hit) => {
                    *hits.entry(hit).or_default() += 1;
                    kills += 1;
                    round += 1;
                }
                None => break,
            }
        }
        job.assert_committed(&expected);
    }
    println!("{round} kills hit: {hits:?}");
    assert!(all_hit(&hits), "not all of {HITS:?} were hit: {hits:?}");
}

/// A program whose sink shows rows before the checkpoint is there must be caught.
fn a_broken_commit_is_caught(kept: Kept) {
    let mut killer = Killer::new(seed());
    for _ in 0..20 {
        let job = Job::new(killer.draw(), kept);
        let expected = job.uncrashed();
        for kill in 0.. {
            let command = job.broken_program();
            if killer.run(command, &job, kill < KILLS_A_JOB).is_none() {
                break;
            }
        }
        if job.committed() != expected {
            return;
        }
    }
    panic!("20 jobs whose commit is not atomic gave the right answer");
}

/// `usual_jobs` where no number of rounds is given, of which each job takes seven; more, if some kind was not among them.
fn a_job_is_handed_over(kept: Kept, usual_jobs: u64) {
    let jobs = variable("TIDEMILL_CRASH_ROUNDS").map_or(usual_jobs, |rounds| rounds.div_ceil(KILLS_A_JOB));
    let mut killer = Killer::new(seed());
    let mut seen = Handovers::default();
    let mut done = 0;
    while done < jobs || (jobs >= usual_jobs && !seen.are_all_there()) {
        let job = Job::new(killer.draw(), kept);
        let expected = job.uncrashed();
        handover::run(&job, &mut killer, &mut seen);
        job.assert_committed(&expected);
        done += 1;
        assert!(done < 10 * jobs, "{done} jobs, and only these kinds: {seen:?}");
    }
    println!("{done} jobs: {seen:?}");
}

fn a_followed_folder_is_written_whole() {
    let mut killer = Killer::new(seed());
    let folder = fresh();
    followed::prepare(folder.path());
    let program = Program::in_folder(folder.path());
    let parallelism = (1 + killer.draw() % 3).to_string();
    let command = || program.command(&["run", "q.sql", "--data-dir", "data", "--parallelism", &parallelism]);
    let kills = followed::run(folder.path(), &mut killer, command).unwrap();
    println!("{kills} kills");
    assert!(kills >= 3, "the job was killed {kills} times only");
    assert_eq!(hidden_files(folder.path()), [""; 0]);
}

fn hidden_files(folder: &Path) -> Vec<String> {
    let tables = names(&folder.join("out")).into_iter();
    let files = tables.flat_map(|table| names(&folder.join("out").join(table)));
    files.filter(|name| name.starts_with('.')).collect()
}

fn a_reader_catches_a_broken_commit() {
    let mut killer = Killer::new(seed());
    for _ in 0..10 {
        let folder = fresh();
        followed::prepare(folder.path());
        let command = || broken_commit::program_in(folder.path(), "2");
        if let Err(seen) = followed::run(folder.path(), &mut killer, command) {
            println!("{seen}");
            return;
        }
    }
    panic!("10 jobs whose commit is not atomic looked right at every moment");
}
