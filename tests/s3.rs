//! Tables in S3: what is read of a bucket is what is read of the same files here, live and in a batch.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use object_store::aws::AmazonS3Builder;
use object_store::{ObjectStore, ObjectStoreExt};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tempfile::TempDir;
use tidemill_tests::folder::{fresh, names};
use tidemill_tests::program::{Finished, Program};
use tidemill_tests::running::Running;
use tidemill_tests::s3::{BUCKET, S3, environment};
use tokio::runtime::Runtime;

/// Where the tests put objects.
struct Bucket {
    service: S3,
    store: Arc<dyn ObjectStore>,
    runtime: Runtime,
    folder: TempDir,
}

impl Bucket {
    fn new() -> Self {
        let service = S3::start();
        let store = AmazonS3Builder::new()
            .with_bucket_name(BUCKET)
            .with_endpoint(service.endpoint())
            .with_allow_http(true)
            .with_access_key_id("test")
            .with_secret_access_key("test")
            .build()
            .unwrap();
        Self { service, store: Arc::new(store), runtime: Runtime::new().unwrap(), folder: fresh() }
    }

    fn put(&self, key: &str, content: impl Into<Vec<u8>>) {
        let content: Vec<u8> = content.into();
        let key = object_store::path::Path::parse(key).unwrap();
        self.runtime.block_on(self.store.put(&key, content.into())).unwrap();
    }

    /// Puts all files below `path` of the folder under the same names.
    fn put_all(&self, path: &str) {
        for entry in fs::read_dir(self.folder.path().join(path)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{path}/{}", entry.file_name().to_str().unwrap());
            match entry.file_type().unwrap().is_dir() {
                true => self.put_all(&name),
                false => self.put(&name, fs::read(entry.path()).unwrap()),
            }
        }
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        run(self.folder.path(), arguments, &self.service.environment())
    }

    /// Runs the SQL, live or in a batch, and gives its lines, sorted.
    fn lines(&self, sql: &str, mode: &[&str]) -> Vec<String> {
        fs::write(self.folder.path().join("query.sql"), sql).unwrap();
        let finished = self.run(&[&["run", "query.sql", "--output", "json"], mode].concat());
        assert_eq!(finished.code, Some(0), "{sql}\n{}", finished.stderr);
        sorted(&finished)
    }

    fn query(&self, sql: &str) -> Vec<String> {
        let finished = self.run(&["query", sql, "--output", "json"]);
        assert_eq!(finished.code, Some(0), "{sql}\n{}", finished.stderr);
        sorted(&finished)
    }

    fn refused(&self, sql: &str) -> String {
        refused(self.folder.path(), sql, &self.service.environment())
    }
}

fn run(folder: &Path, arguments: &[&str], environment: &[(&str, String)]) -> Finished {
    let output = Program::in_folder(folder).command(arguments).envs(environment.iter().map(|(k, v)| (k, v))).output();
    let output = output.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Finished { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// What standard error says of a query that fails.
fn refused(folder: &Path, sql: &str, environment: &[(&str, String)]) -> String {
    let finished = run(folder, &["query", sql], environment);
    assert!(matches!(finished.code, Some(1 | 2)) && finished.stdout.is_empty(), "{finished:?}");
    finished.stderr
}

fn sorted(finished: &Finished) -> Vec<String> {
    let mut lines: Vec<String> = finished.stdout.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// The lines of the files in a folder that are not hidden, sorted.
fn visible_lines(folder: &Path) -> Vec<String> {
    let visible = names(folder).into_iter().filter(|name| !name.starts_with('.'));
    let texts: Vec<String> = visible.map(|name| fs::read_to_string(folder.join(name)).unwrap()).collect();
    let mut lines: Vec<String> = texts.iter().flat_map(|text| text.lines()).map(str::to_owned).collect();
    lines.sort();
    lines
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(vec![], Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

const COLUMNS: &str = "id BIGINT, category STRING, amount DECIMAL(10, 2), day DATE, \
                       ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND";

const BY_HOUR: &str = "SELECT window_start, day, category, COUNT(*) AS orders, SUM(amount) AS amount
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, day, category;
";

fn orders(path: &str, format: &str) -> String {
    format!(
        "CREATE TABLE orders ({COLUMNS}) PARTITIONED BY (day)
         WITH ('connector' = 'filesystem', 'path' = '{path}', {format});\n{BY_HOUR}"
    )
}

/// Writes orders of three days to `out/<format>` of the folder, in each format.
fn write_orders(bucket: &Bucket) {
    let rows: String = (0..3000)
        .map(|i| {
            let (day, hour, minute) = (1 + i / 1000, i % 1000 / 42, i % 60);
            let ts = format!("2026-11-{day:02} {hour:02}:{minute:02}:00");
            format!(
                "{{\"id\":{i},\"category\":\"c{}\",\"amount\":{}.25,\"day\":\"2026-11-{day:02}\",\"ts\":\"{ts}\"}}\n",
                i % 7,
                i
            )
        })
        .collect();
    fs::write(bucket.folder.path().join("all.jsonl"), rows).unwrap();
    let sinks: String = ["json", "csv", "parquet"]
        .map(|format| {
            format!(
                "CREATE TABLE {format}_out (id BIGINT, category STRING, amount DECIMAL(10, 2), day DATE, ts TIMESTAMP(3))
                 PARTITIONED BY (day) WITH ('connector' = 'filesystem', 'path' = 'out/{format}', 'format' = '{format}');
                 INSERT INTO {format}_out SELECT id, category, amount, day, ts FROM source_rows;\n"
            )
        })
        .concat();
    let source = format!(
        "CREATE TABLE source_rows ({COLUMNS})
         WITH ('connector' = 'filesystem', 'path' = 'all.jsonl', 'format' = 'json');\n"
    );
    fs::write(bucket.folder.path().join("write.sql"), source + &sinks).unwrap();
    let finished = bucket.run(&["run", "write.sql", "--batch"]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    // As text that is compressed, too.
    for day in fs::read_dir(bucket.folder.path().join("out/json")).unwrap() {
        let day = day.unwrap();
        let into = bucket.folder.path().join("out/gzip").join(day.file_name());
        fs::create_dir_all(&into).unwrap();
        let parts: String =
            fs::read_dir(day.path()).unwrap().map(|part| fs::read_to_string(part.unwrap().path()).unwrap()).collect();
        fs::write(into.join("part.json.gz"), gzip(&parts)).unwrap();
    }
    bucket.put_all("out");
}

#[test]
fn every_format_gives_live_and_in_a_batch_what_the_same_files_give_here() {
    let bucket = Bucket::new();
    write_orders(&bucket);
    let expected = bucket.lines(&orders("out/json", "'format' = 'json'"), &["--batch"]);
    assert!(expected.len() > 400, "{}", expected.len());
    for format in ["json", "gzip", "csv", "parquet"] {
        let option = format!("'format' = '{}'", if format == "gzip" { "json" } else { format });
        let there = orders(&format!("s3://{BUCKET}/out/{format}/"), &option);
        assert_eq!(bucket.lines(&there, &["--batch"]), expected, "{format}");
        assert_eq!(
            bucket.lines(&there, &[]),
            bucket.lines(&orders(&format!("out/{format}"), &option), &[]),
            "{format}"
        );
        let reconciled = bucket.run(&["reconcile", "query.sql"]);
        assert_eq!(reconciled.code, Some(0), "{}", reconciled.stderr);
    }
    // Partitions of a pattern; a column that only the path says.
    let query =
        |path: &str| bucket.query(&format!("SELECT day, COUNT(*) AS n, SUM(id) AS s FROM '{path}' GROUP BY day"));
    for path in ["out/parquet", "out/parquet/day=2026-11-0[12]", "out/gzip/day=*/*.gz"] {
        assert_eq!(query(&format!("s3://{BUCKET}/{path}")), query(path), "{path}");
    }
    assert_eq!(query(&format!("s3://{BUCKET}/out/parquet/day=2026-11-0[12]/")).len(), 2);
}

#[test]
fn a_header_is_seen_and_one_object_is_named_by_its_key() {
    let bucket = Bucket::new();
    bucket.put("in/a.csv", "id,category\n1,toys\n2,books\n");
    bucket.put("in/a.csv.other", "not asked for");
    bucket.put("in/a.csv/b.csv", "in a folder of that name");
    let rows = bucket.query(&format!("SELECT id + 1 AS id, category FROM 's3://{BUCKET}/in/a.csv'"));
    assert_eq!(rows, [r#"{"id":2,"category":"toys"}"#, r#"{"id":3,"category":"books"}"#]);
    let declaration = bucket.run(&["query", &format!("SHOW CREATE TABLE 's3a://{BUCKET}/in/a.csv'")]);
    assert!(declaration.stdout.contains("s3a://shop/in/a.csv"), "{declaration:?}");
}

#[test]
fn an_object_larger_than_a_request_is_read_whole() {
    let bucket = Bucket::new();
    let rows: String =
        (0..400_000).map(|i| format!("{{\"id\":{i},\"text\":\"{:x}\"}}\n", i * 2_654_435_761_u64)).collect();
    bucket.put("large.jsonl", rows.as_bytes());
    bucket.put("large.jsonl.gz", gzip(&rows));
    for key in ["large.jsonl", "large.jsonl.gz"] {
        let rows = bucket.query(&format!("SELECT COUNT(*) AS n, SUM(id) AS s FROM 's3://{BUCKET}/{key}'"));
        assert_eq!(rows, [r#"{"n":400000,"s":79999800000}"#]);
    }
}

#[test]
fn objects_that_appear_are_read() {
    let bucket = Bucket::new();
    let sql = format!(
        "CREATE TABLE orders (category STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
           'connector' = 'filesystem', 'path' = 's3://{BUCKET}/in/', 'format' = 'json', 'source.monitor-interval' = '50 ms');
         SELECT category FROM orders;\n"
    );
    let order = |category: &str| format!("{{\"category\": \"{category}\", \"ts\": \"2026-11-29 10:00:00\"}}\n");
    let arguments = ["--output", "json"];
    let running = Running::start_with(bucket.folder.path(), &sql, &arguments, &bucket.service.environment());
    running.assert_silent();
    bucket.put("in/a.json", order("toys"));
    assert_eq!(running.wait_for(1), [r#"{"op":"+I","category":"toys"}"#]);
    bucket.put("in/_hidden.json", order("no"));
    bucket.put("in/deep/b.json", order("books"));
    assert_eq!(running.wait_for(1), [r#"{"op":"+I","category":"books"}"#]);
    running.interrupt();
    let (code, rest, _) = running.end_by_itself();
    assert_eq!((code, rest), (Some(130), vec![]));
}

#[test]
fn a_run_goes_on_where_the_one_before_has_stopped() {
    let bucket = Bucket::new();
    let sql = format!(
        "SET 'execution.checkpointing.interval' = '100 ms';
         CREATE TABLE orders (id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
           'connector' = 'filesystem', 'path' = 's3://{BUCKET}/in/', 'format' = 'json', 'source.monitor-interval' = '50 ms');
         CREATE TABLE copy (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'copy', 'format' = 'json');
         INSERT INTO copy SELECT id FROM orders;\n"
    );
    let arguments = ["--data-dir", "data"];
    let order = |id: u32| format!("{{\"id\":{id},\"ts\":\"2026-11-29 10:00:00\"}}\n");
    let written = |ids: &[u32]| {
        let expected: Vec<String> = ids.iter().map(|id| format!("{{\"id\":{id}}}")).collect();
        let found = || visible_lines(&bucket.folder.path().join("copy"));
        let started = Instant::now();
        while found().len() < expected.len() && started.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(found(), expected);
    };
    for id in 1..=3 {
        bucket.put(&format!("in/{id}.json"), order(id));
        let running = Running::start_with(bucket.folder.path(), &sql, &arguments, &bucket.service.environment());
        written(&(1..=id).collect::<Vec<_>>());
        running.interrupt();
        assert_eq!(running.end_by_itself().0, Some(130));
    }
}

#[test]
fn what_is_not_there_is_said_by_name() {
    let bucket = Bucket::new();
    bucket.put("in/a.json", "{\"id\":1}\n");
    for (url, message) in [
        ("s3://shop/in/b.json", "there is no object 's3://shop/in/b.json'"),
        ("s3://shop/in/*.csv", "there is no object 's3://shop/in/*.csv'"),
        ("s3://nowhere/in/", "cannot list 's3://nowhere/in/': there is no bucket 'nowhere'"),
        ("s3://shop/in//a.json", "'s3://shop/in//a.json' names no object"),
        ("gs://shop/in/", "the file system 'gs' is not supported"),
    ] {
        let stderr = bucket.refused(&format!("SELECT * FROM '{url}'"));
        assert!(stderr.contains(message) && stderr.contains("help:"), "{url}\n{stderr}");
    }
}

#[test]
fn damage_is_told_as_that_of_a_local_file() {
    let bucket = Bucket::new();
    let whole = gzip("{\"id\":1}\n{\"id\":2}\n");
    bucket.put("in/a.json.gz", &whole[..whole.len() - 6]);
    bucket.put("in/x.parquet", "not Parquet");
    for (name, message) in [
        ("a.json.gz", "cannot read s3://shop/in/a.json.gz: the gzip data ends too early"),
        ("x.parquet", "s3://shop/in/x.parquet: this is not a whole Parquet file"),
    ] {
        let stderr = bucket.refused(&format!("SELECT COUNT(*) FROM 's3://{BUCKET}/in/{name}'"));
        assert!(stderr.contains(message), "{stderr}");
    }
}

#[test]
fn who_is_refused_is_told_which_variables_to_check() {
    let service = S3::that_refuses();
    let folder = fresh();
    let stderr = refused(folder.path(), "SELECT * FROM 's3://shop/in/'", &service.environment());
    assert!(stderr.contains("cannot list 's3://shop/in/': access is denied"), "{stderr}");
    assert!(stderr.contains("AWS_SECRET_ACCESS_KEY"), "{stderr}");
}

#[test]
fn a_service_that_is_not_there_is_named() {
    // A port that nobody listens at any more.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let endpoint = format!("http://127.0.0.1:{port}");
    let folder = fresh();
    let stderr = refused(folder.path(), "SELECT * FROM 's3://shop/in/'", &environment(&endpoint));
    assert!(stderr.contains(&format!("cannot connect to {endpoint}")), "{stderr}");
    assert!(stderr.contains("AWS_ENDPOINT_URL"), "{stderr}");
}

#[test]
fn a_table_in_s3_is_not_written() {
    let folder = fresh();
    fs::write(
        folder.path().join("query.sql"),
        "CREATE TABLE numbers (id INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1');
CREATE TABLE copy (id INT) WITH ('connector' = 'filesystem', 'path' = 's3://shop/out/', 'format' = 'json');
INSERT INTO copy SELECT id FROM numbers;\n",
    )
    .unwrap();
    let finished = run(folder.path(), &["run", "query.sql"], &environment("http://127.0.0.1:1"));
    assert_ne!(finished.code, Some(0));
    assert!(finished.stderr.contains("cannot write to 's3://shop/out/'"), "{}", finished.stderr);
    assert!(finished.stderr.contains("help: write to a folder of this machine"), "{}", finished.stderr);
}

/// Names of files, some of which are hidden or hold folders.
fn name() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec!["a", "b", "a-b", "day=1", "_tmp", ".x", "c d"]);
    let file = prop::sample::select(vec!["a.json", "b.json", "_b.json", ".c.json", "a.json.gz"]);
    (prop::collection::vec(part, 0..3), file).prop_map(|(parts, file)| {
        let folders: String = parts.iter().map(|part| format!("{part}/")).collect();
        folders + file
    })
}

#[test]
fn a_path_names_the_same_files_here_and_there() {
    let bucket = Bucket::new();
    let files = prop::collection::btree_set(name(), 1..10);
    let path = prop::sample::select(vec![
        "",
        "a",
        "a/",
        "*",
        "*/*.json",
        "**/a.json",
        "a*/b.json",
        "day=*/",
        "b/a.json",
        "_*",
    ]);
    let number = std::cell::Cell::new(0);
    let config = ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
    let tested = TestRunner::new(config).run(&(files, path), |(files, path)| {
        let root = format!("case{}", number.replace(number.get() + 1));
        for (id, name) in files.iter().enumerate() {
            let row = format!("{{\"id\":{id},\"name\":\"{name}\"}}\n");
            let content = if name.ends_with(".gz") { gzip(&row) } else { row.into_bytes() };
            let file = bucket.folder.path().join(&root).join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, &content).unwrap();
            bucket.put(&format!("{root}/{name}"), content);
        }
        let rows = |path: &str| {
            let sql = format!(
                "CREATE TABLE t (id BIGINT, name STRING) \
                 WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json');\nSELECT * FROM t;\n"
            );
            fs::write(bucket.folder.path().join("query.sql"), sql).unwrap();
            let finished = bucket.run(&["run", "query.sql", "--batch", "--output", "json"]);
            // Nothing is there: in a bucket there is no empty folder.
            if finished.code == Some(0) { sorted(&finished) } else { vec![] }
        };
        let here = rows(&format!("{root}/{path}"));
        prop_assert_eq!(rows(&format!("s3://{}/{}/{}", BUCKET, root, path)), here, "{:?} {}", files, path);
        Ok(())
    });
    assert!(tested.is_ok(), "{tested:?}");
}
