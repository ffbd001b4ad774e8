//! Each purchase goes to the last ad that the same user has seen in the seven days before it, whichever arrives first.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tidemill::state::{KeyedState, MapState, MapStateDescriptor, StateTtlConfig, TtlTimeCharacteristic};
use tidemill::{
    Collector, Context, DataStream, Either, Environment, EventTime, KeyedCoProcessFunction, OutputTag, Result, Table,
    Timer, WatermarkStrategy,
};

/// An ad is seen up to so long before the purchase: a view that is exactly so old counts.
const WEEK_MS: i64 = 7 * 24 * 3_600_000;

/// Views and purchases that came when the watermark of their file had reached their time: they take no part.
const LATE: OutputTag<Either<View, Purchase>> = OutputTag::new("late");

/// A user has seen an ad.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct View {
    user: String,
    ad: String,
    at_ms: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Purchase {
    order_id: i64,
    user: String,
    cents: i64,
    at_ms: i64,
}

/// A purchase, with the ad that gets the credit for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Attributed {
    order_id: i64,
    user: String,
    cents: i64,
    at_ms: i64,
    /// `None`: the user has seen no ad in the seven days before.
    ad: Option<String>,
    viewed_ms: Option<i64>,
}

/// What is remembered of a user.
struct Attribution {
    /// The ad that was seen at a time, the latest time first ([`latest_first`]). Of several at the same time the first in
    /// the order of their names counts.
    views: MapState<i64, String>,
    /// Purchases, by their time, to which an earlier view may still come.
    waiting: MapState<i64, Vec<Purchase>>,
}

impl Attribution {
    fn open(states: &mut KeyedState) -> Result<Self> {
        // A purchase that is exactly a week later must still find the view.
        let week = StateTtlConfig::new(Duration::from_millis(WEEK_MS.unsigned_abs() + 1));
        let by_event_time = week.time_characteristic(TtlTimeCharacteristic::EventTime);
        Ok(Self {
            views: states.map_state(MapStateDescriptor::new("views").enable_time_to_live(by_event_time))?,
            waiting: states.map_state(MapStateDescriptor::new("waiting"))?,
        })
    }
}

impl KeyedCoProcessFunction<String, View, Purchase> for Attribution {
    type Out = Attributed;

    fn process_element1(
        &mut self,
        _: &String,
        view: View,
        context: &mut Context<'_>,
        _: &mut Collector<Attributed>,
    ) -> Result<()> {
        if context.late() {
            return context.output(&LATE, Either::First(view));
        }
        let time = latest_first(view.at_ms);
        match self.views.get(context.state(), &time)? {
            Some(known) if known <= view.ad => Ok(()),
            _ => self.views.put(context.state(), &time, &view.ad),
        }
    }

    fn process_element2(
        &mut self,
        _: &String,
        purchase: Purchase,
        context: &mut Context<'_>,
        _: &mut Collector<Attributed>,
    ) -> Result<()> {
        if context.late() {
            return context.output(&LATE, Either::Second(purchase));
        }
        let at_ms = purchase.at_ms;
        let mut waiting = self.waiting.get(context.state(), &at_ms)?.unwrap_or_default();
        waiting.push(purchase);
        self.waiting.put(context.state(), &at_ms, &waiting)?;
        context.register_event_time_timer(EventTime(at_ms))
    }

    /// The watermark has reached the time of purchases: all views before them are there.
    fn on_timer(
        &mut self,
        _: &String,
        timer: Timer,
        context: &mut Context<'_>,
        out: &mut Collector<Attributed>,
    ) -> Result<()> {
        let Timer::EventTime(EventTime(now)) = timer else { return Ok(()) };
        let purchases = self.waiting.get(context.state(), &now)?.unwrap_or_default();
        self.waiting.remove(context.state(), &now)?;
        let week = latest_first(now)..=latest_first(now - WEEK_MS);
        let last = self.views.range(context.state(), week)?.next().transpose()?;
        for Purchase { order_id, user, cents, at_ms } in purchases {
            let (viewed_ms, ad) = last.clone().map(|(time, ad)| (latest_first(time), ad)).unzip();
            out.collect(Attributed { order_id, user, cents, at_ms, ad, viewed_ms });
        }
        Ok(())
    }
}

/// A number that is smaller the later the time is; of such a number, the time.
fn latest_first(number: i64) -> i64 {
    !number
}

struct Told {
    attributed: DataStream<Attributed>,
    late: DataStream<Either<View, Purchase>>,
}

/// Views and purchases may come out of order by so much, each by its own clock.
fn attribute(views: DataStream<View>, purchases: DataStream<Purchase>, out_of_orderness: Duration) -> Told {
    let in_order = WatermarkStrategy::for_bounded_out_of_orderness(out_of_orderness);
    let views = views
        .assign_timestamps_and_watermarks(in_order.with_timestamp_assigner(|view: &View| EventTime(view.at_ms)))
        .key_by(|view| view.user.clone());
    let purchases = purchases
        .assign_timestamps_and_watermarks(in_order.with_timestamp_assigner(|of: &Purchase| EventTime(of.at_ms)))
        .key_by(|purchase| purchase.user.clone());
    let attributed = views.connect(purchases).process("attribution", Attribution::open);
    Told { late: attributed.side_output(&LATE), attributed }
}

/// What is told of the files in a folder.
fn read(env: &Environment, folder: &Path) -> Result<Told> {
    let table = |file: &str| Table::new("filesystem").with("path", file).with("format", "json").in_folder(folder);
    let (views, purchases) =
        (table("views.jsonl").read(env, "views")?, table("purchases.jsonl").read(env, "purchases")?);
    Ok(attribute(views, purchases, Duration::from_secs(3600)))
}

fn main() -> Result<()> {
    let env = Environment::new();
    let Told { attributed, late } = read(&env, &Path::new(env!("CARGO_MANIFEST_DIR")).join("ad_attribution"))?;
    attributed.for_each("attributed", |of| match &of.ad {
        Some(ad) => println!("order {} of {}: {} cents for the ad '{ad}'", of.order_id, of.user, of.cents),
        None => println!("order {} of {}: {} cents for no ad", of.order_id, of.user, of.cents),
    });
    late.for_each("late", |late| println!("too late: {late:?}"));
    env.execute_live()?;
    Ok(())
}

#[cfg(test)]
mod tests;
