//! Files that are not what they were when the run before has read them.

use super::given::{Kind, Packed, Rows};
use super::*;

fn rows(count: i64) -> Rows {
    (0..count).map(|id| (format!("text {id}"), id, false)).collect()
}

/// Reads a chunk of the file `in`, which then changes; gives the error of reading on.
async fn after(kind: Kind, packed: Packed, change: impl Fn(&Path)) -> Error {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in");
    fs::write(&file, kind.file(&rows(9), packed, true).0).unwrap();
    let options = [kind.options(), &[("path", "in")]].concat();
    let table = table(folder.path(), &options, false, 60);
    let mut runs = Runs::default();
    runs.run(&table, |_| Some(2)).await.unwrap();
    assert!(!runs.seen.is_empty());
    change(&file);
    runs.run(&table, |_| None).await.unwrap_err()
}

#[tokio::test]
async fn a_file_that_is_gone_is_an_error() {
    for kind in [Kind::Json, Kind::Csv, Kind::Parquet] {
        let error = after(kind, Packed::Plain, |file| fs::remove_file(file).unwrap()).await;
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert_eq!(error.message(), "the file 'in' is gone, which the run before had not read to its end");
        assert!(error.hint_text().unwrap().contains("--data-dir"));
    }
}

#[tokio::test]
async fn a_file_that_is_shorter_is_an_error_that_says_by_how_much() {
    for packed in [Packed::Plain, Packed::Gzip(1), Packed::Gzip(3), Packed::Zstd(1)] {
        let shorter = packed.pack(b"{\"s\":\"text 0\",\"id\":0}\n");
        let error = after(Kind::Json, packed, |file| fs::write(file, &shorter).unwrap()).await;
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.message().starts_with("cannot read on in '"), "{error}");
        assert!(error.message().contains(" bytes of its text were read by the run before, and it has 22"), "{error}");
        assert!(error.hint_text().unwrap().contains("--data-dir"));
    }
    let (shorter, _) = Kind::Parquet.file(&rows(3), Packed::Plain, true);
    let error = after(Kind::Parquet, Packed::Plain, |file| fs::write(file, &shorter).unwrap()).await;
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.to_string().contains(" of its rows were read by the run before, and it has 3"), "{error}");
    assert!(error.hint_text().unwrap().contains("--data-dir"));
}

#[tokio::test]
async fn a_compressed_file_that_is_cut_off_is_an_error() {
    let (whole, _) = Kind::Json.file(&rows(9), Packed::Gzip(1), true);
    let error = after(Kind::Json, Packed::Gzip(1), |file| fs::write(file, &whole[..20]).unwrap()).await;
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.message().ends_with("the gzip data ends too early, so the file is not whole"), "{error}");
}

#[tokio::test]
async fn a_file_that_was_read_to_its_end_may_be_gone() {
    for path in ["in", "file:in", "./in"] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("in"), Kind::Json.file(&rows(9), Packed::Plain, true).0).unwrap();
        let table = table(folder.path(), &[("format", "json"), ("path", path)], false, 60);
        let mut runs = Runs::default();
        runs.run(&table, |_| None).await.unwrap();
        fs::remove_file(folder.path().join("in")).unwrap();
        assert!(runs.open(&table, false).await.unwrap().partitions.is_empty());
    }
}
