//! Developer commands: `cargo xtask <command>`, one file each.

mod arrows;
mod bench;
mod cache;
mod checkout;
mod ci;
mod crash;
mod example_data;
mod flink;
mod golden;
mod nightly;
mod peers;
mod process;
mod readme;
mod tidy;

use std::process::ExitCode;

use checkout::Checkout;

/// `Err` is what a person reads; several problems are several lines.
type Outcome = Result<(), String>;

const HELP: &str = "Developer commands of Tidemill.

Usage: cargo xtask <command>

Commands:
  ci                         All that .ci/run does beside the tests: fmt, clippy, tidy, arrows, readme
  tidy                       Rules for files: a head that says why, sizes, nothing left to do
  arrows                     Imports between crates and modules, against arrows.toml
  readme                     Runs the console examples of README.md and examples/, compares what they print
  readme --accept            Writes what they print into the documents
  golden [FILTER] [--accept] Golden cases of tests/golden; --accept rewrites what is expected
  crash [--rounds N] [--seed S]
                             Kills jobs at moments that are drawn (50 by default), and compares what they commit
  nightly [--cases N]        The property tests with many cases (default 512) and a fresh seed
  flink record [NAME...]     Asks a real Flink what the expressions of tests/flink give (wants Java 17)
  peers                      Installs what the benchmarks compare with: DuckDB, Polars and Flink
  bench [--check] [--events N] [--only NAME...] [--peers LIST] [--runs N] [--binary FILE]
                             Times the workloads of bench/ here and in other systems; --check fails where a reach is missed
  example-data               Writes examples/orders/orders.jsonl anew, the same bytes every time
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Outcome {
    let checkout = Checkout::here()?;
    match *arguments {
        [] | ["--help" | "-h" | "help"] => {
            print!("{HELP}");
            Ok(())
        }
        ["ci"] => ci::run(&checkout),
        ["tidy"] => tidy::run(&checkout),
        ["arrows"] => arrows::run(&checkout),
        ["readme"] => readme::run(&checkout, readme::Mode::Compare),
        ["readme", "--accept"] => readme::run(&checkout, readme::Mode::Accept),
        ["golden", ref rest @ ..] => golden::run(&checkout, rest),
        ["crash", ref rest @ ..] => crash::run(&checkout, rest),
        ["nightly", ref rest @ ..] => nightly::run(&checkout, rest),
        ["flink", ref rest @ ..] => flink::run(&checkout, rest),
        ["peers"] => peers::run(&checkout),
        ["bench", ref rest @ ..] => bench::run(&checkout, rest),
        ["example-data"] => example_data::run(&checkout),
        _ => Err(format!("'{}' is not a command: see cargo xtask --help", arguments.join(" "))),
    }
}
