use super::*;

fn of(text: &str) -> Answer {
    let mut answer = Answer::default();
    text.lines().for_each(|line| answer.add(line));
    answer
}

#[test]
fn forms_and_order_do_not_count() {
    let one = of("2026-01-01 00:00:00.000,books,12.50\n2026-01-01 00:01:00.120,art,3\n");
    let other = of("\"2026-01-01T00:01:00.12\",art,3.00\n2026-01-01 00:00:00,books,12.5\n");
    assert_eq!(one, other);
    assert_eq!(one.rows, 2);
    assert_eq!(of("books,18080\n"), of("books,1.808E+4\n"));
}

#[test]
fn values_and_their_number_count() {
    let answer = of("a,1\nb,2\n");
    for different in ["a,1\n", "a,1\nb,3\n", "a,1\nb,2\nb,2\n", "a,2\nb,1\n", "a,10\nb,2\n"] {
        assert_ne!(answer, of(different), "{different}");
    }
}
