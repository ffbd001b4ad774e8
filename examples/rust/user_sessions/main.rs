//! The sessions of each user of a web shop, by a function with timers: the file is far out of order.

use std::path::Path;

use chrono::NaiveDateTime;
use serde::{Deserialize, Serialize};
use tidemill::state::{KeyedState, MapState, MapStateDescriptor, StateDescriptor, ValueState};
use tidemill::{
    Collector, Context, DataStream, Environment, EventTime, KeyedProcessFunction, Result, Table, Timer,
    WatermarkStrategy,
};

/// So long must a user do nothing for a session to be over.
const GAP_MS: i64 = 30 * 60_000;
const DELAY: std::time::Duration = std::time::Duration::from_secs(180 * 24 * 3600);

/// A line of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Line {
    user_id: String,
    session_id: String,
    event: String,
    timestamp: String,
    platform: String,
    acquisition_channel: String,
    user_cohort: String,
    user_lifecycle: String,
}

/// A click of a user, in milliseconds since 1970.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Click {
    user: String,
    at_ms: i64,
}

impl Click {
    /// `None` if the line has no time.
    fn of(line: Line) -> Option<Self> {
        let at = NaiveDateTime::parse_from_str(&line.timestamp, "%Y-%m-%d %H:%M:%S").ok()?;
        Some(Self { user: line.user_id, at_ms: at.and_utc().timestamp_millis() })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Session {
    user: String,
    first_ms: i64,
    last_ms: i64,
    clicks: u64,
}

/// Waits until the watermark has passed a click, so that clicks are seen in the order of their times.
struct Sessions {
    /// How many clicks came at each time that the watermark has not reached.
    waiting: MapState<i64, u64>,
    /// First, last, and how many.
    open: ValueState<(i64, i64, u64)>,
}

impl Sessions {
    fn open(states: &mut KeyedState) -> Result<Self> {
        Ok(Self {
            waiting: states.map_state(MapStateDescriptor::new("waiting"))?,
            open: states.value_state(StateDescriptor::new("open"))?,
        })
    }
}

impl KeyedProcessFunction<String, Click> for Sessions {
    type Out = Session;

    fn process_element(
        &mut self,
        _: &String,
        click: Click,
        context: &mut Context<'_>,
        _: &mut Collector<Session>,
    ) -> Result<()> {
        let waiting = self.waiting.get(context.state(), &click.at_ms)?.unwrap_or(0);
        self.waiting.put(context.state(), &click.at_ms, &(waiting + 1))?;
        context.register_event_time_timer(EventTime(click.at_ms))
    }

    fn on_timer(
        &mut self,
        user: &String,
        timer: Timer,
        context: &mut Context<'_>,
        out: &mut Collector<Session>,
    ) -> Result<()> {
        let Timer::EventTime(EventTime(now)) = timer else { return Ok(()) };
        let open = self.open.value(context.state())?.copied();
        if let Some(clicks) = self.waiting.get(context.state(), &now)? {
            self.waiting.remove(context.state(), &now)?;
            let (first, _, before) = open.unwrap_or((now, now, 0));
            self.open.update(context.state(), (first, now, before + clicks))?;
            return context.register_event_time_timer(EventTime(now + GAP_MS));
        }
        if let Some((first_ms, last_ms, clicks)) = open.filter(|(_, last, _)| last + GAP_MS == now) {
            self.open.clear(context.state())?;
            out.collect(Session { user: user.clone(), first_ms, last_ms, clicks });
        }
        Ok(())
    }
}

fn clicks(env: &Environment, folder: &Path) -> Result<DataStream<Click>> {
    let table = Table::new("filesystem")
        .with("path", "events.csv.gz")
        .with("format", "csv")
        .with("csv.ignore-first-line", "true")
        .in_folder(folder);
    let by_time = WatermarkStrategy::for_bounded_out_of_orderness(DELAY)
        .with_timestamp_assigner(|click: &Click| EventTime(click.at_ms));
    Ok(table.read(env, "events")?.flat_map(Click::of).assign_timestamps_and_watermarks(by_time))
}

fn sessions(clicks: DataStream<Click>) -> DataStream<Session> {
    clicks.key_by(|click| click.user.clone()).process("sessions", Sessions::open)
}

fn main() -> Result<()> {
    let env = Environment::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ecom");
    let sessions = sessions(clicks(&env, &folder)?).collect();
    env.execute_live()?;
    let sessions = sessions.take();
    let clicks: u64 = sessions.iter().map(|session| session.clicks).sum();
    println!("{} sessions of {clicks} clicks", sessions.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::*;
    use tidemill::WindowAssigner;

    fn sorted(mut sessions: Vec<Session>) -> Vec<Session> {
        sessions.sort();
        sessions
    }

    /// The sessions of all clicks, each user's in the order of time.
    fn expected(clicks: Vec<Click>) -> Vec<Session> {
        let mut by_user = BTreeMap::<String, Vec<i64>>::new();
        clicks.into_iter().for_each(|click| by_user.entry(click.user).or_default().push(click.at_ms));
        let mut sessions: Vec<Session> = vec![];
        for (user, mut times) in by_user {
            times.sort_unstable();
            for at_ms in times {
                match sessions.last_mut().filter(|open| open.user == user && at_ms - open.last_ms <= GAP_MS) {
                    Some(open) => (open.last_ms, open.clicks) = (at_ms, open.clicks + 1),
                    None => sessions.push(Session { user: user.clone(), first_ms: at_ms, last_ms: at_ms, clicks: 1 }),
                }
            }
        }
        sessions
    }

    #[test]
    fn the_function_and_the_window_find_the_sessions_of_the_file() {
        let env = Environment::new();
        let clicks = clicks(&env, &Path::new(env!("CARGO_MANIFEST_DIR")).join("../ecom")).unwrap();
        let all = clicks.clone().collect();
        let by_function = sessions(clicks.clone()).collect();
        let by_window = clicks
            .map(|click| Session { first_ms: click.at_ms, last_ms: click.at_ms, clicks: 1, user: click.user })
            .key_by(|session| session.user.clone());
        // What is aggregated is written to checkpoints, so it is a tuple here that serde knows.
        let by_window = by_window
            .window(WindowAssigner::session(Duration::from_millis(GAP_MS.unsigned_abs())))
            .aggregate("sessions by window", Widest)
            .map(|of| Session { user: of.key, first_ms: of.value.0, last_ms: of.value.1, clicks: of.value.2 })
            .collect();
        env.execute_live().unwrap();
        let expected = sorted(expected(all.take()));
        assert_eq!(expected.len(), 3605, "the file has as many session ids");
        assert_eq!(sorted(by_function.take()), expected);
        assert_eq!(sorted(by_window.take()), expected);
    }

    #[derive(Clone)]
    struct Widest;

    impl tidemill::AggregateFunction for Widest {
        type In = Session;
        type Acc = (i64, i64, u64);
        type Out = (i64, i64, u64);

        fn create_accumulator(&self) -> Self::Acc {
            (i64::MAX, i64::MIN, 0)
        }

        fn add(&self, acc: &mut Self::Acc, of: Session) {
            *acc = self.merge(*acc, (of.first_ms, of.last_ms, of.clicks));
        }

        fn result(&self, acc: &Self::Acc) -> Self::Out {
            *acc
        }

        fn merge(&self, a: Self::Acc, b: Self::Acc) -> Self::Acc {
            (a.0.min(b.0), a.1.max(b.1), a.2 + b.2)
        }
    }
}
