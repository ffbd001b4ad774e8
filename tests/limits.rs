//! Lines that are far too long, files that may grow no more, disks that are full, doors that are closed.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;

use tidemill_tests::folder::{fresh, names};
use tidemill_tests::program::{Program, signal};

const LONG: usize = 100_000_000;

const NOTES: &str = "CREATE TABLE notes (note STRING, n INT) WITH (
  'connector' = 'filesystem', 'path' = 'notes.jsonl', 'format' = 'json');
SELECT CHARACTER_LENGTH(note) AS letters, n FROM notes;
";

const MANY_ROWS: &str = "CREATE TABLE numbers (id BIGINT) WITH (
  'connector' = 'datagen', 'rows-per-second' = '1000000',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '20000');
";

const TO_FILES: &str =
    "CREATE TABLE written (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');
INSERT INTO written SELECT id FROM numbers;
";

fn both_modes() -> [&'static [&'static str]; 2] {
    [&["run", "q.sql"], &["run", "q.sql", "--batch"]]
}

fn write_notes(folder: &Path, end: &str) {
    fs::write(folder.join("q.sql"), NOTES).unwrap();
    let note = "x".repeat(LONG);
    fs::write(folder.join("notes.jsonl"), format!("{{\"note\": \"{note}{end}")).unwrap();
}

#[test]
fn a_line_of_100_mb_is_read() {
    let folder = fresh();
    write_notes(folder.path(), "\", \"n\": 1}\n{\"note\": \"b\", \"n\": 2}\n");
    for arguments in both_modes() {
        let finished = Program::in_folder(folder.path()).run(arguments);
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
        assert_eq!(finished.stdout, format!("+I[{LONG}, 1]\n+I[1, 2]\n"));
    }
}

#[test]
fn a_broken_line_of_100_mb_is_shown_in_one_paragraph() {
    let folder = fresh();
    write_notes(folder.path(), "");
    for arguments in both_modes() {
        let finished = Program::in_folder(folder.path()).run(arguments);
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""));
        let says =
            "error: notes.jsonl, line 1: not valid JSON: the line ends within a string at byte 100000011 of the line";
        assert!(finished.stderr.starts_with(says), "{}", finished.stderr);
        assert!(finished.stderr.len() < 1000);
    }
}

/// Lets the program have so many files open, and raise that as far as `most`.
fn limit_open_files(command: &mut std::process::Command, at_first: libc::rlim_t, most: libc::rlim_t) {
    let limit = libc::rlimit { rlim_cur: at_first, rlim_max: most };
    // SAFETY: the call may be made between fork and exec, and touches no memory but `limit`.
    unsafe {
        command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_NOFILE, &limit) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
}

#[test]
fn a_live_run_opens_as_many_files_as_the_system_lets_it() {
    const FEW: libc::rlim_t = 64;
    let folder = fresh();
    let sql = "CREATE TABLE orders (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = 'in', 'format' = 'json');
SELECT window_start, COUNT(*) AS orders FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
";
    fs::write(folder.path().join("q.sql"), sql).unwrap();
    fs::create_dir(folder.path().join("in")).unwrap();
    for number in 0..300 {
        let row = "{\"ts\": \"2026-11-29 10:00:10\"}\n";
        fs::write(folder.path().join(format!("in/{number}.json")), row).unwrap();
    }
    let run = |arguments: &[&str], most| {
        let mut command = Program::in_folder(folder.path()).command(arguments);
        limit_open_files(&mut command, FEW, most);
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let [live, batch] = both_modes();
    for (arguments, most) in [(live, 1000), (batch, FEW)] {
        let (code, stdout, stderr) = run(arguments, most);
        assert_eq!((code, stdout.as_str()), (Some(0), "+I[2026-11-29T10:00, 300]\n"), "{arguments:?}: {stderr}");
    }
    let (code, stdout, stderr) = run(live, FEW);
    assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
    assert!(stderr.contains("cannot read 'in/") && stderr.contains("Too many open files"), "{stderr}");
    assert!(stderr.contains("ulimit -n") && stderr.contains("--batch"), "{stderr}");
}

/// Lets no file grow beyond `bytes`, as a full disk would.
fn limit_file_size(command: &mut std::process::Command, bytes: libc::rlim_t) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: both calls may be made between fork and exec, and touch no memory but `limit`.
    unsafe {
        command.pre_exec(move || {
            // Without this the signal ends the process before it can say why.
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            match libc::setrlimit(libc::RLIMIT_FSIZE, &limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
}

#[test]
fn a_saved_live_run_is_whole_or_not_there() {
    let folder = fresh();
    let sql = [MANY_ROWS, "SELECT id FROM numbers;"].concat();
    fs::write(folder.path().join("q.sql"), sql).unwrap();
    let save = ["reconcile", "q.sql", "--save-live", "live"];
    let mut command = Program::in_folder(folder.path()).command(&save);
    limit_file_size(&mut command, 50_000);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.starts_with("error: cannot write 'live/query.jsonl': File too large"), "{stderr}");
    assert!(stderr.contains("ulimit -f") && !stderr.contains("--save-live wrote"), "{stderr}");
    assert_eq!(names(folder.path()), ["q.sql"]);
    assert_eq!(Program::in_folder(folder.path()).run(&save).code, Some(0));
    assert_eq!(names(&folder.path().join("live")), ["query.jsonl", "query.late.jsonl"]);
}

#[test]
fn a_checkpoint_that_finds_no_room_fails_the_run_and_the_next_goes_on() {
    let folder = fresh();
    let sql = "SET 'execution.checkpointing.interval' = '100 ms';
CREATE TABLE numbers (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '20000', 'number-of-rows' = '40000',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '39999');
CREATE TABLE nowhere (id BIGINT, numbers BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO nowhere SELECT id, count(*) FROM numbers GROUP BY id;
";
    fs::write(folder.path().join("q.sql"), sql).unwrap();
    let run = ["run", "q.sql", "--data-dir", "data"];
    let mut command = Program::in_folder(folder.path()).command(&run);
    limit_file_size(&mut command, 20_000);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("data/checkpoints/") && stderr.contains("File too large"), "{stderr}");
    assert!(stderr.contains("the job goes on where it was"), "{stderr}");
    let again = Program::in_folder(folder.path()).run(&run);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(again.stderr.contains("goes on from checkpoint "), "{}", again.stderr);
}

#[test]
fn a_file_that_may_grow_no_more_leaves_nothing() {
    for arguments in both_modes() {
        let folder = fresh();
        fs::write(folder.path().join("q.sql"), [MANY_ROWS, TO_FILES].concat()).unwrap();
        let mut command = Program::in_folder(folder.path()).command(arguments);
        limit_file_size(&mut command, 50_000);
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("File too large") && stderr.contains("ulimit -f"), "{stderr}");
        assert_eq!(names(folder.path()), ["q.sql"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_an_error() {
    let folder = fresh();
    fs::write(folder.path().join("q.sql"), [MANY_ROWS, "SELECT id FROM numbers;"].concat()).unwrap();
    for arguments in both_modes() {
        let mut command = Program::in_folder(folder.path()).command(arguments);
        let output = command.stdout(File::options().write(true).open("/dev/full").unwrap()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.starts_with("error: cannot write to standard output: No space left on device"), "{stderr}");
        assert!(stderr.contains("make room"), "{stderr}");
    }
}

/// Without what lets root pass closed doors; others don't pass them anyway.
#[cfg(target_os = "linux")]
fn without_privileges(command: &mut std::process::Command) -> std::process::Output {
    const CAP_DAC_OVERRIDE: libc::c_ulong = 1;
    const CAP_DAC_READ_SEARCH: libc::c_ulong = 2;
    // SAFETY: these calls may be made between fork and exec, and touch no memory.
    unsafe {
        command.pre_exec(|| {
            for capability in [CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH] {
                if libc::geteuid() == 0 && libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 {
                    return Err(std::io::Error::last_os_error());
                }
            }
            Ok(())
        });
    }
    command.output().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_without_permission_says_so() {
    let folder = fresh();
    fs::write(folder.path().join("q.sql"), NOTES).unwrap();
    fs::write(folder.path().join("notes.jsonl"), "{\"note\": \"a\", \"n\": 1}\n").unwrap();
    fs::set_permissions(folder.path().join("notes.jsonl"), fs::Permissions::from_mode(0o000)).unwrap();
    for arguments in both_modes() {
        let output = without_privileges(&mut Program::in_folder(folder.path()).command(arguments));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{stderr}");
        assert!(stderr.contains("no permission to read '") && stderr.contains("notes.jsonl"), "{stderr}");
        assert!(stderr.contains("help: "), "{stderr}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_may_not_be_written_to_says_so() {
    for arguments in both_modes() {
        let folder = fresh();
        fs::write(folder.path().join("q.sql"), [MANY_ROWS, TO_FILES].concat()).unwrap();
        fs::create_dir(folder.path().join("out")).unwrap();
        fs::set_permissions(folder.path().join("out"), fs::Permissions::from_mode(0o555)).unwrap();
        let output = without_privileges(&mut Program::in_folder(folder.path()).command(arguments));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("cannot create 'out/") && stderr.contains("Permission denied"), "{stderr}");
        assert!(stderr.contains("help: "), "{stderr}");
        assert_eq!(names(folder.path()), ["out", "q.sql"]);
    }
}

/// Nobody reads, so the pipe is full; the write that waits for room is given up.
#[test]
fn the_first_interrupt_ends_a_run_whose_output_nobody_reads() {
    let generated = "CREATE TABLE numbers (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000000'{});
SELECT id FROM numbers;
";
    let bounded = ", 'number-of-rows' = '100000000'";
    for (arguments, options) in both_modes().into_iter().zip(["", bounded]) {
        let folder = fresh();
        fs::write(folder.path().join("q.sql"), generated.replace("{}", options)).unwrap();
        let mut command = Program::in_folder(folder.path()).command(arguments);
        let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let unread = child.stdout.take().unwrap();
        // Until the pipe is full, and then some.
        std::thread::sleep(std::time::Duration::from_secs(2));
        signal(&child, libc::SIGINT);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{arguments:?}");
        drop(unread);
    }
}
