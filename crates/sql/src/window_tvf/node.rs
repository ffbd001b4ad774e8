//! The plan node of a window table function.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, TimeUnit};
use datafusion::common::{Column, DFSchema, DFSchemaRef, Result, internal_datafusion_err, internal_err};
use datafusion::logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNodeCore};
use tidemill_core::EventTimes;
use tidemill_runtime::time_zone::TimeZone;
use tidemill_runtime::window::WindowAssigner;

use crate::plan::{TimeAttribute, time_attribute};

pub(crate) const WINDOW_START: &str = "window_start";
pub(crate) const WINDOW_END: &str = "window_end";
pub(crate) const WINDOW_TIME: &str = "window_time";

/// Which windows a function makes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum WindowKind {
    /// The same for all rows: `TUMBLE`, `HOP`, `CUMULATE`.
    Aligned(WindowAssigner),
    /// By the rows of a key: `SESSION`.
    Session {
        /// How long a pause ends a session.
        gap_ms: i64,
        /// On whose clocks its bounds are told.
        zone: TimeZone,
        /// `PARTITION BY`
        key: Vec<Column>,
    },
}

impl WindowKind {
    /// The zone whose clocks `window_start` and `window_end` are told by.
    pub(crate) fn zone(&self) -> TimeZone {
        match self {
            Self::Aligned(assigner) => assigner.zone(),
            Self::Session { zone, .. } => *zone,
        }
    }
}

impl fmt::Display for WindowKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Aligned(assigner) => write!(f, "{assigner}"),
            Self::Session { gap_ms, zone, key } => {
                write!(f, "SESSION(gap {gap_ms} ms")?;
                for (i, column) in key.iter().enumerate() {
                    write!(f, "{}{}", if i == 0 { ", by " } else { ", " }, column.name)?;
                }
                if !zone.is_utc() {
                    write!(f, ", in {zone}")?;
                }
                write!(f, ")")
            }
        }
    }
}

/// Puts `window_start`, `window_end` and `window_time` behind the input's columns: a row for each
/// window that the input's row is in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct WindowTvf {
    pub(crate) input: LogicalPlan,
    pub(crate) time: Column,
    /// What the time says.
    attribute: TimeAttribute,
    pub(crate) kind: WindowKind,
    /// The columns of the input that identify a row, where late rows are to be left out; they end here.
    pub(crate) identity: Option<[Column; 2]>,
    schema: DFSchemaRef,
}

impl WindowTvf {
    pub(crate) fn new(input: LogicalPlan, time: Column, kind: WindowKind) -> Result<Self> {
        let attribute = time_attribute(&input, &time);
        let attribute = attribute.ok_or_else(|| internal_datafusion_err!("a window over {time}, which is no time"))?;
        Self::of_parts(input, time, attribute, kind, None)
    }

    /// A window over a time that is computed of this function's results.
    pub(crate) fn of_results(&self, input: LogicalPlan, time: Column, kind: WindowKind) -> Result<Self> {
        let attribute = match self.attribute {
            TimeAttribute::Event(_) => TimeAttribute::Event(EventTimes::ALL),
            TimeAttribute::Processing => TimeAttribute::Processing,
        };
        Self::of_parts(input, time, attribute, kind, None)
    }

    /// The same over an input that carries more columns, those of an identity among them if it is to end here.
    pub(crate) fn over(&self, input: LogicalPlan, identity: Option<[Column; 2]>) -> Result<Self> {
        Self::of_parts(input, self.time.clone(), self.attribute, self.kind.clone(), identity)
    }

    fn of_parts(
        input: LogicalPlan,
        time: Column,
        attribute: TimeAttribute,
        kind: WindowKind,
        identity: Option<[Column; 2]>,
    ) -> Result<Self> {
        let schema = input.schema();
        let time_type = schema.field(schema.index_of_column(&time)?).data_type().clone();
        let DataType::Timestamp(TimeUnit::Millisecond, _) = time_type else {
            return internal_err!("event time has the type {time_type}");
        };
        let mut fields: Vec<_> = schema
            .iter()
            .filter(|(_, field)| identity.iter().flatten().all(|column| column.name() != field.name()))
            .map(|(qualifier, field)| (qualifier.cloned(), Arc::clone(field)))
            .collect();
        // As in Flink: the bounds are what a clock shows, the time is event time again.
        let local = DataType::Timestamp(TimeUnit::Millisecond, None);
        for (name, data_type) in [(WINDOW_START, &local), (WINDOW_END, &local), (WINDOW_TIME, &time_type)] {
            fields.push((None, Arc::new(Field::new(name, data_type.clone(), false))));
        }
        let schema = Arc::new(DFSchema::new_with_metadata(fields, schema.as_arrow().metadata().clone())?);
        Ok(Self { input, time, attribute, kind, identity, schema })
    }

    /// The columns of the input that the window itself reads: time, identity, key.
    fn own_columns(&self) -> impl Iterator<Item = &Column> {
        let key: &[Column] = match &self.kind {
            WindowKind::Session { key, .. } => key,
            WindowKind::Aligned(_) => &[],
        };
        std::iter::once(&self.time).chain(self.identity.iter().flatten()).chain(key)
    }

    /// Whether rows are in the windows of the moment at which they are processed, and not at which they happened.
    pub(crate) fn by_clock(&self) -> bool {
        self.attribute == TimeAttribute::Processing
    }

    /// Which times rows can have; those with another are in no window.
    pub(crate) fn range(&self) -> EventTimes {
        match self.attribute {
            TimeAttribute::Event(range) => range,
            TimeAttribute::Processing => EventTimes::ALL,
        }
    }

    /// The index of the time attribute in the input's columns.
    pub(crate) fn time_index(&self) -> Result<usize> {
        self.input.schema().index_of_column(&self.time)
    }
}

/// Plans are compared by their form only.
impl PartialOrd for WindowTvf {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl UserDefinedLogicalNodeCore for WindowTvf {
    fn name(&self) -> &str {
        "WindowTableFunction"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        self.own_columns().map(|column| Expr::Column(column.clone())).collect()
    }

    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        let mut prevented: HashSet<String> = [WINDOW_START, WINDOW_END, WINDOW_TIME].map(str::to_owned).into();
        // A session is made of all of its key's rows: only whole keys may be left out before it.
        if let WindowKind::Session { key, .. } = &self.kind {
            let fields = self.input.schema().fields().iter();
            let others = fields.filter(|field| key.iter().all(|column| column.name() != field.name()));
            prevented.extend(others.map(|field| field.name().clone()));
        }
        prevented
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = if self.by_clock() { " (processing time)" } else { "" };
        write!(f, "WindowTableFunction: {}, time={}{by}", self.kind, self.time)
    }

    fn with_exprs_and_inputs(&self, exprs: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let columns: Vec<Column> = exprs
            .into_iter()
            .map(|expr| match expr {
                Expr::Column(column) => Ok(column),
                other => internal_err!("a window's column became {other}"),
            })
            .collect::<Result<_>>()?;
        let [input] =
            <[LogicalPlan; 1]>::try_from(inputs).map_err(|_| internal_datafusion_err!("a window has one input"))?;
        if columns.len() != self.own_columns().count() {
            return internal_err!("a window has {} expressions", columns.len());
        }
        let mut columns = columns.into_iter();
        let mut next = || columns.next().ok_or_else(|| internal_datafusion_err!("a window's column is missing"));
        let time = next()?;
        let identity = match self.identity {
            Some(_) => Some([next()?, next()?]),
            None => None,
        };
        let kind = match &self.kind {
            WindowKind::Session { gap_ms, zone, .. } => {
                WindowKind::Session { gap_ms: *gap_ms, zone: *zone, key: columns.collect() }
            }
            aligned => aligned.clone(),
        };
        Self::of_parts(input, time, self.attribute, kind, identity)
    }

    /// Columns that nobody reads need not be decoded.
    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let input = self.input.schema();
        let mut needed: Vec<usize> =
            self.own_columns().map(|column| input.index_of_column(column)).collect::<Result<_>>().ok()?;
        for &column in output_columns {
            let (qualifier, field) = self.schema.qualified_field(column);
            if column < self.schema.fields().len() - 3 {
                needed.push(input.index_of_column(&Column::new(qualifier.cloned(), field.name().clone())).ok()?);
            }
        }
        needed.sort_unstable();
        needed.dedup();
        Some(vec![needed])
    }
}
