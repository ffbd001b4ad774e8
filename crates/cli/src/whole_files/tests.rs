// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn files_appear_together_and_replace_older_ones() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("a/b");
    for content in ["first", "second"] {
        let mut files = WholeFiles::create(&folder).unwrap();
        files.write("x", content.as_bytes()).unwrap();
        files.write("y", content.as_bytes()).unwrap();
        let before = fs::read_to_string(folder.join("x")).unwrap_or_default();
        assert_eq!(before, if content == "first" { "" } else { "first" });
        files.finish().unwrap();
        assert_eq!(names(&folder), ["x", "y"]);
        assert_eq!(fs::read_to_string(folder.join("y")).unwrap(), content);
    }
}

#[test]
fn what_is_not_finished_is_taken_back() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("new");
    let mut files = WholeFiles::create(&folder).unwrap();
    files.write("x", b"content").unwrap();
    drop(files);
    assert!(!folder.exists());
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("other"), "").unwrap();
    let mut files = WholeFiles::create(&folder).unwrap();
    files.write("x", b"content").unwrap();
    drop(files);
    assert_eq!(names(&folder), ["other"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_says_to_make_room() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path().join(".x.unfinished")).unwrap();
    let mut files = WholeFiles::create(folder.path()).unwrap();
    let error = files.write("x", b"content").unwrap_err();
    assert!(error.message().contains("No space left on device"), "{error}");
    assert_eq!(error.hint_text(), Some("make room on the disk, then run again"));
    drop(files);
    assert_eq!(names(folder.path()), Vec::<String>::new());
}
