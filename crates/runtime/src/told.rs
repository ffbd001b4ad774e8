//! What operators have told, for tests, where it may come in another order and by other ways.

use std::collections::BTreeMap;

use arrow::util::display::{ArrayFormatter, FormatOptions};

use crate::operator::Output;

/// What was told, with how often, what was taken back taken off; and what may still be.
#[derive(Default, PartialEq, Debug)]
pub(crate) struct Told(pub(crate) BTreeMap<String, i64>);

impl Told {
    pub(crate) fn add(&mut self, out: &mut Output) {
        for (port, batch) in out.take() {
            let columns = batch.rows.columns().iter();
            let columns: Vec<_> =
                columns.map(|column| ArrayFormatter::try_new(column, &FormatOptions::new()).unwrap()).collect();
            for row in 0..batch.num_rows() {
                let values: Vec<String> = columns.iter().map(|column| column.value(row).to_string()).collect();
                let adds = batch.kinds.as_ref().is_none_or(|kinds| kinds[row].adds());
                *self.0.entry(format!("{port:?} {}", values.join(" "))).or_default() += if adds { 1 } else { -1 };
            }
        }
        self.0.retain(|_, count| *count != 0);
    }
}
