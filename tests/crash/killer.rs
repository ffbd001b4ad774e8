//! Kills a process at a moment that is drawn, and tells by what is left what it was at.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use super::job::Job;

/// Longer than any machine needs: a process that takes so long is stuck.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a process was at when it was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hit {
    /// It took rows.
    Processing,
    /// A checkpoint was being written.
    Barrier,
    /// The checkpoint was there, and the sinks had not all committed.
    Commit,
    /// It had not yet taken up what the process before had left.
    Recovery,
}

/// When to kill.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// So long after the start.
    After(Duration),
    /// When so many files of parts have begun to appear.
    Parts(u64),
    /// When so many manifests have appeared.
    Manifests(u64),
}

/// Draws by a seed.
pub struct Killer {
    random: u64,
}

/// What is on the disk.
struct Seen {
    /// The number of the last checkpoint.
    manifest: Option<u64>,
    /// The last checkpoint of which there is a file of parts that this process has begun, whole or not.
    parts: Option<u64>,
    /// Files of rows that no reader sees, with when they were written to last.
    hidden: Vec<(PathBuf, SystemTime)>,
    checkpoints: PathBuf,
}

impl Killer {
    pub fn new(seed: u64) -> Self {
        Self { random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 }
    }

    pub fn draw(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    fn moment(&mut self) -> Moment {
        match self.draw() % 6 {
            0 => Moment::After(Duration::from_micros(self.draw() % 60_000)),
            1 | 2 => Moment::After(Duration::from_micros(self.draw() % 2_000_000)),
            3 => Moment::Parts(1 + self.draw() % 4),
            _ => Moment::Manifests(1 + self.draw() % 4),
        }
    }

    /// Runs the process, and kills it if it may be and does not end before; then what that has hit.
    pub fn run(&mut self, mut command: Command, job: &Job, may_kill: bool) -> Option<Hit> {
        let left = parts_in(&job.checkpoints());
        let before = Seen::of(job, &left);
        let moment = may_kill.then(|| self.moment());
        let messages = job.folder().join("stderr");
        let mut process = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(&messages).unwrap())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        let mut events = Events::default();
        loop {
            if let Some(status) = process.try_wait().unwrap() {
                assert!(status.success(), "{status}: {}", fs::read_to_string(&messages).unwrap());
                return None;
            }
            assert!(begun.elapsed() < PATIENCE, "the process is stuck");
            if moment.is_some_and(|moment| events.come(moment, begun, job, &left)) {
                break;
            }
            sleep(Duration::from_micros(if moment.is_some() { 50 } else { 5_000 }));
        }
        process.kill().unwrap();
        process.wait().unwrap();
        Some(Seen::of(job, &left).hit(&before))
    }
}

/// What has appeared since the start.
#[derive(Default)]
struct Events {
    last: Option<(Option<u64>, Option<u64>)>,
    parts: u64,
    manifests: u64,
}

impl Events {
    fn come(&mut self, moment: Moment, begun: Instant, job: &Job, left: &BTreeSet<String>) -> bool {
        if let Moment::After(time) = moment {
            return begun.elapsed() >= time;
        }
        let now = numbers(&job.checkpoints(), left);
        let last = *self.last.get_or_insert(now);
        self.manifests += u64::from(now.0 > last.0);
        self.parts += u64::from(now.1 > last.1);
        self.last = Some(now);
        match moment {
            Moment::Parts(count) => self.parts >= count,
            Moment::Manifests(count) => self.manifests >= count,
            Moment::After(_) => false,
        }
    }
}

/// The last ten digits of a number are the checkpoint's; before them a file of parts has the run's.
const CHECKPOINTS: u64 = 10_000_000_000;

/// The last checkpoints of which there are a manifest and a file of parts, without the files that processes before have
/// `left`: those of the checkpoint that they were killed at stay until it is written.
fn numbers(checkpoints: &Path, left: &BTreeSet<String>) -> (Option<u64>, Option<u64>) {
    let (mut manifest, mut parts) = (None, None);
    for name in names_in(checkpoints) {
        let number = name.split('.').next().and_then(|number| number.parse::<u64>().ok());
        let Some(number) = number.map(|number| number % CHECKPOINTS) else { continue };
        if name.ends_with(".manifest") {
            manifest = manifest.max(Some(number));
        } else if name.contains(".parts") && !left.contains(&name) {
            parts = parts.max(Some(number));
        }
    }
    (manifest, parts)
}

/// The names of the files of parts, whole or not.
fn parts_in(checkpoints: &Path) -> BTreeSet<String> {
    names_in(checkpoints).filter(|name| name.contains(".parts")).collect()
}

fn names_in(folder: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned())
}

impl Seen {
    fn of(job: &Job, left: &BTreeSet<String>) -> Self {
        let (manifest, parts) = numbers(&job.checkpoints(), left);
        let mut hidden = vec![];
        for table in entries(&job.folder().join("out")) {
            hidden.extend(unseen(&table).into_iter().filter_map(|file| {
                // A file may have got its name, or be gone, since the folder was listed.
                let written = fs::metadata(&file).and_then(|m| m.modified()).ok()?;
                Some((file, written))
            }));
        }
        hidden.sort();
        Self { manifest, parts, hidden, checkpoints: job.checkpoints() }
    }

    fn hit(&self, before: &Self) -> Hit {
        if self.parts > self.manifest {
            return Hit::Barrier;
        }
        if self.manifest == before.manifest && self.hidden == before.hidden {
            return Hit::Recovery;
        }
        let manifest = self.manifest.map(|number| format!("{number:010}.manifest"));
        let written = manifest.and_then(|name| self.written(&name));
        match written {
            Some(written) if self.manifest > before.manifest && self.hidden.iter().any(|(_, at)| *at < written) => {
                Hit::Commit
            }
            _ => Hit::Processing,
        }
    }

    fn written(&self, manifest: &str) -> Option<SystemTime> {
        fs::metadata(self.checkpoints.join(manifest)).and_then(|m| m.modified()).ok()
    }
}

/// The files of a table that no reader sees: hidden ones, and those that the log of a Delta table does not name.
fn unseen(table: &Path) -> Vec<PathBuf> {
    let entries_of_log = entries(&table.join("_delta_log"));
    let log: String = entries_of_log.iter().filter_map(|entry| fs::read_to_string(entry).ok()).collect();
    let (mut files, mut folders) = (vec![], vec![table.to_owned()]);
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.extend((name != "_delta_log").then_some(path));
            } else if name.starts_with('.') || (name.ends_with(".parquet") && !log.contains(&name)) {
                files.push(path);
            }
        }
    }
    files
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
