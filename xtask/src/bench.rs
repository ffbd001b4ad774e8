//! `cargo xtask bench`: times the workloads of `bench/`, in this program and in others that do the same.
//!
//! Programs take turns on the same files, so that what slows the machine down slows all of them: the ratios are what
//! counts. Each answer is compared with Tidemill's once, as a program that leaves rows out is not faster.

mod answer;
mod contender;
mod data;
mod events;
mod limit;
mod measure;
mod options;
mod random;
mod report;
mod state;
mod typed;
mod words;
mod work;
mod workload;

use std::env;
use std::path::{Path, PathBuf};

use self::contender::{Contender, Inputs};
use self::options::Options;
use self::report::Result as Measured;
use self::workload::{Program, WORKLOADS, Workload};
use crate::checkout::Checkout;
use crate::{Outcome, process};

pub(crate) fn run(checkout: &Checkout, arguments: &[&str]) -> Outcome {
    let options = Options::parse(arguments)?;
    let mut missed = programs(&options, checkout)?;
    let typed: Vec<_> = typed::WORKLOADS.iter().filter(|workload| options.asks_for(workload.name)).collect();
    if !typed.is_empty() {
        let speed = typed::build(checkout, &typed)?;
        for workload in typed {
            missed.extend(typed::run(workload, &options, &speed)?);
        }
    }
    if options.asks_for(words::NAME) {
        missed.extend(words::run(&options, checkout)?);
    }
    if options.check && !missed.is_empty() {
        return Err(format!("\nmissed:\n  {}", missed.join("\n  ")));
    }
    Ok(())
}

/// Runs the workloads of the program `tidemill`, and returns the reaches that are missed.
fn programs(options: &Options, checkout: &Checkout) -> Result<Vec<String>, String> {
    let state: Vec<_> = state::WORKLOADS.iter().filter(|workload| options.asks_for(workload.name)).collect();
    let limit: Vec<_> = limit::WORKLOADS.iter().filter(|workload| options.asks_for(workload.name)).collect();
    let compared = WORKLOADS.iter().any(|workload| options.asks_for(workload.name));
    if !compared && state.is_empty() && limit.is_empty() {
        return Ok(vec![]);
    }
    let tidemill = match &options.binary {
        Some(binary) => binary.clone(),
        None => build(checkout)?,
    };
    let mut missed = timed(options, &tidemill, checkout)?;
    for workload in state {
        missed.extend(state::run(workload, options, &tidemill, checkout)?);
    }
    for workload in limit {
        missed.extend(limit::run(workload, options, &tidemill, checkout)?);
    }
    Ok(missed)
}

/// Runs the workloads that are compared with others, and returns the reaches that are missed.
fn timed(options: &Options, tidemill: &Path, checkout: &Checkout) -> Result<Vec<String>, String> {
    let workloads: Vec<&Workload> = WORKLOADS.iter().filter(|workload| options.asks_for(workload.name)).collect();
    if workloads.is_empty() {
        return Ok(vec![]);
    }
    let data = data::ready(checkout, tidemill, options.events)?;
    println!("{} events in {}, the median of {}", options.events, data.display(), options.runs);
    let inputs = Inputs { tidemill: tidemill.to_owned(), data, events: options.events };
    let mut missed = vec![];
    for workload in workloads {
        let results = measured(workload, options, &inputs, checkout)?;
        missed.extend(report::print(workload, &results, options.events));
    }
    Ok(missed)
}

/// Builds the release binary, into the target folder that this program is in.
fn build(checkout: &Checkout) -> Result<PathBuf, String> {
    process::cargo(checkout, &["build", "--release", "--locked", "--package", "tidemill-cli"], &[])?;
    Ok(release_folder()?.join("tidemill"))
}

/// Where cargo puts what is built with `--release`.
fn release_folder() -> Result<PathBuf, String> {
    let this = env::current_exe().map_err(|e| format!("cannot tell where this program is: {e}"))?;
    let target = this.ancestors().nth(2).ok_or("this program is not in a target folder")?;
    Ok(target.join("release"))
}

/// Runs all programs that can do the workload, in turn.
fn measured(
    workload: &Workload,
    options: &Options,
    inputs: &Inputs,
    checkout: &Checkout,
) -> Result<Vec<Measured>, String> {
    let asked = |program: &Program| program.is_tidemill() || options.peers.contains(program);
    let mut contenders = vec![];
    for program in Program::ALL.into_iter().filter(asked) {
        contenders.extend(Contender::of(program, workload, inputs, checkout)?);
    }
    let mut costs = vec![vec![]; contenders.len()];
    for _ in 0..options.runs {
        for (contender, costs) in contenders.iter_mut().zip(&mut costs) {
            costs.push(contender.run()?);
        }
    }
    let answers = contenders.iter().map(Contender::answer).collect::<Result<Vec<_>, _>>()?;
    let measured = |((contender, costs), answer): ((&Contender, _), &answer::Answer)| Measured {
        program: contender.program,
        costs,
        rows: answer.rows,
        agrees: answers.first() == Some(answer),
    };
    Ok(contenders.iter().zip(costs).zip(&answers).map(measured).collect())
}
