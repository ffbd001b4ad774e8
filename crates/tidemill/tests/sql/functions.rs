//! Functions of a program in its queries, beside a recomputation.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use tidemill::{AggregateFunction, DataStream, Error, EventTime, Result, Tables};

use crate::orders::{MINUTE_MS, Order, environment, order, orders, orders_in_time, timed, with_watermarks};

/// How many orders there are of each coupon, and which is the most used; the smallest of several.
struct MostUsed;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Uses(BTreeMap<i64, u64>);

impl AggregateFunction for MostUsed {
    type In = i64;
    type Acc = Uses;
    type Out = Option<i64>;

    fn create_accumulator(&self) -> Uses {
        Uses::default()
    }

    fn add(&self, uses: &mut Uses, coupon: i64) {
        *uses.0.entry(coupon).or_default() += 1;
    }

    fn result(&self, uses: &Uses) -> Option<i64> {
        uses.0.iter().max_by_key(|(coupon, count)| (**count, -**coupon)).map(|(coupon, _)| *coupon)
    }

    fn merge(&self, a: Uses, mut b: Uses) -> Uses {
        a.0.into_iter().for_each(|(coupon, count)| *b.0.entry(coupon).or_default() += count);
        b
    }
}

/// The orders in cents, each less its coupon's percents; NULL is no coupon.
struct Paid;

impl AggregateFunction for Paid {
    type In = (i64, Option<i64>);
    type Acc = i64;
    type Out = i64;

    fn create_accumulator(&self) -> i64 {
        0
    }

    fn add(&self, sum: &mut i64, (cents, coupon): (i64, Option<i64>)) {
        *sum += cents * (100 - coupon.unwrap_or(0));
    }

    fn result(&self, sum: &i64) -> i64 {
        *sum
    }

    fn merge(&self, a: i64, b: i64) -> i64 {
        a + b
    }
}

type Used = (String, i64, Option<i64>, i64);

const USED: &str = "
    SELECT category, window_start, most_used(coupon), Paid(cents, coupon)
    FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(placed), INTERVAL '1' MINUTE))
    GROUP BY category, window_start, window_end";

/// By key: what the two functions come to.
fn naive<K: Ord>(orders: impl IntoIterator<Item = (K, Order)>) -> BTreeMap<K, (Option<i64>, i64)> {
    let mut of_key = BTreeMap::<K, (BTreeMap<i64, usize>, i64)>::new();
    for (key, order) in orders {
        let (uses, paid) = of_key.entry(key).or_default();
        order.coupon.into_iter().for_each(|coupon| *uses.entry(coupon).or_default() += 1);
        *paid += order.cents * (100 - order.coupon.unwrap_or(0));
    }
    let most = |uses: BTreeMap<i64, usize>| {
        let top = uses.values().copied().max();
        uses.into_iter().find(|(_, count)| Some(*count) == top).map(|(coupon, _)| coupon)
    };
    of_key.into_iter().map(|(key, (uses, paid))| (key, (most(uses), paid))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn an_aggregate_function_of_windows(orders in orders(), parallelism in 1..=3usize, batch_size in 1..50usize) {
        let env = environment(parallelism, batch_size);
        let mut tables = Tables::new(&env);
        tables.to_table_with_event_time("orders", timed(&env, orders.clone()), "placed").unwrap();
        tables.register_aggregate("most_used", MostUsed).unwrap();
        tables.register_aggregate("paid", Paid).unwrap();
        let used = tables.from_table::<Used>("used", USED).unwrap().collect();
        env.execute_live().unwrap();
        let in_time = with_watermarks(&orders).into_iter().filter_map(|(order, watermark)| {
            let window_start = order.placed_ms.div_euclid(MINUTE_MS) * MINUTE_MS;
            (watermark < window_start + MINUTE_MS - 1).then(|| ((order.category.clone(), window_start), order))
        });
        let expected: Vec<Used> = naive(in_time).into_iter().map(|((c, w), (most, paid))| (c, w, most, paid)).collect();
        let mut used = used.take();
        used.sort();
        prop_assert_eq!(used, expected);
    }

    /// Windows that overlap merge what their panes remember.
    #[test]
    fn an_aggregate_function_of_overlapping_windows(
        orders in orders_in_time(),
        parallelism in 1..=3usize,
        batch_size in 1..50usize,
    ) {
        let env = environment(parallelism, batch_size);
        let mut tables = Tables::new(&env);
        tables.to_table_with_event_time("orders", timed(&env, orders.clone()), "placed").unwrap();
        tables.register_aggregate("most_used", MostUsed).unwrap();
        tables.register_aggregate("paid", Paid).unwrap();
        let sql = USED.replace("TUMBLE(TABLE orders, DESCRIPTOR(placed),", "HOP(TABLE orders, DESCRIPTOR(placed), INTERVAL '10' SECOND,");
        let used = tables.from_table::<Used>("used", &sql).unwrap().collect();
        env.execute_live().unwrap();
        let slide = 10_000;
        let of_windows = orders.into_iter().flat_map(|order| {
            let last = order.placed_ms.div_euclid(slide) * slide;
            (0..6).map(move |n| ((order.category.clone(), last - n * slide), order.clone()))
        });
        let expected: Vec<Used> = naive(of_windows).into_iter().map(|((c, w), (most, paid))| (c, w, most, paid)).collect();
        let mut used = used.take();
        used.sort();
        prop_assert_eq!(used, expected);
    }

    #[test]
    fn an_aggregate_function_without_a_window(orders in orders(), parallelism in 1..=3usize, batch_size in 1..50usize) {
        let env = environment(parallelism, batch_size);
        let mut tables = Tables::new(&env);
        tables.to_table("orders", env.from_iter(orders.clone())).unwrap();
        tables.register_aggregate("most_used", MostUsed).unwrap();
        tables.register_aggregate("paid", Paid).unwrap();
        let sql = "SELECT category, most_used(coupon), paid(cents, coupon) FILTER (WHERE cents > 100) FROM orders \
                   GROUP BY category";
        let changes = tables.from_changelog::<(String, Option<i64>, i64)>("used", sql).unwrap().collect();
        env.execute_live().unwrap();
        let last: BTreeMap<String, (Option<i64>, i64)> = changes
            .take()
            .into_iter()
            .filter(|(kind, _)| kind.adds())
            .map(|(_, (category, most, paid))| (category, (most, paid)))
            .collect();
        let most = naive(orders.iter().map(|order| (order.category.clone(), order.clone())));
        let filtered = |order: &&Order| order.cents > 100;
        let paid = naive(orders.iter().filter(filtered).map(|order| (order.category.clone(), order.clone())));
        let expected: BTreeMap<String, (Option<i64>, i64)> = most
            .into_iter()
            .map(|(category, (most, _))| {
                let paid = paid.get(&category).map_or(0, |(_, paid)| *paid);
                (category, (most, paid))
            })
            .collect();
        prop_assert_eq!(last, expected);
    }

    #[test]
    fn functions_of_a_row(orders in orders(), batch_size in 1..50usize) {
        let env = environment(1, batch_size);
        let mut tables = Tables::new(&env);
        tables.to_table("orders", env.from_iter(orders.clone())).unwrap();
        tables.register_function("zero", || 7i32).unwrap();
        tables.register_function("strict", |coupon: i64| coupon + 1).unwrap();
        tables.register_function("lenient", |coupon: Option<i64>| coupon.map_or(-1.0, |coupon| coupon as f64 / 2.0)).unwrap();
        tables.register_function("shout", |text: String, cents: i64, loud: bool| {
            (cents % 2 == 0).then(|| if loud { text.to_uppercase() } else { text })
        }).unwrap();
        tables.register_function("checked", |cents: f64| if cents < 0.0 { Err("negative") } else { Ok(Some(cents)) }).unwrap();
        let sql = "SELECT ZERO(), strict(coupon), Lenient(coupon), shout(category, cents, TRUE), checked(cents) FROM orders \
                   WHERE lenient(NULL) < 0";
        type Row = (i32, Option<i64>, f64, Option<String>, Option<f64>);
        let rows = tables.from_table::<Row>("rows", sql).unwrap().collect();
        env.execute_live().unwrap();
        let row = |order: Order| (
            7,
            order.coupon.map(|coupon| coupon + 1),
            order.coupon.map_or(-1.0, |coupon| coupon as f64 / 2.0),
            (order.cents % 2 == 0).then(|| order.category.to_uppercase()),
            Some(order.cents as f64),
        );
        let expected: Vec<Row> = orders.into_iter().map(row).collect();
        prop_assert_eq!(rows.take(), expected);
    }
}

/// Tables over orders, with functions.
fn tables(given: Vec<Order>) -> (tidemill::Environment, Tables) {
    let env = environment(2, 10);
    let mut tables = Tables::new(&env);
    let stream: DataStream<Order> = timed(&env, given);
    tables.to_table_with_event_time("orders", stream, "placed").unwrap();
    (env, tables)
}

fn run(sql: &str, register: impl FnOnce(&mut Tables) -> Result<()>) -> Result<Vec<(Option<i64>,)>> {
    let (env, mut tables) = tables(vec![order("a", 1, 0), order("b", 2, 1)]);
    register(&mut tables)?;
    let rows = tables.from_table::<(Option<i64>,)>("q", sql)?.collect();
    env.execute_live()?;
    Ok(rows.take())
}

fn message(sql: &str, register: impl FnOnce(&mut Tables) -> Result<()>) -> String {
    run(sql, register).unwrap_err().message().to_owned()
}

#[test]
fn a_function_that_fails_is_named() {
    let panics = |tables: &mut Tables| {
        tables.register_function("half", |cents: i64| {
            assert!(cents % 2 == 0, "{cents} has no half");
            cents / 2
        })
    };
    assert_eq!(message("SELECT half(cents) FROM orders", panics), "the function 'half' panicked: 1 has no half");
    let fails = |tables: &mut Tables| {
        tables.register_function("half", |cents: i64| {
            if cents % 2 == 0 { Ok(cents / 2) } else { Err(Error::invalid(format!("{cents} is odd"))) }
        })
    };
    assert_eq!(message("SELECT half(cents) FROM orders", fails), "the function 'half' failed: 1 is odd");

    struct Panics;
    impl AggregateFunction for Panics {
        type In = i64;
        type Acc = i64;
        type Out = i64;
        fn create_accumulator(&self) -> i64 {
            0
        }
        fn add(&self, _: &mut i64, value: i64) {
            assert!(value < 2, "{value} is too much");
        }
        fn result(&self, sum: &i64) -> i64 {
            *sum
        }
        fn merge(&self, a: i64, b: i64) -> i64 {
            a + b
        }
    }
    let sql = "SELECT total(cents) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(placed), INTERVAL '1' MINUTE)) \
               GROUP BY window_start, window_end";
    let panics = |tables: &mut Tables| tables.register_aggregate("total", Panics);
    assert_eq!(message(sql, panics), "the aggregate function 'total' panicked: 2 is too much");
}

#[test]
fn a_call_with_other_arguments_is_refused_where_it_stands() {
    let twice = |tables: &mut Tables| tables.register_function("twice", |cents: i64| cents * 2);
    assert_eq!(
        message("SELECT\n  twice(category) FROM orders", twice),
        "q:2:3: TWICE(BIGINT) is called with (STRING); CAST the arguments to its types"
    );
    assert_eq!(
        message("SELECT twice(cents, cents) FROM orders", twice),
        "q:1:8: TWICE(BIGINT) is called with (BIGINT, BIGINT); CAST the arguments to its types"
    );
    let narrow = |tables: &mut Tables| tables.register_function("narrow", |cents: i32| i64::from(cents));
    assert!(message("SELECT narrow(cents) FROM orders", narrow).contains("NARROW(INT) is called with (BIGINT)"));
    assert_eq!(run("SELECT narrow(3) FROM orders", narrow).unwrap(), [(Some(3),), (Some(3),)], "a literal is an INT");
    assert_eq!(message("SELECT thrice(cents) FROM orders", twice), "q:1:8: there is no function 'THRICE'");
    let paid = |tables: &mut Tables| tables.register_aggregate("paid", Paid);
    assert!(message("SELECT paid(cents) FROM orders", paid).contains("PAID(BIGINT, BIGINT) is called with (BIGINT)"));
}

#[test]
fn a_function_has_a_name_of_its_own() {
    let named = |name: &'static str| {
        move |tables: &mut Tables| {
            tables.register_function("twice", |cents: i64| cents * 2)?;
            tables.register_function(name, |cents: i64| cents)
        }
    };
    let sql = "SELECT cents FROM orders";
    assert_eq!(message(sql, named("Twice")), "there is a function 'TWICE' already");
    assert_eq!(message(sql, named("upper")), "there is a function 'UPPER' already");
    assert_eq!(message(sql, named("2x")), "'2x' is no name of a function");
    assert_eq!(message(sql, named("a b")), "'a b' is no name of a function");
}

#[test]
fn what_an_aggregate_function_can_not_do_is_refused() {
    let paid = |tables: &mut Tables| tables.register_aggregate("paid", Paid);
    let window =
        "FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(placed), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end";
    assert_eq!(
        message(&format!("SELECT paid(DISTINCT cents, coupon) {window}"), paid),
        "q:1:1: PAID(DISTINCT ...) is not supported for a function of a program"
    );
    let updated = "SELECT paid(cents, cents) FROM (SELECT category, SUM(cents) AS cents FROM orders GROUP BY category)";
    assert_eq!(
        message(updated, paid),
        "q:1:1: paid(cents,cents) over a result that is updated is not supported in a live run yet"
    );
}

#[test]
fn rows_that_are_taken_back_do_not_depend_on_a_volatile_function() {
    let (_env, mut tables) = tables(vec![order("a", 1, 0)]);
    tables.register_volatile_function("drawn", |cents: i64| cents).unwrap();
    let sql = "SELECT n, COUNT(*) FROM (SELECT drawn(SUM(cents)) AS n FROM orders GROUP BY category) GROUP BY n";
    let error = tables.from_changelog::<(i64, i64)>("q", sql).err().unwrap();
    assert!(error.message().contains("a value that is another each time"), "{error}");
}

#[test]
fn values_of_all_types() {
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct All {
        tiny: i8,
        small: i16,
        int: i32,
        float: f32,
        truth: bool,
        text: String,
    }
    let all = All { tiny: 1, small: 2, int: 3, float: 4.5, truth: true, text: "é".into() };
    let env = environment(1, 10);
    let mut tables = Tables::new(&env);
    tables.to_table("t", env.from_iter(vec![all.clone()])).unwrap();
    tables.register_function("less", |tiny: i8, small: i16, int: i32| (tiny as i16 - small) as i8 - int as i8).unwrap();
    tables.register_function("half", |float: f32| float / 2.0).unwrap();
    tables.register_function("bytes", |text: String, not: bool| (!not).then(|| text.into_bytes())).unwrap();
    tables.register_function("long", |bytes: Vec<u8>| i32::try_from(bytes.len())).unwrap();
    tables.register_function("later", |time: EventTime| EventTime(time.0 + 1)).unwrap();
    let sql = "SELECT less(tiny, small, int), half(float), long(bytes(text, NOT truth)), \
               later(TIMESTAMP '1970-01-01 00:00:01.000') FROM t";
    let rows = tables.from_table::<(i8, f32, i32, i64)>("q", sql).unwrap().collect();
    env.execute_live().unwrap();
    assert_eq!(rows.take(), [(-4, 2.25, 2, 1_001)]);
}
