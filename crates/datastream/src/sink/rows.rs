//! Elements as rows.

use std::marker::PhantomData;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{FieldRef, SchemaRef};
use serde::Serialize;
use tidemill_core::{Error, EventBatch, Result};
use tidemill_runtime::graph::MakeOperator;
use tidemill_runtime::operator::{Operator, Output};

use crate::timed::{Batch, Element};

struct ToRows<T> {
    name: Arc<str>,
    columns: SchemaRef,
    of: PhantomData<fn(T)>,
}

pub(super) fn operator<T: Element + Serialize>(name: &str, columns: SchemaRef) -> MakeOperator {
    let name: Arc<str> = name.into();
    Arc::new(move || {
        Ok(Box::new(ToRows::<T> { name: Arc::clone(&name), columns: Arc::clone(&columns), of: PhantomData }))
    })
}

impl<T: Element + Serialize> Operator for ToRows<T> {
    fn describe(&self) -> String {
        "make rows".to_owned()
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        let Batch { elements, .. } = Batch::<T>::of(batch)?;
        let fields: Vec<FieldRef> = self.columns.fields().iter().cloned().collect();
        let rows: RecordBatch = serde_arrow::to_record_batch(&fields, &elements.values).map_err(|e| {
            Error::invalid(format!("a {} is no row of '{}': {e}", std::any::type_name::<T>(), self.name))
                .because(e)
                .hint("its fields are the columns of the table, by name")
        })?;
        out.emit(EventBatch::append(rows));
        Ok(())
    }
}
