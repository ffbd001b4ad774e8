use super::*;

fn carry(offset: u64, watermark: i64) -> Carry {
    Carry { offset, watermark: Watermark(watermark) }
}

/// What a run knows that goes on from these snapshots.
fn resumed(snapshots: Vec<StateChanges>) -> Resumed {
    let mut state = State::default();
    snapshots.into_iter().for_each(|changes| state.apply(changes));
    Resumed::from_state(state).unwrap()
}

fn position(resumed: &Resumed, name: &str) -> Option<Option<u64>> {
    resumed.read.iter().find(|read| &*read.name == name).map(|read| read.position)
}

#[test]
fn a_cut_has_the_chunks_before_it_whenever_they_are_decoded() {
    let mut progress = Progress::default();
    progress.opened(0, "a".into(), carry(0, i64::MIN), 0);
    progress.decoded(0, Epoch(0), 10, carry(1, 100));
    progress.cut(Epoch(1), Watermark(100));
    // Of the next epoch, and then one of before the cut.
    progress.decoded(0, Epoch(1), 30, carry(3, 300));
    progress.decoded(0, Epoch(0), 20, carry(2, 200));
    let first = progress.snapshot(Epoch(1), Watermark(300)).unwrap();
    let read = resumed(vec![first.clone()]);
    assert_eq!(position(&read, "a"), Some(Some(20)));
    assert_eq!((read.carries["a"], read.granted), (carry(2, 200), Watermark(100)));

    let read = resumed(vec![first, progress.snapshot(Epoch(2), Watermark(300)).unwrap()]);
    assert_eq!(position(&read, "a"), Some(Some(30)));
    assert_eq!((read.carries["a"], read.granted), (carry(3, 300), Watermark(300)));
}

#[test]
fn a_partition_that_was_read_to_its_end_is_told_once_and_for_ever() {
    let mut progress = Progress::default();
    progress.opened(0, "a".into(), carry(0, 0), 0);
    progress.opened(1, "b".into(), carry(0, 0), 0);
    progress.cut(Epoch(1), Watermark::MIN);
    // Its end was found after the barrier.
    progress.ended(0);
    let first = progress.snapshot(Epoch(1), Watermark::MIN).unwrap();
    assert_eq!(position(&resumed(vec![first.clone()]), "a"), Some(Some(0)));
    progress.cut(Epoch(2), Watermark::MIN);
    let second = progress.snapshot(Epoch(2), Watermark::MIN).unwrap();
    progress.cut(Epoch(3), Watermark::MIN);
    let third = progress.snapshot(Epoch(3), Watermark::MIN).unwrap();
    let read = resumed(vec![first, second, third]);
    assert_eq!((position(&read, "a"), position(&read, "b")), (Some(None), Some(Some(0))));
    assert_eq!(read.read.len(), 2);
}

#[test]
fn a_partition_that_is_not_opened_again_yet_is_not_forgotten() {
    let mut before = Progress::default();
    before.opened(0, "a".into(), carry(0, 0), 0);
    before.opened(1, "b".into(), carry(0, 0), 0);
    before.decoded(0, Epoch(0), 10, carry(1, 100));
    before.decoded(1, Epoch(0), 20, carry(2, 200));
    let first = before.snapshot(Epoch(1), Watermark(50)).unwrap();

    let mut progress = Progress::of(&resumed(vec![first.clone()]));
    progress.cut(Epoch(2), Watermark(50));
    // One is opened behind the barrier, and read on.
    progress.opened(0, "b".into(), carry(2, 200), 20);
    progress.decoded(0, Epoch(2), 30, carry(3, 300));
    let second = progress.snapshot(Epoch(2), Watermark(50)).unwrap();
    let read = resumed(vec![first.clone(), second.clone()]);
    assert_eq!((position(&read, "a"), position(&read, "b")), (Some(Some(10)), Some(Some(20))));
    assert_eq!((read.carries["a"], read.carries["b"]), (carry(1, 100), carry(2, 200)));

    let third = progress.snapshot(Epoch(3), Watermark(50)).unwrap();
    let read = resumed(vec![first, second, third]);
    assert_eq!((position(&read, "a"), position(&read, "b")), (Some(Some(10)), Some(Some(30))));
    assert_eq!(read.read.len(), 2);
}
