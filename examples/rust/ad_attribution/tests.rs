//! Attributions against nested loops in the test, and against the `ASOF` join of DuckDB over the same files.

#[path = "../interrupted.rs"]
mod interrupted;

use std::cmp::Reverse;
use std::fmt::Write;
use std::fs;

use interrupted::Read;
use proptest::prelude::*;
use serde_json::Value;
use tidemill::Settings;
use tidemill_tests::duckdb::duckdb;
use tidemill_tests::program::Program;

use super::*;

const HOUR_MS: i64 = 3_600_000;

fn sorted<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort();
    all
}

/// Those that are not behind their own watermark, and those that are.
fn in_time<T: Clone>(elements: &[T], behind: Duration, at_ms: impl Fn(&T) -> i64) -> (Vec<T>, Vec<T>) {
    let mut watermark = i64::MIN;
    elements.iter().cloned().partition(|element| {
        let own = watermark;
        watermark = watermark.max(at_ms(element) - behind.as_millis() as i64 - 1);
        own < at_ms(element)
    })
}

/// By the definition: of all views that are in time the last of the week, and of those at the same time the first by name.
fn expected(
    views: &[View],
    purchases: &[Purchase],
    behind: Duration,
) -> (Vec<Attributed>, Vec<Either<View, Purchase>>) {
    let (views, late_views) = in_time(views, behind, |view| view.at_ms);
    let (purchases, late_purchases) = in_time(purchases, behind, |purchase| purchase.at_ms);
    let attributed = purchases.into_iter().map(|Purchase { order_id, user, cents, at_ms }| {
        let of_week =
            views.iter().filter(|view| view.user == user && (0..=7 * 24 * HOUR_MS).contains(&(at_ms - view.at_ms)));
        let last = of_week.max_by_key(|view| (view.at_ms, Reverse(&view.ad)));
        let (ad, viewed_ms) = last.map(|view| (view.ad.clone(), view.at_ms)).unzip();
        Attributed { order_id, user, cents, at_ms, ad, viewed_ms }
    });
    let late = late_views.into_iter().map(Either::First).chain(late_purchases.into_iter().map(Either::Second));
    (sorted(attributed.collect()), sorted(late.collect()))
}

/// Of few users and ads, at times that are half a day apart: so that times are equal, or a week apart.
fn events() -> impl Strategy<Value = (Vec<View>, Vec<Purchase>)> {
    let at_ms = (0..60_i64, 0..9_i64).prop_map(|(on, at)| (on + at) * 12 * HOUR_MS);
    let view = (0..3_u8, 0..4_u8, at_ms.clone()).prop_map(|(user, ad, at_ms)| View {
        user: format!("user {user}"),
        ad: format!("ad {ad}"),
        at_ms,
    });
    let purchase = (0..3_u8, 0..1000_i64, at_ms).prop_map(|(user, cents, at_ms)| Purchase {
        order_id: 0,
        user: format!("user {user}"),
        cents,
        at_ms,
    });
    (prop::collection::vec(view, 0..60), prop::collection::vec(purchase, 0..60)).prop_map(|(views, mut purchases)| {
        (0..).zip(&mut purchases).for_each(|(number, purchase)| purchase.order_id = number);
        // Partly in the order of their times.
        let (mut views, mut purchases) = (views, purchases);
        let (some, others) = (views.len() * 2 / 3, purchases.len() * 2 / 3);
        views[..some].sort_by_key(|view| view.at_ms);
        purchases[..others].sort_by_key(|purchase| purchase.at_ms);
        (views, purchases)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_cuts_each_purchase_goes_to_its_last_view(
        (views, purchases) in events(), behind in 0..80_u64, parallelism in 1..4_usize, batch_size in 1..30_usize,
    ) {
        let behind = Duration::from_secs(behind * 12 * 3600);
        let env = Environment::with(Settings { parallelism, batch_size, ..Settings::default() });
        let Told { attributed, late } = attribute(env.from_iter(views.clone()), env.from_iter(purchases.clone()), behind);
        let (attributed, late) = (attributed.collect(), late.collect());
        env.execute_live().unwrap();
        let expected = expected(&views, &purchases, behind);
        prop_assert_eq!((sorted(attributed.take()), sorted(late.take())), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_batch_gives_what_a_live_run_gives_in_which_nothing_is_late(
        (views, purchases) in events(), parallelism in 1..4_usize, shuffle_memory in 0..500_u64,
    ) {
        let behind = Duration::from_secs(3600);
        let env = Environment::with(Settings { parallelism, shuffle_memory, ..Settings::default() });
        let Told { attributed, late } = attribute(env.from_iter(views.clone()), env.from_iter(purchases.clone()), behind);
        let (attributed, late) = (attributed.collect(), late.collect());
        env.execute_batch().unwrap();
        let expected = expected(&views, &purchases, Duration::from_secs(365 * 24 * 3600));
        prop_assert_eq!((sorted(attributed.take()), sorted(late.take())), expected);
    }
}

/// Three weeks of some users, views and purchases up to an hour out of order.
fn three_weeks() -> (Vec<View>, Vec<Purchase>) {
    let at_ms = |n: i64, of: i64| n * 21 * 24 * HOUR_MS / of - n * 37 % 60 * 60_000;
    let view = |n: i64| View {
        user: format!("user {}", n * n % 89),
        ad: format!("ad {}", n * 7 % 13),
        // Some at the same time.
        at_ms: at_ms(n - n % 3, 4_000),
    };
    let purchase = |n: i64| Purchase {
        order_id: n,
        user: format!("user {}", n * 5 % 97),
        cents: n * 31 % 9_999,
        at_ms: at_ms(n, 1_500),
    };
    ((0..4_000).map(view).collect(), (0..1_500).map(purchase).collect())
}

/// As the program reads them.
fn write(folder: &Path, views: &[View], purchases: &[Purchase]) {
    let views = views.iter().fold(String::new(), |mut lines, View { user, ad, at_ms }| {
        writeln!(lines, r#"{{"user": "{user}", "ad": "{ad}", "at_ms": {at_ms}}}"#).unwrap();
        lines
    });
    let purchases = purchases.iter().fold(String::new(), |mut lines, Purchase { order_id, user, cents, at_ms }| {
        writeln!(lines, r#"{{"order_id": {order_id}, "user": "{user}", "cents": {cents}, "at_ms": {at_ms}}}"#).unwrap();
        lines
    });
    fs::write(folder.join("views.jsonl"), views).unwrap();
    fs::write(folder.join("purchases.jsonl"), purchases).unwrap();
}

/// What the program tells of these files: each order with its ad.
fn ads(folder: &Path) -> Vec<(i64, Option<String>)> {
    let env = Environment::new();
    let Told { attributed, late } = read(&env, folder).unwrap();
    let (attributed, late) = (attributed.collect(), late.collect());
    env.execute_live().unwrap();
    assert_eq!(late.take(), []);
    sorted(attributed.take().into_iter().map(|of| (of.order_id, of.ad)).collect())
}

/// The same of rows of another program.
fn ads_of_rows(rows: &[Value]) -> Vec<(i64, Option<String>)> {
    let ad = |row: &Value| (row["order_id"].as_i64().unwrap(), row["ad"].as_str().map(str::to_owned));
    sorted(rows.iter().map(ad).collect())
}

#[test]
fn duckdb_finds_the_same_ads_in_the_same_files() {
    let (folder, (views, purchases)) = (tempfile::tempdir().unwrap(), three_weeks());
    write(folder.path(), &views, &purchases);
    let rows = duckdb(&format!(
        "WITH views AS (SELECT \"user\", at_ms, min(ad) AS ad FROM read_json('{folder}/views.jsonl') GROUP BY ALL)
         SELECT p.order_id, CASE WHEN p.at_ms - v.at_ms <= {WEEK_MS} THEN v.ad END AS ad
         FROM read_json('{folder}/purchases.jsonl') p
         ASOF LEFT JOIN views v ON p.\"user\" = v.\"user\" AND p.at_ms >= v.at_ms ORDER BY p.order_id",
        folder = folder.path().display()
    ));
    let given = ads(folder.path());
    assert_eq!(given, ads_of_rows(&rows));
    let without = given.iter().filter(|(_, ad)| ad.is_none()).count();
    assert!((100..1_000).contains(&without), "{without} of {} go to no ad", given.len());
}

/// The views and the purchases of a user meet as two lists, as there are no joins yet.
const SQL: &str = "
CREATE TABLE views (`user` STRING, ad STRING, at_ms BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'views.jsonl', 'format' = 'json');
CREATE TABLE purchases (order_id BIGINT, `user` STRING, cents BIGINT, at_ms BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'purchases.jsonl', 'format' = 'json');
CREATE VIEW of_user AS
SELECT
  ARRAY_AGG(ROW(ad, at_ms)) FILTER (WHERE ad IS NOT NULL) AS views,
  ARRAY_AGG(ROW(order_id, at_ms)) FILTER (WHERE order_id IS NOT NULL) AS purchases
FROM (
  SELECT `user`, ad, CAST(NULL AS BIGINT) AS order_id, at_ms FROM views
  UNION ALL
  SELECT `user`, CAST(NULL AS STRING), order_id, at_ms FROM purchases
)
GROUP BY `user`;
CREATE VIEW pairs AS
SELECT p.order_id, v.ad, v.at_ms, COALESCE(v.at_ms BETWEEN p.at_ms - 604800000 AND p.at_ms, FALSE) AS counts
FROM of_user
  CROSS JOIN UNNEST(purchases) AS p(order_id, at_ms)
  LEFT JOIN UNNEST(views) AS v(ad, at_ms) ON TRUE;
SELECT order_id, ad
FROM (
  SELECT order_id, ad, ROW_NUMBER() OVER (PARTITION BY order_id ORDER BY at_ms DESC, ad) AS place
  FROM (
    SELECT order_id, IF(counts, ad, CAST(NULL AS STRING)) AS ad, IF(counts, at_ms, -1000000000) AS at_ms FROM pairs
  )
)
WHERE place = 1;
";

#[test]
fn sql_finds_the_same_ads_in_the_same_files() {
    let (folder, (views, purchases)) = (tempfile::tempdir().unwrap(), three_weeks());
    write(folder.path(), &views, &purchases);
    fs::write(folder.path().join("ads.sql"), SQL).unwrap();
    let run = Program::in_folder(folder.path()).run(&["run", "ads.sql", "--batch", "--output", "json"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let rows: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(ads_of_rows(&rows), ads(folder.path()));
}

#[test]
fn a_run_that_is_stopped_goes_on_from_its_checkpoint() {
    let (folder, (views, purchases)) = (tempfile::tempdir().unwrap(), three_weeks());
    let behind = Duration::from_secs(3600);
    let (mut all, mut runs) = (vec![], 0);
    loop {
        let env = Environment::with(Settings {
            batch_size: 7,
            data_dir: Some(folder.path().join("job")),
            checkpoint_interval: Duration::from_millis(5),
            ..Settings::default()
        });
        let read = Read::default();
        let (some_views, some_purchases) = (env.from_iter(views.clone()), env.from_iter(purchases.clone()));
        let told = attribute(read.counting(some_views), read.counting(some_purchases), behind);
        let attributed = told.attributed.collect();
        let stopped = read.run_until(1_500, &env).unwrap();
        all.extend(attributed.take());
        runs += 1;
        if !stopped {
            break;
        }
        assert!(runs < 100, "no run gets on");
    }
    assert!(runs > 2, "only {runs} runs");
    assert_eq!(sorted(all), expected(&views, &purchases, behind).0);
}
