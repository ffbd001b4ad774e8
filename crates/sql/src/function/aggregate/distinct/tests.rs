//! DISTINCT aggregates of every type against ordered sets, alone and through DataFusion's two phases.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use arrow::{
    array::{
        Array, ArrayRef, AsArray, BooleanArray, Decimal128Array, Float64Array, Int32Array, Int64Array, NullArray,
        RecordBatch, StringViewArray,
    },
    compute::{cast, concat_batches},
    datatypes::{DataType, Decimal128Type, Field, Float64Type, Int64Type, Schema, TimeUnit},
};
use datafusion::{
    common::ScalarValue,
    datasource::MemTable,
    logical_expr::{EmitTo, GroupsAccumulator},
    physical_expr::{
        aggregate::{AggregateExprBuilder, AggregateFunctionExpr},
        expressions::col,
    },
    prelude::{SessionConfig, SessionContext},
};
use proptest::prelude::*;

use crate::function::aggregates;

const GROUPS: usize = 4;

/// A group, a value or NULL for each of two arguments, and whether the filter keeps the row.
type Row = (usize, Option<i8>, Option<i8>, bool);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let value = || prop::option::weighted(0.85, -20i8..20);
    prop::collection::vec((0..GROUPS, value(), value(), any::<bool>()), 0..120)
}

fn types() -> impl Strategy<Value = DataType> {
    use DataType::*;
    prop::sample::select(vec![
        Int8,
        Int16,
        Int32,
        Int64,
        Float32,
        Float64,
        Decimal128(20, 3),
        Utf8,
        Utf8View,
        Binary,
        Boolean,
        Date32,
        Time32(TimeUnit::Millisecond),
        Timestamp(TimeUnit::Millisecond, None),
        Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
    ])
}

/// Some of the numbers, as floats that are equal in spite of their bits.
fn float(v: i8) -> f64 {
    match v {
        0 => 0.0,
        1 => -0.0,
        2 => f64::NAN,
        3 => -f64::NAN,
        4 => f64::from_bits(f64::NAN.to_bits() | 7),
        other => f64::from(other) * 0.5,
    }
}

/// Strings short enough for a view, and longer ones.
fn text(v: i8) -> String {
    if v % 2 == 0 { format!("{v}") } else { format!("a text too long for a view: {v}") }
}

fn column(values: impl Iterator<Item = Option<i8>>, data_type: &DataType) -> ArrayRef {
    let values: Vec<Option<i8>> = values.collect();
    let values = values.iter().copied();
    match data_type {
        DataType::Float32 | DataType::Float64 => {
            cast(&values.map(|v| v.map(float)).collect::<Float64Array>(), data_type).unwrap()
        }
        DataType::Utf8 | DataType::Utf8View | DataType::Binary => {
            cast(&values.map(|v| v.map(text)).collect::<StringViewArray>(), data_type).unwrap()
        }
        DataType::Boolean => Arc::new(values.map(|v| v.map(|v| v > 0)).collect::<BooleanArray>()),
        DataType::Decimal128(p, s) => {
            let values = values.map(|v| v.map(i128::from)).collect::<Decimal128Array>();
            Arc::new(values.with_precision_and_scale(*p, *s).unwrap())
        }
        DataType::Date32 | DataType::Time32(_) => {
            cast(&values.map(|v| v.map(i32::from)).collect::<Int32Array>(), data_type).unwrap()
        }
        _ => cast(&values.map(|v| v.map(i64::from)).collect::<Int64Array>(), data_type).unwrap(),
    }
}

/// What tells values of a type apart.
fn identity(v: i8, data_type: &DataType) -> i64 {
    match data_type {
        DataType::Boolean => i64::from(v > 0),
        DataType::Float32 | DataType::Float64 => match v {
            0 | 1 => 0,
            2..=4 => 1000,
            other => other.into(),
        },
        _ => v.into(),
    }
}

fn call(name: &str, types: &[DataType]) -> AggregateFunctionExpr {
    let field = |(i, data_type): (usize, &DataType)| Field::new(format!("c{i}"), data_type.clone(), true);
    let schema = Arc::new(Schema::new(types.iter().enumerate().map(field).collect::<Vec<_>>()));
    let arguments = schema.fields().iter().map(|field| col(field.name(), &schema).unwrap()).collect();
    let function = aggregates().into_iter().find(|f| f.name() == name).unwrap();
    AggregateExprBuilder::new(function, arguments).schema(schema).alias(name).distinct().build().unwrap()
}

fn columns(rows: &[Row], types: &[DataType]) -> Vec<ArrayRef> {
    let argument = |i: usize| rows.iter().map(move |row| if i == 0 { row.1 } else { row.2 });
    types.iter().enumerate().map(|(i, data_type)| column(argument(i), data_type)).collect()
}

fn groups_of(rows: &[Row]) -> Vec<usize> {
    rows.iter().map(|row| row.0).collect()
}

fn filter_of(rows: &[Row]) -> BooleanArray {
    rows.iter().map(|row| row.3.then_some(true)).collect()
}

fn feed(accumulator: &mut dyn GroupsAccumulator, rows: &[Row], types: &[DataType]) {
    accumulator.update_batch(&columns(rows, types), &groups_of(rows), Some(&filter_of(rows)), GROUPS).unwrap();
}

/// The rows in batches, each batch through its own accumulator (or straight to states), merged as a random tree.
fn states(call: &AggregateFunctionExpr, rows: &[Row], types: &[DataType], cuts: &[usize]) -> Vec<ArrayRef> {
    let mut accumulator = call.create_groups_accumulator().unwrap();
    match cuts.split_first() {
        None => feed(&mut *accumulator, rows, types),
        Some((cut, [])) if cut % 3 == 0 => {
            let each = accumulator.convert_to_state(&columns(rows, types), Some(&filter_of(rows))).unwrap();
            accumulator.merge_batch(&each, &groups_of(rows), GROUPS).unwrap();
        }
        Some((cut, cuts)) => {
            let (left, right) = rows.split_at(cut % (rows.len() + 1));
            let (first, second) = cuts.split_at(cuts.len() / 2);
            feed(&mut *accumulator, &left[..left.len() / 2], types);
            for (rows, cuts) in [(right, second), (&left[left.len() / 2..], first)] {
                let states = states(call, rows, types, cuts);
                // A part of a state at a time, as if it had been dealt out by key.
                for from in [2, 0] {
                    let part: Vec<ArrayRef> = states.iter().map(|state| state.slice(from, 2)).collect();
                    accumulator.merge_batch(&part, &[from, from + 1], GROUPS).unwrap();
                }
            }
        }
    }
    let states = accumulator.state(EmitTo::All).unwrap();
    assert_eq!(states.len(), call.state_fields().unwrap().len());
    for (state, field) in states.iter().zip(call.state_fields().unwrap()) {
        assert_eq!((state.data_type(), state.len()), (field.data_type(), GROUPS));
    }
    states
}

fn finish(call: &AggregateFunctionExpr, states: &[ArrayRef]) -> ArrayRef {
    let mut accumulator = call.create_groups_accumulator().unwrap();
    accumulator.merge_batch(states, &(0..GROUPS).collect::<Vec<_>>(), GROUPS).unwrap();
    accumulator.evaluate(EmitTo::All).unwrap()
}

fn distinct_in(rows: &[Row], group: usize, data_type: &DataType) -> BTreeMap<i64, i8> {
    let kept = rows.iter().filter(|row| row.0 == group && row.3).filter_map(|row| row.1);
    kept.map(|v| (identity(v, data_type), v)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_count_is_the_size_of_the_set(
        rows in rows(), data_type in types(), cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let types = [data_type];
        let call = call("count", &types);
        let counts = finish(&call, &states(&call, &rows, &types, &cuts));
        let wanted: Vec<i64> = (0..GROUPS).map(|group| distinct_in(&rows, group, &types[0]).len() as i64).collect();
        prop_assert_eq!(counts.as_primitive::<Int64Type>().values().to_vec(), wanted);
        prop_assert_eq!(counts.null_count(), 0);
    }

    #[test]
    fn two_arguments_count_as_a_pair_if_none_is_null(
        rows in rows(), first in types(), second in types(), cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let types = [first, second];
        let call = call("count", &types);
        let counts = finish(&call, &states(&call, &rows, &types, &cuts));
        for group in 0..GROUPS {
            let kept = rows.iter().filter(|row| row.0 == group && row.3);
            let pairs = kept.filter_map(|row| Some((identity(row.1?, &types[0]), identity(row.2?, &types[1]))));
            let wanted = pairs.collect::<BTreeSet<_>>().len() as i64;
            prop_assert_eq!(counts.as_primitive::<Int64Type>().value(group), wanted);
        }
    }

    #[test]
    fn sums_and_averages_take_each_value_once(
        rows in rows(), cuts in prop::collection::vec(any::<usize>(), 0..8),
        data_type in prop::sample::select(vec![
            DataType::Int16, DataType::Int64, DataType::Decimal128(20, 3), DataType::Decimal128(10, 6),
        ]),
    ) {
        let types = [data_type];
        for name in ["sum", "avg"] {
            let call = call(name, &types);
            let results = finish(&call, &states(&call, &rows, &types, &cuts));
            let field = call.field();
            prop_assert_eq!(results.data_type(), field.data_type());
            for group in 0..GROUPS {
                let values = distinct_in(&rows, group, &types[0]).into_keys().collect::<Vec<_>>();
                let (sum, count) = (values.iter().sum::<i64>(), values.len() as i64);
                let wanted = (count > 0).then(|| match (name, &types[0]) {
                    ("sum", _) => sum,
                    (_, DataType::Decimal128(_, scale)) => {
                        let scaled = sum * 10i64.pow((6 - *scale) as u32);
                        (2 * scaled.abs() + count) / (2 * count) * scaled.signum()
                    }
                    _ => sum / count,
                });
                prop_assert_eq!(number(&results, group), wanted, "{} in group {}", name, group);
            }
        }
    }

    #[test]
    fn a_float_sum_has_one_zero_and_does_not_depend_on_order(
        rows in rows(), cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let types = [DataType::Float64];
        let call = call("sum", &types);
        let sums = finish(&call, &states(&call, &rows, &types, &cuts));
        for group in 0..GROUPS {
            let values = distinct_in(&rows, group, &types[0]);
            let sum: f64 = values.values().map(|&v| float(v)).sum();
            let got = ScalarValue::try_from_array(&sums, group).unwrap();
            let wanted = (!values.is_empty()).then_some(if sum.is_nan() { f64::NAN } else { sum + 0.0 });
            prop_assert_eq!(got, ScalarValue::Float64(wanted));
        }
    }

    #[test]
    fn first_groups_leave_and_the_rest_goes_on(
        steps in prop::collection::vec((rows(), 0..=GROUPS), 1..6), name in prop::sample::select(vec!["count", "sum"]),
        data_type in prop::sample::select(vec![DataType::Int64, DataType::Decimal128(12, 2)]), as_states in any::<bool>(),
    ) {
        let types = [data_type];
        let call = call(name, &types);
        let mut accumulator = call.create_groups_accumulator().unwrap();
        let mut sets: Vec<BTreeSet<i64>> = vec![BTreeSet::new(); GROUPS];
        for (rows, n) in steps {
            feed(&mut *accumulator, &rows, &types);
            for (group, set) in sets.iter_mut().enumerate() {
                set.extend(distinct_in(&rows, group, &types[0]).keys());
            }
            let left = if as_states {
                let states = accumulator.state(EmitTo::First(n)).unwrap();
                let mut other = call.create_groups_accumulator().unwrap();
                other.merge_batch(&states, &(0..n).collect::<Vec<_>>(), n).unwrap();
                other.evaluate(EmitTo::All).unwrap()
            } else {
                accumulator.evaluate(EmitTo::First(n)).unwrap()
            };
            prop_assert_eq!(left.len(), n);
            for (group, set) in sets.drain(..n).enumerate() {
                let sum = (!set.is_empty()).then(|| set.iter().sum());
                prop_assert_eq!(number(&left, group), if name == "count" { Some(set.len() as i64) } else { sum });
            }
            sets.resize(GROUPS, BTreeSet::new());
        }
    }
}

/// An integer, or the digits of a decimal.
fn number(array: &ArrayRef, row: usize) -> Option<i64> {
    if array.is_null(row) {
        return None;
    }
    Some(match array.data_type() {
        DataType::Decimal128(..) => array.as_primitive::<Decimal128Type>().value(row) as i64,
        _ => cast(array, &DataType::Int64).unwrap().as_primitive::<Int64Type>().value(row),
    })
}

#[test]
fn numbers_of_values_far_apart() {
    // More values than a word of the set has bits, the groups' values interleaved, and groups of one value.
    let rows = 50_000;
    let values = || Arc::new((0..rows).map(|v| Some((v * 7919) % 9973)).collect::<Int64Array>());
    let call = call("count", &[DataType::Int64]);
    for groups in [1, 31, 40_000] {
        let group_of: Vec<usize> = (0..rows as usize).map(|row| row % groups).collect();
        let mut accumulator = call.create_groups_accumulator().unwrap();
        for _ in 0..2 {
            accumulator.update_batch(&[values()], &group_of, None, groups).unwrap();
        }
        let mut sets = vec![BTreeSet::new(); groups];
        group_of.iter().zip(values().values()).for_each(|(&group, &value)| {
            sets[group].insert(value);
        });
        let wanted: Vec<i64> = sets.iter().map(|set| set.len() as i64).collect();
        assert!(accumulator.size() > 9973 * size_of::<i64>());
        let counts = accumulator.evaluate(EmitTo::All).unwrap();
        assert_eq!(counts.as_primitive::<Int64Type>().values().to_vec(), wanted);
    }
}

#[test]
fn one_group_is_read_as_often_as_asked() {
    let values = |values: Vec<Option<i64>>| -> ArrayRef { Arc::new(Int64Array::from(values)) };
    let mut sum = call("sum", &[DataType::Int64]).create_accumulator().unwrap();
    assert_eq!(sum.evaluate().unwrap(), ScalarValue::Int64(None));
    for (next, wanted) in [(vec![Some(3), None, Some(3)], 3), (vec![Some(5), Some(3)], 8), (vec![], 8)] {
        sum.update_batch(&[values(next)]).unwrap();
        assert_eq!(sum.evaluate().unwrap(), ScalarValue::Int64(Some(wanted)));
    }
    let mut other = call("sum", &[DataType::Int64]).create_accumulator().unwrap();
    other.update_batch(&[values(vec![Some(5), Some(-1)])]).unwrap();
    let state: Vec<ArrayRef> = other.state().unwrap().iter().map(|state| state.to_array().unwrap()).collect();
    sum.merge_batch(&state).unwrap();
    assert_eq!(sum.evaluate().unwrap(), ScalarValue::Int64(Some(7)));
}

#[test]
fn an_overflow_says_distinct() {
    let mut sum = call("sum", &[DataType::Int64]).create_accumulator().unwrap();
    sum.update_batch(&[Arc::new(Int64Array::from(vec![i64::MAX, i64::MAX, 1]))]).unwrap();
    let error = sum.evaluate().unwrap_err().to_string();
    for part in ["SUM(DISTINCT c0) is 9223372036854775808", "SUM(DISTINCT CAST(c0 AS DECIMAL(38, 0)))"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn damaged_states_are_errors() {
    let types = [DataType::Int64, DataType::Utf8View];
    let call = call("count", &types);
    let state = |rows: &[Row]| states(&call, rows, &types, &[]);
    let (one, two) = (state(&[(0, Some(1), Some(1), true)]), state(&[]));
    let mut accumulator = call.create_groups_accumulator().unwrap();
    let groups: Vec<usize> = (0..GROUPS).collect();
    let lengths = accumulator.merge_batch(&[Arc::clone(&one[0]), Arc::clone(&two[1])], &groups, GROUPS).unwrap_err();
    assert!(lengths.to_string().contains("several lengths"), "{lengths}");
    let types = accumulator.merge_batch(&[Arc::new(NullArray::new(4)) as ArrayRef], &groups, GROUPS).unwrap_err();
    assert!(types.to_string().contains("not planned"), "{types}");
}

fn session() -> SessionContext {
    let schema = Arc::new(Schema::new(vec![
        Field::new("k", DataType::Int32, false),
        Field::new("i", DataType::Int32, true),
        Field::new("f", DataType::Float64, true),
        Field::new("s", DataType::Utf8View, true),
    ]));
    let batch = |start: i32| {
        let rows = || (start..start + 100).map(|v| (v % 10 != 0).then_some(v));
        let columns: Vec<ArrayRef> = vec![
            Arc::new((start..start + 100).map(|v| v % 3).collect::<Int32Array>()),
            Arc::new(rows().map(|v| v.map(|v| v % 7)).collect::<Int32Array>()),
            Arc::new(
                rows()
                    .map(|v| v.map(|v| [0.0, -0.0, f64::NAN, -f64::NAN, 0.1][v as usize % 5]))
                    .collect::<Float64Array>(),
            ),
            Arc::new(
                rows()
                    .map(|v| v.map(|v| format!("a text too long for a view: {}", v % 11)))
                    .collect::<StringViewArray>(),
            ),
        ];
        RecordBatch::try_new(Arc::clone(&schema), columns).unwrap()
    };
    let data = (0..3).map(|p| vec![batch(p * 200), batch(p * 200 + 100)]).collect();
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(3));
    for function in aggregates() {
        context.register_udaf(function.as_ref().clone());
    }
    context.register_table("t", Arc::new(MemTable::try_new(schema, data).unwrap())).unwrap();
    context
}

async fn query(context: &SessionContext, sql: &str) -> RecordBatch {
    let batches = context.sql(sql).await.unwrap().collect().await.unwrap();
    concat_batches(&batches[0].schema(), &batches).unwrap()
}

#[tokio::test]
async fn both_phases_of_a_query() {
    let sql = "SELECT k, count(DISTINCT i) AS ci, count(DISTINCT f) AS cf, count(DISTINCT s) AS cs, \
               count(DISTINCT (i + 1)) AS ce, count(DISTINCT i, s) AS cis, sum(DISTINCT i) AS si, \
               avg(DISTINCT i) AS ai, max(DISTINCT s) AS ms, count(*) AS n, count(i) AS ni, \
               count(DISTINCT i) FILTER (WHERE i > 3) AS late, count(DISTINCT NULL) AS none FROM t GROUP BY k ORDER BY k";
    let out = query(&session(), sql).await;
    assert_eq!(out.num_rows(), 3);
    for k in 0..3i64 {
        let rows: Vec<i64> = (0..600).filter(|v| v % 3 == k && v % 10 != 0).collect();
        let set = |value: &dyn Fn(i64) -> i64| rows.iter().map(|&v| value(v)).collect::<BTreeSet<_>>();
        let (i, s) = (set(&|v| v % 7), set(&|v| v % 11));
        let cell = |name: &str| number(out.column_by_name(name).unwrap(), k as usize).unwrap();
        let sizes = [("ci", i.len()), ("cs", s.len()), ("ce", i.len()), ("cf", 3), ("cis", set(&|v| v % 77).len())];
        for (name, wanted) in sizes.into_iter().chain([("late", 3), ("none", 0), ("n", 200), ("ni", rows.len())]) {
            assert_eq!(cell(name), wanted as i64, "{name}");
        }
        let sum: i64 = i.iter().sum();
        assert_eq!((cell("si"), cell("ai")), (sum, sum / i.len() as i64));
        let largest = s.iter().map(|v| format!("a text too long for a view: {v}")).max().unwrap();
        assert_eq!(out.column_by_name("ms").unwrap().as_string_view().value(k as usize), largest);
    }
}

#[tokio::test]
async fn one_distinct_with_and_without_its_rewrite() {
    let context = session();
    let sql = "SELECT count(DISTINCT s) AS n, sum(DISTINCT i) AS s FROM t";
    for sql in [sql, "SELECT count(DISTINCT s) AS n FROM t", "SELECT count(DISTINCT i) AS n FROM t GROUP BY k"] {
        let rewritten = query(&context, sql).await;
        let plain = session();
        assert!(plain.remove_optimizer_rule("single_distinct_aggregation_to_group_by"));
        assert_eq!(query(&plain, sql).await, rewritten, "{sql}");
    }
}

#[tokio::test]
async fn no_rows_windows_and_wrong_types() {
    let context = session();
    let out = query(&context, "SELECT count(DISTINCT i) AS n, sum(DISTINCT f) AS s FROM t WHERE k > 9").await;
    assert_eq!(out.column(0).as_primitive::<Int64Type>().value(0), 0);
    assert!(out.column(1).as_primitive::<Float64Type>().is_null(0));
    let over = "SELECT count(DISTINCT i) OVER (ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS n \
                FROM t WHERE i < 2 ORDER BY n DESC LIMIT 1";
    assert_eq!(number(query(&context, over).await.column(0), 0), Some(2));
    let over = "SELECT count(DISTINCT f) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS n \
                FROM t ORDER BY n DESC LIMIT 1";
    assert_eq!(number(query(&context, over).await.column(0), 0), Some(2));
    for (sql, message) in [
        (
            "SELECT count(DISTINCT struct(i, k)), count(i) FROM t",
            "values of type ROW<c0 INT, c1 INT> cannot be told apart yet",
        ),
        ("SELECT sum(DISTINCT s) FROM t", "SUM takes a number, not a STRING"),
        ("SELECT sum(DISTINCT i, i), count(i) FROM t", "SUM takes one argument, not 2"),
        ("SELECT sum(DISTINCT i) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t", "retract"),
    ] {
        let error = match context.sql(sql).await {
            Ok(frame) => frame.collect().await.unwrap_err(),
            Err(error) => error,
        };
        assert!(error.to_string().contains(message), "{sql}: {error}");
    }
}
