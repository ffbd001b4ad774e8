use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};

use super::super::manifest::SectionParts;
use super::*;

fn batch(value: i64) -> RecordBatch {
    RecordBatch::try_from_iter([("n", Arc::new(Int64Array::from(vec![value])) as ArrayRef)]).unwrap()
}

fn part(file: u64, bytes: u64) -> PartRef {
    PartRef { file, offset: 0, bytes, xxh3: 0, goes_on: false }
}

/// A checkpoint with one owner, whose sections have these parts.
fn manifest(sections: &[(i64, &[PartRef])], files: &[(u64, u64)]) -> Manifest {
    let section = |(number, parts): &(i64, &[PartRef])| SectionParts {
        name: "pane".to_owned(),
        number: *number,
        upserts: false,
        parts: parts.to_vec(),
    };
    Manifest {
        format: 1,
        program: String::new(),
        epoch: 1,
        run: 0,
        created_ms: 0,
        finished: false,
        longest_pause_us: 0,
        plan: String::new(),
        operators: BTreeMap::new(),
        origin: None,
        savepoint: None,
        files: files.iter().copied().collect(),
        state: [("a".to_owned(), sections.iter().map(section).collect())].into(),
    }
}

fn of_pane(chains: &Chains, number: i64) -> Option<Vec<Link>> {
    chains["a"].get(&Section::new("pane", number)).map(|chain| chain.links.clone())
}

#[test]
fn what_has_not_changed_is_named_where_it_stands() {
    let last = manifest(&[(1, &[part(1, 10)]), (2, &[part(1, 10)]), (3, &[part(1, 10)])], &[(1, 30)]);
    let mut changes = StateChanges::default();
    changes.append(Section::new("pane", 1), batch(7));
    changes.remove(Section::new("pane", 2));
    changes.replace(Section::new("pane", 3), vec![batch(8)]);
    changes.append(Section::new("pane", 4), batch(9));
    let chains = next(Some(&last), vec![("a".to_owned(), changes)]);
    assert_eq!(of_pane(&chains, 1), Some(vec![Link::Old(part(1, 10)), Link::New(Rows::Here(batch(7)))]));
    assert_eq!(of_pane(&chains, 2), None);
    assert_eq!(of_pane(&chains, 3), Some(vec![Link::New(Rows::Here(batch(8)))]));
    assert_eq!(of_pane(&chains, 4), Some(vec![Link::New(Rows::Here(batch(9)))]));
}

#[test]
fn many_parts_become_one() {
    let parts: Vec<PartRef> = (1..=32).map(|file| part(file, 10)).collect();
    let files: Vec<(u64, u64)> = (1..=32).map(|file| (file, 10)).collect();
    let mut changes = StateChanges::default();
    changes.append(Section::new("pane", 1), batch(7));
    let chains = next(Some(&manifest(&[(1, &parts)], &files)), vec![("a".to_owned(), changes)]);
    assert_eq!(of_pane(&chains, 1), Some(vec![Link::Merged(parts.clone()), Link::New(Rows::Here(batch(7)))]));
    let chains = next(Some(&manifest(&[(1, &parts[..31])], &files)), vec![]);
    assert_eq!(of_pane(&chains, 1).unwrap().len(), 31);
}

/// Files 1 and 2 have ten times what is named of them, file 3 is named whole: giving up the emptiest is enough.
#[test]
fn files_of_which_little_is_named_are_given_up() {
    const M: u64 = 1 << 20;
    let parts = [part(1, M), part(2, 2 * M), part(3, 20 * M)];
    let last = manifest(&[(1, &parts)], &[(1, 30 * M), (2, 20 * M), (3, 20 * M)]);
    let chains = next(Some(&last), vec![]);
    let expected = vec![Link::Copied(parts[0]), Link::Old(parts[1]), Link::Old(parts[2])];
    assert_eq!(of_pane(&chains, 1), Some(expected));
    // With no more than as much again, all stays.
    let last = manifest(&[(1, &parts)], &[(1, 12 * M), (2, 12 * M), (3, 20 * M)]);
    assert_eq!(of_pane(&next(Some(&last), vec![]), 1), Some(parts.map(Link::Old).to_vec()));
}

/// The parts of a section of keys and values after another checkpoint.
fn compacted(bytes: &[u64]) -> Vec<Link> {
    after_another(&(1..).zip(bytes).map(|(file, &bytes)| part(file, bytes)).collect::<Vec<_>>())
}

fn after_another(parts: &[PartRef]) -> Vec<Link> {
    let files: Vec<(u64, u64)> = parts.iter().map(|part| (part.file, part.bytes)).collect();
    let mut last = manifest(&[(1, parts)], &files);
    last.state.values_mut().flatten().for_each(|section| section.upserts = true);
    of_pane(&next(Some(&last), vec![]), 1).unwrap()
}

#[test]
fn keys_and_values_are_compacted_as_far_as_as_much_has_come_behind() {
    let old = |file, bytes| Link::Old(part(file, bytes));
    let tail = |from: u64, bytes: &[u64]| (from..).zip(bytes).map(|(file, &bytes)| part(file, bytes)).collect();
    // Few parts stay.
    assert_eq!(compacted(&[9, 9, 9, 9, 9, 9, 9]).len(), 7);
    // A large one stays until as much is behind it.
    let links = compacted(&[1000, 10, 10, 10, 10, 10, 10, 10]);
    assert_eq!(links, [old(1, 1000), Link::Compacted { parts: tail(2, &[10; 7]), whole: false }]);
    let links = compacted(&[70, 10, 10, 10, 10, 10, 10, 10]);
    assert_eq!(links, [Link::Compacted { parts: tail(1, &[70, 10, 10, 10, 10, 10, 10, 10]), whole: true }]);
    // Where each is larger than all behind it, the last two are taken.
    let links = compacted(&[128, 64, 32, 16, 8, 4, 2, 1]);
    assert_eq!(links.len(), 7);
    assert_eq!(links[6], Link::Compacted { parts: tail(7, &[2, 1]), whole: false });
}

/// What was compacted before is one, however many parts it was written as: it is not read again at each checkpoint.
#[test]
fn parts_that_go_on_one_from_the_other_count_as_one() {
    let large: Vec<PartRef> = (1..=20).map(|file| PartRef { goes_on: file > 1, ..part(file, 100) }).collect();
    let with = |more: &[u64]| {
        let more = (21..).zip(more).map(|(file, &bytes)| part(file, bytes));
        large.iter().copied().chain(more).collect::<Vec<_>>()
    };
    let few = with(&[10; 6]);
    assert_eq!(after_another(&few), few.iter().copied().map(Link::Old).collect::<Vec<_>>());
    // None of the large run is taken without the others.
    let links = after_another(&with(&[500; 3]));
    assert_eq!(links.len(), 23);
    let links = after_another(&with(&[10; 7]));
    assert_eq!(links[..20], large.iter().copied().map(Link::Old).collect::<Vec<_>>());
    assert_eq!(links[20..], [Link::Compacted { parts: with(&[10; 7])[20..].to_vec(), whole: false }]);
    let all = with(&[400; 7]);
    assert_eq!(after_another(&all), [Link::Compacted { parts: all.clone(), whole: true }]);
}
