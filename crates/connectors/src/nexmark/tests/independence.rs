//! An event is a function of the seed and its number.

use proptest::prelude::*;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn chunks_do_not_matter(first in 0u64..100_000, cuts in prop::collection::vec(1u64..60, 1..6)) {
        let recipe = recipe(&[("person.proportion", "2"), ("bid.proportion", "9")]);
        let mut next = first;
        let mut chunks = vec![];
        for length in cuts {
            chunks.push(recipe.generate(&schema(), next..next + length).unwrap());
            next += length;
        }
        let whole = recipe.generate(&schema(), first..next).unwrap();
        prop_assert_eq!(concat_batches(&schema(), &chunks).unwrap(), whole);
    }

    #[test]
    fn projection_does_not_matter(first in 0u64..100_000, wanted in prop::collection::vec(any::<bool>(), 27)) {
        let (recipe, numbers) = (recipe(&[]), first..first + 120);
        let whole = recipe.generate(&schema(), numbers.clone()).unwrap();
        let mut wanted = wanted.into_iter();
        let mut some = |fields: &Fields| fields.iter().filter(|_| wanted.next().unwrap()).cloned().collect::<Fields>();
        let narrowed = schema().fields().iter().map(|field| match field.data_type() {
            DataType::Struct(fields) => Field::new(field.name(), DataType::Struct(some(fields)), true),
            _ => field.as_ref().clone(),
        }).rev().collect::<Vec<_>>();
        let events = recipe.generate(&Arc::new(Schema::new(narrowed)), numbers).unwrap();
        for (field, column) in events.schema().fields().iter().zip(events.columns()) {
            let same = whole.column_by_name(field.name()).unwrap();
            match field.data_type() {
                DataType::Struct(fields) => {
                    prop_assert_eq!(column.nulls(), same.nulls());
                    for inner in fields {
                        prop_assert_eq!(
                            &field_of(&events, field.name(), inner.name()),
                            &field_of(&whole, field.name(), inner.name())
                        );
                    }
                }
                _ => prop_assert_eq!(column, same),
            }
        }
    }
}

#[test]
fn the_seed_decides() {
    let of_seed = |seed| events_of(&[("seed", seed)], 0..500);
    assert_eq!(of_seed("0"), events_of(&[], 0..500));
    assert_eq!(of_seed("-3"), of_seed("-3"));
    assert_ne!(longs(&of_seed("1"), "bid", "price"), longs(&of_seed("2"), "bid", "price"));
}

#[test]
fn no_column_is_a_count_of_rows() {
    let rows = recipe(&[]).generate(&Arc::new(Schema::empty()), 3..10).unwrap();
    assert_eq!(rows.num_rows(), 7);
}

#[tokio::test]
async fn the_source_ends_after_its_events() {
    for (number, end) in [("0", None), ("7", Some(7))] {
        let source = NexmarkConnector.source(&table(schema(), &[("events.num", number)])).unwrap();
        assert_eq!(source.bounded(), end.is_some());
    }
    assert!(!NexmarkConnector.source(&table(schema(), &[])).unwrap().bounded());
}
