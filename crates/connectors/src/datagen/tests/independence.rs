//! A value depends on the seed, its column and its row's number, and on nothing else.

use arrow::compute::concat_batches;
use proptest::prelude::*;

use super::*;

fn whole_table(seed: &str) -> TableSpec {
    let mut options: Vec<(String, String)> = vec![("seed".into(), seed.into())];
    for (name, _) in every_type() {
        options.push((format!("fields.{name}.null-rate"), "0.2".into()));
    }
    let options: Vec<(&str, &str)> = options.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    table(&every_type(), &options)
}

fn generate(table: &TableSpec, columns: &SchemaRef, first: u64, end: u64) -> RecordBatch {
    let recipe = Columns::new(table, &DatagenOptions::from_table(table).unwrap()).unwrap();
    recipe.generate(columns, first..end).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn chunks_and_projection_do_not_matter(
        first in 0u64..1_000_000,
        cuts in prop::collection::vec(1u64..20, 1..5),
        wanted in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
    ) {
        let table = whole_table("5");
        let end = first + cuts.iter().sum::<u64>();
        let whole = generate(&table, &table.schema, first, end);
        let mut next = first;
        let mut chunks = vec![];
        for length in cuts {
            chunks.push(generate(&table, &table.schema, next, next + length));
            next += length;
        }
        prop_assert_eq!(&concat_batches(&table.schema, &chunks).unwrap(), &whole);

        let mut places: Vec<usize> = wanted.iter().map(|index| index.index(table.schema.fields().len())).collect();
        places.dedup();
        let some = Arc::new(table.schema.project(&places).unwrap());
        prop_assert_eq!(generate(&table, &some, first, end), whole.project(&places).unwrap());
    }
}

#[test]
fn the_seed_is_made_of_the_table_s_name_unless_it_is_set() {
    let named = |name: &str, options: &[(&str, &str)]| {
        let mut table = table(&[("a", DataType::Int64), ("b", DataType::Int64)], options);
        table.name = name.into();
        rows(&table, 100)
    };
    assert_eq!(named("t", &[]), named("t", &[]));
    assert_ne!(named("t", &[]), named("u", &[]));
    assert_eq!(named("t", &[("seed", "-1")]), named("u", &[("seed", "-1")]));
    assert_ne!(named("t", &[("seed", "1")]), named("t", &[("seed", "2")]));
    let both = named("t", &[]);
    assert_ne!(both.column(0), both.column(1));
}

#[test]
fn columns_keep_their_declared_types() {
    let table = whole_table("0");
    let batch = rows(&table, 50);
    assert_eq!(batch.schema(), table.schema);
    // try_new has compared the types of the outer arrays; these are those within.
    for column in batch.columns() {
        column.to_data().validate_full().unwrap();
    }
}
