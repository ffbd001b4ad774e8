//! Options and the source; the sink's tests stand beside the sink.

use std::fs;
use std::path::{Path, PathBuf};

use arrow::array::{AsArray, Int64Array};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use tidemill_core::{Error, ErrorKind};
use tidemill_runtime::connector::{Options, PartitionReader, ScanRequest};

use super::location::Place;
use super::*;

fn table(folder: &Path, options: &[(&str, &str)]) -> TableSpec {
    let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, true)]));
    let mut table = TableSpec {
        name: "t".into(),
        partitioned_by: vec![],
        schema,
        options: Options::default(),
        folder: folder.to_owned(),
    };
    for (key, value) in options {
        table.options.set(*key, *value, None);
    }
    table
}

async fn open(folder: &Path, path: &str) -> Result<Box<dyn PartitionReader>> {
    let table = table(folder, &[("path", path), ("format", "json")]);
    let request = ScanRequest {
        columns: Arc::clone(&table.schema),
        batch_rows: 8192,
        keep_rejected: false,
        follow: false,
        resume: Arc::new([]),
    };
    let mut partitions = FilesystemConnector.source(&table)?.open(&request).await?.partitions;
    assert_eq!(partitions.len(), 1);
    Ok(partitions.remove(0))
}

async fn open_error(folder: &Path, path: &str) -> Error {
    open(folder, path).await.err().expect("the file can't be opened")
}

async fn values(mut reader: Box<dyn PartitionReader>) -> Vec<Option<i64>> {
    let mut values = Vec::new();
    while let Some(chunk) = reader.next_chunk().await.unwrap() {
        let rows = chunk.decode().unwrap().rows;
        values.extend(rows.column(0).as_primitive::<Int64Type>());
    }
    assert!(reader.next_chunk().await.unwrap().is_none());
    values
}

fn options_of(path: &str) -> Result<FilesystemOptions> {
    FilesystemOptions::from_table(&table(Path::new("/jobs"), &[("path", path), ("format", "json")]))
}

#[test]
fn paths_start_at_the_folder_of_the_sql_file() {
    for (written, path) in [
        ("in.json", "/jobs/in.json"),
        ("../in.json", "/jobs/../in.json"),
        ("/data/in.json", "/data/in.json"),
        ("file:///data/a b.json", "/data/a b.json"),
        ("file:/data/in.json", "/data/in.json"),
    ] {
        let options = options_of(written).unwrap();
        let Place::Local { path: found, .. } = options.location.place else { panic!("{written} is no local path") };
        assert_eq!(found, PathBuf::from(path));
        assert_eq!(&*options.location.written, written);
    }
}

#[test]
fn an_url_of_s3_names_a_bucket_and_what_is_in_it() {
    for (written, bucket, key) in [
        ("s3://bucket/a/b c.json", "bucket", "a/b c.json"),
        ("s3a://bucket/day=*/", "bucket", "day=*/"),
        ("s3://bucket", "bucket", ""),
    ] {
        let place = Place::Bucket { bucket: bucket.to_owned(), key: key.to_owned() };
        assert_eq!(options_of(written).unwrap().location.place, place);
    }
}

#[test]
fn what_is_no_path_of_files_is_refused() {
    for (written, message) in [
        ("gs://bucket/in.json", "the file system 'gs' is not supported"),
        ("hdfs://host/in.json", "the file system 'hdfs' is not supported"),
        ("https://host/in.json", "the file system 'https' is not supported"),
        ("s3:///in.json", "the URL 's3:///in.json' names no bucket"),
        ("file://host/in.json", "the URL 'file://host/in.json' names a host"),
        ("", "the option 'path' is empty"),
        ("file:", "the option 'path' is empty"),
    ] {
        let error = options_of(written).unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Invalid, message));
        assert!(error.hint_text().is_some());
    }
}

#[test]
fn a_missing_option_and_an_unknown_format_are_refused() {
    let missing = |options| FilesystemConnector.source(&table(Path::new(""), options)).err().unwrap();
    assert_eq!(missing(&[("format", "json")]).message(), "the option 'path' is missing");
    assert_eq!(missing(&[("path", "x")]).message(), "the option 'format' is missing");
    let error = missing(&[("path", "x"), ("format", "protobuf")]);
    assert_eq!(error.hint_text(), Some("supported formats: csv, debezium-json, json, parquet"));
}

#[tokio::test]
async fn a_file_is_one_partition() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.json"), "{\"a\":1}\n{\"a\":null}\n{\"a\":3}").unwrap();
    let reader = open(folder.path(), "in.json").await.unwrap();
    assert_eq!(&*reader.partition(), "in.json");
    assert_eq!(values(reader).await, [Some(1), None, Some(3)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_larger_than_a_chunk_is_read_whole_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.json");
    let text: String = (0..300_000).map(|i| format!("{{\"a\":{i}}}\n")).collect();
    fs::write(&path, text).unwrap();
    let reader = open(folder.path(), &format!("file://{}", path.display())).await.unwrap();
    let expected = Int64Array::from_iter_values(0..300_000);
    assert!(values(reader).await.into_iter().eq(expected.iter()));
}

#[tokio::test]
async fn an_empty_file_has_no_rows() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.json"), "").unwrap();
    assert!(values(open(folder.path(), "in.json").await.unwrap()).await.is_empty());
}

#[tokio::test]
async fn a_missing_file_says_where_it_was_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let error = open_error(folder.path(), "no/in.json").await;
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let path = folder.path().join("no/in.json");
    assert_eq!(error.message(), format!("there is no file '{}'", path.display()));
    let hint = error.hint_text().unwrap();
    assert!(hint.contains("'no/in.json' is relative to the folder of the SQL file"), "{hint}");
    assert!(hint.contains(&folder.path().display().to_string()), "{hint}");

    let error = open_error(folder.path(), path.to_str().unwrap()).await;
    assert_eq!(error.hint_text(), Some("check the option 'path' of the table"));
}

/// The names of the partitions of a path, in their order.
async fn partitions(folder: &Path, path: &str) -> Vec<String> {
    let table = table(folder, &[("path", path), ("format", "json")]);
    let request = ScanRequest {
        columns: Arc::clone(&table.schema),
        batch_rows: 1,
        keep_rejected: false,
        follow: false,
        resume: Arc::new([]),
    };
    let opened = FilesystemConnector.source(&table).unwrap().open(&request).await.unwrap();
    assert!(opened.discovery.is_none());
    opened.partitions.iter().map(|p| p.partition().to_string()).collect()
}

fn folder_of(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{\"a\":1}\n").unwrap();
    }
    folder
}

#[tokio::test]
async fn a_folder_is_the_files_below_it_in_the_order_of_their_names() {
    let folder = folder_of(&["in/b.json", "in/a/z.json", "in/.hidden", "in/_x", "in/_d/y", "in/c", "other"]);
    assert_eq!(partitions(folder.path(), "in").await, ["in/a/z.json", "in/b.json", "in/c"]);
    assert_eq!(partitions(folder.path(), "in/").await, ["in/a/z.json", "in/b.json", "in/c"]);
    let absolute = folder.path().join("in/c");
    assert_eq!(
        partitions(Path::new("/no"), folder.path().join("in").to_str().unwrap()).await[2],
        absolute.to_str().unwrap()
    );
    let url = format!("file://{}/in/*.json", folder.path().display());
    assert_eq!(partitions(Path::new("/no"), &url).await, [folder.path().join("in/b.json").to_str().unwrap()]);
}

#[tokio::test]
async fn a_name_that_looks_like_a_pattern_is_a_name_where_it_is_there() {
    let folder = folder_of(&["in/[a].json", "in/a.json", "[x]/a.json", "in/day=1/b.json"]);
    assert_eq!(partitions(folder.path(), "in/[a].json").await, ["in/[a].json"]);
    assert_eq!(partitions(folder.path(), "in/?.json").await, ["in/a.json"]);
    assert_eq!(partitions(folder.path(), "in/d*").await, ["in/day=1/b.json"]);
    assert_eq!(partitions(&folder.path().join("[x]"), "*.json").await, ["a.json"]);
}

#[tokio::test]
async fn a_pattern_names_each_file_once_and_none_that_is_hidden() {
    let folder =
        folder_of(&["logs/b.json", "logs/a/z.json", "logs/a/b/y.json", "logs/_tmp/t.json", "logs/a/.x/u.json"]);
    let folder = folder.path();
    fs::write(folder.join("logs/.hidden.json"), "").unwrap();
    fs::write(folder.join("logs/_SUCCESS"), "").unwrap();
    let all = ["logs/a/b/y.json", "logs/a/z.json", "logs/b.json"];
    for path in ["logs/*", "logs/**", "logs/**/*", "./logs/**/*", "logs//*", "lo*", "lo*/"] {
        assert_eq!(partitions(folder, path).await, all, "{path}");
    }
    assert_eq!(partitions(folder, "logs/*.*").await, ["logs/b.json"]);
    assert_eq!(partitions(folder, "logs/*/").await, all[..2]);
    // Who writes out how a name begins wants it.
    assert_eq!(partitions(folder, "logs/_tmp/*").await, ["logs/_tmp/t.json"]);
    assert_eq!(partitions(folder, "logs/_*/t.json").await, ["logs/_tmp/t.json"]);
    assert_eq!(partitions(&folder.join("logs/_tmp"), "*").await, ["t.json"]);
    for path in ["logs/b.json/*", "nothing/*"] {
        let error = open_error(folder, path).await;
        assert_eq!(error.message(), format!("no file fits the pattern '{path}'"));
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_name_that_is_not_utf_8_is_read_by_a_pattern_as_in_a_folder() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = folder_of(&["in/a.json", "other/b.json"]);
    let other = OsStr::from_bytes(b"\xff.json");
    fs::write(folder.path().join("in").join(other), "{\"a\":1}\n").unwrap();
    fs::create_dir(folder.path().join(OsStr::from_bytes(b"\xfe"))).unwrap();
    let read = partitions(folder.path(), "in").await;
    assert_eq!(read.len(), 2);
    for path in ["in/*", "in/*.json", "in/**/*", "i*"] {
        assert_eq!(partitions(folder.path(), path).await, read, "{path}");
    }
    assert_eq!(partitions(folder.path(), "in/a*").await, ["in/a.json"]);
}

#[tokio::test]
async fn a_folder_that_is_half_replaced_is_not_read() {
    let folder = folder_of(&["in/part-old-0.json"]);
    let folder = folder.path();
    fs::write(folder.join("in/.overwrite-x.inprogress"), "").unwrap();
    assert_eq!(partitions(folder, "in").await.len(), 1, "it is not decided");
    fs::write(folder.join("in/.overwrite-x"), "").unwrap();
    for path in ["in", "in/", "in/*.json", "in/**/*"] {
        let error = open_error(folder, path).await;
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.message().contains("in/.overwrite-x' is there"), "{error}");
        assert!(error.hint_text().unwrap().starts_with("the next run that writes to the table finishes it"), "{error}");
    }
    assert_eq!(partitions(folder, "in/part-old-0.json").await.len(), 1, "a file alone is whole");
    fs::remove_file(folder.join("in/.overwrite-x")).unwrap();
    assert_eq!(partitions(folder, "in").await.len(), 1);
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_followed_and_one_in_a_circle_is_an_error() {
    let folder = folder_of(&["in/a.json", "elsewhere/b.json"]);
    std::os::unix::fs::symlink(folder.path().join("elsewhere"), folder.path().join("in/link")).unwrap();
    assert_eq!(partitions(folder.path(), "in").await, ["in/a.json", "in/link/b.json"]);
    // A link to nothing is no file.
    std::os::unix::fs::symlink(folder.path().join("nothing"), folder.path().join("in/broken")).unwrap();
    assert_eq!(partitions(folder.path(), "in").await, ["in/a.json", "in/link/b.json"]);
    std::os::unix::fs::symlink(folder.path().join("in"), folder.path().join("in/circle")).unwrap();
    for path in ["in", "in/**/*"] {
        let error = open_error(folder.path(), path).await;
        assert!(error.message().starts_with("cannot read the folder '"), "{error}");
    }
    // It is no file that is asked for, so nobody follows it.
    assert_eq!(partitions(folder.path(), "in/*.json").await, ["in/a.json"]);
}
