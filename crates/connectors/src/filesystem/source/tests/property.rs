//! Whatever the files, wherever runs stop, and however much each reads at once: all rows are read once, at their offsets.

use proptest::prelude::*;

use super::given::{Kind, Packed, Rows};
use super::*;

/// What a table's path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathIs {
    File,
    Folder,
    Pattern,
    Partitioned,
}

/// A run: how much it reads at once, and how many chunks of each file before it stops.
#[derive(Debug, Clone)]
struct Stopped {
    read_bytes: usize,
    chunks: [usize; 3],
    /// Whether files that were read to their end are deleted behind it, and then a new one comes.
    tidied: bool,
}

fn rows() -> impl Strategy<Value = Rows> {
    let row = ("[a-c\n\"é,#\u{feff} ]{0,6}", any::<i64>(), prop::bool::weighted(0.2));
    prop::collection::vec(row, 0..14)
}

fn stopped() -> impl Strategy<Value = Stopped> {
    let chunks = prop::array::uniform3(prop_oneof![4 => 0..5usize, 1 => Just(usize::MAX)]);
    (1..60usize, chunks, any::<bool>()).prop_map(|(read_bytes, chunks, tidied)| Stopped { read_bytes, chunks, tidied })
}

/// The place of a file below the table's folder.
fn place(path: PathIs, number: usize) -> String {
    match path {
        PathIs::File => "in/0".to_owned(),
        PathIs::Folder | PathIs::Pattern => format!("in/{}/{number}", number % 2),
        PathIs::Partitioned => format!("in/day=d{}/{number}", number % 2),
    }
}

struct World<'a> {
    folder: &'a Path,
    kind: Kind,
    path: PathIs,
    expected: Vec<Seen>,
}

impl World<'_> {
    fn table(&self, read_bytes: usize) -> Table {
        let path = match self.path {
            PathIs::File => "in/0",
            PathIs::Folder | PathIs::Partitioned => "in",
            PathIs::Pattern => "in/?/*",
        };
        let options = [self.kind.options(), &[("path", path)]].concat();
        table(self.folder, &options, self.path == PathIs::Partitioned, read_bytes)
    }

    fn add(&mut self, number: usize, rows: &Rows, packed: Packed, last_line_ends: bool) {
        let name = place(self.path, number);
        let (bytes, offsets) = self.kind.file(rows, packed, last_line_ends);
        let file = self.folder.join(&name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
        for ((s, id, _), offset) in rows.iter().zip(offsets) {
            let day = format!("d{}", number % 2);
            let shown =
                if self.path == PathIs::Partitioned { format!("{s:?} {id} {day:?}") } else { format!("{s:?} {id}") };
            self.expected.push((name.clone(), offset, shown));
        }
    }

    fn expected(mut self) -> Vec<Seen> {
        self.expected.sort_by(|one, other| one.0.cmp(&other.0));
        self.expected
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(64)))]
    #[test]
    fn runs_read_what_one_run_reads(
        files in prop::collection::vec((rows(), any::<bool>()), 3),
        new in rows(),
        kind in prop::sample::select(vec![Kind::Json, Kind::Csv, Kind::Parquet]),
        packed in prop::sample::select(vec![Packed::Plain, Packed::Gzip(1), Packed::Gzip(3), Packed::Zstd(1), Packed::Zstd(3)]),
        path in prop::sample::select(vec![PathIs::File, PathIs::Folder, PathIs::Pattern, PathIs::Partitioned]),
        stops in prop::collection::vec(stopped(), 0..4),
        read_bytes in 1..200usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut world = World { folder: folder.path(), kind, path, expected: vec![] };
        let files = if path == PathIs::File { &files[..1] } else { &files[..] };
        for (number, (rows, last_line_ends)) in files.iter().enumerate() {
            world.add(number, rows, packed, *last_line_ends);
        }
        let seen = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
            let mut runs = Runs::default();
            for (run, stopped) in stops.iter().enumerate() {
                runs.run(&world.table(stopped.read_bytes), |file| Some(stopped.chunks[file % 3])).await.unwrap();
                if stopped.tidied {
                    let ended = runs.kept.iter().filter(|(_, kept)| kept.position.is_none());
                    // One may have been deleted before.
                    ended.for_each(|(name, _)| drop(fs::remove_file(folder.path().join(&**name))));
                    if path != PathIs::File {
                        world.add(10 + run, &new, packed, true);
                    }
                }
            }
            runs.run(&world.table(read_bytes), |_| None).await.unwrap();
            runs.in_order()
        });
        prop_assert_eq!(seen, world.expected());
    }
}
