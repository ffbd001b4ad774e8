//! What was measured, as a table, and which reaches are missed.

use std::time::Duration;

use super::measure::Cost;
use super::workload::{Program, Reach, Workload};

/// A program's runs of one workload.
pub(super) struct Result {
    pub(super) program: Program,
    pub(super) costs: Vec<Cost>,
    /// How many rows it wrote, and whether they are those of Tidemill.
    pub(super) rows: u64,
    pub(super) agrees: bool,
}

impl Result {
    /// The median of the times.
    fn wall(&self) -> Duration {
        median(self.costs.iter().map(|cost| cost.wall))
    }

    /// The median of the times that the cores took.
    fn cpu(&self) -> Duration {
        median(self.costs.iter().map(|cost| cost.cpu))
    }

    /// The median of the peaks.
    fn peak_bytes(&self) -> u64 {
        median(self.costs.iter().map(|cost| cost.peak_bytes))
    }

    fn megabytes(&self) -> f64 {
        self.peak_bytes() as f64 / 1e6
    }
}

pub(super) fn median<T: Ord>(values: impl Iterator<Item = T>) -> T {
    let mut sorted: Vec<T> = values.collect();
    sorted.sort();
    let middle = sorted.len() / 2;
    sorted.swap_remove(middle)
}

/// Prints what the programs took, and returns the reaches that are missed.
pub(super) fn print(workload: &Workload, results: &[Result], events: u64) -> Vec<String> {
    println!("\n{}: {}", workload.name, workload.is);
    let ours = results.iter().find(|result| result.program == Program::Tidemill);
    for result in results {
        let seconds = result.wall().as_secs_f64();
        let ratio = ours.map_or(1.0, |ours| seconds / ours.wall().as_secs_f64());
        let answer = match (result.rows, result.agrees) {
            (0, _) => String::new(),
            (rows, true) => format!("{rows} rows"),
            (rows, false) => format!("{rows} rows, not those of tidemill"),
        };
        let (program, cpu, megabytes) = (result.program.name(), result.cpu().as_secs_f64(), result.megabytes());
        println!("  {program:<16}{seconds:>8.3} s {ratio:>7.2}x {cpu:>8.3} s cpu {megabytes:>6.0} MB  {answer}");
    }
    let verdicts = ours.map(|ours| workload.reaches.iter().map(|reach| verdict(*reach, ours, results, events)));
    print_verdicts(workload.name, verdicts.into_iter().flatten())
}

/// Prints what is reached by a workload and what is not, and returns the reaches that are missed.
pub(super) fn print_verdicts(workload: &str, verdicts: impl IntoIterator<Item = Verdict>) -> Vec<String> {
    let mut missed = vec![];
    for Verdict { reach, reached } in verdicts {
        let word = match reached {
            None => "not measured",
            Some(true) => "reached",
            Some(false) => "MISSED",
        };
        println!("  reach: {reach}: {word}");
        if reached == Some(false) {
            missed.push(format!("{workload}: {reach}"));
        }
    }
    missed
}

pub(super) struct Verdict {
    /// What is to be reached, and what is.
    reach: String,
    /// `None` where the peer was not asked.
    reached: Option<bool>,
}

impl Verdict {
    /// `what` is to be at most `most`, in a unit.
    pub(super) fn at_most(what: &str, is: f64, most: f64, unit: &str) -> Self {
        Self { reach: format!("{what}: {most:.0} {unit}, is {is:.2}"), reached: Some(is <= most) }
    }

    /// What is measured is to be at most so many times `what`.
    pub(super) fn at_most_times(what: &str, is: f64, most: f64) -> Self {
        Self { reach: format!("{most} times {what}, is {is:.2}"), reached: Some(is <= most) }
    }

    /// `what` is to be at least `least`, in a unit.
    pub(super) fn at_least(what: &str, is: f64, least: f64, unit: &str) -> Self {
        Self { reach: format!("{what}: {least} {unit}, is {is:.2}"), reached: Some(is >= least) }
    }
}

fn verdict(reach: Reach, ours: &Result, results: &[Result], events: u64) -> Verdict {
    let seconds = ours.wall().as_secs_f64();
    let times_of = |peer: Program| {
        let peer = results.iter().find(|result| result.program == peer)?;
        Some(seconds / peer.wall().as_secs_f64())
    };
    let told = |ratio: Option<f64>| ratio.map_or(String::new(), |ratio| format!(", is {ratio:.2}"));
    match reach {
        Reach::TimesOf(peer, most) => {
            let ratio = times_of(peer);
            let reach = format!("{most} times the time of {}{}", peer.name(), told(ratio));
            Verdict { reach, reached: ratio.map(|ratio| ratio <= most) }
        }
        Reach::FasterThan(peer, least) => {
            let ratio = times_of(peer).map(f64::recip);
            let reach = format!("{least} times as fast as {}{}", peer.name(), told(ratio));
            Verdict { reach, reached: ratio.map(|ratio| ratio >= least) }
        }
        Reach::ShareWithCheckpoints(least) => {
            let ratio = times_of(Program::Checkpointed);
            let reach = format!("with checkpoints {least} of the throughput{}", told(ratio));
            Verdict { reach, reached: ratio.map(|ratio| ratio >= least) }
        }
        Reach::TimesWithStateOnDisk(most) => {
            let ratio = times_of(Program::OnDisk).map(f64::recip);
            let reach = format!("{most} times the time with state on disk{}", told(ratio));
            Verdict { reach, reached: ratio.map(|ratio| ratio <= most) }
        }
        Reach::Megabytes(most) => {
            let is = ours.megabytes();
            Verdict { reach: format!("{most} MB, is {is:.0}"), reached: Some(is <= most) }
        }
        Reach::MillionEventsPerSecond(least) => {
            let is = events as f64 / seconds / 1e6;
            Verdict { reach: format!("{least} M events/s, is {is:.2}"), reached: Some(is >= least) }
        }
        Reach::Milliseconds(most) => {
            let is = seconds * 1e3;
            Verdict { reach: format!("{most} ms, is {is:.0}"), reached: Some(is <= most) }
        }
    }
}

#[cfg(test)]
mod tests;
