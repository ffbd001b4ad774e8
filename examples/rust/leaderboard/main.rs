//! A leaderboard for each game: the player's rank after each action, and the best hundred as they stood at midnight.

mod counts;

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::time::Duration;

use chrono::DateTime;
use counts::Counts;
use serde::{Deserialize, Serialize};
use tidemill::state::{KeyedState, MapState, MapStateDescriptor};
use tidemill::{
    Collector, Context, DataStream, Environment, EventTime, KeyedProcessFunction, OutputTag, Result, Table, Timer,
    WatermarkStrategy,
};

/// So many places has the board at midnight.
const TOP: usize = 100;
const DAY_MS: i64 = 24 * 3_600_000;

/// The best of each game as they stood at midnight (UTC), from the first place on.
const DAILY: OutputTag<Place> = OutputTag::new("daily");
/// Actions that came when their day was over, by their own watermark: they count from the day on that was under way.
const MISSED: OutputTag<Action> = OutputTag::new("missed");

/// A player has won points, or lost some.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Action {
    game: String,
    player: i64,
    points: i32,
    at_ms: i64,
}

/// Where a player stands after an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Standing {
    game: String,
    player: i64,
    score: i64,
    /// One more than there are players with a higher score.
    rank: i64,
}

/// Who stood where at midnight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    game: String,
    /// The first moment of the new day.
    midnight_ms: i64,
    rank: i64,
    player: i64,
    score: i64,
}

/// What is known of a player.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Player {
    score: i64,
    /// When the first action counted.
    since_ms: i64,
}

/// All that is remembered of a game.
struct Leaderboard {
    players: MapState<i64, Player>,
    /// Score and player in the order of the places: see [`place`].
    board: MapState<(i64, i64), ()>,
    counts: Counts,
    /// Points of days that have not begun, as the watermark has it: they are on the board, and no part of the midnights
    /// before them. By the end of the day and the player.
    ahead: MapState<(i64, i64), i64>,
}

impl Leaderboard {
    fn open(states: &mut KeyedState) -> Result<Self> {
        Ok(Self {
            players: states.map_state(MapStateDescriptor::new("players"))?,
            board: states.map_state(MapStateDescriptor::new("board"))?,
            counts: Counts::new(states.map_state(MapStateDescriptor::new("counts"))?),
            ahead: states.map_state(MapStateDescriptor::new("ahead"))?,
        })
    }

    /// Has an action count for its day, or where that is over for the one that is under way; says from when on it counts.
    fn schedule(&self, action: &Action, context: &mut Context<'_>) -> Result<i64> {
        let (own, reached) = (context.element_watermark(), context.current_watermark());
        let mut from_ms = action.at_ms;
        if own.0 >= day_end(from_ms) {
            from_ms = day_start(own.0);
            context.output(&MISSED, action.clone())?;
        }
        context.register_event_time_timer(EventTime(day_end(from_ms)))?;
        if reached.0 < day_start(from_ms) {
            let key = (day_end(from_ms), action.player);
            let points = self.ahead.get(context.state(), &key)?.unwrap_or(0).saturating_add(action.points.into());
            self.ahead.put(context.state(), &key, &points)?;
        }
        Ok(from_ms)
    }

    /// Adds to a player's score; gives the score, and the rank that it has.
    fn add(&self, state: &mut KeyedState, player: i64, points: i32, from_ms: i64) -> Result<(i64, i64)> {
        let before = self.players.get(state, &player)?;
        let score = before.map_or(0, |player| player.score).saturating_add(points.into());
        if let Some(Player { score, .. }) = before {
            self.counts.leave(state, score)?;
            self.board.remove(state, &place(score, player))?;
        }
        let higher = self.counts.enter(state, score)?;
        self.board.put(state, &place(score, player), &())?;
        let since_ms = before.map_or(from_ms, |player| player.since_ms.min(from_ms));
        self.players.put(state, &player, &Player { score, since_ms })?;
        Ok((score, higher + 1))
    }

    /// The first places as they stood at midnight, as score and player. Whoever has acted since is placed anew.
    fn top(&self, state: &mut KeyedState, midnight_ms: i64) -> Result<Vec<(i64, i64)>> {
        let since = (Bound::Excluded((midnight_ms, i64::MAX)), Bound::Unbounded);
        let mut ahead = BTreeMap::<i64, i64>::new();
        for entry in self.ahead.range(state, since)? {
            let ((_, player), points) = entry?;
            *ahead.entry(player).or_default() += points;
        }
        let others =
            self.board.keys(state)?.filter(|key| !matches!(key, Ok((_, player)) if ahead.contains_key(player)));
        let mut top: Vec<(i64, i64)> = others.take(TOP).collect::<Result<_>>()?;
        for (player, points) in ahead {
            let known = self.players.get(state, &player)?.filter(|known| known.since_ms < midnight_ms);
            top.extend(known.map(|known| place(known.score.saturating_sub(points), player)));
        }
        top.sort_unstable();
        top.truncate(TOP);
        Ok(top.into_iter().map(|(inverted, player)| (!inverted, player)).collect())
    }

    /// The watermark has reached a midnight: the day that begins is not ahead any more.
    fn begin_day(&self, state: &mut KeyedState, midnight_ms: i64) -> Result<()> {
        let begun = self.ahead.range(state, ..=(day_end(midnight_ms), i64::MAX))?;
        let begun: Vec<(i64, i64)> = begun.map(|entry| Ok(entry?.0)).collect::<Result<_>>()?;
        begun.iter().try_for_each(|key| self.ahead.remove(state, key))
    }
}

impl KeyedProcessFunction<String, Action> for Leaderboard {
    type Out = Standing;

    fn process_element(
        &mut self,
        game: &String,
        action: Action,
        context: &mut Context<'_>,
        out: &mut Collector<Standing>,
    ) -> Result<()> {
        let Action { player, points, .. } = action;
        let from_ms = self.schedule(&action, context)?;
        let (score, rank) = self.add(context.state(), player, points, from_ms)?;
        out.collect(Standing { game: game.clone(), player, score, rank });
        Ok(())
    }

    fn on_timer(
        &mut self,
        game: &String,
        timer: Timer,
        context: &mut Context<'_>,
        _: &mut Collector<Standing>,
    ) -> Result<()> {
        let Timer::EventTime(EventTime(midnight_ms)) = timer else { return Ok(()) };
        let (mut rank, mut last) = (0, None);
        for (places, (score, player)) in (1..).zip(self.top(context.state(), midnight_ms)?) {
            if last != Some(score) {
                (rank, last) = (places, Some(score));
            }
            context.output(&DAILY, Place { game: game.clone(), midnight_ms, rank, player, score })?;
        }
        self.begin_day(context.state(), midnight_ms)
    }
}

/// The key of a place: the highest score comes first, and of equal ones the lowest number of a player.
fn place(score: i64, player: i64) -> (i64, i64) {
    (!score, player)
}

/// The midnight at which the day of a moment begins.
fn day_start(at_ms: i64) -> i64 {
    at_ms.div_euclid(DAY_MS).saturating_mul(DAY_MS)
}

/// The midnight at which it ends: a moment of the next day.
fn day_end(at_ms: i64) -> i64 {
    day_start(at_ms).saturating_add(DAY_MS)
}

struct Told {
    standings: DataStream<Standing>,
    daily: DataStream<Place>,
    missed: DataStream<Action>,
}

fn leaderboard(actions: DataStream<Action>, out_of_orderness: Duration) -> Told {
    let by_time = WatermarkStrategy::for_bounded_out_of_orderness(out_of_orderness)
        .with_timestamp_assigner(|action: &Action| EventTime(action.at_ms));
    let standings = actions
        .assign_timestamps_and_watermarks(by_time)
        .key_by(|action| action.game.clone())
        .process("leaderboard", Leaderboard::open);
    Told { daily: standings.side_output(&DAILY), missed: standings.side_output(&MISSED), standings }
}

fn main() -> Result<()> {
    let env = Environment::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("leaderboard");
    let actions = Table::new("filesystem").with("path", "actions.jsonl").with("format", "json").in_folder(folder);
    let Told { standings, daily, missed } = leaderboard(actions.read(&env, "actions")?, Duration::from_secs(60));
    standings.for_each("standings", |s| {
        println!("{}: player {} has {} points now, rank {}", s.game, s.player, s.score, s.rank)
    });
    daily.for_each("daily", |p| {
        let midnight = DateTime::from_timestamp_millis(p.midnight_ms).unwrap_or_default().format("%F %R");
        println!("{} at {midnight}: rank {}, player {} with {} points", p.game, p.rank, p.player, p.score);
    });
    missed.for_each("missed", |a| {
        println!("{}: too late for its day: {} points of player {}", a.game, a.points, a.player)
    });
    env.execute_live()?;
    Ok(())
}

#[cfg(test)]
mod tests;
