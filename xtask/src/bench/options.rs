//! The arguments of `cargo xtask bench`.

use std::path::{PathBuf, absolute};

use super::workload::{Program, WORKLOADS};
use super::{limit, state, typed, words};

const USAGE: &str = "usage: cargo xtask bench [--check] [--events N] [--only NAME...] [--peers LIST] [--runs N]
  --check        fails, and names each reach that is missed
  --events N     how many events there are; 10000000 by default
  --only NAME... the workloads whose names begin so; all by default
  --peers LIST   of duckdb, polars and flink, with commas between them; 'none' for no peer; duckdb,polars by default,
                 as Flink takes minutes
  --binary FILE  measures this tidemill, such as that of an earlier commit, instead of building the present one
  --runs N       how often each program is run, in turn; its median counts; 3 by default";

pub(super) struct Options {
    pub(super) check: bool,
    pub(super) events: u64,
    /// The beginnings of the names of the workloads; none for all.
    only: Vec<String>,
    pub(super) peers: Vec<Program>,
    pub(super) runs: usize,
    pub(super) binary: Option<PathBuf>,
}

impl Options {
    pub(super) fn parse(arguments: &[&str]) -> Result<Self, String> {
        let mut options = Self {
            check: false,
            events: 10_000_000,
            only: vec![],
            peers: vec![Program::DuckDb, Program::Polars],
            runs: 3,
            binary: None,
        };
        let mut rest = arguments;
        while let [option, after @ ..] = rest {
            rest = match (*option, after) {
                ("--check", _) => {
                    options.check = true;
                    after
                }
                ("--events", [number, after @ ..]) => {
                    options.events = at_least_one(number)?;
                    after
                }
                ("--runs", [number, after @ ..]) => {
                    options.runs = at_least_one(number)?;
                    after
                }
                ("--binary", [file, after @ ..]) => {
                    options.binary = Some(absolute(file).map_err(|e| format!("there is no {file}: {e}"))?);
                    after
                }
                ("--peers", [list, after @ ..]) => {
                    options.peers = peers(list)?;
                    after
                }
                ("--only", [_, ..]) => {
                    let count = after.iter().take_while(|name| !name.starts_with("--")).count();
                    let (names, after) = after.split_at(count);
                    options.only = named(names)?;
                    after
                }
                _ => return Err(USAGE.to_owned()),
            };
        }
        Ok(options)
    }

    /// Whether a workload is to be measured.
    pub(super) fn asks_for(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|beginning| name.starts_with(beginning))
    }
}

fn at_least_one<T: std::str::FromStr + PartialOrd + From<u8>>(text: &str) -> Result<T, String> {
    text.parse().ok().filter(|number| *number >= T::from(1)).ok_or_else(|| USAGE.to_owned())
}

fn peers(list: &str) -> Result<Vec<Program>, String> {
    if list == "none" {
        return Ok(vec![]);
    }
    let known = [Program::DuckDb, Program::Polars, Program::Flink];
    let peer = |name| known.into_iter().find(|peer| peer.name() == name).ok_or_else(|| USAGE.to_owned());
    list.split(',').map(peer).collect()
}

fn named(names: &[&str]) -> Result<Vec<String>, String> {
    let states = state::WORKLOADS.iter().map(|workload| workload.name);
    let limits = limit::WORKLOADS.iter().map(|workload| workload.name);
    let programs = typed::WORKLOADS.iter().map(|workload| workload.name);
    let tables = WORKLOADS.iter().map(|workload| workload.name);
    let known: Vec<&str> = tables.chain(states).chain(limits).chain(programs).chain([words::NAME]).collect();
    if let Some(unknown) = names.iter().find(|name| !known.iter().any(|known| known.starts_with(**name))) {
        return Err(format!("there is no workload '{unknown}'; there are: {}", known.join(", ")));
    }
    Ok(names.iter().map(|name| (*name).to_owned()).collect())
}
