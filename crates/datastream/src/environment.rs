//! Where a program is put together, and run.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arrow::datatypes::{Schema, SchemaRef};
use serde::de::DeserializeOwned;
use tidemill_core::{Error, Result};
use tidemill_runtime::batch::StragglerListener;
use tidemill_runtime::connector::Source;
use tidemill_runtime::graph::{JobGraph, MakeOperator};
use tidemill_state::key_group::KEY_GROUPS;

use crate::data_stream::DataStream;
use crate::harness::not_one_step;
use crate::output_tag::SideOutputs;
use crate::rows::row_elements;
use crate::source::{IteratorSource, PendingSource};
use crate::state_backend::StateBackend;
use crate::timed::Element;

/// How a program is run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How many subtasks each step has behind [`DataStream::key_by`]: from 1 to 128. In a live run what comes before that runs in
    /// one for each source; in a batch so many parts run at once. Set it where there is a data directory: a job goes on only
    /// with the same.
    pub parallelism: usize,
    /// How many elements a step is given at once, at most.
    pub batch_size: usize,
    /// A directory of the job's own: there it keeps checkpoints, and from the last one it goes on. `None`: it keeps none.
    pub data_dir: Option<PathBuf>,
    /// What another job has come to (`tidemill savepoint`), a folder or a URL: the job begins from that, where its data
    /// directory has no checkpoint yet. It may have another parallelism, state backend, and steps that are new.
    pub from_savepoint: Option<String>,
    /// What the savepoint has for steps that the job does not have is left out; else that is an error.
    pub allow_non_restored_state: bool,
    /// How often a checkpoint is made, and how often sinks show what they were given.
    pub checkpoint_interval: Duration,
    /// Where keyed state is while the program runs.
    pub state_backend: StateBackend,
    /// Of a batch: how often a part of a step is tried before the run fails.
    pub attempts: usize,
    /// Of a batch: how many bytes between two steps, and of rows for tables, stay in memory. The rest goes to the data directory, or where that is
    /// missing to the system's folder for temporary files, and is gone when the run ends.
    pub shuffle_memory: u64,
    /// Of a batch: hears of parts that take much longer than the others of their step, while they run.
    pub on_straggler: Option<StragglerListener>,
}

impl Default for Settings {
    /// As many subtasks as there are processors, a checkpoint every ten seconds, state in memory, no data directory; in a batch
    /// four attempts, and 256 MiB between steps in memory.
    fn default() -> Self {
        let parallelism = std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(KEY_GROUPS);
        Self {
            parallelism,
            batch_size: 8192,
            data_dir: None,
            from_savepoint: None,
            allow_non_restored_state: false,
            checkpoint_interval: Duration::from_secs(10),
            state_backend: StateBackend::memory(),
            attempts: 4,
            shuffle_memory: 256 << 20,
            on_straggler: None,
        }
    }
}

/// A program: streams are made of its sources, and end in sinks; then it is run, once.
///
/// ```
/// use tidemill_datastream::Environment;
///
/// # fn main() -> tidemill_datastream::Result<()> {
/// let env = Environment::new();
/// let squares = env.from_iter(1..=3).map(|n| n * n).collect();
/// env.execute_live()?;
/// assert_eq!(squares.take(), [1, 4, 9]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Environment {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    settings: Settings,
    plan: Mutex<Option<Plan>>,
    was_run: AtomicBool,
}

fn was_run() -> Error {
    Error::invalid("the environment has been run").hint("make a new Environment, and the program with it, to run again")
}

/// What has been put together so far.
pub(crate) struct Plan {
    pub(crate) graph: JobGraph,
    /// The names of steps that keep state, and of sources and sinks: what a checkpoint knows them by.
    names: BTreeSet<String>,
    sinks: usize,
    /// The steps with a key, for a harness.
    steps: Vec<MakeOperator>,
    error: Option<Error>,
}

impl Environment {
    /// An empty program with the usual [`Settings`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty program with these settings.
    #[must_use]
    pub fn with(settings: Settings) -> Self {
        Self { shared: Arc::new(Shared { settings, ..Shared::default() }) }
    }

    /// How it is run.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// The elements of something that can be gone through again: a `Vec`, a range. A run that goes on from a checkpoint
    /// goes through it from the start, and leaves out what had been read.
    pub fn from_iter<I>(&self, elements: I) -> DataStream<I::Item>
    where
        I: IntoIterator<Item: Element, IntoIter: Send> + Clone + Send + Sync + 'static,
    {
        let name = self.plan(|plan| plan.free_name("elements"));
        let columns = Arc::new(Schema::empty());
        let pending = PendingSource::new(&name, Arc::new(IteratorSource::new(elements)), columns, true, |decoded| {
            let elements =
                decoded.elements.ok_or_else(|| Error::internal("the elements of an iterator are missing"))?;
            Ok(elements.downcast::<crate::timed::Timed<I::Item>>()?.values)
        });
        DataStream::from_source(self.clone(), pending)
    }

    /// The rows of a connector's table, each as a `T`: the fields of `T` are columns, by name. `name` is what a checkpoint
    /// knows the source by.
    pub fn from_source<T: Element + DeserializeOwned>(
        &self,
        name: &str,
        source: Arc<dyn Source>,
        columns: SchemaRef,
    ) -> DataStream<T> {
        self.plan(|plan| plan.name(name));
        let pending = PendingSource::new(name, source, columns, false, |decoded| row_elements(&decoded.rows));
        DataStream::from_source(self.clone(), pending)
    }

    /// Adds to the plan.
    pub(crate) fn plan<R>(&self, add: impl FnOnce(&mut Plan) -> R) -> R {
        let mut plan = self.lock();
        let plan = plan.get_or_insert_with(|| Plan::new(&self.shared.settings));
        if self.shared.was_run.load(Ordering::Relaxed) {
            plan.fail(was_run());
        }
        add(plan)
    }

    /// Takes the plan out, to be run.
    pub(crate) fn take_plan(&self) -> Result<JobGraph> {
        let plan = self.lock().take().unwrap_or_else(|| Plan::new(&self.shared.settings));
        if self.shared.was_run.swap(true, Ordering::Relaxed) {
            return Err(was_run());
        }
        match plan.error {
            Some(error) => Err(error),
            None if plan.sinks == 0 => Err(Error::invalid("the program has no sink, so nothing would come of it")
                .hint("end a stream with collect(), for_each() or another sink before it is executed")),
            None => Ok(plan.graph),
        }
    }

    /// Takes out the one step that has made a stream.
    pub(crate) fn take_step<T: Element>(&self, stream: &DataStream<T>) -> Result<(MakeOperator, SideOutputs)> {
        let plan = self.lock().take().unwrap_or_else(|| Plan::new(&self.shared.settings));
        if let Some(error) = plan.error {
            return Err(error);
        }
        match (plan.steps.as_slice(), stream.step_side_outputs()) {
            ([step], Some(side_outputs)) => Ok((Arc::clone(step), side_outputs)),
            (steps, _) => Err(not_one_step(steps.len())),
        }
    }

    /// Whether it is the same program.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Plan>> {
        // A plan that was half changed when something panicked can still only be run, and is complete as far as it goes.
        self.shared.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Plan {
    fn new(settings: &Settings) -> Self {
        let Settings { parallelism, batch_size, .. } = *settings;
        let error = if !(1..=KEY_GROUPS).contains(&parallelism) {
            Some(Error::invalid(format!("a parallelism of {parallelism} is not possible: it is 1 to {KEY_GROUPS}")))
        } else if batch_size == 0 {
            Some(Error::invalid("a batch of 0 elements is not possible: give batch_size a number from 1"))
        } else if settings.attempts == 0 {
            Some(Error::invalid("0 attempts are not possible: give attempts a number from 1"))
        } else {
            None
        };
        let graph = JobGraph::new(parallelism.clamp(1, KEY_GROUPS));
        Self { graph, names: BTreeSet::new(), sinks: 0, steps: vec![], error }
    }

    /// Gives a name away, once.
    pub(crate) fn name(&mut self, name: &str) {
        if !self.names.insert(name.to_owned()) {
            self.fail(
                Error::invalid(format!("two steps are called '{name}'"))
                    .hint("give each a name of its own: a checkpoint knows the state of a step by it"),
            );
        }
    }

    /// A name that nobody has yet.
    pub(crate) fn free_name(&mut self, name: &str) -> String {
        let numbered = (1..).map(|number| if number == 1 { name.to_owned() } else { format!("{name} {number}") });
        let free = numbered.into_iter().find(|name| !self.names.contains(name)).unwrap_or_default();
        self.names.insert(free.clone());
        free
    }

    pub(crate) fn has_step(&mut self, make: &MakeOperator) {
        self.steps.push(Arc::clone(make));
    }

    pub(crate) fn has_sink(&mut self) {
        self.sinks += 1;
    }

    /// Something is wrong with the program: whoever runs it hears of the first.
    pub(crate) fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}
