//! A Redis of the test's own, and what only Redis has to be tested for.

use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tidemill_core::ErrorKind;
use tidemill_state::backend::{Backend, Clocks, Entry, Expiry, KeyRange, RedisBackend};

/// A running server that listens at a socket in a folder of its own; it ends with the test, however that ends.
pub(crate) struct Server {
    shell: Child,
    folder: TempDir,
}

impl Server {
    /// With these options besides.
    pub(crate) fn start(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("redis.sock");
        // The shell ends the server when its standard input does, which is when this process is gone.
        let script = r#"redis-server "$@" >/dev/null & cat >/dev/null; kill $!; wait"#;
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg("sh").args(["--port", "0", "--save", "", "--unixsocket"]).arg(&socket);
        command.args(options).current_dir(folder.path()).stdin(Stdio::piped());
        let server = Self { shell: command.spawn().unwrap(), folder };
        let started = Instant::now();
        while UnixStream::connect(&socket).is_err() {
            assert!(started.elapsed() < Duration::from_secs(20), "run scripts/test once, which installs redis-server");
            std::thread::sleep(Duration::from_millis(5));
        }
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("unix://{}", self.folder.path().join("redis.sock").display())
    }

    pub(crate) fn backend(&self, prefix: &str) -> RedisBackend {
        RedisBackend::connect(&self.url(), prefix).unwrap()
    }

    fn stop(&mut self) {
        drop(self.shell.stdin.take());
        self.shell.wait().unwrap();
    }

    /// What a client of its own sees.
    fn ask(&self, command: &[&str]) -> String {
        let socket = self.folder.path().join("redis.sock");
        let output = Command::new("redis-cli").arg("-s").arg(socket).args(command).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn entry(text: &str, expiry: Expiry) -> Option<Entry> {
    Some(Entry { value: text.into(), expiry })
}

#[test]
fn what_an_earlier_run_has_left_is_gone_and_other_jobs_keep_theirs() {
    let server = Server::start(&[]);
    let mut mine = server.backend("job");
    let mut other = server.backend("job:2");
    let keys: Vec<Vec<u8>> = (0..2500_u32).map(|i| i.to_be_bytes().to_vec()).collect();
    let writes = |end_ms| keys.iter().map(move |key| (key.clone(), entry("x", Expiry::EventTime(end_ms)))).collect();
    mine.write(writes(10)).unwrap();
    other.write(vec![(b"a".to_vec(), entry("y", Expiry::Never))]).unwrap();
    drop(mine);
    let mut again = server.backend("job");
    assert_eq!(again.scan(&KeyRange::all(), 10).unwrap().entries, []);
    assert_eq!(other.get_many(&[b"a"]).unwrap(), [entry("y", Expiry::Never)]);
    assert_eq!(server.ask(&["dbsize"]), "2", "an entry and the index that has it");
}

#[test]
fn what_has_expired_leaves_nothing_behind() {
    let server = Server::start(&[]);
    let mut backend = server.backend("job");
    backend.clean(Clocks { processing_ms: 1_000, event_ms: 0 }).unwrap();
    let ends =
        [Expiry::ProcessingTime(2_000), Expiry::EventTime(50), Expiry::EventTime(51), Expiry::EventTime(i64::MAX)];
    let writes = ends.iter().zip(b'a'..).map(|(end, key)| (vec![key], entry("x", *end)));
    backend.write(writes.collect()).unwrap();
    // Redis lets it go itself, a minute late.
    let left_ms: i64 = server.ask(&["pttl", "job:entry:a"]).parse().unwrap();
    assert!((1_000..=61_000).contains(&left_ms), "{left_ms}");
    backend.clean(Clocks { processing_ms: 2_000, event_ms: 50 }).unwrap();
    let left: Vec<Vec<u8>> =
        backend.scan(&KeyRange::all(), 10).unwrap().entries.into_iter().map(|(key, _)| key).collect();
    assert_eq!(left, [b"c", b"d"]);
    // One that has been written anew since lasts.
    backend.write(vec![(b"c".to_vec(), entry("y", Expiry::Never))]).unwrap();
    backend.clean(Clocks { processing_ms: 2_000, event_ms: 60 }).unwrap();
    assert_eq!(backend.get_many(&[b"c"]).unwrap(), [entry("y", Expiry::Never)]);
    assert_eq!(server.ask(&["zcard", "job:index"]), "2");
    assert_eq!(server.ask(&["zcard", "job:event"]), "0");
}

#[test]
fn a_server_that_goes_away_is_told() {
    let mut server = Server::start(&[]);
    let mut backend = server.backend("job");
    backend.write(vec![(b"a".to_vec(), entry("x", Expiry::Never))]).unwrap();
    server.stop();
    let socket = server.folder.path().join("redis.sock");
    for error in [backend.get_many(&[b"a"]).unwrap_err(), backend.write(vec![(b"a".to_vec(), None)]).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(
            error.message().contains(&format!("the Redis at {} that keeps the state: ", socket.display())),
            "{error}"
        );
        let hint = "see to it that it runs, then run again: the job goes on from its last checkpoint";
        assert_eq!(error.hint_text(), Some(hint));
    }
    let error = RedisBackend::connect(&server.url(), "job").unwrap_err();
    assert!(error.message().starts_with("cannot connect to the Redis at "), "{error}");
}

#[test]
fn a_server_that_is_full_is_told() {
    let server = Server::start(&["--maxmemory", "4mb", "--maxmemory-policy", "noeviction"]);
    let mut backend = server.backend("job");
    let writes = (0..100_u8).map(|key| (vec![key], Some(Entry::new(vec![0; 100_000])))).collect();
    let error = backend.write(writes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().starts_with("cannot write to the Redis at "), "{error}");
    assert!(error.message().contains("maxmemory"), "{error}");
}

#[test]
fn a_server_that_evicts_is_refused() {
    let server = Server::start(&["--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru"]);
    let error = RedisBackend::connect(&server.url(), "job").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(
        error.message().ends_with("evicts entries when its memory is full (maxmemory-policy allkeys-lru)"),
        "{error}"
    );
    // Without a limit it evicts nothing.
    let unlimited = Server::start(&["--maxmemory", "0", "--maxmemory-policy", "allkeys-lru"]);
    unlimited.backend("job");
}

#[test]
fn a_url_that_is_none_is_refused_and_a_port_where_nobody_listens_is_told() {
    let error = RedisBackend::connect("http://localhost", "job").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().starts_with("the URL of the Redis for the state can't be read: "), "{error}");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = RedisBackend::connect(&format!("redis://user:secret@{free}"), "job").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(
        error.message().starts_with(&format!("cannot connect to the Redis at {free} that keeps the state: ")),
        "{error}"
    );
    assert!(!error.to_string().contains("secret"), "{error}");
}

/// A worker of the runtime gives its other tasks away while it waits.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn other_tasks_of_a_worker_go_on() {
    let server = Server::start(&[]);
    let mut backend = server.backend("job");
    let answered = Arc::new(AtomicBool::new(false));
    let (asks, asked) = tokio::sync::oneshot::channel();
    assert_eq!(server.ask(&["client", "pause", "1000"]), "OK");
    let task = tokio::spawn({
        let answered = Arc::clone(&answered);
        async move {
            asks.send(()).unwrap();
            backend.get_many(&[b"a"]).unwrap();
            answered.store(true, Ordering::SeqCst);
        }
    });
    asked.await.unwrap();
    let other = tokio::spawn({
        let answered = Arc::clone(&answered);
        async move { answered.load(Ordering::SeqCst) }
    });
    assert!(!other.await.unwrap(), "it ran while the server was waited for");
    task.await.unwrap();
}
