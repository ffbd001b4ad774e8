//! What goes to standard error: errors with a caret, and what was late.

use std::io::IsTerminal;
use std::process::ExitCode;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use tidemill_core::{Error, ErrorKind};
use tidemill_runtime::metrics::{Metrics, WindowMetrics, count};
use tidemill_sql::Pipeline;

/// Over this share of late rows, a longer watermark delay is proposed.
const MANY_LATE_PERCENT: u64 = 10;

/// Prints an error, and gives the exit code that its kind has.
pub(crate) fn error(error: &Error) -> ExitCode {
    match error.kind() {
        // The reader of our output has gone: nobody is there to be told.
        ErrorKind::Closed => return ExitCode::SUCCESS,
        ErrorKind::Invalid => {}
        ErrorKind::Data | ErrorKind::Unavailable | ErrorKind::Internal => {}
    }
    eprintln!("{}", render(error));
    if error.kind() == ErrorKind::Invalid { ExitCode::from(2) } else { ExitCode::FAILURE }
}

fn render(error: &Error) -> String {
    let title = Level::ERROR.primary_title(error.message());
    let mut group = match error.excerpt() {
        Some(excerpt) => title.element(
            Snippet::source(&*excerpt.text)
                .path(&*excerpt.origin)
                .annotation(AnnotationKind::Primary.span(excerpt.span.clone())),
        ),
        None => Group::with_title(title),
    };
    if let Some(hint) = error.hint_text() {
        group = group.element(Level::HELP.message(hint));
    }
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group])
}

/// Tells, a statement a line, how many rows missed a window.
pub(crate) fn late_rows(pipeline: &Pipeline, metrics: &Metrics) {
    for statement in &pipeline.statements {
        let Some(windows) = metrics.windows.get(&statement.name) else { continue };
        let sum = |counter: fn(&WindowMetrics) -> u64| windows.iter().map(|w| counter(w)).sum::<u64>();
        let (rows, late) = (sum(|w| count(&w.rows)), sum(|w| count(&w.late_rows)));
        let without_time = sum(|w| count(&w.no_event_time_rows));
        if late + without_time == 0 {
            continue;
        }
        let kept = match &statement.late_output {
            Some(table) => format!("they are in '{}'", table.name),
            None => "they are only counted: SET 'tidemill.late-output.<target>' keeps them".to_owned(),
        };
        eprintln!("{}: of {rows} rows {late} were late and {without_time} had no event time; {kept}", statement.name);
        if late * 100 > rows * MANY_LATE_PERCENT {
            eprintln!(
                "  that is over {MANY_LATE_PERCENT} %: a longer delay in WATERMARK FOR would keep more of them in time"
            );
        }
    }
}
