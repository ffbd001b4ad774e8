use super::*;

fn result(program: Program, milliseconds: &[u64], megabytes: u64) -> Result {
    let cost = |ms: &u64| Cost {
        wall: Duration::from_millis(*ms),
        cpu: Duration::from_millis(*ms),
        peak_bytes: megabytes * 1_000_000,
    };
    Result { program, costs: milliseconds.iter().map(cost).collect(), rows: 1, agrees: true }
}

#[test]
fn the_median_counts_and_each_reach_has_its_direction() {
    // One run that was disturbed changes nothing.
    let ours = result(Program::Tidemill, &[2_000, 9_000, 1_900], 100);
    let with_checkpoints = result(Program::Checkpointed, &[2_100], 100);
    let on_disk = result(Program::OnDisk, &[3_000], 50);
    let results = [
        with_checkpoints,
        on_disk,
        result(Program::DuckDb, &[1_000, 1_100, 900], 300),
        result(Program::Flink, &[20_000], 2_000),
    ];
    let reached = |reach| verdict(reach, &ours, &results, 4_000_000).reached;
    for (reach, expected) in [
        (Reach::TimesOf(Program::DuckDb, 2.0), Some(true)),
        (Reach::TimesOf(Program::DuckDb, 1.9), Some(false)),
        (Reach::FasterThan(Program::Flink, 10.0), Some(true)),
        (Reach::FasterThan(Program::Flink, 10.1), Some(false)),
        (Reach::TimesOf(Program::Polars, 1.0), None),
        (Reach::ShareWithCheckpoints(0.95), Some(true)),
        (Reach::ShareWithCheckpoints(0.96), Some(false)),
        (Reach::TimesWithStateOnDisk(1.5), Some(true)),
        (Reach::TimesWithStateOnDisk(1.4), Some(false)),
        (Reach::Megabytes(100.0), Some(true)),
        (Reach::Megabytes(99.0), Some(false)),
        (Reach::MillionEventsPerSecond(2.0), Some(true)),
        (Reach::MillionEventsPerSecond(2.1), Some(false)),
        (Reach::Milliseconds(2_000.0), Some(true)),
        (Reach::Milliseconds(1_999.0), Some(false)),
    ] {
        assert_eq!(reached(reach), expected, "{reach:?}");
    }
}
