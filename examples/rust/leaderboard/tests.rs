//! The leaderboard against one that sorts all players anew each time.

#[path = "../interrupted.rs"]
mod interrupted;

use std::cmp::Reverse;
use std::collections::BTreeSet;

use interrupted::Read;
use proptest::prelude::*;
use tidemill::{Collected, Settings};

use super::*;

const HOUR_MS: i64 = 3_600_000;
/// How far actions are out of order in the tests: so that many are, near midnight.
const BEHIND: Duration = Duration::from_secs(6 * 3600);

/// The players of a game that these actions make, the best first, as score and player.
fn sorted<'a>(actions: impl Iterator<Item = &'a Action>) -> Vec<(i64, i64)> {
    let mut scores = BTreeMap::<i64, i64>::new();
    actions.for_each(|action| *scores.entry(action.player).or_default() += i64::from(action.points));
    let mut sorted: Vec<(i64, i64)> = scores.into_iter().map(|(player, score)| (score, player)).collect();
    sorted.sort_by_key(|&(score, player)| (Reverse(score), player));
    sorted
}

fn rank(sorted: &[(i64, i64)], score: i64) -> i64 {
    sorted.iter().take_while(|(other, _)| *other > score).count() as i64 + 1
}

/// What is told of one game.
#[derive(Debug, Default, PartialEq)]
struct OfGame {
    standings: Vec<Standing>,
    daily: Vec<Place>,
    missed: Vec<Action>,
}

/// Every action with the moment from which it counts, by the definition: its own, or the last midnight before its watermark.
fn counted(actions: &[Action]) -> Vec<(i64, Action)> {
    let mut watermark = i64::MIN;
    let counted = actions.iter().map(|action| {
        let day_end = (action.at_ms.div_euclid(DAY_MS) + 1) * DAY_MS;
        let from = if watermark >= day_end { watermark.div_euclid(DAY_MS) * DAY_MS } else { action.at_ms };
        watermark = watermark.max(action.at_ms - BEHIND.as_millis() as i64 - 1);
        (from, action.clone())
    });
    counted.collect()
}

/// What is told of a game when actions count from these moments, in this order.
fn expected(counted: &[(i64, Action)], game: &str) -> OfGame {
    let counted: Vec<(i64, Action)> = counted.iter().filter(|(_, action)| action.game == game).cloned().collect();
    let mut expected = OfGame::default();
    for (number, (from, action)) in counted.iter().enumerate() {
        let sorted = sorted(counted[..=number].iter().map(|(_, action)| action));
        let score = sorted.iter().find(|(_, player)| *player == action.player).unwrap().0;
        let rank = rank(&sorted, score);
        expected.standings.push(Standing { game: game.to_owned(), player: action.player, score, rank });
        expected.missed.extend((*from != action.at_ms).then(|| action.clone()));
    }
    let midnights: BTreeSet<i64> = counted.iter().map(|(from, _)| (from.div_euclid(DAY_MS) + 1) * DAY_MS).collect();
    for midnight_ms in midnights {
        let sorted = sorted(counted.iter().filter(|(from, _)| *from < midnight_ms).map(|(_, action)| action));
        let place =
            |&(score, player)| Place { game: game.to_owned(), midnight_ms, rank: rank(&sorted, score), player, score };
        expected.daily.extend(sorted.iter().take(TOP).map(place));
    }
    expected
}

/// Where a run leaves what it tells.
struct Given {
    standings: Collected<Standing>,
    daily: Collected<Place>,
    missed: Collected<Action>,
}

impl Given {
    fn of(actions: DataStream<Action>) -> Self {
        let Told { standings, daily, missed } = leaderboard(actions, BEHIND);
        Self { standings: standings.collect(), daily: daily.collect(), missed: missed.collect() }
    }

    /// Adds what was told of a game: games are in no order.
    fn add_to(&self, all: &mut BTreeMap<String, OfGame>) {
        self.standings.take().into_iter().for_each(|s| all.entry(s.game.clone()).or_default().standings.push(s));
        self.daily.take().into_iter().for_each(|p| all.entry(p.game.clone()).or_default().daily.push(p));
        self.missed.take().into_iter().for_each(|a| all.entry(a.game.clone()).or_default().missed.push(a));
    }
}

fn compare(actions: &[Action], mut given: BTreeMap<String, OfGame>) {
    let counted = counted(actions);
    let games: BTreeSet<&String> = actions.iter().map(|action| &action.game).collect();
    for game in games {
        assert_eq!(given.remove(game).unwrap_or_default(), expected(&counted, game));
    }
    assert!(given.is_empty());
}

/// Some days of actions, a few hours apart: most not far out of order, some a day too late, or far ahead.
fn actions(players: i64, most: usize) -> impl Strategy<Value = Vec<Action>> {
    let behind = prop_oneof![6 => 0..6_i64, 1 => 6..40_i64, 1 => -50..0_i64];
    let action = (0..2_u8, 0..players, -3..20_i32, 0..4_i64, behind);
    prop::collection::vec(action, 0..most).prop_map(|drawn| {
        let mut now = 0;
        let action = |(game, player, points, on, behind): (u8, i64, i32, i64, i64)| {
            now += on;
            Action { game: format!("game {game}"), player, points, at_ms: (now - behind) * HOUR_MS }
        };
        drawn.into_iter().map(action).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ranks_and_midnights_are_those_of_a_board_that_is_sorted_anew(
        actions in actions(12, 80), parallelism in 1..4_usize, batch_size in 1..30_usize,
    ) {
        let env = Environment::with(Settings { parallelism, batch_size, ..Settings::default() });
        let given = Given::of(env.from_iter(actions.clone()));
        env.execute_live().unwrap();
        let mut all = BTreeMap::new();
        given.add_to(&mut all);
        compare(&actions, all);
    }
}

/// More players than the board has places, with scores of all sizes.
fn many_actions() -> Vec<Action> {
    let action = |n: i64| {
        let size = [3, 200, 70_000, 20_000_000][n as usize % 4];
        let at_ms = n * 97_000 - n * 31 % 29 * HOUR_MS / 3;
        Action { game: "go".into(), player: n * 7 % 331, points: ((n * n * 31) % size - 2) as i32, at_ms }
    };
    (0..3_000).map(action).collect()
}

#[test]
fn the_board_has_a_hundred_places() {
    let (actions, env) = (many_actions(), Environment::new());
    let given = Given::of(env.from_iter(actions.clone()));
    env.execute_live().unwrap();
    let mut all = BTreeMap::new();
    given.add_to(&mut all);
    assert_eq!(all["go"].daily.iter().filter(|place| place.midnight_ms == 2 * DAY_MS).count(), TOP);
    assert!(!all["go"].missed.is_empty());
    compare(&actions, all);
}

/// In what order the files meet is not promised; what is told at midnight, and what comes too late for it, does not depend on that.
#[test]
fn midnights_are_a_function_of_the_files() {
    let actions = many_actions();
    let files: Vec<Vec<Action>> = (0..3).map(|file| actions.iter().skip(file).step_by(3).cloned().collect()).collect();
    let counted: Vec<(i64, Action)> = files.iter().flat_map(|actions| counted(actions)).collect();
    let mut expected = expected(&counted, "go");
    expected.missed.sort_by_key(|action| (action.at_ms, action.player));
    assert!(expected.missed.len() > 10);

    let folder = tempfile::tempdir().unwrap();
    let table = Table::new("filesystem").with("path", folder.path().to_string_lossy()).with("format", "json");
    for (number, actions) in files.into_iter().enumerate() {
        let (table, env) =
            (table.clone().with("path", folder.path().join(number.to_string()).to_string_lossy()), Environment::new());
        table.write(env.from_iter(actions), "actions").unwrap();
        env.execute_live().unwrap();
    }
    for (parallelism, batch_size) in [(1, 8192), (2, 100), (3, 7)] {
        let env = Environment::with(Settings { parallelism, batch_size, ..Settings::default() });
        let given = Given::of(table.read(&env, "actions").unwrap());
        env.execute_live().unwrap();
        assert_eq!(given.daily.take(), expected.daily);
        let mut missed = given.missed.take();
        missed.sort_by_key(|action| (action.at_ms, action.player));
        assert_eq!(missed, expected.missed);
    }
}

/// The state is in memory and in RocksDB by turns, where the build has that.
fn backend(run: usize, folder: &Path) -> tidemill::StateBackend {
    match run % 2 {
        #[cfg(feature = "rocksdb")]
        1 => tidemill::StateBackend::rocksdb(folder.join(format!("rocksdb {run}")), 16 << 20),
        _ => tidemill::StateBackend::memory(),
    }
}

#[test]
fn a_run_that_is_stopped_goes_on_from_its_checkpoint() {
    let (actions, folder) = (many_actions(), tempfile::tempdir().unwrap());
    let (mut all, mut runs) = (BTreeMap::new(), 0);
    loop {
        let env = Environment::with(Settings {
            batch_size: 7,
            data_dir: Some(folder.path().join("job")),
            checkpoint_interval: Duration::from_millis(5),
            state_backend: backend(runs, folder.path()),
            ..Settings::default()
        });
        let read = Read::default();
        let given = Given::of(read.counting(env.from_iter(actions.clone())));
        let stopped = read.run_until(800, &env).unwrap();
        given.add_to(&mut all);
        runs += 1;
        if !stopped {
            break;
        }
        assert!(runs < 100, "no run gets on");
    }
    assert!(runs > 2, "only {runs} runs");
    compare(&actions, all);
}
