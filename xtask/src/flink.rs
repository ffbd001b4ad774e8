//! `cargo xtask flink record [NAME...]`: asks a real Flink what the expressions of `tests/flink` give.
//!
//! Its answers are kept beside the questions, so that a test needs neither Java nor Flink. Recording wants Java 17 or
//! later, Python with pip, and 650 MB of the cache folder, once.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::checkout::Checkout;
use crate::process::succeeds;
use crate::{Outcome, cache};

const REQUIREMENTS: &str = "tests/oracle/flink-requirements.txt";
const RECORDER: &str = "tests/oracle/FlinkExpressions.java";
const QUESTIONS: &str = "tests/flink";

pub(crate) fn run(checkout: &Checkout, arguments: &[&str]) -> Outcome {
    let ["record", names @ ..] = arguments else {
        return Err("usage: cargo xtask flink record [NAME...]".to_owned());
    };
    let jars = installed(checkout)?;
    let mut files = questions(checkout)?;
    if let Some(unknown) = names.iter().find(|name| !files.iter().any(|file| file == *name)) {
        return Err(format!("there is no {QUESTIONS}/{unknown}.sql"));
    }
    files.retain(|file| names.is_empty() || names.contains(&file.as_str()));
    files.iter().try_for_each(|name| record(checkout, &jars, name))
}

/// The names of the files of expressions, sorted.
fn questions(checkout: &Checkout) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(checkout.path(QUESTIONS)).map_err(|e| format!("cannot list {QUESTIONS}: {e}"))?;
    let mut names = vec![];
    for entry in entries {
        let name = entry.map_err(|e| format!("cannot list {QUESTIONS}: {e}"))?.file_name();
        names.extend(name.to_string_lossy().strip_suffix(".sql").map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// The folder with Flink's jars, in the version that the requirements name.
pub(crate) fn installed(checkout: &Checkout) -> Result<PathBuf, String> {
    let folder = cache::folder()?.join("flink");
    let (wanted, marker) = (checkout.read(REQUIREMENTS)?, folder.join("requirements.txt"));
    let jars = folder.join("pyflink/lib");
    if fs::read_to_string(&marker).is_ok_and(|installed| installed == wanted) {
        return Ok(jars);
    }
    println!("Fetching Flink's jars into {} ...", folder.display());
    fs::create_dir_all(&folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
    let requirements = checkout.path(REQUIREMENTS);
    let download = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"];
    succeeds(Command::new("python3").args(download).arg("-r").arg(requirements).arg("-d").arg(&folder))?;
    for wheel in wheels(&folder)? {
        succeeds(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&folder))?;
        fs::remove_file(&wheel).map_err(|e| format!("cannot remove {}: {e}", wheel.display()))?;
    }
    fs::write(&marker, wanted).map_err(|e| format!("cannot write {}: {e}", marker.display()))?;
    Ok(jars)
}

fn wheels(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("cannot list {}: {e}", folder.display()))?;
    let paths = entries.map(|entry| entry.map(|e| e.path()).map_err(|e| e.to_string()));
    let paths = paths.collect::<Result<Vec<_>, _>>()?;
    Ok(paths.into_iter().filter(|path| path.extension().is_some_and(|e| e == "whl")).collect())
}

fn record(checkout: &Checkout, jars: &Path, name: &str) -> Outcome {
    let text = checkout.read(&format!("{QUESTIONS}/{name}.sql"))?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("--"));
    let asked: String = lines.flat_map(|line| [line, "\n"]).collect();
    println!("{name}: {} expressions", asked.lines().count());
    let answers = ask(&checkout.path(RECORDER), jars, &asked)?;
    if answers.lines().count() != asked.lines().count() {
        return Err(format!("{name}: Flink gave {} answers", answers.lines().count()));
    }
    let target = checkout.path(&format!("{QUESTIONS}/{name}.expected.tsv"));
    fs::write(&target, answers).map_err(|e| format!("cannot write {}: {e}", target.display()))
}

/// One process of Java for all expressions.
fn ask(recorder: &Path, jars: &Path, asked: &str) -> Result<String, String> {
    let mut classes = OsString::from(jars);
    classes.push("/*");
    let mut java = Command::new("java")
        // What Flink logs would stand between the answers.
        .args(["-Xmx1g", "-Dlog4j2.level=OFF", "-cp"])
        .arg(classes)
        .arg(recorder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("java could not be started: {e}"))?;
    let mut input = java.stdin.take().expect("its input is piped");
    let sent = asked.to_owned();
    // Written from beside, so that neither side waits for the other with a full pipe.
    let writer = std::thread::spawn(move || input.write_all(sent.as_bytes()));
    let output = java.wait_with_output().map_err(|e| format!("cannot read from java: {e}"))?;
    if !output.status.success() {
        return Err(format!("{} failed: {}", recorder.display(), output.status));
    }
    let written = writer.join().map_err(|_| "writing to java failed".to_owned())?;
    written.map_err(|e| format!("cannot write to java: {e}"))?;
    String::from_utf8(output.stdout).map_err(|e| format!("what java printed is not UTF-8: {e}"))
}
