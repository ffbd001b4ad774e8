//! `'connector' = 'blackhole'`: takes every row and keeps none, to measure what comes before it.

use std::sync::Arc;

use async_trait::async_trait;
use tidemill_core::{Epoch, Error, EventBatch, Result};
use tidemill_runtime::connector::{
    ChangelogMode, Connector, Guarantee, OptionSpec, Sink, SinkFactory, Source, TableSpec, WriteMode,
};

/// The end of all rows.
#[derive(Debug)]
pub struct BlackholeConnector;

impl Connector for BlackholeConnector {
    fn name(&self) -> &'static str {
        "blackhole"
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    fn source(&self, table: &TableSpec) -> Result<Arc<dyn Source>> {
        Err(Error::invalid(format!("the table '{}' can't be read: 'blackhole' is a sink", table.name)))
    }

    fn sink(&self, _: &TableSpec, _: WriteMode) -> Result<Arc<dyn SinkFactory>> {
        Ok(Arc::new(BlackholeSinkFactory))
    }
}

struct BlackholeSinkFactory;

impl SinkFactory for BlackholeSinkFactory {
    fn changelog(&self) -> ChangelogMode {
        ChangelogMode::Retract
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::ExactlyOnce
    }

    fn open(&self) -> Result<Box<dyn Sink>> {
        Ok(Box::new(BlackholeSink))
    }
}

struct BlackholeSink;

#[async_trait]
impl Sink for BlackholeSink {
    async fn write(&mut self, _: &EventBatch) -> Result<()> {
        Ok(())
    }

    async fn prepare(&mut self, _: Epoch) -> Result<()> {
        Ok(())
    }

    async fn commit(&mut self, _: Epoch) -> Result<()> {
        Ok(())
    }

    async fn abort(&mut self) -> Result<()> {
        Ok(())
    }
}
