//! Whatever is written, prepared and committed, wherever a run is killed, and whichever checkpoint is gone back to: after
//! each recovery a reader sees every row of that checkpoint once, and no other; and what another run writes is all there.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Step {
    /// So many rows in one batch.
    Write(u8),
    /// An epoch ends. Rows of the next may come before it is stored in a checkpoint, and committed; or neither happens
    /// because the run is too slow. `told`: that it was committed is in a checkpoint, too.
    Epoch { rows_between: u8, stored: bool, committed: bool, told: bool },
    /// The run dies, when the renames of a commit had come so far, and another goes on from a checkpoint so far back.
    Kill { renamed: u8, checkpoints_back: u8 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let epoch = (0..4u8, prop::bool::weighted(0.8), prop::bool::weighted(0.7), any::<bool>())
        .prop_map(|(rows_between, stored, committed, told)| Step::Epoch { rows_between, stored, committed, told });
    let back = prop_oneof![3 => Just(0u8), 1 => 1..4u8];
    let kill = (0..8u8, back).prop_map(|(renamed, checkpoints_back)| Step::Kill { renamed, checkpoints_back });
    let step = prop_oneof![4 => (0..6u8).prop_map(Step::Write), 3 => epoch, 2 => kill];
    prop::collection::vec(step, 1..24)
}

/// A job that writes the numbers from 0 on, and another beside it.
struct World {
    out: PathBuf,
    table: TableSpec,
    sink: Box<dyn Sink>,
    epoch: u64,
    /// The next row.
    next: i64,
    /// Each with the number of rows that its job had written.
    checkpoints: Vec<(Commitment, i64)>,
    other: Box<dyn Sink>,
    other_rows: i64,
}

/// The rows of the other job are negative.
fn row(value: i64) -> (i64, i64) {
    (value.rem_euclid(3), value)
}

impl World {
    fn new(out: &Path, partitioned: bool, file_bytes: u32) -> Self {
        let columns = vec![Field::new("day", DataType::Int64, true), Field::new("a", DataType::Int64, true)];
        let by: &[&str] = if partitioned { &["day"] } else { &[] };
        let size = file_bytes.to_string();
        let table = table(out, columns, by, &[("sink.rolling-policy.file-size", &size)]);
        let (sink, other) = (open(&table), open(&table));
        let checkpoints = vec![(sink.commitment(), 0)];
        Self { out: out.to_owned(), table, sink, epoch: 0, next: 0, checkpoints, other, other_rows: 0 }
    }

    async fn step(&mut self, step: &Step) {
        match *step {
            Step::Write(rows) => self.write(rows).await,
            Step::Epoch { rows_between, stored, committed, told } => {
                self.epoch += 1;
                self.sink.prepare(Epoch(self.epoch)).await.unwrap();
                let checkpoint = (self.sink.commitment(), self.next);
                self.write(rows_between).await;
                if stored {
                    self.checkpoints.push(checkpoint.clone());
                }
                if stored && committed {
                    self.sink.commit(Epoch(self.epoch)).await.unwrap();
                    if told {
                        self.checkpoints.push((self.sink.commitment(), checkpoint.1));
                    }
                }
            }
            Step::Kill { renamed, checkpoints_back } => self.kill(renamed, checkpoints_back).await,
        }
        self.other_writes().await;
    }

    async fn write(&mut self, rows: u8) {
        write(&mut *self.sink, self.next..self.next + i64::from(rows)).await;
        self.next += i64::from(rows);
    }

    async fn kill(&mut self, renamed: u8, checkpoints_back: u8) {
        let (stored, _) = self.checkpoints.last().unwrap();
        for part in Prepared::decode(&self.out, stored).unwrap().parts.iter().take(renamed.into()) {
            part.publish().unwrap();
        }
        let kept = self.checkpoints.len().saturating_sub(checkpoints_back.into()).max(1);
        self.checkpoints.truncate(kept);
        let (commitment, rows) = self.checkpoints.last().unwrap();
        self.sink = open(&self.table);
        self.sink.recover(commitment).await.unwrap();
        self.next = *rows;
        let seen: Vec<i64> = seen(&self.out).into_iter().filter(|value| *value >= 0).collect();
        assert_eq!(seen, (0..*rows).collect::<Vec<_>>());
    }

    async fn other_writes(&mut self) {
        self.other_rows += 1;
        write(&mut *self.other, [-self.other_rows]).await;
        if self.other_rows % 2 == 0 {
            self.other.prepare(Epoch(self.other_rows as u64)).await.unwrap();
            self.other.commit(Epoch(self.other_rows as u64)).await.unwrap();
        }
    }

    /// Both jobs come to their end.
    async fn end(mut self) {
        for sink in [&mut self.sink, &mut self.other] {
            sink.prepare(Epoch(u64::MAX)).await.unwrap();
            sink.commit(Epoch(u64::MAX)).await.unwrap();
        }
        assert_eq!(seen(&self.out), (-self.other_rows..0).chain(0..self.next).collect::<Vec<_>>());
        assert!(files(&self.out, true).is_empty());
    }
}

fn open(table: &TableSpec) -> Box<dyn Sink> {
    FilesystemSinkFactory::new(table, WriteMode::Append).unwrap().open().unwrap()
}

async fn write(sink: &mut dyn Sink, values: impl IntoIterator<Item = i64>) {
    let (days, values): (Vec<i64>, Vec<i64>) = values.into_iter().map(row).unzip();
    let column = |values| Arc::new(Int64Array::from(values)) as _;
    let rows = RecordBatch::try_from_iter([("day", column(days)), ("a", column(values))]).unwrap();
    sink.write(&EventBatch::append(rows)).await.unwrap();
}

/// The values that a reader sees, each in the folder of its day where there are such folders.
fn seen(out: &Path) -> Vec<i64> {
    let mut values = vec![];
    for file in files(out, false) {
        for line in fs::read_to_string(out.join(&file)).unwrap().lines() {
            let value = line.rsplit_once(':').unwrap().1.trim_end_matches('}').parse().unwrap();
            if let Some((day, _)) = file.split_once('/') {
                assert_eq!(day, format!("day={}", row(value).0));
            }
            values.push(value);
        }
    }
    values.sort_unstable();
    values
}

proptest! {
    #![proptest_config(property::config(48))]
    #[test]
    fn every_row_is_seen_once(steps in steps(), partitioned in any::<bool>(), file_bytes in 1..80u32) {
        let folder = tempfile::tempdir().unwrap();
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
            let mut world = World::new(folder.path(), partitioned, file_bytes);
            for step in &steps {
                world.step(step).await;
            }
            world.end().await;
        });
    }
}
