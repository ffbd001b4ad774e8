use std::fs::OpenOptions;

use tidemill_core::ErrorKind;

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn publishing_twice_is_publishing_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut staged = StagedPart::create(Part::new(folder.path(), "r", 0, "json")).unwrap();
    assert_eq!(names(folder.path()), [".part-r-0.json.inprogress"]);
    staged.write(b"x\n").unwrap();
    staged.sync().unwrap();
    let part = staged.into_part();
    part.publish().unwrap();
    part.publish().unwrap();
    assert_eq!(names(folder.path()), ["part-r-0.json"]);
    assert_eq!(fs::read(folder.path().join("part-r-0.json")).unwrap(), b"x\n");
}

#[test]
fn a_part_that_was_lost_cannot_be_published() {
    let folder = tempfile::tempdir().unwrap();
    let part = StagedPart::create(Part::new(folder.path(), "r", 0, "json")).unwrap().into_part();
    part.discard().unwrap();
    part.discard().unwrap();
    assert_eq!(part.publish().unwrap_err().kind(), ErrorKind::Unavailable);
}

#[test]
fn no_file_is_ever_replaced() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["part-r-0.json", ".part-r-1.json.inprogress"] {
        fs::write(folder.path().join(name), "theirs").unwrap();
    }
    for number in 0..2 {
        let error = StagedPart::create(Part::new(folder.path(), "r", number, "json")).unwrap_err();
        assert!(error.message().contains("exists"), "{error}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_names_the_file_and_the_remedy() {
    let file = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut staged = StagedPart { part: Part::new(Path::new("out"), "r", 0, "json"), file: Some(file), bytes: 0 };
    let error = staged.write(b"x\n").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().starts_with("cannot write 'out/.part-r-0.json.inprogress': "), "{error}");
    assert_eq!(error.hint_text(), Some("make room on the disk, then run again"));
}
