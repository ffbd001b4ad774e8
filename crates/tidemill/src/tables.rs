//! SQL within a program: streams that queries read as tables, and queries whose rows are streams.

use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidemill_connectors::connectors;
use tidemill_core::{Error, Result, RowKind};
use tidemill_datastream::rows::RowStreams;
use tidemill_datastream::{AggregateFunction, DataStream, Element, Environment};
use tidemill_sql::{LoadOptions, Query, QueryRows, Registered, SqlText, StreamTable};

use crate::columns::{check_has_fields, columns_of};
use crate::functions::{Arguments, Function, FunctionResult, aggregate_function, scalar_function};

/// The tables of a program, for its queries.
///
/// A query runs in the program's own graph: its windows see the elements' event time, what is late there is counted by
/// [`Executed::late_elements`](crate::Executed), its state is part of the program's checkpoints, and other steps read its rows.
///
/// ```
/// use std::time::Duration;
/// use serde::{Deserialize, Serialize};
/// use tidemill::{Environment, EventTime, Tables, WatermarkStrategy};
///
/// #[derive(Clone, Serialize, Deserialize)]
/// struct Order {
///     category: String,
///     cents: i64,
///     placed_ms: i64,
/// }
///
/// #[derive(Clone, Debug, PartialEq, Deserialize)]
/// struct Revenue {
///     category: String,
///     window_start: i64,
///     cents: i64,
/// }
///
/// # fn main() -> tidemill::Result<()> {
/// let order = |category: &str, cents, placed_ms| Order { category: category.to_owned(), cents, placed_ms };
/// let env = Environment::new();
/// let orders = env
///     .from_iter(vec![order("books", 1250, 1_000), order("toys", 999, 7_000), order("books", 730, 59_000)])
///     .assign_timestamps_and_watermarks(
///         WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_secs(5))
///             .with_timestamp_assigner(|order: &Order| EventTime(order.placed_ms)),
///     );
///
/// let mut tables = Tables::new(&env);
/// tables.to_table_with_event_time("orders", orders, "placed")?;
/// let revenue = tables
///     .from_table::<Revenue>(
///         "revenue",
///         "SELECT category, window_start, SUM(cents) AS cents
///          FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(placed), INTERVAL '1' MINUTE))
///          GROUP BY category, window_start, window_end",
///     )?
///     .filter(|revenue| revenue.cents > 1_000)
///     .collect();
/// env.execute_live()?;
/// assert_eq!(revenue.take(), [Revenue { category: "books".to_owned(), window_start: 0, cents: 1_980 }]);
/// # Ok(())
/// # }
/// ```
pub struct Tables {
    env: Environment,
    registered: Registered,
    folder: PathBuf,
}

impl Tables {
    /// None yet, for the queries of this program.
    #[must_use]
    pub fn new(env: &Environment) -> Self {
        Self { env: env.clone(), registered: Registered::default(), folder: PathBuf::new() }
    }

    /// Relative paths in `CREATE TABLE` start here; without it at the directory that the program runs in.
    #[must_use]
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// The elements as rows of a table: its columns are the fields of `T`. Its rows have no event time, so that no window is
    /// made over them.
    ///
    /// # Errors
    /// `Invalid` if the name is taken, or a field has a type that no column has.
    pub fn to_table<T>(&mut self, name: &str, stream: DataStream<T>) -> Result<()>
    where
        T: Element + Serialize + DeserializeOwned,
    {
        self.add(name, stream, None)
    }

    /// The same, with the elements' event time in a further column, which is called `time`: a `TIMESTAMP(3)`, NULL for an
    /// element that has none. Windows are made over it, and a row is late when its element is.
    ///
    /// # Errors
    /// As [`Tables::to_table`], and if the elements have no event time, or a field is called `time` too.
    pub fn to_table_with_event_time<T>(&mut self, name: &str, stream: DataStream<T>, time: &str) -> Result<()>
    where
        T: Element + Serialize + DeserializeOwned,
    {
        self.add(name, stream, Some(time))
    }

    /// The rows of a query, each as a `T`: its fields are columns of the query, by name. A column that can be NULL is an
    /// `Option`, and a time a number of milliseconds since 1970.
    ///
    /// `sql` is one `SELECT`; before it may stand `CREATE TABLE`, `CREATE VIEW`, and what `SET` says of a query's results. `name`
    /// is what a checkpoint knows the query's state by, and messages speak of.
    ///
    /// As in Flink, the elements have event time again if one column of the query is event time: the table's own, or the
    /// `window_time` of a window.
    ///
    /// # Errors
    /// The first mistake in the text, with its place; and `Invalid` if the query updates rows that it has given, or `T` has a
    /// field that is no column.
    pub fn from_table<T: Element + DeserializeOwned>(&self, name: &str, sql: &str) -> Result<DataStream<T>> {
        let rows = self.query::<T>(name, sql, false)?;
        Ok(self.env.from_rows(name, rows))
    }

    /// The changes of a query's result: of a row that is updated its old content ([`RowKind::UpdateBefore`]), then its new.
    /// The changes of one group come in order.
    ///
    /// # Errors
    /// As [`Tables::from_table`], but any query may update its result.
    pub fn from_changelog<T: Element + DeserializeOwned>(
        &self,
        name: &str,
        sql: &str,
    ) -> Result<DataStream<(RowKind, T)>> {
        let rows = self.query::<T>(name, sql, true)?;
        Ok(self.env.from_changes(name, rows, |kind, row: T| (kind, row)))
    }

    /// Lets queries call a function that makes one value of each row: a closure of up to six arguments, whose types are those
    /// of [`Value`](crate::functions::Value) or `Option`s of them. Its name is the same in upper and lower case.
    ///
    /// It is called once a row, but not where an argument that is no `Option` is NULL: there its value is NULL. Equal arguments
    /// give equal values, now and in later runs; else it is registered with [`Tables::register_volatile_function`]. An error that
    /// it returns, or a panic, ends the run.
    ///
    /// ```
    /// use serde::{Deserialize, Serialize};
    /// use tidemill::{Environment, Tables};
    ///
    /// #[derive(Clone, Serialize, Deserialize)]
    /// struct Order {
    ///     cents: i64,
    ///     coupon: Option<i64>,
    /// }
    ///
    /// # fn main() -> tidemill::Result<()> {
    /// let env = Environment::new();
    /// let mut tables = Tables::new(&env);
    /// tables.to_table("orders", env.from_iter([Order { cents: 900, coupon: None }, Order { cents: 500, coupon: Some(20) }]))?;
    /// tables.register_function("discounted", |cents: i64, percent: Option<i64>| cents * (100 - percent.unwrap_or(0)) / 100)?;
    /// let paid = tables.from_table::<(i64,)>("paid", "SELECT discounted(cents, coupon) FROM orders")?.collect();
    /// env.execute_live()?;
    /// assert_eq!(paid.take(), [(900,), (400,)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` if the name is none that a text can write, or is taken.
    pub fn register_function<A: 'static>(&mut self, name: &str, f: impl Function<A>) -> Result<()> {
        self.registered.add_function(scalar_function(name, true, f))
    }

    /// The same for a function that gives another value each time. Rows that a query takes back can't depend on it.
    ///
    /// # Errors
    /// As [`Tables::register_function`].
    pub fn register_volatile_function<A: 'static>(&mut self, name: &str, f: impl Function<A>) -> Result<()> {
        self.registered.add_function(scalar_function(name, false, f))
    }

    /// Lets queries call a function that makes one value of many rows: of the arguments of a call, which are its `In` (a tuple if
    /// there are several). Where an argument that is no `Option` is NULL, the row is left out.
    ///
    /// What it gives depends on the rows alone, not on their order: they are added to many accumulators, which are merged.
    ///
    /// ```
    /// use serde::{Deserialize, Serialize};
    /// use tidemill::{AggregateFunction, Environment, RowKind, Tables};
    ///
    /// /// The mean of values, each of which counts by its weight.
    /// struct WeightedMean;
    ///
    /// impl AggregateFunction for WeightedMean {
    ///     type In = (f64, i64);
    ///     type Acc = (f64, i64);
    ///     type Out = Option<f64>;
    ///
    ///     fn create_accumulator(&self) -> (f64, i64) {
    ///         (0.0, 0)
    ///     }
    ///
    ///     fn add(&self, sum: &mut (f64, i64), (value, weight): (f64, i64)) {
    ///         *sum = (sum.0 + value * weight as f64, sum.1 + weight);
    ///     }
    ///
    ///     fn result(&self, sum: &(f64, i64)) -> Option<f64> {
    ///         (sum.1 != 0).then(|| sum.0 / sum.1 as f64)
    ///     }
    ///
    ///     fn merge(&self, a: (f64, i64), b: (f64, i64)) -> (f64, i64) {
    ///         (a.0 + b.0, a.1 + b.1)
    ///     }
    /// }
    ///
    /// #[derive(Clone, Serialize, Deserialize)]
    /// struct Sale {
    ///     price: f64,
    ///     pieces: i64,
    /// }
    ///
    /// # fn main() -> tidemill::Result<()> {
    /// let env = Environment::new();
    /// let mut tables = Tables::new(&env);
    /// tables.to_table("sales", env.from_iter([Sale { price: 2.0, pieces: 3 }, Sale { price: 6.0, pieces: 1 }]))?;
    /// tables.register_aggregate("weighted_mean", WeightedMean)?;
    /// let mean = tables.from_changelog::<(f64,)>("mean", "SELECT weighted_mean(price, pieces) FROM sales")?.collect();
    /// env.execute_live()?;
    /// assert_eq!(mean.take().last(), Some(&(RowKind::Insert, (3.0,))));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Tables::register_function`].
    pub fn register_aggregate<A>(&mut self, name: &str, function: A) -> Result<()>
    where
        A: AggregateFunction<In: Arguments, Acc: Serialize + DeserializeOwned + Sync, Out: FunctionResult> + Sync,
    {
        self.registered.add_aggregate(aggregate_function(name, function))
    }

    fn add<T>(&mut self, name: &str, stream: DataStream<T>, time: Option<&str>) -> Result<()>
    where
        T: Element + Serialize + DeserializeOwned,
    {
        let columns = columns_of::<T>().map_err(|e| e.context(format!("the table '{name}'")))?;
        let RowStreams { streams, columns, event_time, in_order } = stream.into_rows(&self.env, name, columns, time)?;
        self.registered.add_stream(StreamTable { name: name.into(), columns, event_time, streams, in_order })
    }

    fn query<T: DeserializeOwned>(&self, name: &str, sql: &str, updates: bool) -> Result<RowStreams> {
        let in_query = |e: Error| match e.excerpt().map(ToString::to_string) {
            Some(place) => e.context(place),
            None => e.context(format!("the query '{name}'")),
        };
        let settings = self.env.settings();
        let options = LoadOptions {
            folder: self.folder.clone(),
            parallelism: Some(settings.parallelism),
            batch_rows: settings.batch_size,
            infer: None,
        };
        let query =
            Query::load(&SqlText::new(name, sql), &connectors(), &options, &self.registered).map_err(in_query)?;
        check_has_fields::<T>(&query.columns()).map_err(in_query)?;
        let extend = |graph, free_name: &mut dyn FnMut(&str) -> String| {
            query.plan_into(graph, free_name, updates).map_err(in_query)
        };
        let QueryRows { streams, columns, event_time } = self.env.extend(name, Box::new(extend))?;
        Ok(RowStreams { streams, columns, event_time, in_order: false })
    }
}
