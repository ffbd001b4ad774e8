//! What is measured: a folder of `bench/` each, the programs that do it, and what is to be reached.

/// A program that can be asked to do a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    Tidemill,
    /// The same, with a checkpoint every second.
    Checkpointed,
    DuckDb,
    Polars,
    Flink,
}

impl Program {
    pub(super) const ALL: [Self; 5] = [Self::Tidemill, Self::Checkpointed, Self::DuckDb, Self::Polars, Self::Flink];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tidemill => "tidemill",
            Self::Checkpointed => "with checkpoints",
            Self::DuckDb => "duckdb",
            Self::Polars => "polars",
            Self::Flink => "flink",
        }
    }

    /// The file in a workload's folder that says what this program is to do.
    pub(super) fn file(self) -> &'static str {
        match self {
            Self::Tidemill | Self::Checkpointed => "tidemill.sql",
            Self::DuckDb => "duckdb.sql",
            Self::Polars => "polars.py",
            Self::Flink => "flink.sql",
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
    /// Whether it is measured with checkpoints, too.
    pub(super) fn checkpointed(&self) -> bool {
        self.reaches.iter().any(|reach| matches!(reach, ShareWithCheckpoints(_)))
    }
}

use Program::{DuckDb, Flink};
use Reach::{FasterThan, Megabytes, MillionEventsPerSecond, Milliseconds, ShareWithCheckpoints, TimesOf};

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
        &[FasterThan(Flink, 12.0), Megabytes(600.0), ShareWithCheckpoints(0.93)],
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
