//! What is measured: a folder of `bench/` each, the programs that do it, and what is to be reached.

/// A program that can be asked to do a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    Tidemill,
    /// The same, with a checkpoint every second.
    Checkpointed,
    /// The same, with a limit of memory that its state does not fit, and a checkpoint every ten seconds.
    OnDisk,
    DuckDb,
    Polars,
    Flink,
}

impl Program {
    pub(super) const ALL: [Self; 6] =
        [Self::Tidemill, Self::Checkpointed, Self::OnDisk, Self::DuckDb, Self::Polars, Self::Flink];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tidemill => "tidemill",
            Self::Checkpointed => "with checkpoints",
            Self::OnDisk => "state on disk",
            Self::DuckDb => "duckdb",
            Self::Polars => "polars",
            Self::Flink => "flink",
        }
    }

    /// The file in a workload's folder that says what this program is to do.
    pub(super) fn file(self) -> &'static str {
        match self {
            Self::Tidemill | Self::Checkpointed | Self::OnDisk => "tidemill.sql",
            Self::DuckDb => "duckdb.sql",
            Self::Polars => "polars.py",
            Self::Flink => "flink.sql",
        }
    }

    /// Whether it is no peer.
    pub(super) fn is_tidemill(self) -> bool {
        matches!(self, Self::Tidemill | Self::Checkpointed | Self::OnDisk)
    }

    /// How often it makes a checkpoint, if it does.
    pub(super) fn checkpoint_interval(self) -> Option<&'static str> {
        match self {
            Self::Checkpointed => Some("1 s"),
            Self::OnDisk => Some("10 s"),
            Self::Tidemill | Self::DuckDb | Self::Polars | Self::Flink => None,
        }
    }
}

/// What Tidemill is to reach.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reach {
    /// At most so many times the time of a peer.
    TimesOf(Program, f64),
    /// At least so many times as fast as a peer.
    FasterThan(Program, f64),
    /// With checkpoints at least so much of the throughput that it has without.
    ShareWithCheckpoints(f64),
    /// With its state on disk at most so many times the time that it takes without.
    TimesWithStateOnDisk(f64),
    /// At most so many megabytes at the peak.
    Megabytes(f64),
    /// At least so many million events a second.
    MillionEventsPerSecond(f64),
    /// At most so many milliseconds.
    Milliseconds(f64),
}

pub(super) struct Workload {
    /// The folder in `bench/`.
    pub(super) name: &'static str,
    pub(super) is: &'static str,
    /// With `--batch`.
    pub(super) batch: bool,
    pub(super) reaches: &'static [Reach],
}

impl Workload {
    /// Whether a program is of interest here: Tidemill in other ways than the plain one only where a reach speaks of it.
    pub(super) fn compares(&self, program: Program) -> bool {
        let spoken_of = |of: fn(&Reach) -> bool| self.reaches.iter().any(of);
        match program {
            Program::Checkpointed => spoken_of(|reach| matches!(reach, ShareWithCheckpoints(_))),
            Program::OnDisk => spoken_of(|reach| matches!(reach, TimesWithStateOnDisk(_))),
            Program::Tidemill | Program::DuckDb | Program::Polars | Program::Flink => true,
        }
    }
}

use Program::{DuckDb, Flink};
use Reach::{
    FasterThan, Megabytes, MillionEventsPerSecond, Milliseconds, ShareWithCheckpoints, TimesOf, TimesWithStateOnDisk,
};

/// The reach of every Nexmark query.
const NEXMARK: &[Reach] = &[MillionEventsPerSecond(1.5)];

pub(super) const WORKLOADS: &[Workload] = &[
    live(
        "s1_json",
        "count and sum by category, of each minute, from JSON lines",
        &[TimesOf(DuckDb, 1.2), FasterThan(Flink, 7.0), Megabytes(250.0), ShareWithCheckpoints(0.93)],
    ),
    live("s1_parquet", "the same from Parquet", &[TimesOf(DuckDb, 1.2)]),
    live(
        "s2_json",
        "the 10 products with the most events of 10 minutes, every minute, from JSON lines",
        &[FasterThan(Flink, 25.0)],
    ),
    live(
        "s3_json",
        "sessions of each user, 30 minutes apart, from JSON lines",
        &[FasterThan(Flink, 12.0), Megabytes(600.0), ShareWithCheckpoints(0.93), TimesWithStateOnDisk(1.8)],
    ),
    batch(
        "b1_parquet",
        "daily revenue, daily users, funnel, top products by views and by revenue, from Parquet",
        &[TimesOf(DuckDb, 1.3)],
    ),
    batch("b3_parquet", "sessions in batch, from Parquet", &[TimesOf(DuckDb, 1.3)]),
    live("nexmark_q0", "Nexmark: bids passed on", NEXMARK),
    live("nexmark_q1", "Nexmark: prices in euros", NEXMARK),
    live("nexmark_q2", "Nexmark: bids on some auctions", NEXMARK),
    live("nexmark_q5", "Nexmark: the auction with the most bids", NEXMARK),
    live("nexmark_q7", "Nexmark: the highest bid", NEXMARK),
    live("nexmark_q11", "Nexmark: sessions of bidders", NEXMARK),
    live("nexmark_q12", "Nexmark: bids of each bidder", NEXMARK),
    live("start", "ten rows, start to exit", &[Milliseconds(100.0)]),
];

const fn live(name: &'static str, is: &'static str, reaches: &'static [Reach]) -> Workload {
    Workload { name, is, batch: false, reaches }
}

const fn batch(name: &'static str, is: &'static str, reaches: &'static [Reach]) -> Workload {
    Workload { name, is, batch: true, reaches }
}
