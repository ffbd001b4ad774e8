use super::*;

#[test]
fn a_row_is_among_those_that_are_due_when_it_is_due_and_not_before() {
    for rate in [1, 3, 7, 1_000, 10_000, 999_999_937, u64::MAX] {
        let pace = Pace::new(rate);
        for row in [0, 1, 2, 3, 9_999, 10_000, 123_456_789] {
            let due = pace.due(row);
            assert!(pace.rows_after(due) > row, "{rate} {row}");
            if let Some(before) = due.checked_sub(Duration::from_nanos(1)) {
                assert!(pace.rows_after(before) <= row || rate > 1_000_000_000, "{rate} {row}");
            }
        }
    }
    assert_eq!(Pace::new(10_000).due(25_000), Duration::from_millis(2_500));
}
