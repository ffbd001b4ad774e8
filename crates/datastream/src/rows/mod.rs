//! Where typed streams and rows meet: elements become rows of a table, and rows elements.
//!
//! What stands here is for whoever ties tables and queries to a program (the crate `tidemill` does), not for programs.

mod elements;
mod from_rows;
mod to_rows;

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_core::{Error, Result, RowKind};
use tidemill_runtime::graph::{JobGraph, Stream};

use crate::data_stream::{DataStream, Streams, foreign};
use crate::environment::Environment;
pub use crate::guard::caught;
use crate::timed::Element;
pub(crate) use elements::row_elements;
use from_rows::FromRows;
pub(crate) use to_rows::ToRows;

/// Streams of rows in a program's graph, which are one table.
#[derive(Debug, Clone)]
pub struct RowStreams {
    /// Where the rows come from.
    pub streams: Vec<Stream>,
    /// Their columns.
    pub columns: SchemaRef,
    /// The column that says when they happened, `Timestamp(Millisecond, _)`, NULL where a row has no time. Their sidecars have
    /// their watermarks.
    pub event_time: Option<String>,
    /// They are one stream, whose rows come through one subtask, in the order of one partition.
    pub in_order: bool,
}

/// What puts operators into a graph: it is given the graph, and a function that makes names of which a program has no other.
pub type Extend<'a, R> = Box<dyn FnOnce(JobGraph, &mut dyn FnMut(&str) -> String) -> Result<(JobGraph, R)> + 'a>;

impl<T: Element + Serialize> DataStream<T> {
    /// The elements as rows of these columns, which are fields of `T` by name. If elements have event time, it can be a
    /// further column `TIMESTAMP(3)`: then the rows have the elements' watermarks, and are late when they are. `table` is what
    /// messages call it.
    ///
    /// # Errors
    /// `Invalid` if there is no event time for the column, or a field has its name.
    pub fn into_rows(
        self,
        env: &Environment,
        table: &str,
        columns: SchemaRef,
        time: Option<&str>,
    ) -> Result<RowStreams> {
        let (of, Streams { streams, timed, one_partition }) = self.into_parts();
        if !of.is(env) {
            return Err(foreign());
        }
        let columns = match time {
            None => columns,
            Some(time) if !timed => return Err(without_time(table, time)),
            Some(time) => with_time(table, &columns, time)?,
        };
        let make = ToRows::<T>::table(table, Arc::clone(&columns), time.is_some());
        let chain = |stream| env.plan(|plan| plan.graph.chain(stream, Arc::clone(&make)));
        let event_time = time.map(str::to_owned);
        let in_order = one_partition && streams.len() == 1;
        Ok(RowStreams { streams: streams.into_iter().map(chain).collect(), columns, event_time, in_order })
    }
}

impl Environment {
    /// Lets `extend` put operators into the program's graph. `name` is that of a step that keeps state: a checkpoint knows it
    /// by that, so no other has it.
    ///
    /// # Errors
    /// What `extend` says: the program can't be run then.
    pub fn extend<R>(&self, name: &str, extend: Extend<'_, R>) -> Result<R> {
        self.plan(|plan| {
            plan.name(name);
            let graph = std::mem::replace(&mut plan.graph, JobGraph::new(1));
            match extend(graph, &mut |name| plan.free_name(name)) {
                Ok((graph, made)) => {
                    plan.graph = graph;
                    Ok(made)
                }
                Err(error) => {
                    plan.fail(error.clone());
                    Err(error)
                }
            }
        })
    }

    /// Rows as elements: a `T` is made of the columns by their names. `query` is what messages call it.
    pub fn from_rows<T: Element + DeserializeOwned>(&self, query: &str, rows: RowStreams) -> DataStream<T> {
        self.from_changes(query, rows, |_, element| element)
    }

    /// The same for rows that are changes, which `with_kind` makes an element of.
    pub fn from_changes<T: Element + DeserializeOwned, U: Element>(
        &self,
        query: &str,
        rows: RowStreams,
        with_kind: impl Fn(RowKind, T) -> U + Send + Sync + 'static,
    ) -> DataStream<U> {
        let RowStreams { streams, event_time, .. } = rows;
        let timed = event_time.is_some();
        let make = FromRows::operator(query, event_time, with_kind);
        let chain = |stream| self.plan(|plan| plan.graph.chain(stream, Arc::clone(&make)));
        // In what order rows come is the query's own affair.
        let streams = Streams { streams: streams.into_iter().map(chain).collect(), one_partition: false, timed };
        DataStream::from_streams(self.clone(), streams, None)
    }
}

/// The columns, and behind them that of event time.
fn with_time(table: &str, columns: &SchemaRef, time: &str) -> Result<SchemaRef> {
    if columns.column_with_name(time).is_some() {
        return Err(Error::invalid(format!(
            "the event time of the table '{table}' can't be the column '{time}': a field has that name"
        ))
        .hint("give the column of event time another name"));
    }
    let mut fields = columns.fields().to_vec();
    fields.push(Arc::new(Field::new(time, DataType::Timestamp(TimeUnit::Millisecond, None), true)));
    Ok(Arc::new(Schema::new(fields)))
}

fn without_time(table: &str, time: &str) -> Error {
    Error::invalid(format!("the table '{table}' can't have the event time '{time}': the stream's elements have none"))
        .hint("call assign_timestamps_and_watermarks on the stream of the source")
}
