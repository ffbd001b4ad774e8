//! What goes to standard error: errors with a caret, and what was late.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use arrow::array::TimestampMillisecondArray;
use tidemill_connectors::console::Console;
use tidemill_connectors::print::cell::write_cell;
use tidemill_core::{Epoch, Error, ErrorKind, Watermark};
use tidemill_runtime::job::{Stall, StallCause};
use tidemill_runtime::metrics::{Metrics, WindowMetrics, count};
use tidemill_sql::physical::Finding;
use tidemill_sql::{Pipeline, Target};
use tidemill_state::checkpoint::Place;

/// Over this share of late rows, a longer watermark delay is proposed.
const MANY_LATE_PERCENT: u64 = 10;

/// Rows that are late by more than that are not slow: the watermark has been led astray.
const FAR_AHEAD_MS: u64 = 1_000 * 86_400_000;

/// Prints an error, and gives the exit code that its kind has.
pub(crate) fn error(error: &Error) -> ExitCode {
    match error.kind() {
        // Nobody has read our output since we were asked to stop.
        ErrorKind::Closed if Console::is_stopping() => return ExitCode::from(130),
        // The reader of our output has gone: nobody is there to be told.
        ErrorKind::Closed => return ExitCode::SUCCESS,
        ErrorKind::Invalid => {}
        ErrorKind::Data | ErrorKind::Unavailable | ErrorKind::Internal => {}
    }
    say(&rendered(error, std::io::stderr().is_terminal()));
    if error.kind() == ErrorKind::Invalid { ExitCode::from(2) } else { ExitCode::FAILURE }
}

/// The error as people read it, with its place in the SQL; in colour at most where a terminal shows it.
pub(crate) fn rendered(error: &Error, terminal: bool) -> String {
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
    let colour = terminal && std::env::var_os("NO_COLOR").is_none();
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group])
}

/// Prints a line to standard error. Nobody is there to be told where that is closed.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Tells, a statement a line, how many rows missed a window.
pub(crate) fn late_rows(pipeline: &Pipeline, metrics: &Metrics) {
    for statement in &pipeline.statements {
        let Some(windows) = metrics.windows.get(&statement.name) else { continue };
        let sum = |counter: fn(&WindowMetrics) -> u64| windows.iter().map(|w| counter(w)).sum::<u64>();
        let (rows, late) = (sum(|w| count(&w.rows)), sum(|w| count(&w.late_rows)));
        let (without_time, future) = (sum(|w| count(&w.no_event_time_rows)), sum(|w| count(&w.future_rows)));
        if late + without_time + future == 0 {
            continue;
        }
        let kept = match (&statement.late_output, &statement.target) {
            (Some(table), _) => format!("they are in '{}'", table.name),
            (None, Target::Table(table)) => {
                format!("they are only counted: SET 'tidemill.late-output.{}' = '<table>' keeps them", table.name)
            }
            (None, Target::Print) => "they are only counted: an INSERT INTO can keep them".to_owned(),
        };
        let future = if future == 0 { String::new() } else { format!(", {future} too far ahead") };
        say(&format!(
            "{}: {late} of {rows} rows late, {without_time} without event time{future}; {kept}",
            statement.name
        ));
        if late * 100 > rows * MANY_LATE_PERCENT {
            let delay = windows.iter().map(|w| w.missing_delay.exceeded_by_at_most(rows / 100)).max().unwrap_or(0);
            say(&many_late(delay));
        }
    }
}

/// What to do where many rows are late, nearly all of which a delay that is `delay_ms` longer would take.
fn many_late(delay_ms: u64) -> String {
    if delay_ms > FAR_AHEAD_MS {
        return format!(
            "  over {MANY_LATE_PERCENT} % are late, by {}: some row stands far ahead of them; SET \
             'tidemill.watermark.max-ahead' = '<the last moment that can be>' keeps such rows from moving the watermark",
            duration(delay_ms)
        );
    }
    format!(
        "  over {MANY_LATE_PERCENT} % are late: with a delay that is {} longer in WATERMARK FOR, 1 % would be",
        duration(delay_ms)
    )
}

/// Tells what is likely not meant in a live run that begins.
pub(crate) fn warning(statement: &str, finding: &Finding) {
    say(&format!("{statement}: {}", finding.message));
    say(&format!("  {}", finding.hint));
}

/// Tells that windows wait for a watermark that stands still, and what to do.
pub(crate) fn stall(stall: &Stall) {
    let (state, help) = stalled(stall);
    say(&state);
    say(&format!("  {help}"));
}

fn stalled(stall: &Stall) -> (String, String) {
    let standing = duration(u64::try_from(stall.standing.as_millis()).unwrap_or(u64::MAX));
    let begun = stall.watermark > Watermark::MIN;
    let state = match begun {
        true => format!("{}: the watermark has stood at {} for {standing}", stall.table, time(stall.watermark)),
        false => format!("{}: there has been no watermark for {standing}", stall.table),
    };
    let at = stall.partition.as_ref().map(|partition| format!(" from '{partition}'")).unwrap_or_default();
    let (why, help) = match (stall.cause, begun, &stall.ahead) {
        (StallCause::NoRows, _, Some(_)) => (
            format!("no row has come{at}"),
            "SET 'table.exec.source.idle-timeout' = '10 s' lets the others go on without it".to_owned(),
        ),
        (StallCause::NoRows, _, None) => (
            format!("no row has come{at}"),
            "windows are complete when a row with a later time comes, or the input ends; a shorter delay in \
             WATERMARK FOR completes them sooner"
                .to_owned(),
        ),
        (StallCause::NoLaterRow(rows), false, _) => (
            format!("of {}{at} none has a time that is possible", rows_of(rows)),
            "is the column of WATERMARK FOR NULL in them, or in another unit, such as seconds for milliseconds?"
                .to_owned(),
        ),
        (StallCause::NoLaterRow(rows), true, _) => (
            format!("of {}{at} none has a later time", rows_of(rows)),
            "a row whose time was far ahead of all others would have put it there; SET \
             'tidemill.watermark.max-ahead' = '<the last moment that can be>' keeps such rows from moving it"
                .to_owned(),
        ),
    };
    let waits = match &stall.ahead {
        Some((table, watermark)) => format!("'{table}' is at {}, and what reads both waits", time(*watermark)),
        None => "windows that end later wait".to_owned(),
    };
    (format!("{state}: {why}; {waits}"), help)
}

fn rows_of(count: u64) -> String {
    format!("{count} row{}", if count == 1 { "" } else { "s" })
}

/// A watermark as a moment that people read.
fn time(watermark: Watermark) -> String {
    let moment = TimestampMillisecondArray::from_value(watermark.0, 1);
    let mut text = String::new();
    // What has no text is told as a number.
    match write_cell(&mut text, &moment, 0) {
        Ok(()) => text,
        Err(_) => watermark.to_string(),
    }
}

/// Tells, a table a line, how many rows could not be decoded.
pub(crate) fn rejected(pipeline: &Pipeline, count: impl Fn(&str) -> Option<u64>) {
    for (table, output) in &pipeline.dead_letters {
        match count(table) {
            None | Some(0) => {}
            Some(1) => say(&format!("{table}: 1 row could not be decoded; it is in '{}'", output.name)),
            Some(rows) => say(&format!("{table}: {rows} rows could not be decoded; they are in '{}'", output.name)),
        }
    }
}

/// A duration in the largest unit that does not blur it, rounded up.
fn duration(ms: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(86_400_000, "days"), (3_600_000, "hours"), (60_000, "minutes"), (1_000, "seconds")];
    match UNITS.iter().find(|(unit_ms, _)| ms >= 2 * unit_ms) {
        Some((unit_ms, unit)) => format!("{} {unit}", ms.div_ceil(*unit_ms)),
        None => format!("{ms} ms"),
    }
}

#[cfg(test)]
mod tests;

/// Says which checkpoint a run does not go on from, and why.
pub(crate) fn passes_over(epoch: Epoch, damage: &Error) {
    say(&format!("passes over checkpoint {epoch}, which is damaged: {}", damage.message()));
}

/// Says from where a run goes on.
pub(crate) fn resumes(epoch: Epoch, place: &Place) {
    say(&format!("goes on from checkpoint {epoch} in '{place}'"));
}

/// Says what a run begins from, and what of that it leaves out.
pub(crate) fn begins(epoch: Epoch, place: &Place, left: &[String]) {
    say(&format!("begins from the savepoint '{place}', of epoch {epoch}"));
    for left in left {
        say(&format!("leaves out the state of {left}"));
    }
}

/// Says who makes a savepoint.
pub(crate) fn asks_the_run(data_dir: &Path) {
    say(&format!("the job of '{}' is running: it makes the savepoint, and goes on", data_dir.display()));
}

/// Says that a run had nothing left to do.
pub(crate) fn was_finished() {
    say("the job had come to its end before: nothing is left to do");
}

/// Says which sinks show rows again that a killed run has shown since its last checkpoint.
pub(crate) fn at_least_once<'a>(sinks: impl Iterator<Item = &'a str>) {
    for sink in sinks {
        say(&format!("{sink}: at least once: rows since the last checkpoint come again after a crash"));
    }
}
