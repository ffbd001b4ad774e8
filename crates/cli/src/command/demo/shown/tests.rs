use super::*;

#[test]
fn thousands_are_apart() {
    for (number, text) in [(0u64, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
        assert_eq!(grouped(number), text);
    }
    assert_eq!(money(123_456), "1,234.56");
    assert_eq!(money(-5), "-0.05");
    assert_eq!(counted(-1), "0");
}

#[test]
fn times_are_those_of_the_day() {
    assert_eq!(clock(9 * 3_600_000 + 41 * 60_000 + 59_999), "09:41");
    assert_eq!(clock_with_seconds(-1_000), "23:59:59");
}
