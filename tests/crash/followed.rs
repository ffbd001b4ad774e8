//! A folder that is followed, into files: whoever looks at the sink's folder at any moment sees whole files, of each input
//! file the rows of its beginning, each once, and no window before it is final; whenever the job is killed meanwhile.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use serde_json::Value;
use tidemill_tests::folder::names;
use tidemill_tests::program;

use super::killer::Killer;

/// Files that come while the job runs, and the rows of each.
const FILES: u64 = 100;
const ROWS: u64 = 400;

/// Time passes from row to row, and from file to file.
const STEP_MS: u64 = 10;

/// Rows of a window: of a file and a half, so that windows end within files.
const WINDOW_ROWS: u64 = 600;

/// Rows by which the watermark is behind.
const DELAY_ROWS: u64 = 100;

/// Longer than any machine needs: a job that takes so long is stuck.
const PATIENCE: Duration = Duration::from_secs(120);

const SQL: &str = "SET 'execution.checkpointing.interval' = '30 ms';
CREATE TABLE events (file BIGINT, line BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
  WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '15 ms');
CREATE TABLE passed (file BIGINT, line BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out/passed', 'format' = 'json');
CREATE TABLE windows (window_start TIMESTAMP(3), events BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'out/windows', 'format' = 'json');
INSERT INTO passed SELECT file, line FROM events;
INSERT INTO windows SELECT window_start, count(*) FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '6' SECOND))
  GROUP BY window_start, window_end;
";

/// Makes the job in the folder: its SQL, and nothing to read yet.
pub fn prepare(folder: &Path) {
    fs::write(folder.join("q.sql"), SQL).unwrap();
    fs::create_dir(folder.join("in")).unwrap();
}

/// Runs the job while its input grows, kills it again and again, and looks at what it shows. How often it was killed.
///
/// # Errors
/// What a reader of the sink's folders has seen that must not be.
pub fn run(folder: &Path, killer: &mut Killer, mut command: impl FnMut() -> Command) -> Result<u64, String> {
    let (writing, looking) = (&AtomicBool::new(true), &AtomicBool::new(true));
    let looker = &Mutex::new(Looker { folder, shown: vec![0; FILES as usize], windows: 0 });
    let mut writer = Killer::new(killer.draw());
    let mut pauses = Killer::new(killer.draw());
    scope(|scope| {
        scope.spawn(move || {
            for file in (0..FILES).take_while(|_| writing.load(Ordering::Relaxed)) {
                add(folder, file);
                sleep(Duration::from_millis(writer.draw() % 120));
            }
            writing.store(false, Ordering::Relaxed);
        });
        let reader = scope.spawn(move || -> Result<(), String> {
            while looking.load(Ordering::Relaxed) {
                looker.lock().unwrap().look()?;
                sleep(Duration::from_micros(pauses.draw() % 5_000));
            }
            Ok(())
        });
        let mut kills = 0;
        while writing.load(Ordering::Relaxed) && !reader.is_finished() {
            let process = start(&mut command);
            sleep(Duration::from_millis(50 + killer.draw() % 1_000));
            end(process, libc::SIGKILL);
            kills += 1;
        }
        let process = start(&mut command);
        let begun = Instant::now();
        while !reader.is_finished() && !looker.lock().unwrap().complete() && begun.elapsed() < PATIENCE {
            sleep(Duration::from_millis(5));
        }
        end(process, libc::SIGINT);
        writing.store(false, Ordering::Relaxed);
        looking.store(false, Ordering::Relaxed);
        reader.join().unwrap()?;
        let mut looker = looker.lock().unwrap();
        looker.look()?;
        looker.all_is_there()?;
        Ok(kills)
    })
}

fn start(command: &mut impl FnMut() -> Command) -> Child {
    command().stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn end(mut process: Child, signal: libc::c_int) {
    program::signal(&process, signal);
    process.wait().unwrap();
}

/// Puts a file into the folder, whole at once.
fn add(folder: &Path, file: u64) {
    let mut text = String::new();
    for line in 0..ROWS {
        let ms = (file * ROWS + line) * STEP_MS;
        let (minute, second, milli) = (ms / 60_000, ms / 1000 % 60, ms % 1000);
        let _ = writeln!(
            text,
            r#"{{"file":{file},"line":{line},"ts":"2026-03-01 10:{minute:02}:{second:02}.{milli:03}"}}"#
        );
    }
    let hidden = folder.join(format!("in/.{file}"));
    fs::write(&hidden, text).unwrap();
    fs::rename(hidden, folder.join(format!("in/{file:03}.jsonl"))).unwrap();
}

/// A reader of the sink's folders, with what it has seen so far.
struct Looker<'a> {
    folder: &'a Path,
    /// How many rows of each input file.
    shown: Vec<u64>,
    /// How many windows.
    windows: usize,
}

impl Looker<'_> {
    /// Looks at what is visible now.
    fn look(&mut self) -> Result<(), String> {
        let mut lines: Vec<Vec<u64>> = vec![vec![]; self.shown.len()];
        for row in self.rows("passed")? {
            let number = |name: &str| row[name].as_u64().ok_or_else(|| format!("{row} has no {name}"));
            lines[number("file")? as usize].push(number("line")?);
        }
        for (file, lines) in lines.iter_mut().enumerate() {
            lines.sort_unstable();
            if let Some((expected, found)) = (0..).zip(lines.iter()).find(|(expected, found)| expected != *found) {
                return Err(format!("of file {file}, line {found} is there where line {expected} should be"));
            }
            let before = std::mem::replace(&mut self.shown[file], lines.len() as u64);
            if before > lines.len() as u64 {
                return Err(format!("of file {file}, {before} lines were there, and now {}", lines.len()));
            }
        }
        let windows = self.windows()?;
        if let Some((start, events)) = windows.iter().find(|(_, events)| **events != WINDOW_ROWS) {
            return Err(format!("the window of {start} has {events} events and not {WINDOW_ROWS}"));
        }
        let before = std::mem::replace(&mut self.windows, windows.len());
        if before > windows.len() {
            return Err(format!("{before} windows were there, and now {}", windows.len()));
        }
        Ok(())
    }

    fn windows(&self) -> Result<BTreeMap<String, u64>, String> {
        let mut windows = BTreeMap::new();
        for row in self.rows("windows")? {
            if windows.insert(row["window_start"].to_string(), row["events"].as_u64().unwrap_or(0)).is_some() {
                return Err(format!("the window of {} is there twice", row["window_start"]));
            }
        }
        Ok(windows)
    }

    fn complete(&self) -> bool {
        self.shown.iter().all(|lines| *lines == ROWS)
    }

    /// Every row, and every window that the watermark has passed.
    fn all_is_there(&self) -> Result<(), String> {
        if !self.complete() {
            return Err(format!("rows are missing: {:?}", self.shown));
        }
        let expected = (FILES * ROWS - 1 - DELAY_ROWS) / WINDOW_ROWS;
        match self.windows as u64 == expected {
            true => Ok(()),
            false => Err(format!("{} windows are there, and should be {expected}", self.windows)),
        }
    }

    /// The rows of all visible files of a table, each of which is whole.
    fn rows(&self, table: &str) -> Result<Vec<Value>, String> {
        let folder = self.folder.join("out").join(table);
        let mut rows = vec![];
        for name in visible(&folder) {
            let text = fs::read_to_string(folder.join(&name)).map_err(|e| format!("{name} was there: {e}"))?;
            if !text.ends_with('\n') {
                return Err(format!("{name} is not whole: it ends with {:?}", text.lines().last()));
            }
            for line in text.lines() {
                rows.push(serde_json::from_str(line).map_err(|e| format!("{name}: {e}: {line}"))?);
            }
        }
        Ok(rows)
    }
}

/// The names of visible files. A file that appears while a folder is listed may be left out where a later one is not: so
/// until two listings agree.
fn visible(folder: &Path) -> Vec<String> {
    let list = || names(folder).into_iter().filter(|name| !name.starts_with('.')).collect::<Vec<_>>();
    let mut last = list();
    loop {
        let next = list();
        if next == last {
            return next;
        }
        last = next;
    }
}
