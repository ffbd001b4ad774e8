use super::*;
use crate::backend::Expiry;

fn key(i: u32) -> Vec<u8> {
    i.to_be_bytes().to_vec()
}

#[test]
fn what_an_earlier_run_has_left_is_gone_and_other_files_are_not() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    let memory = RocksDbMemory::new(1 << 20);
    let mut backend = RocksDbBackend::open(folder.path(), &memory).unwrap();
    backend.write(vec![(key(1), Some(Entry::new(b"x".to_vec())))]).unwrap();
    backend.db.flush().unwrap();
    drop(backend);
    let mut backend = RocksDbBackend::open(folder.path(), &memory).unwrap();
    assert_eq!(backend.get_many(&[&key(1)]).unwrap(), [None]);
    assert_eq!(fs::read_to_string(folder.path().join("notes.txt")).unwrap(), "mine");
}

#[test]
fn a_compaction_takes_away_what_has_expired_and_nothing_older_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut backend = RocksDbBackend::open(folder.path(), &RocksDbMemory::new(1 << 20)).unwrap();
    let write =
        |expiry: fn(u32) -> Expiry| (0..100).map(move |i| (key(i), Some(Entry { value: key(i), expiry: expiry(i) })));
    backend.write(write(|_| Expiry::Never).collect()).unwrap();
    backend.db.flush().unwrap();
    let by_both = |i| if i % 2 == 0 { Expiry::EventTime(i64::from(i)) } else { Expiry::ProcessingTime(i64::from(i)) };
    backend.write(write(by_both).collect()).unwrap();
    backend.clean(Clocks { processing_ms: 29, event_ms: 50 }).unwrap();
    backend.db.flush().unwrap();
    backend.db.compact_range::<&[u8], &[u8]>(None, None);
    let left = backend.scan(&KeyRange::all(), 1000).unwrap().entries;
    let left: Vec<Vec<u8>> = left.into_iter().map(|(key, _)| key).collect();
    let expected = (0..100).filter(|i| if i % 2 == 0 { *i > 50 } else { *i > 29 });
    assert_eq!(left, expected.map(key).collect::<Vec<_>>());
}

#[test]
fn buffers_and_cache_stay_within_one_limit() {
    const LIMIT_BYTES: usize = 4 << 20;
    let folder = tempfile::tempdir().unwrap();
    let memory = RocksDbMemory::new(LIMIT_BYTES);
    let mut backends: Vec<RocksDbBackend> =
        (0..2).map(|i| RocksDbBackend::open(&folder.path().join(i.to_string()), &memory).unwrap()).collect();
    let mut most = 0;
    for round in 0..40 {
        for backend in &mut backends {
            let entry = |i: u32| (key(round * 1000 + i), Some(Entry::new(vec![0; 1000])));
            backend.write((0..1000).map(entry).collect()).unwrap();
            let keys: Vec<Vec<u8>> = (0..1000).map(|i| key(i * round)).collect();
            backend.get_many(&keys.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
        }
        most = most.max(memory.used_bytes());
    }
    // 80 MB were written.
    assert!(most < 2 * LIMIT_BYTES, "{most}");
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let memory = RocksDbMemory::new(1 << 20);
    let error = RocksDbBackend::open(&file.join("state"), &memory).err().unwrap();
    let expected = format!("cannot create the folder '{}' for RocksDB: ", file.join("state").display());
    assert!(error.message().starts_with(&expected), "{error}");
    assert!(error.hint_text().unwrap().starts_with("give --data-dir a folder"));
}

#[test]
fn a_folder_has_one_user() {
    let folder = tempfile::tempdir().unwrap();
    let memory = RocksDbMemory::new(1 << 20);
    let first = RocksDbBackend::open(folder.path(), &memory).unwrap();
    let error = RocksDbBackend::open(folder.path(), &memory).err().unwrap();
    assert!(
        error.message().starts_with(&format!("cannot empty the RocksDB in '{}'", folder.path().display())),
        "{error}"
    );
    drop(first);
}
