//! Where streams end.

mod collected;
mod for_each;

pub use collected::Collected;

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use serde::Serialize;
use tidemill_runtime::connector::SinkFactory;

use crate::data_stream::DataStream;
use crate::rows::ToRows;
use crate::timed::Element;

impl<T: Element> DataStream<T> {
    /// Keeps the elements for the program, which takes them when it has run. They come there with the epoch that they were
    /// made in; what is made in one that a failure ends does not.
    #[must_use]
    pub fn collect(self) -> Collected<T> {
        let collected = Collected::default();
        self.end("collect", Arc::new(collected.sink()));
        collected
    }

    /// Calls a function for each element. `name` is what a checkpoint knows the sink by.
    ///
    /// At least once: after a failure a run that goes on calls it again for elements that it was called for.
    pub fn for_each(self, name: &str, f: impl FnMut(&T) + Send + 'static) {
        self.env().plan(|plan| plan.name(name));
        self.end_as(name.to_owned(), Arc::new(for_each::ForEach::new(name, f)));
    }

    /// Writes the elements to a connector's table, each as a row: its fields are the columns, by name. `name` is what a
    /// checkpoint knows the sink by.
    pub fn sink_to(self, name: &str, columns: SchemaRef, sink: Arc<dyn SinkFactory>)
    where
        T: Serialize,
    {
        self.env().plan(|plan| plan.name(name));
        let rows = ToRows::<T>::sink(name, columns);
        let (env, streams) = self.into_parts();
        env.plan(|plan| {
            plan.has_sink();
            let streams: Vec<_> =
                streams.streams.into_iter().map(|stream| plan.graph.chain(stream, Arc::clone(&rows))).collect();
            plan.graph.sink(&streams, name, sink);
        });
    }

    fn end(self, name: &str, sink: Arc<dyn SinkFactory>) {
        let name = self.env().plan(|plan| plan.free_name(name));
        self.end_as(name, sink);
    }

    fn end_as(self, name: String, sink: Arc<dyn SinkFactory>) {
        let (env, streams) = self.into_parts();
        env.plan(|plan| {
            plan.has_sink();
            plan.graph.sink(&streams.streams, name, sink);
        });
    }
}
