//! The sinks of a demo: every row is shown, and kept to be compared.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use tidemill_connectors::console::Console;
use tidemill_connectors::format::json::{JsonEncoder, JsonOptions, TimestampFormat};
use tidemill_core::{Epoch, Error, EventBatch, Result, RowKind, Watermark};
use tidemill_deploy::Capture;
use tidemill_runtime::connector::{ChangelogMode, Sink, SinkFactory};
use tidemill_sql::physical::{LateSink, Outputs};
use tidemill_sql::{PlannedStatement, Table};

use super::cells::{Cells, or_default};
use super::figures::{Figures, REVENUE};
use super::kept::Kept;

/// What a live run has given so far.
#[derive(Clone)]
pub(super) struct Watch {
    state: Arc<Mutex<State>>,
    /// Each row is printed as a line of JSON, with the statement that gave it.
    json: bool,
}

#[derive(Default)]
struct State {
    figures: Figures,
    kept: HashMap<Arc<str>, Kept>,
}

impl Watch {
    pub(super) fn new(json: bool) -> Self {
        Self { state: Arc::default(), json }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known now.
    pub(super) fn figures(&self) -> Figures {
        self.lock().figures.clone()
    }

    /// How much money the late orders are, in cents.
    pub(super) fn late_cents(&self) -> Result<i128> {
        let state = self.lock();
        let mut cents = 0;
        for batch in state.kept.get(REVENUE).map_or(&[][..], Kept::late_rows) {
            let amounts = Cells(batch).decimal_of_row("payload", "total_amount")?;
            cents += (0..batch.num_rows()).map(|row| or_default(amounts, row)).sum::<i128>();
        }
        Ok(cents)
    }

    /// Everything, to be compared; nothing is left.
    pub(super) fn into_capture(self) -> Result<Capture> {
        let kept = std::mem::take(&mut self.lock().kept);
        let captured = kept.into_iter().map(|(name, kept)| Ok((name, kept.captured()?)));
        Ok(Capture { statements: captured.collect::<Result<_>>()? })
    }

    fn part(&self, statement: &PlannedStatement, json: Option<Arc<JsonEncoder>>, late: bool) -> Arc<dyn SinkFactory> {
        Arc::new(Part { watch: self.clone(), statement: Arc::clone(&statement.name), json, late })
    }
}

impl Outputs for Watch {
    fn rows(&self, statement: &PlannedStatement, schema: &SchemaRef) -> Result<Arc<dyn SinkFactory>> {
        self.lock().kept.insert(Arc::clone(&statement.name), Kept::new(Arc::clone(schema))?);
        let options = JsonOptions { timestamp_format: TimestampFormat::Iso8601, ..JsonOptions::default() };
        let encoder = self.json.then(|| JsonEncoder::new(Arc::clone(schema), options)).transpose()?;
        Ok(self.part(statement, encoder.map(Arc::new), false))
    }

    fn late(&self, statement: &PlannedStatement) -> Result<Option<LateSink>> {
        Ok(Some(LateSink { columns: None, sink: self.part(statement, None, true) }))
    }

    // The shop gives no row that can't be decoded.
    fn rejected(&self, _: &Table) -> Result<Option<Arc<dyn SinkFactory>>> {
        Ok(None)
    }
}

#[derive(Clone)]
struct Part {
    watch: Watch,
    statement: Arc<str>,
    json: Option<Arc<JsonEncoder>>,
    late: bool,
}

impl SinkFactory for Part {
    fn changelog(&self) -> ChangelogMode {
        ChangelogMode::Retract
    }

    fn open(&self) -> Result<Box<dyn Sink>> {
        Ok(Box::new(self.clone()))
    }
}

impl Part {
    /// `{"statement":"...","op":"+I",...}`
    fn print(&self, encoder: &JsonEncoder, batch: &EventBatch) -> Result<()> {
        let inserts = || vec![RowKind::Insert; batch.num_rows()].into();
        let kinds: Arc<[RowKind]> = batch.kinds.clone().unwrap_or_else(inserts);
        let mut lines = vec![];
        encoder.encode(&batch.rows, Some(&kinds), &mut lines)?;
        let mut out = String::with_capacity(2 * lines.len());
        for line in String::from_utf8_lossy(&lines).lines() {
            out.push_str(&format!("{{\"statement\":\"{}\",{}\n", self.statement, line.trim_start_matches('{')));
        }
        Console::Output.write(out.as_bytes())
    }
}

#[async_trait]
impl Sink for Part {
    async fn write(&mut self, batch: &EventBatch) -> Result<()> {
        let mut state = self.watch.lock();
        let unknown = || Error::internal(format!("the statement '{}' was not planned", self.statement));
        let kept = state.kept.get_mut(&self.statement).ok_or_else(unknown)?;
        if self.late {
            kept.late(&batch.rows);
            return Ok(());
        }
        kept.change(batch)?;
        state.figures.apply(&self.statement, batch)?;
        drop(state);
        self.json.as_ref().map_or(Ok(()), |encoder| self.print(encoder, batch))
    }

    async fn progress(&mut self, watermark: Watermark) -> Result<()> {
        if !self.late {
            self.watch.lock().figures.progress(&self.statement, watermark);
        }
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
