use super::*;

fn fetched() -> Fetched {
    let bytes = |text: &'static str| Bytes::from_static(text.as_bytes());
    Fetched::new(&[10..13, 20..25], vec![bytes("abc"), bytes("defgh")], 100)
}

#[test]
fn bytes_stand_at_their_positions_in_the_file() {
    assert_eq!(fetched().get_bytes(10, 3).unwrap(), "abc");
    assert_eq!(fetched().get_bytes(22, 2).unwrap(), "fg");
    assert_eq!(fetched().get_read(21).unwrap().into_inner(), "efgh");
    assert_eq!(fetched().len(), 100);
}

#[test]
fn what_was_not_fetched_is_an_error() {
    for (start, length) in [(0, 1), (9, 2), (11, 3), (13, 1), (25, 1), (24, 2)] {
        assert!(fetched().get_bytes(start, length).is_err(), "{start}, {length}");
    }
}
