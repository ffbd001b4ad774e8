//! `tidemill check`: what a file will do, told without running it.

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use tidemill_connectors::console::Console;
use tidemill_connectors::print::PrintSinkFactory;
use tidemill_core::{Error, Excerpt, Result};
use tidemill_runtime::connector::ChangelogMode;
use tidemill_sql::RuntimeMode;
use tidemill_sql::physical::{Checked, Finding, Severity, check};

use super::{FileArguments, runtime};
use crate::outputs::Declared;
use crate::report;

/// Plan a file without running it: how its statements run, state that grows without bound, and what to know before
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidemill check examples/orders/pipeline.sql
  tidemill check pipeline.sql --plan                      the tasks and operators of a live run too
  tidemill check pipeline.sql --batch                     a statement that does not run live is well, and what is
                                                          told concerns a batch
  tidemill check pipeline.sql --strict --output json      for scripts: warnings count

With --output json each statement is one JSON object a line:
  {\"statement\", \"line\", \"target\": table or null, \"live\": {\"changelog\": \"append\" or \"retract\", \"plan\"} or
   {\"refused\": message, \"hint\"}, \"batch\": {} or {\"refused\", \"hint\"},
   \"findings\": [{\"severity\": \"warning\" or \"note\", \"code\", \"message\", \"hint\",
                 \"place\": {\"file\", \"line\", \"column\"} or null}]}

Exit codes: 0 it runs; 1 it runs, and with --strict there are warnings; 2 usage, configuration or SQL.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    file: FileArguments,

    /// Check for a batch run [default: execution.runtime-mode of the file, or live]
    #[arg(long)]
    batch: bool,

    /// Print the plans of live runs too: tasks and operators
    #[arg(long)]
    plan: bool,

    /// Exit with 1 if there is a warning
    #[arg(long)]
    strict: bool,

    /// How findings are printed
    #[arg(long, value_enum, default_value_t = Output::Text)]
    output: Output,
}

/// The form of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Text,
    /// One JSON object a statement and line
    Json,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let runtime = runtime()?;
    runtime.block_on(execute(arguments))
}

async fn execute(arguments: &Arguments) -> Result<ExitCode> {
    let pipeline = arguments.file.load().await?;
    let batch = arguments.batch || pipeline.settings.runtime_mode == Some(RuntimeMode::Batch);
    let outputs =
        Declared::new(|schema| Ok(Arc::new(PrintSinkFactory::new(Console::Output, String::new(), schema)?) as _));
    let checked = check(&pipeline, &outputs).await?;
    let told = match arguments.output {
        Output::Text => text(&checked, batch, arguments.plan),
        Output::Json => checked.iter().map(|checked| format!("{}\n", object(checked, batch))).collect(),
    };
    Console::Output.write(told.as_bytes())?;
    let refused = checked.iter().any(|checked| checked.refusal(batch).is_some());
    Ok(match (refused, arguments.strict && count(&checked, batch, Severity::Warning) > 0) {
        (true, _) => ExitCode::from(2),
        (false, true) => ExitCode::FAILURE,
        (false, false) => ExitCode::SUCCESS,
    })
}

fn count(checked: &[Checked], batch: bool, severity: Severity) -> usize {
    let findings = checked.iter().flat_map(|checked| checked.findings_for(batch));
    findings.filter(|finding| finding.severity == severity).count()
}

/// Findings come first to the eye: plans are long, and shown where they are asked for.
fn text(checked: &[Checked], batch: bool, plan: bool) -> String {
    let mut text: String = checked.iter().map(|checked| of_statement(checked, batch, plan)).collect();
    let number = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let refused = checked.iter().filter(|checked| checked.refusal(batch).is_some()).count();
    text += &[
        number(checked.len(), "statement"),
        format!("{refused} refused"),
        number(count(checked, batch, Severity::Warning), "warning"),
        number(count(checked, batch, Severity::Note), "note"),
    ]
    .join(", ");
    text + "\n"
}

fn of_statement(checked: &Checked, batch: bool, plan: bool) -> String {
    let mut text = format!("{} (line {})\n", checked.name, checked.line);
    match &checked.live {
        Ok(live) => {
            let what = match live.changelog {
                ChangelogMode::Append => "rows are added (append)",
                ChangelogMode::Retract => "rows are updated and taken back (retract)",
            };
            text += &format!("  live: {what}\n");
            if plan {
                text += &indented(&live.plan, 4);
            }
        }
        Err(error) => text += &refusal("live", error, !batch),
    }
    match &checked.batch {
        Ok(()) => text += "  batch: runs\n",
        Err(error) => text += &refusal("batch", error, batch),
    }
    for Finding { severity, code, message, hint, place, .. } in checked.findings_for(batch) {
        let severity = word(*severity);
        let place = place.as_ref().map(|place| format!("    --> {place}\n")).unwrap_or_default();
        text += &format!("  {severity}[{code}]: {message}\n{place}    help: {hint}\n");
    }
    text + "\n"
}

/// Why a driver does not run the statement: at length if it is the one that is meant to.
fn refusal(driver: &str, error: &Error, meant: bool) -> String {
    match meant {
        true => format!("  {driver}: does not run\n{}", indented(&report::rendered(error, false), 4)),
        false => format!("  {driver}: does not run: {}\n", error.message()),
    }
}

fn indented(text: &str, by: usize) -> String {
    text.lines().map(|line| format!("{:by$}{line}\n", "")).collect()
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn object(checked: &Checked, batch: bool) -> Value {
    let live = match &checked.live {
        Ok(live) => {
            let changelog = match live.changelog {
                ChangelogMode::Append => "append",
                ChangelogMode::Retract => "retract",
            };
            json!({"changelog": changelog, "plan": live.plan})
        }
        Err(error) => refused(error),
    };
    let finding = |finding: &Finding| {
        let Finding { severity, code, message, hint, place, .. } = finding;
        let place = place.as_ref().map(position);
        json!({"severity": word(*severity), "code": code, "message": message, "hint": hint, "place": place})
    };
    let findings: Vec<Value> = checked.findings_for(batch).map(finding).collect();
    json!({
        "statement": &*checked.name,
        "line": checked.line,
        "target": checked.target.as_deref(),
        "live": live,
        "batch": checked.batch.as_ref().map_or_else(refused, |()| json!({})),
        "findings": findings,
    })
}

fn position(place: &Excerpt) -> Value {
    let (line, column) = place.position();
    json!({"file": &*place.origin, "line": line, "column": column})
}

fn refused(error: &Error) -> Value {
    json!({"refused": error.message(), "hint": error.hint_text()})
}
