//! An operator, and a twin that is made anew from its snapshots now and then: they must emit the same.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::{Duration, Instant};

use arrow::util::display::{ArrayFormatter, FormatOptions};
use tempfile::TempDir;
use tidemill_core::{Epoch, EventBatch, Result, Watermark};
use tidemill_state::checkpoint::{CheckpointStore, Place, Retention, Snapshot};
use tidemill_state::{Change, Section, State, StateChanges};

use crate::operator::{Operator, Output};
use crate::told::Told;

/// The name of the operator in its checkpoints.
const OWNER: &str = "twin";

pub(crate) struct Twins<O> {
    make: Box<dyn Fn() -> O>,
    /// Never asked for a snapshot.
    pub(crate) plain: O,
    pub(crate) twin: O,
    /// What the twin's snapshots have left.
    state: State,
    /// The rows of its sections.
    rows: BTreeMap<Section, usize>,
    checkpoints: Option<Checkpoints>,
    epoch: u64,
    now: Instant,
    /// What both have told, where that may be alike only in the end.
    in_the_end: Option<(Told, Told)>,
}

/// Checkpoints on disk.
struct Checkpoints {
    folder: TempDir,
    store: CheckpointStore,
}

impl Checkpoints {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { store: Self::store(&folder), folder }
    }

    fn store(folder: &TempDir) -> CheckpointStore {
        let place = Place::Folder(folder.path().to_owned());
        CheckpointStore::new(place, Retention(1), String::new())
    }
}

impl<O: Operator> Twins<O> {
    /// `on_disk`: whether snapshots go through files.
    pub(crate) fn new(on_disk: bool, make: impl Fn() -> O + 'static) -> Self {
        Self {
            plain: make(),
            twin: make(),
            make: Box::new(make),
            state: State::default(),
            rows: BTreeMap::new(),
            checkpoints: on_disk.then(Checkpoints::new),
            epoch: 0,
            now: Instant::now(),
            in_the_end: None,
        }
    }

    /// They need not tell the same at every step, if they do in the end.
    pub(crate) fn in_the_end(self) -> Self {
        Self { in_the_end: Some(Default::default()), ..self }
    }

    /// This is the end.
    pub(crate) fn end(&mut self) {
        self.timer();
        self.watermark(Watermark::MAX);
        if let Some((of_plain, of_twin)) = &self.in_the_end {
            assert_eq!(of_plain, of_twin);
        }
    }

    fn both(&mut self, what: impl Debug, act: impl Fn(&mut O, &mut Output) -> Result<()>) {
        let (mut of_plain, mut of_twin) = (Output::default(), Output::default());
        act(&mut self.plain, &mut of_plain).unwrap();
        act(&mut self.twin, &mut of_twin).unwrap();
        match &mut self.in_the_end {
            Some((plain, twin)) => {
                plain.add(&mut of_plain);
                twin.add(&mut of_twin);
            }
            None => assert_eq!(lines(&mut of_plain), lines(&mut of_twin), "after {what:?}"),
        }
    }

    pub(crate) fn batch(&mut self, batch: &EventBatch) {
        self.both(batch, |operator, out| operator.on_batch(batch.clone(), out));
    }

    pub(crate) fn watermark(&mut self, watermark: Watermark) {
        self.both(watermark, |operator, out| {
            operator.on_watermark(watermark, out)?;
            while operator.unfinished() {
                operator.on_watermark(watermark, out)?;
            }
            Ok(())
        });
    }

    pub(crate) fn pause(&mut self) {
        self.both("a pause", |operator, out| operator.on_pause(out));
    }

    /// What waits for a time of day is done.
    pub(crate) fn timer(&mut self) {
        if self.plain.timer().is_some() || self.twin.timer().is_some() {
            self.now += Duration::from_secs(3600);
            let now = self.now;
            self.both("a timer", |operator, out| operator.on_timer(now, out));
        }
    }

    /// How many rows the snapshot has.
    pub(crate) fn barrier(&mut self) -> usize {
        self.epoch += 1;
        let epoch = Epoch(self.epoch);
        self.both(epoch, |operator, out| operator.on_barrier(epoch, out));
        let mut changes = StateChanges::default();
        self.twin.snapshot(&mut changes).unwrap();
        let mut written = 0;
        for (section, change) in changes.clone().into_changes() {
            let (before, batches) = match change {
                Change::Append(batch) | Change::Upsert(batch) => (self.rows.remove(&section).unwrap_or(0), vec![batch]),
                Change::Replace(batches) => (0, batches),
                Change::Remove => {
                    self.rows.remove(&section);
                    continue;
                }
            };
            let rows: usize = batches.into_iter().map(|rows| rows.read().unwrap().num_rows()).sum();
            self.rows.insert(section, before + rows);
            written += rows;
        }
        if let Some(checkpoints) = &mut self.checkpoints {
            let changes = vec![(OWNER.to_owned(), changes.clone())];
            let snapshot = Snapshot { epoch, finished: false, changes, longest_pause: Duration::ZERO };
            waited(checkpoints.store.write(snapshot)).unwrap();
            waited(checkpoints.store.drop_oldest()).unwrap();
        }
        self.state.apply(changes);
        written
    }

    /// The twin is thrown away with all that it got since the last barrier; so nothing must have come since.
    pub(crate) fn restore(&mut self) {
        let state = match &mut self.checkpoints {
            None => self.state.clone(),
            Some(checkpoints) => {
                checkpoints.store = Checkpoints::store(&checkpoints.folder);
                let states = waited(checkpoints.store.resume(false)).unwrap();
                states.and_then(|mut states| states.remove(OWNER)).unwrap_or_default()
            }
        };
        self.twin = (self.make)();
        self.twin.restore(state).unwrap();
    }

    /// How many rows the snapshots have left.
    pub(crate) fn saved_rows(&self) -> usize {
        self.rows.values().sum()
    }

    /// What the snapshots have left; for states that do not fit.
    pub(crate) fn state(&self) -> State {
        self.state.clone()
    }
}

fn waited<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// What was emitted, a line a row, in an order of its own: that of groups that are told together is free.
fn lines(out: &mut Output) -> Vec<String> {
    let mut lines = vec![];
    for (port, batch) in out.take() {
        let options = FormatOptions::new();
        let columns: Vec<_> =
            batch.rows.columns().iter().map(|column| ArrayFormatter::try_new(column, &options).unwrap()).collect();
        for row in 0..batch.num_rows() {
            let values: Vec<String> = columns.iter().map(|column| column.value(row).to_string()).collect();
            let kind = batch.kinds.as_ref().map_or("+I".to_owned(), |kinds| kinds[row].short().to_owned());
            lines.push(format!("{port:?} {kind} {}", values.join(" ")));
        }
    }
    lines.sort();
    lines
}
