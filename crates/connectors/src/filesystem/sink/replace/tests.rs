use tidemill_core::ErrorKind;

use super::*;

/// A table's folder with old files in two partitions, and a part of a run in each.
struct Given {
    folder: tempfile::TempDir,
    parts: Vec<Part>,
}

impl Given {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut parts = vec![];
        for (number, partition) in ["a=1", "a=2"].into_iter().enumerate() {
            let partition = folder.path().join(partition);
            fs::create_dir(&partition).unwrap();
            for old in ["part-old 1.json", "part-old 2.json", ".hidden", "_SUCCESS"] {
                fs::write(partition.join(old), "old").unwrap();
            }
            let part = Part::new(&partition, "r", number as u64, "json");
            fs::write(part.staged(), "new").unwrap();
            parts.push(part);
        }
        Self { folder, parts }
    }

    fn decide(&self) -> Result<Replacement> {
        let folders = self.parts.iter().map(|part| part.folder().to_owned()).collect();
        Replacement::decide(self.folder.path(), "r", &folders, &self.parts)
    }

    /// Everything in the table's folder, by path, with what it holds.
    fn files(&self) -> Vec<(String, String)> {
        let mut files = vec![];
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(self.folder.path()).unwrap().to_str().unwrap().to_owned();
                    files.push((name, String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()));
                }
            }
        }
        files.sort();
        files
    }
}

fn replaced() -> Vec<(String, String)> {
    let of = |partition: &str, number| {
        [(".hidden", "old"), ("_SUCCESS", "old"), (&*format!("part-r-{number}.json"), "new")]
            .map(|(name, text)| (format!("{partition}/{name}"), text.to_owned()))
    };
    [of("a=1", 0), of("a=2", 1)].concat()
}

#[test]
fn new_parts_take_the_place_of_visible_files() {
    let given = Given::new();
    given.decide().unwrap().finish().unwrap();
    assert_eq!(given.files(), replaced());
}

#[test]
fn until_it_is_decided_nothing_has_changed() {
    let given = Given::new();
    let before = given.files();
    // A crash while the decision is written leaves it under its hidden name.
    fs::write(given.folder.path().join(".overwrite-r.inprogress"), "tidemill over").unwrap();
    finish_interrupted(given.folder.path()).unwrap();
    let after: Vec<_> = given.files().into_iter().filter(|(name, _)| !name.starts_with(".overwrite")).collect();
    assert_eq!(after, before);
}

/// A crash after each of the steps of `finish`: what comes next makes it whole.
#[test]
fn whatever_was_done_the_next_run_finishes_it() {
    let steps: [fn(&Replacement, usize); 2] = [|r, n| delete(&r.old[n]).unwrap(), |r, n| r.new[n].publish().unwrap()];
    let order = [(0, 0), (0, 1), (1, 0), (0, 2), (0, 3), (1, 1)];
    for done in 0..=order.len() {
        let given = Given::new();
        let replacement = given.decide().unwrap();
        for (step, number) in &order[..done] {
            steps[*step](&replacement, *number);
        }
        drop(replacement);
        finish_interrupted(given.folder.path()).unwrap();
        assert_eq!(given.files(), replaced(), "after {done} steps");
        finish_interrupted(given.folder.path()).unwrap();
        assert_eq!(given.files(), replaced(), "a second time there is nothing to do");
    }
}

#[test]
fn a_moved_table_is_finished_where_it_is() {
    let given = Given::new();
    given.decide().unwrap();
    let moved = given.folder.path().with_extension("moved");
    fs::rename(given.folder.path(), &moved).unwrap();
    finish_interrupted(&moved).unwrap();
    fs::rename(&moved, given.folder.path()).unwrap();
    assert_eq!(given.files(), replaced());
}

#[test]
fn where_a_new_part_is_lost_nothing_is_deleted() {
    let given = Given::new();
    given.decide().unwrap();
    fs::remove_file(given.parts[1].staged()).unwrap();
    let before = given.files();
    let error = finish_interrupted(given.folder.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.hint_text().unwrap().starts_with("nothing was deleted"), "{error}");
    assert_eq!(given.files(), before);
}

#[test]
fn a_file_that_came_after_the_decision_stays() {
    let given = Given::new();
    let replacement = given.decide().unwrap();
    fs::write(given.folder.path().join("a=1/later.json"), "later").unwrap();
    replacement.finish().unwrap();
    assert!(given.files().contains(&("a=1/later.json".to_owned(), "later".to_owned())));
}

#[test]
fn a_folder_inside_is_refused_before_anything_changes() {
    let given = Given::new();
    fs::create_dir(given.folder.path().join("a=2/b=1")).unwrap();
    let before = given.files();
    let error = given.decide().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().ends_with("it has the folder 'b=1'"), "{error}");
    assert_eq!(given.files(), before);
    fs::rename(given.folder.path().join("a=2/b=1"), given.folder.path().join("a=2/_b")).unwrap();
    given.decide().unwrap();
}

#[test]
fn a_decision_reaches_nothing_outside_of_its_table() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("table");
    fs::create_dir(&table).unwrap();
    fs::write(folder.path().join("theirs"), "theirs").unwrap();
    for text in [
        "tidemill overwrite 1\n-../theirs\0",
        "tidemill overwrite 1\n-/etc/passwd\0",
        "tidemill overwrite 2\n",
        "",
        "tidemill overwrite 1\n-cut",
    ] {
        fs::write(table.join(".overwrite-x"), text).unwrap();
        let error = finish_interrupted(&table).unwrap_err();
        assert!(error.message().ends_with("is not the record of an INSERT OVERWRITE"), "{error}");
    }
    assert!(folder.path().join("theirs").exists());
}

#[test]
fn what_is_encoded_is_decoded() {
    let given = Given::new();
    fs::write(given.folder.path().join("a=1/part-line\nend é.json"), "old").unwrap();
    let replacement = given.decide().unwrap();
    let text = replacement.encode().unwrap();
    assert_eq!(Replacement::decode(given.folder.path(), replacement.decision.clone(), &text), Some(replacement));
}

#[test]
fn a_decision_that_can_not_be_written_is_none() {
    let given = Given::new();
    let before = given.files();
    // A folder with its name can't be replaced by the file.
    fs::create_dir(given.folder.path().join(".overwrite-r")).unwrap();
    given.decide().unwrap_err();
    assert_eq!(given.files(), before);
}
