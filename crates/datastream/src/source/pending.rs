//! A source that is not part of the graph yet: steps without state are still taken where it is read, so that an element's
//! watermark follows from those before it in its partition, whoever reads them.

use std::sync::Arc;
use std::time::Duration;

use arrow::datatypes::SchemaRef;
use tidemill_core::{Elements, EventTimes, Result};
use tidemill_runtime::connector::{Decoded, Source};
use tidemill_runtime::graph::{ElementTimes, SourceElements, SourceProgram, SourceSpec};

use crate::WatermarkStrategy;
use crate::guard::{guarded, in_step};
use crate::step::Step;
use crate::timed::{Batch, Element, Timed};

type Make<T> = Arc<dyn Fn(Decoded) -> Result<Timed<T>> + Send + Sync>;

/// A source, and the steps so far.
pub(crate) struct PendingSource<T> {
    name: Arc<str>,
    source: Arc<dyn Source>,
    columns: SchemaRef,
    /// It never has more than one.
    one_partition: bool,
    make: Make<T>,
}

impl<T: Element> PendingSource<T> {
    pub(crate) fn new(
        name: &str,
        source: Arc<dyn Source>,
        columns: SchemaRef,
        one_partition: bool,
        make: impl Fn(Decoded) -> Result<Vec<T>> + Send + Sync + 'static,
    ) -> Self {
        let make = move |decoded| Ok(Timed { values: make(decoded)?, times: vec![] });
        Self { name: name.into(), source, columns, one_partition, make: Arc::new(make) }
    }

    pub(crate) fn then<U: Element>(self, name: &'static str, step: Step<T, U>) -> PendingSource<U> {
        let Self { make, source, columns, one_partition, name: of_source } = self;
        let make = move |decoded| {
            let batch = Batch { elements: make(decoded)?, watermarks: vec![] };
            Ok(in_step(name, || step(batch))?.elements)
        };
        PendingSource { name: of_source, source, columns, one_partition, make: Arc::new(make) }
    }

    pub(crate) fn one_partition(&self) -> bool {
        self.one_partition
    }

    pub(crate) fn spec(self, strategy: Option<WatermarkStrategy<T>>) -> SourceSpec {
        SourceSpec {
            table: self.name,
            source: self.source,
            decoded: Arc::clone(&self.columns),
            columns: self.columns,
            computed: None,
            event_time: None,
            lineage: false,
            row_watermarks: strategy.is_some(),
            keep_rejected: false,
            processing_time: false,
            program: Some(Arc::new(Program { make: self.make, strategy })),
        }
    }
}

/// The steps that are taken where a source is read.
struct Program<T> {
    make: Make<T>,
    strategy: Option<WatermarkStrategy<T>>,
}

impl<T: Element> SourceProgram for Program<T> {
    fn has_event_time(&self) -> bool {
        self.strategy.is_some()
    }

    fn idle_after(&self) -> Option<Duration> {
        self.strategy.as_ref().and_then(WatermarkStrategy::idle_after)
    }

    fn elements(&self, decoded: Decoded) -> Result<SourceElements> {
        let mut elements = (self.make)(decoded)?;
        let Some(strategy) = &self.strategy else {
            return Ok(SourceElements { elements: Elements::new(elements), times: None });
        };
        let times =
            guarded("assign timestamps", || elements.values.iter().map(|v| strategy.time_of(v)).collect::<Vec<_>>())?;
        let usable = |time: i64| EventTimes::ALL.hold(time);
        let times: Vec<i64> = times.into_iter().map(|time| if usable(time) { time } else { i64::MIN }).collect();
        let claims = times.iter().map(|&time| if usable(time) { strategy.claim(time) } else { i64::MIN }).collect();
        elements.times.clone_from(&times);
        Ok(SourceElements { elements: Elements::new(elements), times: Some(ElementTimes { times, claims }) })
    }
}
