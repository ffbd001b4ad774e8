//! `tidemill demo`: generated shop traffic, three questions, and the proof that live and batch agree.
//!
//! The questions are in `examples/shop/pipeline.sql`, which is part of the program; what stands here is how the
//! answers look.

mod cells;
mod draw;
mod expected;
mod figures;
mod kept;
mod lines;
mod screen;
mod shown;
mod watch;

#[cfg(test)]
mod tests;

use std::future::pending;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tidemill_connectors::connectors;
use tidemill_connectors::console::Console;
use tidemill_connectors::shop::{MAX_EVENTS, ShopConnector, Traffic};
use tidemill_core::Result;
use tidemill_deploy::Capture;
use tidemill_deploy::reconcile::{Report, reconcile};
use tidemill_runtime::clock::SystemClock;
use tidemill_runtime::job;
use tidemill_runtime::metrics::{Metrics, WindowMetrics, count};
use tidemill_sql::physical::live;
use tidemill_sql::{LoadOptions, Pipeline, SqlText};
use tokio::time::{MissedTickBehavior, interval};

use self::figures::REVENUE;
use self::lines::Lines;
use self::screen::Screen;
use self::shown::{grouped, money};
use self::watch::Watch;
use super::reconcile::{exit_code, text};
use super::runtime;
use crate::interrupt::interrupted;

/// Watch a shop's revenue, trends and funnel live on generated traffic, then prove that the batch agrees
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidemill demo                                 until Ctrl-C, which closes the shop
  tidemill demo --events 20000 --seed 7         a hundred seconds; the same events each time
  tidemill demo --events 5000 --output json     every row as JSON, as fast as they can be made

The questions are examples/shop/pipeline.sql. At the end the batch runs over the same events, and is compared with what
was shown. In a terminal the numbers are updated in place; elsewhere each complete minute is a line.

Exit codes: 0 the two agree; 3 they differ; 1 the run failed; 130 interrupted a second time.")]
pub(crate) struct Arguments {
    /// Close the shop after so many events [default: at Ctrl-C]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=MAX_EVENTS))]
    events: Option<u64>,

    /// Another number gives other events
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Events a second, 0 for as many as can be made [default: 200, which is 20 times as fast as the shop's clock; json: 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    rate: Option<u64>,

    /// How the answers are shown
    #[arg(long, value_enum, default_value_t = Output::Text)]
    output: Output,
}

/// The form of what is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// A screen in a terminal, a line a minute elsewhere
    Text,
    /// One JSON object a line: {"statement":"...","op":"+I","column":value,...}, and what the comparison found
    Json,
}

/// Events a second, where somebody watches.
const CALM_RATE: u64 = 200;

/// How often what is shown is looked at.
const REFRESH: Duration = Duration::from_millis(100);

const PIPELINE: &str = include_str!("../../../../../examples/shop/pipeline.sql");

/// Open windows tell what they have so far, for the screen. It is not in the file because the files that the
/// pipeline writes can't take a row back.
const EARLY_FIRE: &str = "
SET 'table.exec.emit.early-fire.enabled' = 'true';
SET 'table.exec.emit.early-fire.delay' = '200 ms';";

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let runtime = runtime()?;
    let code = runtime.block_on(execute(arguments));
    runtime.shutdown_background();
    code
}

async fn execute(arguments: &Arguments) -> Result<ExitCode> {
    let Some((found, code)) = compared(&played(arguments).await?, arguments.output).await? else {
        return Ok(ExitCode::from(130));
    };
    Console::Output.write(found.as_bytes())?;
    Ok(code)
}

/// A live run that has ended, and what it gave.
struct Played {
    pipeline: Pipeline,
    live: Capture,
    /// The revenue of the minutes that were shown, and that of the orders that were late for theirs.
    live_cents: i128,
    late_cents: i128,
}

/// Shows the live run.
async fn played(arguments: &Arguments) -> Result<Played> {
    let rate = arguments.rate.unwrap_or(if arguments.output == Output::Json { 0 } else { CALM_RATE });
    let traffic = Traffic {
        events: arguments.events.unwrap_or(MAX_EVENTS),
        events_per_second: (rate > 0).then_some(rate),
        seed: arguments.seed,
        ..Traffic::default()
    };
    let mut show = Show::new(arguments.output, &traffic);
    let shop = ShopConnector::new(traffic);
    let pipeline = load(&shop, matches!(show, Show::Screen(_))).await?;
    let watch = Watch::new(arguments.output == Output::Json);
    let metrics = watch_live(&pipeline, &shop, &watch, &mut show).await?;
    show.closed(&watch, &metrics)?;
    let late_cents = watch.late_cents()?;
    let live_cents = watch.figures().revenue.values().map(|minute| minute.cents).sum();
    Ok(Played { pipeline, live: watch.into_capture()?, live_cents, late_cents })
}

/// What the batch over the same events finds, and the exit code that says so; `None` if it was interrupted.
async fn compared(played: &Played, output: Output) -> Result<Option<(String, ExitCode)>> {
    let Played { pipeline, live, live_cents, late_cents } = played;
    let Some(report) = reconcile(pipeline, live, interrupted).await? else { return Ok(None) };
    let found = match output {
        Output::Text => text(&report) + &verdict(&report, *live_cents, *late_cents),
        Output::Json => json(&report),
    };
    Ok(Some((found, exit_code(&report))))
}

async fn load(shop: &ShopConnector, early: bool) -> Result<Pipeline> {
    // Settings hold for the whole file, wherever they stand: at its end they move no line of it.
    let sql = [PIPELINE, if early { EARLY_FIRE } else { "" }].concat();
    let text = SqlText::new(Arc::<str>::from("examples/shop/pipeline.sql"), Arc::<str>::from(sql));
    let options = LoadOptions { folder: PathBuf::new(), parallelism: None, batch_rows: 8192, infer: None };
    Pipeline::load(&text, &connectors().with(Arc::new(shop.clone())), &options).await
}

/// Runs the pipeline live until its events end, or somebody interrupts: then the shop closes, and its windows are
/// completed.
async fn watch_live(pipeline: &Pipeline, shop: &ShopConnector, watch: &Watch, show: &mut Show) -> Result<Metrics> {
    let graph = live::plan(pipeline, watch)?;
    let metrics = graph.metrics.clone();
    let options = job::RunOptions {
        batch_rows: pipeline.batch_rows,
        epoch_interval: None,
        follow: true,
        idle_timeout: None,
        stalls: None,
        durability: None,
        savepoints: None,
        clock: Arc::new(SystemClock),
    };
    let mut job = std::pin::pin!(job::run(graph, options, pending()));
    let mut interrupt = std::pin::pin!(interrupted());
    let mut ticks = interval(REFRESH);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut open = true;
    loop {
        tokio::select! {
            outcome = &mut job => {
                outcome?;
                return Ok(metrics);
            }
            () = &mut interrupt, if open => {
                open = false;
                shop.close();
                show.leave()?;
            }
            _ = ticks.tick(), if open => show.refresh(watch, &metrics)?,
        }
    }
}

/// How the live run is shown.
enum Show {
    Screen(Box<Screen>),
    Lines(Lines),
    /// Rows are printed as they come.
    Json,
}

impl Show {
    fn new(output: Output, traffic: &Traffic) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        match output {
            Output::Json => Self::Json,
            Output::Text if std::io::stdout().is_terminal() && !dumb => Self::Screen(Box::new(Screen::new(traffic))),
            Output::Text => Self::Lines(Lines::default()),
        }
    }

    fn refresh(&mut self, watch: &Watch, metrics: &Metrics) -> Result<()> {
        match self {
            Self::Screen(screen) => screen.refresh(watch.figures(), counters(metrics)),
            Self::Lines(lines) => lines.refresh(&watch.figures()),
            Self::Json => Ok(()),
        }
    }

    /// The terminal is given back: what follows is printed below what was there before.
    fn leave(&mut self) -> Result<()> {
        match self {
            Self::Screen(screen) => screen.leave(),
            Self::Lines(_) | Self::Json => Ok(()),
        }
    }

    /// The live run has ended: shows how it did.
    fn closed(&mut self, watch: &Watch, metrics: &Metrics) -> Result<()> {
        let counters = counters(metrics);
        let printed = match self {
            Self::Screen(screen) => {
                screen.leave()?;
                screen.last(watch.figures(), counters)
            }
            Self::Lines(lines) => {
                lines.refresh(&watch.figures())?;
                String::new()
            }
            Self::Json => return Ok(()),
        };
        let closed = format!(
            "Closed after {} events; {} of {} orders came after their minute was complete.\n\
             Now the batch over the same events:\n",
            grouped(counters.events),
            grouped(counters.late_orders),
            grouped(counters.orders)
        );
        Console::Output.write((printed + &closed).as_bytes())
    }
}

/// What the run counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counters {
    events: u64,
    orders: u64,
    late_orders: u64,
}

fn counters(metrics: &Metrics) -> Counters {
    let windows = metrics.windows.get(REVENUE);
    let sum = |counter: fn(&WindowMetrics) -> u64| windows.into_iter().flatten().map(|w| counter(w)).sum();
    Counters {
        events: metrics.sources.values().map(|source| count(&source.rows)).sum(),
        orders: sum(|windows| count(&windows.rows)),
        late_orders: sum(|windows| count(&windows.late_rows)),
    }
}

/// What the comparison means for the money.
fn verdict(report: &Report, live_cents: i128, late_cents: i128) -> String {
    if !report.balanced() {
        return "batch = final live + late: DIFFERENT, in the rows above\n".to_owned();
    }
    format!(
        "batch = final live + late, balanced: revenue {} = {} + {}\n",
        money(live_cents + late_cents),
        money(live_cents),
        money(late_cents)
    )
}

/// A line a statement; names of statements are those of tables of the pipeline, and need no escapes.
fn json(report: &Report) -> String {
    let line = |statement: &tidemill_deploy::reconcile::StatementReport| {
        format!(
            "{{\"reconciled\":\"{}\",\"balanced\":{},\"live_rows\":{},\"batch_rows\":{},\"moved_by_late_rows\":{},\
             \"late_rows\":{}}}\n",
            statement.name,
            statement.differences.is_empty(),
            statement.live_rows,
            statement.batch_rows,
            statement.moved_by_late_rows,
            statement.late_rows
        )
    };
    report.statements.iter().map(line).collect()
}
