//! Rows of a query as elements.

use std::marker::PhantomData;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::TimestampMillisecondType;
use serde::de::DeserializeOwned;
use tidemill_core::{Error, EventBatch, Result, RowKind};
use tidemill_runtime::graph::MakeOperator;
use tidemill_runtime::operator::{Operator, Output};

use super::row_elements;
use crate::timed::{Batch, Element, Timed};

type WithKind<T, U> = Arc<dyn Fn(RowKind, T) -> U + Send + Sync>;

/// Makes an element of each row; an element keeps its row's watermark.
pub(super) struct FromRows<T, U> {
    query: Arc<str>,
    /// The column of event time.
    event_time: Option<Arc<str>>,
    with_kind: WithKind<T, U>,
    of: PhantomData<fn() -> U>,
}

impl<T: Element + DeserializeOwned, U: Element> FromRows<T, U> {
    pub(super) fn operator(
        query: &str,
        event_time: Option<String>,
        with_kind: impl Fn(RowKind, T) -> U + Send + Sync + 'static,
    ) -> MakeOperator {
        let (query, with_kind): (Arc<str>, WithKind<T, U>) = (query.into(), Arc::new(with_kind));
        let event_time: Option<Arc<str>> = event_time.map(Into::into);
        Arc::new(move || {
            let (query, event_time) = (Arc::clone(&query), event_time.clone());
            Ok(Box::new(Self { query, event_time, with_kind: Arc::clone(&with_kind), of: PhantomData }))
        })
    }

    /// When each row happened: nothing where rows have no event time.
    fn times(&self, rows: &RecordBatch) -> Result<Vec<i64>> {
        let Some(name) = &self.event_time else { return Ok(vec![]) };
        let column = rows.column_by_name(name);
        let times = column.and_then(|column| column.as_primitive_opt::<TimestampMillisecondType>());
        let times = times.ok_or_else(|| Error::internal(format!("'{name}' is no event time of rows")))?;
        Ok(times.iter().map(|time| time.unwrap_or(i64::MIN)).collect())
    }
}

impl<T: Element + DeserializeOwned, U: Element> Operator for FromRows<T, U> {
    fn describe(&self) -> String {
        format!("make elements of {}", self.query)
    }

    fn on_batch(&mut self, batch: EventBatch, out: &mut Output) -> Result<()> {
        let EventBatch { rows, kinds, watermarks, .. } = batch;
        let values: Vec<T> = row_elements(&rows).map_err(|e| e.context(format!("the query '{}'", self.query)))?;
        let kind = |index: usize| kinds.as_ref().map_or(RowKind::Insert, |kinds| kinds[index]);
        let values =
            values.into_iter().enumerate().map(|(index, value)| (self.with_kind)(kind(index), value)).collect();
        let times = self.times(&rows)?;
        let watermarks = watermarks.filter(|_| self.event_time.is_some());
        let watermarks = watermarks.map_or_else(Vec::new, |watermarks| watermarks.values().to_vec());
        out.emit(Batch { elements: Timed { values, times }, watermarks }.into_event_batch());
        Ok(())
    }
}
