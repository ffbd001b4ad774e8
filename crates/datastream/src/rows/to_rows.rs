//! Elements as rows.

use std::marker::PhantomData;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, TimestampMillisecondArray};
use arrow::datatypes::{FieldRef, SchemaRef};
use serde::Serialize;
use tidemill_core::{Error, EventBatch, Result};
use tidemill_runtime::graph::MakeOperator;
use tidemill_runtime::operator::{Operator, Output};

use crate::timed::{Batch, Element, Timed};

/// Makes a row of each element; a row keeps its element's watermark.
pub(crate) struct ToRows<T> {
    /// Of the table that they are for.
    name: Arc<str>,
    /// The fields of `T`.
    fields: Arc<[FieldRef]>,
    /// Those, and that of event time if it is a column.
    columns: SchemaRef,
    words: Arc<str>,
    of: PhantomData<fn(T)>,
}

impl<T> Clone for ToRows<T> {
    fn clone(&self) -> Self {
        let Self { name, fields, columns, words, of } = self;
        Self {
            name: Arc::clone(name),
            fields: Arc::clone(fields),
            columns: Arc::clone(columns),
            words: Arc::clone(words),
            of: *of,
        }
    }
}

impl<T: Element + Serialize> ToRows<T> {
    /// For a connector's table.
    pub(crate) fn sink(name: &str, columns: SchemaRef) -> MakeOperator {
        let fields = columns.fields().iter().cloned().collect();
        Self { name: name.into(), fields, columns, words: "make rows".into(), of: PhantomData }.make()
    }

    /// For a table that queries read; `timed`: the last column is the event time of the elements.
    pub(crate) fn table(name: &str, columns: SchemaRef, timed: bool) -> MakeOperator {
        let count = columns.fields().len() - usize::from(timed);
        let fields = columns.fields().iter().take(count).cloned().collect();
        let column = |(index, field): (usize, &FieldRef)| {
            let time = if index == count { ", its event time" } else { "" };
            format!("{} {}{time}", field.name(), field.data_type())
        };
        let described: Vec<String> = columns.fields().iter().enumerate().map(column).collect();
        let words = format!("make rows of {name}: {}", described.join(", ")).into();
        Self { name: name.into(), fields, columns, words, of: PhantomData }.make()
    }

    fn make(self) -> MakeOperator {
        Arc::new(move || Ok(Box::new(self.clone())))
    }

    fn rows(&self, elements: &Timed<T>) -> Result<RecordBatch> {
        let rows: RecordBatch = serde_arrow::to_record_batch(&self.fields, &elements.values).map_err(|e| {
            Error::invalid(format!("a {} is no row of '{}': {e}", std::any::type_name::<T>(), self.name))
                .because(e)
                .hint("its fields are the columns of the table, by name")
        })?;
        if self.fields.len() == self.columns.fields().len() {
            return Ok(rows);
        }
        let known = |index| elements.times.get(index).copied().filter(|time| *time != i64::MIN);
        let times: ArrayRef = Arc::new(TimestampMillisecondArray::from_iter((0..elements.values.len()).map(known)));
        let columns = rows.columns().iter().cloned().chain([times]).collect();
        Ok(RecordBatch::try_new(Arc::clone(&self.columns), columns)?)
    }
}

impl<T: Element + Serialize> Operator for ToRows<T> {
    fn describe(&self) -> String {
        self.words.to_string()
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        let watermarks = batch.watermarks.clone();
        let Batch { elements, .. } = Batch::<T>::of(batch)?;
        if !elements.values.is_empty() {
            out.emit(EventBatch { watermarks, ..EventBatch::append(self.rows(&elements)?) });
        }
        Ok(())
    }
}
