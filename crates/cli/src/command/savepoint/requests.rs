//! How a process asks the one that runs a job for a savepoint: by files in the job's data directory.
//!
//! ```text
//! savepoints/<id>.request    {"to":"..."}                     whoever asks puts it there
//! savepoints/<id>.answer     {"epoch":7,"bytes":1234}         the run, instead of the request
//!                            {"error":"...","hint":"..."}
//! ```
//!
//! Files need no port and no permission beyond those of the data directory, which a container's volume has, too.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tidemill_core::{Error, ErrorKind, Result};
use tidemill_runtime::job::SavepointRequest;
use tidemill_state::DataDir;
use tidemill_state::checkpoint::Place;
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use crate::interrupt::interrupted;

/// How often each side looks.
pub(super) const LOOK: Duration = Duration::from_millis(100);

const FOLDER: &str = "savepoints";
const REQUEST: &str = "request";
const ANSWER: &str = "answer";

/// What is asked for.
#[derive(Debug, Serialize, Deserialize)]
struct Request {
    to: String,
}

/// A savepoint that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Made {
    /// The cut that it is.
    pub(super) epoch: u64,
    /// How large it is.
    pub(super) bytes: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Answer {
    Made(Made),
    Failed { error: String, hint: Option<String> },
}

/// Whether there is, or was, a run that takes requests.
pub(super) fn are_served(data_dir: &Path) -> bool {
    data_dir.join(FOLDER).exists()
}

/// Asks the run that has the data directory, and waits for its answer. `None`: it has ended without one.
pub(super) async fn ask(data_dir: &Path, to: &str) -> Result<Option<Made>> {
    let folder = data_dir.join(FOLDER);
    let request = folder.join(format!("{}.{REQUEST}", new_id()));
    put(&request, &Request { to: to.to_owned() })?;
    let answer = request.with_extension(ANSWER);
    let mut stop = std::pin::pin!(interrupted());
    loop {
        // Before the answer is looked for: one that comes in between is seen the next time.
        let ended = DataDir::lock(data_dir).is_ok();
        if let Some(answer) = take(&answer)? {
            return match answer {
                Answer::Made(made) => Ok(Some(made)),
                Answer::Failed { error, hint } => {
                    let error = Error::unavailable(error);
                    Err(hint.into_iter().fold(error, Error::hint))
                }
            };
        }
        if ended {
            remove(&request)?;
            return Ok(None);
        }
        if !request.exists() && !answer.exists() {
            return Err(Error::unavailable(format!("the run could not answer in '{}'", folder.display()))
                .hint("see to it that there is room on the disk of the data directory, and ask again"));
        }
        tokio::select! {
            () = sleep(LOOK) => {}
            () = &mut stop => {
                remove(&request)?;
                return Err(Error::new(ErrorKind::Closed, "interrupted"));
            }
        }
    }
}

/// What is asked of the run that has the data directory. The folder is the run's, so that it can answer whoever asks; what
/// was asked of an earlier run, nobody waits for any more.
///
/// # Errors
/// `Unavailable` if the folder can't be made or cleaned up.
pub(crate) fn serving(data_dir: &Path) -> Result<mpsc::Receiver<SavepointRequest>> {
    let folder = data_dir.join(FOLDER);
    match fs::remove_dir_all(&folder) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(failed("clean up", &folder, e)),
        _ => fs::create_dir_all(&folder).map_err(|e| failed("create the folder", &folder, e))?,
    }
    let (requests, asked) = mpsc::channel(1);
    tokio::spawn(serve(folder, requests));
    Ok(asked)
}

/// Passes on what is asked for in the folder, until the run ends.
async fn serve(folder: PathBuf, requests: mpsc::Sender<SavepointRequest>) {
    // One that can't be taken away is not answered again.
    let mut answered_before = HashSet::new();
    loop {
        for request in asked(&folder) {
            if !answered_before.insert(request.clone()) {
                continue;
            }
            let to = match read::<Request>(&request) {
                Ok(Some(Request { to })) => Ok(to),
                // Whoever asked has gone.
                Ok(None) => continue,
                Err(e) => Err(e),
            };
            let answer = match answered(to, &requests).await {
                Ok(Some(made)) => Answer::Made(made),
                // The run ends: whoever asks sees that.
                Ok(None) => return,
                Err(e) => Answer::Failed { error: e.message().to_owned(), hint: e.hint_text().map(str::to_owned) },
            };
            // Whoever asks sees that the request is gone, with or without an answer.
            let _ = put(&request.with_extension(ANSWER), &answer);
            let _ = remove(&request);
        }
        sleep(LOOK).await;
    }
}

/// The requests that are there. A folder that can't be read has none.
fn asked(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_request = |path: &PathBuf| path.extension().is_some_and(|extension| extension == REQUEST);
    entries.map(|entry| entry.path()).filter(is_request).collect()
}

/// `None`: the run ends.
async fn answered(to: Result<String>, requests: &mpsc::Sender<SavepointRequest>) -> Result<Option<Made>> {
    let to = to?;
    let (made, answer) = oneshot::channel();
    if requests.send(SavepointRequest { to: Place::parse(&to, Path::new("/"))?, made }).await.is_err() {
        return Ok(None);
    }
    match answer.await {
        Ok(made) => made.map(|(epoch, written)| Some(Made { epoch: epoch.0, bytes: written.bytes })),
        Err(_) => Ok(None),
    }
}

/// Puts a file in place, whole.
fn put(path: &Path, content: &impl Serialize) -> Result<()> {
    let text = serde_json::to_vec(content).map_err(|e| Error::internal(format!("a request is no JSON: {e}")))?;
    let staged = path.with_extension("unfinished");
    fs::write(&staged, text).and_then(|()| fs::rename(&staged, path)).map_err(|e| failed("write", path, e))
}

/// What a file holds, if it is there.
fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<Option<T>> {
    match fs::read(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(failed("read", path, e)),
        Ok(text) => serde_json::from_slice(&text)
            .map(Some)
            .map_err(|e| Error::data(format!("'{}' is damaged: {e}", path.display())).because(e)),
    }
}

fn take(answer: &Path) -> Result<Option<Answer>> {
    let read = read(answer)?;
    if read.is_some() {
        remove(answer)?;
    }
    Ok(read)
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed("delete", path, e)),
        _ => Ok(()),
    }
}

/// No other request has it.
fn new_id() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    format!("{now:x}-{}", process::id())
}

fn failed(what: &str, path: &Path, e: io::Error) -> Error {
    Error::unavailable(format!("cannot {what} '{}': {e}", path.display()))
        .because(e)
        .hint("the user who asks for a savepoint needs the right to write to the job's data directory")
}
