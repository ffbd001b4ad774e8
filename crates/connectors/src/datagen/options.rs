//! The options of a generated table as a whole; those of its columns are read by their generators.

use tidemill_core::Result;
use tidemill_runtime::connector::{OptionSpec, TableSpec};
use xxhash_rust::xxh3::xxh3_64;

pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec { key: "rows-per-second", doc: "How many rows come in a second; 10000 by default." },
    OptionSpec {
        key: "number-of-rows",
        doc: "How many rows there are. Without it the table ends with the first of its sequences, or never.",
    },
    OptionSpec {
        key: "seed",
        doc: "A whole number that decides the random values; by default it is made of the table's name. Flink has no \
              such option.",
    },
    OptionSpec { key: "fields.#.kind", doc: "'random' (the default) or 'sequence'." },
    OptionSpec { key: "fields.#.min", doc: "The least random number; by default as in Flink." },
    OptionSpec { key: "fields.#.max", doc: "The greatest random number; by default as in Flink." },
    OptionSpec {
        key: "fields.#.max-past",
        doc: "How far random times go back from the moment of their row, such as '1 h'; by default not at all.",
    },
    OptionSpec {
        key: "fields.#.length",
        doc: "The length of random strings and bytes (100 by default), arrays and maps (3 by default).",
    },
    OptionSpec { key: "fields.#.var-len", doc: "'true': random strings and bytes have 1 to 'length' characters." },
    OptionSpec { key: "fields.#.start", doc: "The first number of a sequence." },
    OptionSpec { key: "fields.#.end", doc: "The last number of a sequence." },
    OptionSpec { key: "fields.#.null-rate", doc: "The share of values that are NULL, from 0 (the default) to 1." },
];

/// What holds for all columns.
#[derive(Debug)]
pub(super) struct DatagenOptions {
    pub(super) rows_per_second: u64,
    pub(super) number_of_rows: Option<u64>,
    pub(super) seed: u64,
}

impl DatagenOptions {
    pub(super) fn from_table(table: &TableSpec) -> Result<Self> {
        let options = &table.options;
        let positive = |text: &str| text.trim().parse().ok().filter(|number| *number > 0);
        let whole = |text: &str| text.trim().parse::<i64>().ok();
        let seed = options.parsed("seed", whole, "a whole number")?;
        Ok(Self {
            rows_per_second: options.parsed("rows-per-second", positive, "a whole number from 1")?.unwrap_or(10_000),
            number_of_rows: options.parsed("number-of-rows", positive, "a whole number from 1")?,
            seed: seed.map_or_else(|| xxh3_64(table.name.as_bytes()), i64::cast_unsigned),
        })
    }
}
