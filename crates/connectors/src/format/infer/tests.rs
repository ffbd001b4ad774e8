//! The table of the module, value by value, and what values have in common.

use proptest::prelude::*;

use super::*;
use TimestampFormat::{Iso8601, Sql};

fn at(format: TimestampFormat, zoned: bool, unit: TimeUnit) -> Seen {
    Seen::Timestamp { format, zoned, unit }
}

#[test]
fn a_field_of_csv_is_what_the_decoder_would_read() {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond};
    for (text, seen) in [
        ("", Seen::Nothing),
        ("True", Seen::Boolean),
        ("0", Seen::Integer),
        ("-9223372036854775808", Seen::Integer),
        ("9223372036854775808", Seen::LongInteger),
        ("123456789012345678901234567890123456789", Seen::Number),
        ("0.5", Seen::Number),
        (" 12 ", Seen::Integer),
        ("1e3", Seen::Number),
        ("1e400", Seen::Text),
        ("007", Seen::Text),
        ("inf", Seen::Text),
        ("-", Seen::Text),
        ("2026-02-28", Seen::Date),
        ("2026-02-30", Seen::Text),
        ("2026-02-28 10:00:00", at(Sql, false, Millisecond)),
        ("2026-02-28 10:00:00.1234", at(Sql, false, Microsecond)),
        ("2026-02-28 10:00:00.1234567Z", at(Sql, true, Nanosecond)),
        ("2026-02-28T10:00:00", Seen::Text),
    ] {
        assert_eq!(of_text(text), seen, "{text}");
    }
}

#[test]
fn a_string_of_json_is_a_moment_only_if_it_is_one() {
    assert_eq!(of_json_string("2026-02-28T10:00:00.000Z"), at(Iso8601, true, TimeUnit::Millisecond));
    assert_eq!(of_json_string("2026-02-28 10:00:00"), at(Sql, false, TimeUnit::Millisecond));
    for text in ["", "12", "true", "2026-02-28T25:00:00", "2026-02-28T10:00:00+01:00"] {
        assert_eq!(of_json_string(text), Seen::Text, "{text}");
    }
    assert_eq!(of_json_number("1.0"), Seen::Number);
    assert_eq!(of_json_number("18446744073709551615"), Seen::LongInteger);
}

#[test]
fn values_of_several_kinds_are_text() {
    let instant = at(Iso8601, true, TimeUnit::Millisecond);
    for other in [at(Iso8601, false, TimeUnit::Millisecond), at(Sql, true, TimeUnit::Millisecond), Seen::Date] {
        assert_eq!(merged([&instant, &other]), Seen::Text, "{other:?}");
    }
    assert_eq!(merged([&instant, &at(Iso8601, true, TimeUnit::Nanosecond)]), at(Iso8601, true, TimeUnit::Nanosecond));
    assert_eq!(merged([&Seen::Integer, &Seen::Nothing, &Seen::Number, &Seen::LongInteger]), Seen::Number);
    assert_eq!(merged([&Seen::Boolean, &Seen::Integer]), Seen::Text);
}

#[test]
fn moments_of_another_form_than_the_table_reads_are_text() {
    let moment = at(Sql, false, TimeUnit::Millisecond);
    assert_eq!(moment.data_type(Sql), DataType::Timestamp(TimeUnit::Millisecond, None));
    assert_eq!(moment.data_type(Iso8601), DataType::Utf8View);
    let nested = Seen::Array(Box::new(Seen::Row(vec![("at".into(), at(Iso8601, true, TimeUnit::Second))])));
    assert!(nested.has_iso_timestamps() && !moment.has_iso_timestamps());
}

fn seen() -> impl Strategy<Value = Seen> {
    let leaf = prop_oneof![
        Just(Seen::Nothing),
        Just(Seen::Boolean),
        Just(Seen::Integer),
        Just(Seen::LongInteger),
        Just(Seen::Number),
        Just(Seen::Date),
        Just(Seen::Text),
        Just(at(Iso8601, true, TimeUnit::Millisecond)),
        Just(at(Iso8601, true, TimeUnit::Microsecond)),
        Just(at(Iso8601, false, TimeUnit::Millisecond)),
        Just(at(Sql, false, TimeUnit::Millisecond)),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|seen| Seen::Array(Box::new(seen))),
            prop::collection::btree_map("[ab]", inner, 0..3).prop_map(|fields| Seen::Row(fields.into_iter().collect())),
        ]
    })
}

/// The same, with the fields of rows by name: their order is that of arrival.
fn sorted(seen: Seen) -> Seen {
    match seen {
        Seen::Array(elements) => Seen::Array(Box::new(sorted(*elements))),
        Seen::Row(fields) => {
            let mut fields: Vec<_> = fields.into_iter().map(|(name, seen)| (name, sorted(seen))).collect();
            fields.sort_by(|(one, _), (other, _)| one.cmp(other));
            Seen::Row(fields)
        }
        other => other,
    }
}

fn merged<const N: usize>(all: [&Seen; N]) -> Seen {
    let mut merged = Seen::Nothing;
    all.into_iter().for_each(|seen| merged.merge(seen.clone()));
    sorted(merged)
}

proptest! {
    /// What a column is does not depend on the order of its values.
    #[test]
    fn merging_knows_no_order(a in seen(), b in seen(), c in seen()) {
        prop_assert_eq!(merged([&a, &b, &c]), merged([&c, &b, &a]));
        prop_assert_eq!(merged([&a, &b, &c]), merged([&b, &c, &a]));
        let mut nested = c.clone();
        let mut right = b.clone();
        right.merge(a.clone());
        nested.merge(right);
        prop_assert_eq!(sorted(nested), merged([&a, &b, &c]));
        prop_assert_eq!(merged([&a, &a]), sorted(a));
    }
}
