//! Runs a graph: spawns its tasks, starts epochs, commits sinks, and tells how it ended.

mod durability;
mod epochs;
pub(crate) mod owner;
mod running;
mod savepoints;
mod stalls;
mod wires;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidemill_core::{Error, Result};
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::clock::Clock;
use crate::graph::JobGraph;
use crate::metrics::Metrics;
use crate::task::ending::Ending;
use durability::Checkpoints;
pub use durability::Durability;
use epochs::{Action, Epochs, Event};
use running::Job;
pub use savepoints::SavepointRequest;
use savepoints::Savepoints;
pub use stalls::{Stall, StallCause};
use stalls::{Stalls, Standing};

/// How to run a graph.
#[derive(Debug)]
pub struct RunOptions {
    /// How many rows an operator is given at once.
    pub batch_rows: usize,
    /// How often sinks commit; `None` means once, at the end.
    pub epoch_interval: Option<Duration>,
    /// Whether sources that can grow are followed; else the input is what is there at the start.
    pub follow: bool,
    /// How long a source must give nothing before those that it meets go on without it, where its program does not say;
    /// `None`: they wait.
    pub idle_timeout: Option<Duration>,
    /// Who hears of a watermark that stands still while windows wait for it; `None`: nobody.
    pub stalls: Option<StallListener>,
    /// Where each epoch's checkpoint is kept, and what to go on from; `None`: nothing is kept.
    pub durability: Option<Durability>,
    /// Asks for savepoints, where checkpoints are kept; `None`: nobody does.
    pub savepoints: Option<mpsc::Receiver<SavepointRequest>>,
    /// What the present time is: of functions that tell it, and of windows of processing time.
    pub clock: Arc<dyn Clock>,
}

/// Hears of watermarks that stand still.
#[derive(Clone)]
pub struct StallListener {
    /// How long one may stand before that is told the first time; the wait doubles from then on.
    pub after: Duration,
    /// Is told.
    pub tell: Arc<dyn Fn(&Stall) + Send + Sync>,
}

impl fmt::Debug for StallListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StallListener").field("after", &self.after).finish_non_exhaustive()
    }
}

/// How a run ended.
#[derive(Debug)]
pub struct Outcome {
    /// The run was stopped before its input ended: windows that were open have not fired.
    pub stopped: bool,
    /// The job had come to its end before: nothing was left to do.
    pub was_finished: bool,
    /// What was counted.
    pub metrics: Metrics,
}

/// Runs until the input ends, `stop` completes, or something fails.
///
/// On an error nothing that was not committed is left behind by the sinks; where checkpoints are kept it stays, hidden,
/// and a later run goes on from the last checkpoint.
pub async fn run(graph: JobGraph, options: RunOptions, stop: impl Future<Output = ()>) -> Result<Outcome> {
    let run = Settings::of(&options);
    let RunOptions { epoch_interval, durability, savepoints, stalls, clock, .. } = options;
    let (mut checkpoints, restored) = Checkpoints::open(durability);
    let mut savepoints = Savepoints::new(savepoints);
    let mut job = Job::new(checkpoints.is_durable(), checkpoints.epoch(), restored, clock);
    let (line, mut progress) = mpsc::unbounded_channel();
    let sinks = job.open_sinks(&graph, checkpoints.begin_from_savepoint()).await?;
    if checkpoints.finished() {
        return Ok(Outcome { stopped: false, was_finished: true, metrics: graph.metrics });
    }
    let mut stop = std::pin::pin!(stop);
    tokio::select! {
        begun = checkpoints.begin(&sinks) => begun?,
        () = &mut stop => return Ok(Outcome { stopped: true, was_finished: false, metrics: graph.metrics }),
    }
    job.spawn(&graph, &run, sinks, &line).await?;
    drop(line);

    let mut epochs = Epochs::new(&job.sinks_among_subtasks(), checkpoints.is_durable(), checkpoints.epoch());
    let mut ticks = epoch_interval.map(|period| {
        let mut ticks = interval(period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.reset();
        ticks
    });
    let windowed = graph.metrics.windows.values().any(|windows| !windows.is_empty());
    let mut looks = stalls.filter(|_| windowed).map(Looks::new);
    let mut failure: Option<Error> = None;
    let mut stopped = false;
    loop {
        let event = tokio::select! {
            Some(report) = progress.recv() => Some(job.reported(report, &epochs, &mut checkpoints)),
            Some(result) = job.tasks.join_next() => {
                job.ended(result, &mut failure);
                None
            },
            Some(result) = job.readers.join_next() => {
                job.ended(result, &mut failure);
                None
            },
            stored = checkpoints.stored() => match stored {
                Ok(epoch) => Some(Event::Stored(epoch)),
                Err(error) => {
                    job.fail(error, &mut failure);
                    None
                }
            },
            () = &mut stop, if !stopped => {
                stopped = true;
                checkpoints.hurry();
                job.ends(Ending::Wanted);
                Some(Event::Stop)
            },
            () = tick(&mut ticks), if !stopped => Some(Event::Tick),
            () = savepoints.asked(), if !stopped => Some(Event::Asked),
            () = Looks::next(&mut looks), if !stopped && failure.is_none() => {
                if let Some(looks) = &mut looks {
                    looks.look(&job.standings(&graph));
                }
                None
            },
        };
        if failure.is_none()
            && let Some(event) = event
        {
            for action in epochs.on(event) {
                match action {
                    Action::Begin(_) => savepoints.begin(),
                    Action::Complete(_) => savepoints.make(|| checkpoints.savepoint()),
                    _ => {}
                }
                if let Err(error) = job.act(action, stopped, &mut checkpoints) {
                    job.fail(error, &mut failure);
                }
            }
        }
        if job.tasks.is_empty() {
            break;
        }
    }
    savepoints.finish().await;
    match failure {
        Some(error) => Err(error),
        None => Ok(Outcome { stopped, was_finished: false, metrics: graph.metrics }),
    }
}

/// What all tasks are told.
#[derive(Clone, Copy)]
struct Settings {
    batch_rows: usize,
    follow: bool,
    idle_timeout: Option<Duration>,
}

impl Settings {
    fn of(options: &RunOptions) -> Self {
        let RunOptions { batch_rows, follow, idle_timeout, .. } = *options;
        Self { batch_rows, follow, idle_timeout }
    }
}

async fn tick(ticks: &mut Option<Interval>) {
    match ticks {
        Some(ticks) => {
            ticks.tick().await;
        }
        None => std::future::pending().await,
    }
}

/// Looks at the sources now and then.
struct Looks {
    stalls: Stalls,
    ticks: Interval,
    tell: Arc<dyn Fn(&Stall) + Send + Sync>,
}

impl Looks {
    /// The parts of the wait that a stall may be told too late.
    const PARTS: u32 = 10;

    fn new(listener: StallListener) -> Self {
        let mut ticks = interval((listener.after / Self::PARTS).max(Duration::from_millis(1)));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { stalls: Stalls::new(listener.after), ticks, tell: listener.tell }
    }

    async fn next(looks: &mut Option<Self>) {
        match looks {
            Some(looks) => drop(looks.ticks.tick().await),
            None => std::future::pending().await,
        }
    }

    fn look(&mut self, standings: &[Standing]) {
        self.stalls.look(Instant::now(), standings).iter().for_each(|stall| (self.tell)(stall));
    }
}
