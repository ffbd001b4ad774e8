//! Stores that refuse or never answer a request while a job runs: the job says so in time, loses nothing, and ends when it is
//! asked to.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use object_store::ObjectStoreExt;
use object_store::aws::AmazonS3Builder;
use tempfile::TempDir;
use tidemill_tests::folder::{fresh, names};
use tidemill_tests::running::Running;
use tidemill_tests::s3::{BUCKET, Fault, S3};
use tokio::runtime::Runtime;

/// Longer than any machine needs: a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A run that hangs has to end within that, once it is told to.
const SECONDS: Duration = Duration::from_secs(20);

const ROWS: usize = 1_500;

/// Numbers, five hundred a second, into files; checkpoints are kept in the bucket.
fn sql(name: &str, timeout: &str) -> String {
    format!(
        "SET 'execution.checkpointing.interval' = '100 ms';
SET 'execution.checkpointing.timeout' = '{timeout}';
SET 'execution.checkpointing.dir' = 's3://{BUCKET}/{name}';
CREATE TABLE numbers (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '500', 'number-of-rows' = '{ROWS}',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '{}');
CREATE TABLE copied (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');
INSERT INTO copied SELECT id FROM numbers;
",
        ROWS - 1
    )
}

fn environment(service: &S3) -> Vec<(&'static str, String)> {
    [service.environment(), vec![("AWS_ALLOW_HTTP", "true".to_owned())]].concat()
}

/// The numbers in visible files, sorted.
fn copied(folder: &Path) -> Vec<usize> {
    let out = folder.join("out");
    let visible = names(&out).into_iter().filter(|name| !name.starts_with('.'));
    let texts: Vec<String> = visible.map(|name| fs::read_to_string(out.join(name)).unwrap()).collect();
    let number = |line: &str| line.trim_start_matches("{\"id\":").trim_end_matches('}').parse().unwrap();
    let mut numbers: Vec<usize> = texts.iter().flat_map(|text| text.lines().map(number)).collect();
    numbers.sort_unstable();
    numbers
}

fn wait_for_rows(folder: &Path) {
    let begun = Instant::now();
    while copied(folder).is_empty() {
        assert!(begun.elapsed() < PATIENCE, "nothing is committed");
        sleep(Duration::from_millis(5));
    }
}

const RUN: [&str; 2] = ["--data-dir", "data"];

/// Each of the requests of a checkpoint, refused and never answered: its name, words that are in it, and what is said.
const REQUESTS: [(&str, &[&str], &str, &str); 5] = [
    ("begin", &["POST", ".parts?uploads"], "cannot write 's3://", "a checkpoint was not written to 's3://"),
    ("part", &["PUT", ".parts?", "partNumber"], "cannot write 's3://", "a checkpoint was not written to 's3://"),
    ("complete", &["POST", ".parts?uploadId"], "cannot write 's3://", "a checkpoint was not written to 's3://"),
    ("manifest", &["PUT", ".manifest"], "cannot write 's3://", "a checkpoint was not written to 's3://"),
    (
        "delete",
        &["POST", "?delete", ".manifest"],
        "cannot delete 's3://",
        "an old checkpoint was not deleted from 's3://",
    ),
];

#[test]
fn a_checkpoint_that_can_not_be_written_fails_the_run_in_time_and_the_next_goes_on() {
    let mut service = S3::start();
    let faults = |request| [Fault::Refuse, Fault::Hang].map(|fault| (request, fault));
    let cases: Vec<_> = REQUESTS.into_iter().flat_map(faults).collect();
    let jobs: Vec<_> = cases.iter().map(|((name, ..), fault)| (fresh(), format!("{name}{fault:?}"))).collect();
    let start = |service: &S3, folder: &TempDir, job: &str, timeout: &str| {
        Running::start_with(folder.path(), &sql(job, timeout), &RUN, &environment(service))
    };
    let mut running = vec![];
    for (((_, words, ..), fault), (folder, job)) in cases.iter().zip(&jobs) {
        running.push(start(&service, folder, job, "10 s"));
        wait_for_rows(folder.path());
        let prefix = format!("{job}/");
        service.fault(*fault, &[words, &[prefix.as_str()][..]].concat());
    }
    for ((((_, _, refused, hung), fault), (_, job)), running) in cases.iter().zip(&jobs).zip(running) {
        let (code, _, messages) = running.end_by_itself();
        assert_eq!(code, Some(1), "{job}: {messages}");
        let (says, helps) = match fault {
            Fault::Refuse => (refused, "credentials"),
            Fault::Hang => (hung, "'execution.checkpointing.timeout'"),
        };
        assert!(messages.contains(&format!("{says}{BUCKET}/{job}")), "{job}: {messages}");
        assert!(messages.contains(helps), "{job}: {messages}");
    }
    service.mend();
    let running: Vec<_> = jobs.iter().map(|(folder, job)| start(&service, folder, job, "60 s")).collect();
    for ((folder, job), running) in jobs.iter().zip(running) {
        let (code, _, messages) = running.end_by_itself();
        assert_eq!(code, Some(0), "{job}: {messages}");
        assert!(messages.contains("goes on from checkpoint "), "{job}: {messages}");
        assert_eq!(copied(folder.path()), (0..ROWS).collect::<Vec<_>>(), "{job}");
    }
}

#[test]
fn an_interrupt_waits_seconds_for_a_store_that_hangs_and_the_next_run_goes_on() {
    let mut service = S3::start();
    let folder = fresh();
    let start = |service: &S3| Running::start_with(folder.path(), &sql("a", "10 min"), &RUN, &environment(service));
    let running = start(&service);
    wait_for_rows(folder.path());
    service.fault(Fault::Hang, &["PUT", ".manifest"]);
    sleep(Duration::from_millis(300));
    running.interrupt();
    let asked = Instant::now();
    let (code, _, messages) = running.end_by_itself();
    assert!(asked.elapsed() < SECONDS, "{:?}", asked.elapsed());
    assert_eq!(code, Some(1), "{messages}");
    let says = format!("the run is stopped without its last checkpoint: 's3://{BUCKET}/a' has not answered");
    assert!(messages.contains(&says) && messages.contains("nothing is lost"), "{messages}");
    service.mend();
    let (code, _, messages) = start(&service).end_by_itself();
    assert_eq!(code, Some(0), "{messages}");
    assert_eq!(copied(folder.path()), (0..ROWS).collect::<Vec<_>>());
}

#[test]
fn an_interrupt_does_not_wait_for_the_first_checkpoint_and_not_for_the_last_to_be_found() {
    let mut service = S3::start();
    for (words, code) in [(["PUT", ".manifest"], Some(130)), (["GET", "list-type"], None)] {
        service.fault(Fault::Hang, &words);
        let folder = fresh();
        let running = Running::start_with(folder.path(), &sql("first", "10 min"), &RUN, &environment(&service));
        sleep(Duration::from_secs(1));
        running.interrupt();
        let asked = Instant::now();
        let (ended, _, messages) = running.end_by_itself();
        assert!(asked.elapsed() < SECONDS, "{:?}", asked.elapsed());
        assert_eq!(ended, code, "{messages}");
        service.mend();
    }
}

/// Puts an object into the bucket.
fn put(service: &S3, key: &str, content: &str) {
    let store = AmazonS3Builder::new()
        .with_bucket_name(BUCKET)
        .with_endpoint(service.endpoint())
        .with_allow_http(true)
        .with_access_key_id("test")
        .with_secret_access_key("test")
        .build()
        .unwrap();
    let put = async { store.put(&key.into(), content.to_owned().into()).await };
    Runtime::new().unwrap().block_on(put).unwrap();
}

/// A table in the bucket that is not listed, or whose rows do not come.
#[test]
fn an_interrupt_does_not_wait_for_a_table_that_hangs() {
    let mut service = S3::start();
    put(&service, "in/a.json", "{\"id\":1}\n");
    let sql = format!(
        "CREATE TABLE orders (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 's3://{BUCKET}/in/', 'format' = 'json');
CREATE TABLE copied (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');
INSERT INTO copied SELECT id FROM orders;
"
    );
    for request in [["GET", "list-type"], ["GET", "in/a.json"]] {
        service.fault(Fault::Hang, &request);
        for arguments in [&[][..], &["--batch"], &RUN] {
            let folder = fresh();
            let running = Running::start_with(folder.path(), &sql, arguments, &environment(&service));
            sleep(Duration::from_secs(1));
            running.interrupt();
            let asked = Instant::now();
            let (code, _, messages) = running.end_by_itself();
            assert!(asked.elapsed() < SECONDS, "{request:?} {arguments:?}: {:?}", asked.elapsed());
            assert_eq!(code, Some(130), "{request:?} {arguments:?}: {messages}");
            assert_eq!(copied(folder.path()), [0; 0]);
        }
        service.mend();
    }
}
