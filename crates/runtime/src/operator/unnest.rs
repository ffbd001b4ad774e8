//! A row for each element of an array, or each entry of a map: `UNNEST`.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, NullArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use tidemill_core::{Error, EventBatch, Result};

use super::{Operator, Output};

/// About how many rows leave at once; those of one row stay together.
const TARGET_ROWS: usize = 8192;

/// Makes rows of the elements of one column. What is known of a row (its kind, watermark and place in the log) is known
/// of each row that is made of it.
#[derive(Debug, Clone)]
pub struct Unnest {
    /// The index of the column of arrays or maps. It ends here.
    pub column: usize,
    /// Whether a row without elements stays, with NULLs in their place.
    pub keeps_empty: bool,
    /// How many columns number the elements of a row, from 1.
    pub ordinals: usize,
    /// The columns that leave: those of the input but `column`, those of the element (the fields of a row, key and
    /// value of a map), and the ordinals.
    pub schema: SchemaRef,
}

/// What a column of arrays or maps is made into, an entry a row.
struct Elements {
    /// The index of the row that it is made of.
    rows: UInt32Array,
    columns: Vec<ArrayRef>,
    ordinals: ArrayRef,
}

impl Unnest {
    /// The rows that are made of a batch, in some batches.
    ///
    /// # Errors
    /// If the column holds no arrays and no maps.
    pub fn apply<'a>(&'a self, batch: &'a EventBatch) -> Result<impl Iterator<Item = Result<EventBatch>> + use<'a>> {
        let pieces = pieces(batch.rows.column(self.column))?;
        Ok(pieces.into_iter().map(|piece| self.apply_at_once(&batch.slice(piece.start, piece.len()))))
    }

    fn apply_at_once(&self, batch: &EventBatch) -> Result<EventBatch> {
        let Elements { rows: made_of, columns, ordinals } = self.elements(batch.rows.column(self.column))?;
        let kept: Vec<usize> = (0..batch.rows.num_columns()).filter(|index| *index != self.column).collect();
        let taken = batch.clone().with_rows(projected(&batch.rows, &kept)?).take(&made_of)?;
        let mut all = taken.rows.columns()[..kept.len()].to_vec();
        all.extend(columns);
        all.extend(std::iter::repeat_n(ordinals, self.ordinals));
        let options = RecordBatchOptions::new().with_row_count(Some(made_of.len()));
        let rows = RecordBatch::try_new_with_options(Arc::clone(&self.schema), all, &options)?;
        Ok(taken.with_rows(rows))
    }

    fn elements(&self, column: &ArrayRef) -> Result<Elements> {
        let (offsets, columns, null) = parts(column)?;
        let (mut rows, mut elements, mut ordinals) = (vec![], vec![], vec![]);
        for row in 0..column.len() {
            let present = if column.is_valid(row) { range(offsets, row) } else { 0..0 };
            let before = rows.len();
            for (element, ordinal) in present.zip(1_i32..) {
                // A row that is NULL as a whole has NULL in every field.
                elements.push(if null(element) { None } else { Some(index(element)) });
                ordinals.push(Some(ordinal));
                rows.push(index(row));
            }
            if rows.len() == before && self.keeps_empty {
                elements.push(None);
                ordinals.push(None);
                rows.push(index(row));
            }
        }
        let elements = UInt32Array::from(elements);
        let columns = columns.iter().map(|column| take(column, &elements, None)).collect::<Result<_, _>>()?;
        Ok(Elements { rows: UInt32Array::from(rows), columns, ordinals: Arc::new(Int32Array::from(ordinals)) })
    }
}

impl Operator for Unnest {
    fn describe(&self) -> String {
        let made: Vec<&str> = self.schema.fields().iter().map(|field| field.name().as_str()).collect();
        let empty = if self.keeps_empty { ", keeping rows without elements" } else { "" };
        format!("unnest to {}{empty}", made.join(", "))
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        for rows in self.apply(&batch)? {
            out.emit(rows?);
        }
        Ok(())
    }
}

/// The columns at these indices; where there is none, one that only tells how many rows there are.
fn projected(rows: &RecordBatch, kept: &[usize]) -> Result<RecordBatch> {
    if !kept.is_empty() {
        return Ok(rows.project(kept)?);
    }
    let schema = Arc::new(Schema::new(vec![Field::new("rows", DataType::Null, true)]));
    Ok(RecordBatch::try_new(schema, vec![Arc::new(NullArray::new(rows.num_rows()))])?)
}

/// Whether an element is NULL as a whole.
type IsNull<'a> = Box<dyn Fn(usize) -> bool + 'a>;

/// Where the elements of each row begin and end, the columns of the elements, and which of them are NULL rows.
fn parts(column: &ArrayRef) -> Result<(&[i32], Vec<ArrayRef>, IsNull<'_>)> {
    match column.data_type() {
        DataType::List(_) => {
            let lists = column.as_list::<i32>();
            let values = lists.values();
            match values.as_struct_opt() {
                Some(rows) => Ok((lists.value_offsets(), rows.columns().to_vec(), Box::new(|i| rows.is_null(i)))),
                None => Ok((lists.value_offsets(), vec![Arc::clone(values)], Box::new(|_| false))),
            }
        }
        DataType::Map(..) => {
            let maps = column.as_map();
            let columns = vec![Arc::clone(maps.keys()), Arc::clone(maps.values())];
            Ok((maps.value_offsets(), columns, Box::new(|_| false)))
        }
        other => Err(Error::internal(format!("UNNEST of a column of type {other}"))),
    }
}

fn range(offsets: &[i32], row: usize) -> Range<usize> {
    let at = |i: usize| usize::try_from(offsets[i]).expect("offsets are not negative");
    at(row)..at(row + 1)
}

fn index(i: usize) -> u32 {
    u32::try_from(i).expect("a batch has fewer than 2^32 elements")
}

/// Runs of rows with about [`TARGET_ROWS`] elements together.
fn pieces(column: &ArrayRef) -> Result<Vec<Range<usize>>> {
    let (offsets, ..) = parts(column)?;
    let (mut pieces, mut start, mut elements) = (vec![], 0, 0);
    for row in 0..column.len() {
        elements += range(offsets, row).len().max(1);
        if elements >= TARGET_ROWS {
            pieces.push(start..row + 1);
            (start, elements) = (row + 1, 0);
        }
    }
    if start < column.len() {
        pieces.push(start..column.len());
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests;
