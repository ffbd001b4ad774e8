//! A connector's table, as a source or a sink of typed streams.

use std::path::PathBuf;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_connectors::connectors;
use tidemill_core::{Error, Result};
use tidemill_datastream::{DataStream, Element, Environment};
use tidemill_runtime::connector::{ChangelogMode, Connector, Options, TableSpec, WriteMode};

use crate::columns::columns_of;

/// A table of a connector, with the same options as in SQL. Its columns are the fields of the type that is read or written.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use tidemill::{Environment, Table};
///
/// #[derive(Clone, Serialize, Deserialize)]
/// struct Order {
///     id: i64,
///     amount: f64,
///     coupon: Option<String>,
/// }
///
/// # fn main() -> tidemill::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("orders.jsonl");
/// # std::fs::write(&path, "{\"id\": 1, \"amount\": 9.5}\n{\"id\": 2, \"amount\": 70, \"coupon\": \"MAY\"}\n").unwrap();
/// # let out = folder.path().join("large");
/// let orders = Table::new("filesystem").with("path", path.to_string_lossy()).with("format", "json");
/// let large = Table::new("filesystem").with("path", out.to_string_lossy()).with("format", "json");
///
/// let env = Environment::new();
/// let stream = orders.read::<Order>(&env, "orders")?.filter(|order| order.amount > 50.0);
/// large.write(stream, "large orders")?;
/// env.execute_live()?;
/// # let file = std::fs::read_dir(out).unwrap().next().unwrap().unwrap().path();
/// # let written = std::fs::read_to_string(file).unwrap();
/// # assert_eq!(written, "{\"id\":2,\"amount\":70.0,\"coupon\":\"MAY\"}\n");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Table {
    connector: String,
    options: Options,
    folder: PathBuf,
}

impl Table {
    /// A table of the connector that SQL calls so: `filesystem`, `datagen`, ...
    #[must_use]
    pub fn new(connector: impl Into<String>) -> Self {
        Self { connector: connector.into(), options: Options::default(), folder: PathBuf::new() }
    }

    /// Sets an option, as `WITH` does in SQL.
    #[must_use]
    pub fn with(mut self, option: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.set(option, value, None);
        self
    }

    /// Relative paths start here; without it at the directory that the program runs in.
    #[must_use]
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// The rows of the table, each as a `T`. `name` is what messages and checkpoints call it.
    ///
    /// # Errors
    /// `Invalid` if there is no such connector, if it can't be read with these options, or if a field has a type that no
    /// column has.
    pub fn read<T: Element + DeserializeOwned>(&self, env: &Environment, name: &str) -> Result<DataStream<T>> {
        let (connector, spec) = self.spec::<T>(name)?;
        let columns = Arc::clone(&spec.schema);
        Ok(env.from_source(name, connector.source(&spec)?, columns))
    }

    /// Adds the elements to the table's rows. `name` is what messages and checkpoints call it.
    ///
    /// # Errors
    /// As [`Table::read`].
    pub fn write<T: Element + Serialize + DeserializeOwned>(&self, stream: DataStream<T>, name: &str) -> Result<()> {
        let (connector, spec) = self.spec::<T>(name)?;
        let sink = connector.sink(&spec, WriteMode::Append)?;
        debug_assert!(sink.changelog() >= ChangelogMode::Append, "every sink takes rows that are added");
        stream.sink_to(name, spec.schema, sink);
        Ok(())
    }

    fn spec<T: DeserializeOwned>(&self, name: &str) -> Result<(Arc<dyn Connector>, TableSpec)> {
        let all = connectors();
        let of_table = |e: Error| e.context(format!("the table '{name}'"));
        let connector = Arc::clone(all.get(&self.connector).map_err(of_table)?);
        let known = connector.options().iter().map(|option| option.key);
        self.options
            .check_known(&format!("the connector '{}'", self.connector), known, connector.formats())
            .map_err(of_table)?;
        let schema: SchemaRef = columns_of::<T>().map_err(of_table)?;
        let spec = TableSpec {
            name: name.into(),
            schema,
            partitioned_by: vec![],
            options: self.options.clone(),
            folder: self.folder.clone(),
        };
        Ok((connector, spec))
    }
}
