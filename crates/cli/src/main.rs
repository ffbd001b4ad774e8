//! The `tidemill` binary: arguments, progress, printing. No logic of its own.

mod answers;
mod command;
mod interrupt;
mod memory;
mod open_files;
mod outputs;
mod report;
mod stdout;
mod table;
mod whole_files;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

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
    Query(command::query::Arguments),
    Run(command::run::Arguments),
    Reconcile(command::reconcile::Arguments),
    Check(command::check::Arguments),
    Checkpoints(command::checkpoints::Arguments),
    Savepoint(command::savepoint::Arguments),
    Completions(command::completions::CompletionsArguments),
    Man(command::completions::ManArguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    open_files::raise_limit();
    let outcome = match arguments.command {
        Command::Demo(arguments) => command::demo::run(&arguments),
        Command::Query(arguments) => command::query::run(&arguments),
        Command::Run(arguments) => command::run::run(&arguments),
        Command::Check(arguments) => command::check::run(&arguments),
        Command::Checkpoints(arguments) => command::checkpoints::run(&arguments),
        Command::Savepoint(arguments) => command::savepoint::run(&arguments),
        Command::Completions(arguments) => command::completions::completions(&arguments, Arguments::command()),
        Command::Man(arguments) => command::completions::man(&arguments, Arguments::command()),
        Command::Reconcile(arguments) => command::reconcile::run(&arguments),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => report::error(&error),
    }
}
