//! The `tidemill` binary: arguments, progress, printing. No logic of its own.

mod answers;
mod command;
mod interrupt;
mod report;
mod stdout;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// One Flink SQL file, run live and over history with the same answer.
#[derive(Parser)]
#[command(name = "tidemill", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(command::demo::Arguments),
    Run(command::run::Arguments),
    Reconcile(command::reconcile::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.command {
        Command::Demo(arguments) => command::demo::run(&arguments),
        Command::Run(arguments) => command::run::run(&arguments),
        Command::Reconcile(arguments) => command::reconcile::run(&arguments),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => report::error(&error),
    }
}
