//! A table whose rows are streams of a program's graph: they come from its operators, not from a connector.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::Column;
use datafusion::logical_expr::Expr;
use tidemill_core::{Error, EventTimes, Excerpt, Result};
use tidemill_runtime::connector::{Connector, OptionSpec, Options, SinkFactory, Source, TableSpec, WriteMode};
use tidemill_runtime::graph::Stream;

use super::{EventTimeColumn, Table};

/// Streams of a program's graph, as a table that its queries read.
#[derive(Debug, Clone)]
pub struct StreamTable {
    /// The table's name.
    pub name: Arc<str>,
    /// The columns of its rows.
    pub columns: SchemaRef,
    /// The column of their event time, a `TIMESTAMP(3)`; rows come with their watermarks as sidecars then.
    pub event_time: Option<String>,
    /// Where the rows come from.
    pub streams: Vec<Stream>,
    /// They are one stream, whose rows come through one subtask, in the order of one partition.
    pub in_order: bool,
}

/// Where the rows of such a table come from.
#[derive(Clone)]
pub(crate) struct OwnStreams {
    pub(crate) streams: Arc<[Stream]>,
    /// In an order that gives each row a place.
    pub(crate) in_order: bool,
}

impl StreamTable {
    pub(crate) fn into_table(self) -> Table {
        let Self { name, columns, event_time, streams, in_order } = self;
        let event_time = event_time.map(|column| EventTimeColumn {
            // Nobody asks for it: rows bring their watermarks.
            watermark: Expr::Column(Column::new_unqualified(&column)),
            written: column.clone(),
            range: EventTimes::ALL,
            name: column,
        });
        let spec = TableSpec {
            name: Arc::clone(&name),
            schema: Arc::clone(&columns),
            partitioned_by: vec![],
            options: Options::default(),
            folder: PathBuf::new(),
        };
        let excerpt = Excerpt { origin: format!("<the stream '{name}'>").into(), text: "".into(), span: 0..0 };
        Table {
            name,
            spec,
            schema: columns,
            computed: BTreeMap::new(),
            connector: Arc::new(OfProgram),
            streams: Some(OwnStreams { streams: streams.into(), in_order }),
            keep_rejected: false,
            advice: None,
            event_time,
            excerpt,
        }
    }
}

/// What stands in the place of a connector: it has no rows of its own.
struct OfProgram;

impl Connector for OfProgram {
    fn name(&self) -> &'static str {
        "a stream of the program"
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    fn source(&self, table: &TableSpec) -> Result<Arc<dyn Source>> {
        Err(Error::invalid(format!("'{}' is a stream, which only a live query of its program reads", table.name)))
    }

    fn sink(&self, table: &TableSpec, _: WriteMode) -> Result<Arc<dyn SinkFactory>> {
        Err(Error::invalid(format!("'{}' is a stream, and can't be inserted into", table.name)))
    }
}
