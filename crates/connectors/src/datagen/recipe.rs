//! A table's columns, each with its generator.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field as Column, SchemaRef};
use tidemill_core::{Error, Result};
use tidemill_runtime::connector::TableSpec;

use super::fields::{Field, FieldOptions};
use super::options::DatagenOptions;
use super::values::{Clock, Values, random, sequence};
use crate::synthetic::Recipe;

/// The most bytes that a row may have: it is made as a whole.
const MAX_ROW_BYTES: usize = 16 << 20;

#[derive(Clone, Copy)]
enum Kind {
    Random,
    Sequence,
}

/// The generators of a table, by column.
pub(super) struct Columns {
    generators: BTreeMap<String, Box<dyn Values>>,
}

impl Columns {
    /// Reads the options of every column.
    ///
    /// # Errors
    /// `Invalid` if an option is none of the column's, or its value does not fit the column's type.
    pub(super) fn new(table: &TableSpec, options: &DatagenOptions) -> Result<Self> {
        let fields = FieldOptions::new(table);
        let mut generators = BTreeMap::new();
        for column in table.schema.fields() {
            let generator = generator(column, &fields.field(column.name()), options)?;
            generators.insert(column.name().clone(), generator);
        }
        fields.check_all_asked()?;
        let columns = Self { generators };
        let bytes = columns.row_bytes(&table.schema);
        if bytes > MAX_ROW_BYTES {
            return Err(Error::invalid(format!("a row of the table '{}' has {bytes} bytes", table.name))
                .hint(format!("lengths may add up to {MAX_ROW_BYTES}")));
        }
        Ok(columns)
    }

    /// Where the first of the sequences ends; `None` if there is none.
    pub(super) fn end(&self) -> Option<u64> {
        self.generators.values().filter_map(|generator| generator.end()).min()
    }
}

fn generator(column: &Column, field: &Field<'_>, options: &DatagenOptions) -> Result<Box<dyn Values>> {
    let kinds = |text: &str| match text.to_ascii_lowercase().as_str() {
        "random" => Some(Kind::Random),
        "sequence" => Some(Kind::Sequence),
        _ => None,
    };
    match field.get("kind", kinds, "'random' or 'sequence'")?.unwrap_or(Kind::Random) {
        Kind::Sequence => sequence(column.data_type(), field),
        Kind::Random => {
            let clock = Clock::new(options.rows_per_second);
            random(column.data_type(), column.is_nullable(), field, options.seed, clock)
        }
    }
}

impl Recipe for Columns {
    fn generate(&self, columns: &SchemaRef, rows: Range<u64>) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some((rows.end - rows.start) as usize));
        let column = |column: &Arc<Column>| -> Result<ArrayRef> {
            let generator = self.generators.get(column.name());
            let unknown = || Error::internal(format!("the column '{}' was not declared", column.name()));
            Ok(generator.ok_or_else(unknown)?.generate(rows.clone())?)
        };
        let arrays = columns.fields().iter().map(column).collect::<Result<Vec<_>>>()?;
        Ok(RecordBatch::try_new_with_options(Arc::clone(columns), arrays, &options)?)
    }

    fn row_bytes(&self, columns: &SchemaRef) -> usize {
        let generators = columns.fields().iter().filter_map(|column| self.generators.get(column.name()));
        generators.map(|generator| generator.bytes()).fold(0, usize::saturating_add)
    }
}
