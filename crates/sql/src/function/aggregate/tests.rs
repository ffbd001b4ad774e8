//! Every function over every type against plain arithmetic, alone and through DataFusion's two phases.

use std::sync::Arc;

use arrow::{
    array::{
        Array, ArrayRef, AsArray, BooleanArray, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch,
        StringViewArray,
    },
    compute::cast,
    datatypes::{DataType, Decimal128Type, Field, Float64Type, Int64Type, Schema},
};
use datafusion::{
    common::ScalarValue,
    datasource::MemTable,
    logical_expr::{AggregateUDF, EmitTo},
    physical_expr::{
        aggregate::{AggregateExprBuilder, AggregateFunctionExpr},
        expressions::col,
    },
    prelude::{SessionConfig, SessionContext},
};
use num_bigint::BigInt;
use proptest::prelude::*;

use super::aggregates;

fn function(name: &str) -> Arc<AggregateUDF> {
    aggregates().into_iter().find(|f| f.name() == name).unwrap()
}

fn call(name: &str, data_type: &DataType) -> AggregateFunctionExpr {
    let schema = Arc::new(Schema::new(vec![Field::new("amount", data_type.clone(), true)]));
    AggregateExprBuilder::new(function(name), vec![col("amount", &schema).unwrap()])
        .schema(schema)
        .alias(format!("{name}(amount)"))
        .build()
        .unwrap()
}

/// One row: a group, a value or NULL, and whether the filter keeps it.
type Row = (usize, Option<i64>, bool);

const GROUPS: usize = 5;

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let value = prop_oneof![3 => -100i64..100, 1 => any::<i64>().prop_map(|v| v >> 12)];
    prop::collection::vec((0..GROUPS, prop::option::weighted(0.8, value), any::<bool>()), 0..80)
}

fn column(rows: &[Row], data_type: &DataType) -> ArrayRef {
    let narrow = |v: i64| match data_type {
        DataType::Int8 => v as i8 as i64 / 8,
        DataType::Int16 => v as i16 as i64 / 8,
        DataType::Int32 => v as i32 as i64 / 128,
        _ => v,
    };
    let values = rows.iter().map(|row| row.1.map(narrow));
    match data_type {
        DataType::Decimal128(p, s) => Arc::new(
            values.map(|v| v.map(i128::from)).collect::<Decimal128Array>().with_precision_and_scale(*p, *s).unwrap(),
        ),
        _ => cast(&values.collect::<Int64Array>(), data_type).unwrap(),
    }
}

fn groups_of(rows: &[Row]) -> Vec<usize> {
    rows.iter().map(|row| row.0).collect()
}

fn filter_of(rows: &[Row]) -> BooleanArray {
    rows.iter().map(|row| row.2.then_some(true)).collect()
}

/// A row of NULL for every group before the rows: DataFusion's own accumulators count on a row of each group that a
/// batch makes known.
fn with_every_group(rows: &[Row]) -> Vec<Row> {
    (0..GROUPS).map(|group| (group, None, true)).chain(rows.iter().copied()).collect()
}

/// The rows in batches, each batch through its own accumulator (or straight to states), merged as a random tree.
fn states(call: &AggregateFunctionExpr, rows: &[Row], data_type: &DataType, cuts: &[usize]) -> Vec<ArrayRef> {
    let mut accumulator = call.create_groups_accumulator().unwrap();
    match cuts.split_first() {
        None => {
            let rows = &with_every_group(rows);
            let (values, filter) = ([column(rows, data_type)], filter_of(rows));
            accumulator.update_batch(&values, &groups_of(rows), Some(&filter), GROUPS).unwrap();
        }
        Some((cut, [])) if cut % 3 == 0 => {
            let rows = &with_every_group(rows);
            let (values, filter) = ([column(rows, data_type)], filter_of(rows));
            let each = accumulator.convert_to_state(&values, Some(&filter)).unwrap();
            accumulator.merge_batch(&each, &groups_of(rows), GROUPS).unwrap();
        }
        Some((cut, cuts)) => {
            let (left, right) = rows.split_at(cut % (rows.len() + 1));
            let (first, second) = cuts.split_at(cuts.len() / 2);
            let all: Vec<usize> = (0..GROUPS).collect();
            for (rows, cuts) in [(right, second), (left, first)] {
                let states = states(call, rows, data_type, cuts);
                accumulator.merge_batch(&states, &all, GROUPS).unwrap();
            }
        }
    }
    accumulator.state(EmitTo::All).unwrap()
}

fn finish(call: &AggregateFunctionExpr, states: &[ArrayRef]) -> datafusion::common::Result<ArrayRef> {
    let mut accumulator = call.create_groups_accumulator()?;
    let all: Vec<usize> = (0..GROUPS).collect();
    accumulator.merge_batch(states, &all, GROUPS)?;
    accumulator.evaluate(EmitTo::All)
}

/// The values that reach a group, read back from the typed column.
fn group_values(rows: &[Row], data_type: &DataType, group: usize) -> Vec<i128> {
    let column = column(rows, data_type);
    let plain = match data_type {
        DataType::Decimal128(..) => column.as_primitive::<Decimal128Type>().clone(),
        _ => cast(&column, &DataType::Decimal128(38, 0)).unwrap().as_primitive::<Decimal128Type>().clone(),
    };
    let kept = |i: &usize| rows[*i].0 == group && rows[*i].2 && plain.is_valid(*i);
    (0..rows.len()).filter(kept).map(|i| plain.value(i)).collect()
}

fn exact_types() -> impl Strategy<Value = DataType> {
    use DataType::*;
    prop_oneof![
        Just(Int8),
        Just(Int16),
        Just(Int32),
        Just(Int64),
        Just(Decimal128(19, 2)),
        Just(Decimal128(38, 0)),
        Just(Decimal128(25, 9)),
    ]
}

fn half_up(numerator: BigInt, denominator: BigInt) -> BigInt {
    let negative = numerator < BigInt::from(0);
    let size = BigInt::from(numerator.magnitude().clone());
    let rounded: BigInt = (size * 2 + &denominator) / (denominator * 2);
    if negative { -rounded } else { rounded }
}

/// SUM, AVG, MIN, MAX and COUNT of a group by big integers; `None` is NULL.
fn expected(name: &str, data_type: &DataType, values: &[i128]) -> Option<BigInt> {
    let total: BigInt = values.iter().copied().map(BigInt::from).sum();
    let count = BigInt::from(values.len());
    match (name, data_type) {
        ("count", _) => return Some(count),
        _ if values.is_empty() => return None,
        ("sum", _) => return Some(total),
        ("min", _) => return values.iter().min().copied().map(BigInt::from),
        ("max", _) => return values.iter().max().copied().map(BigInt::from),
        _ => {}
    }
    Some(match data_type {
        DataType::Decimal128(_, scale) => {
            half_up(total * BigInt::from(10).pow((6 - *scale as i32).max(0) as u32), count)
        }
        _ => total / count,
    })
}

fn to_strings(array: &ArrayRef) -> Vec<Option<String>> {
    let text = |i: usize| match ScalarValue::try_from_array(array, i).unwrap() {
        ScalarValue::Decimal128(Some(v), _, _) => v.to_string(),
        other => other.to_string(),
    };
    (0..array.len()).map(|i| array.is_valid(i).then(|| text(i))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn exact_types_agree_with_big_integers(
        rows in rows(), data_type in exact_types(), cuts in prop::collection::vec(any::<usize>(), 0..8),
        name in prop_oneof![Just("sum"), Just("avg"), Just("min"), Just("max"), Just("count")],
    ) {
        let call = call(name, &data_type);
        let wanted: Vec<_> =
            (0..GROUPS).map(|group| expected(name, &data_type, &group_values(&rows, &data_type, group))).collect();
        match finish(&call, &states(&call, &rows, &data_type, &cuts)) {
            Ok(results) => {
                let field = call.field();
                prop_assert_eq!(results.data_type(), field.data_type());
                let wanted: Vec<_> = wanted.iter().map(|w| w.as_ref().map(BigInt::to_string)).collect();
                prop_assert_eq!(to_strings(&results), wanted);
            }
            Err(error) => {
                let bits = match data_type {
                    DataType::Int8 => 7, DataType::Int16 => 15, DataType::Int32 => 31, _ => 63,
                };
                prop_assert!(error.to_string().contains("beyond the range"), "{}", error);
                prop_assert!(wanted.iter().flatten().any(|w| w.magnitude().bits() > bits));
            }
        }
    }

    #[test]
    fn emitting_the_first_groups_renumbers_the_rest(rows in rows(), n in 0..=GROUPS) {
        for (name, data_type) in
            [("sum", DataType::Int64), ("avg", DataType::Float64), ("min", DataType::Float64), ("max", DataType::Boolean)]
        {
            let call = call(name, &data_type);
            let feed = || {
                let mut accumulator = call.create_groups_accumulator().unwrap();
                accumulator.update_batch(&[column(&rows, &data_type)], &groups_of(&rows), None, GROUPS).unwrap();
                accumulator
            };
            let (mut whole, mut parts) = (feed(), feed());
            let all = whole.evaluate(EmitTo::All).unwrap();
            let first = parts.evaluate(EmitTo::First(n)).unwrap();
            let rest = parts.evaluate(EmitTo::All).unwrap();
            prop_assert_eq!(to_strings(&all), [to_strings(&first), to_strings(&rest)].concat());
        }
    }

    #[test]
    fn float_extremes_do_not_depend_on_order(mut values in prop::collection::vec(
        prop_oneof![any::<f64>(), Just(f64::NAN), Just(-f64::NAN), Just(0.0), Just(-0.0), -3.0..3.0f64], 1..12)
    ) {
        let numbers = || values.iter().copied().filter(|v| !v.is_nan());
        let wanted = [
            numbers().reduce(f64::min).unwrap_or(f64::NAN),
            if numbers().count() < values.len() { f64::NAN } else { numbers().fold(f64::NEG_INFINITY, f64::max) },
        ];
        for _ in 0..values.len() {
            values.rotate_left(1);
            for (name, wanted) in ["min", "max"].into_iter().zip(wanted) {
                let mut one = call(name, &DataType::Float64).create_accumulator().unwrap();
                one.update_batch(&[Arc::new(Float64Array::from(values.clone()))]).unwrap();
                let ScalarValue::Float64(Some(got)) = one.evaluate().unwrap() else { panic!("not a DOUBLE") };
                prop_assert_eq!(got.to_bits(), if wanted.is_nan() { f64::NAN } else { wanted + 0.0 }.to_bits());
            }
        }
    }
}

fn overflow(name: &str, array: ArrayRef) -> String {
    let mut one = call(name, array.data_type()).create_accumulator().unwrap();
    one.update_batch(&[array]).unwrap();
    one.evaluate().unwrap_err().to_string()
}

#[test]
fn only_the_final_sum_can_overflow() {
    let mut one = call("sum", &DataType::Int64).create_accumulator().unwrap();
    one.update_batch(&[Arc::new(Int64Array::from(vec![i64::MAX, 1, i64::MAX, -1, -i64::MAX]))]).unwrap();
    assert_eq!(one.evaluate().unwrap(), ScalarValue::Int64(Some(i64::MAX)));

    let error = overflow("sum", Arc::new(Int64Array::from(vec![i64::MAX, 1])));
    for part in ["SUM(amount) is 9223372036854775808", "BIGINT", "SUM(CAST(amount AS DECIMAL(38, 0)))"] {
        assert!(error.contains(part), "{error}");
    }
    let error = overflow("sum", Arc::new(Int32Array::from(vec![i32::MIN, -1])));
    assert!(error.contains("-2147483649") && error.contains("SUM(CAST(amount AS BIGINT))"), "{error}");

    let big = 10i128.pow(38) - 1;
    let decimals = |values: Vec<i128>| -> ArrayRef {
        Arc::new(Decimal128Array::from(values).with_precision_and_scale(38, 2).unwrap())
    };
    let mut one = call("sum", &DataType::Decimal128(38, 2)).create_accumulator().unwrap();
    one.update_batch(&[decimals(vec![big, big, big, -big, -big])]).unwrap();
    assert_eq!(one.evaluate().unwrap(), ScalarValue::Decimal128(Some(big), 38, 2));
    let error = overflow("sum", decimals(vec![big, 1]));
    assert!(error.contains("DECIMAL(38, 2)") && error.contains("smaller s"), "{error}");
    // The average has 4 digits more.
    let error = overflow("avg", decimals(vec![big, big]));
    assert!(error.contains("AVG(amount)") && error.contains("DECIMAL(38, 6)"), "{error}");
}

#[test]
fn a_row_wise_sum_slides() {
    let array = |values: &[i64]| -> ArrayRef { Arc::new(Int64Array::from(values.to_vec())) };
    let mut one = call("avg", &DataType::Int64).create_accumulator().unwrap();
    one.update_batch(&[array(&[7, 8, -100])]).unwrap();
    one.retract_batch(&[array(&[-100])]).unwrap();
    assert_eq!(one.evaluate().unwrap(), ScalarValue::Int64(Some(7)));
    one.retract_batch(&[array(&[7, 8])]).unwrap();
    assert_eq!(one.evaluate().unwrap(), ScalarValue::Int64(None));
}

fn session(partitions: usize) -> SessionContext {
    let schema = Arc::new(Schema::new(vec![
        Field::new("k", DataType::Int32, false),
        Field::new("i", DataType::Int32, true),
        Field::new("d", DataType::Decimal128(10, 2), true),
        Field::new("f", DataType::Float64, true),
        Field::new("s", DataType::Utf8View, true),
        Field::new("b", DataType::Boolean, true),
    ]));
    let batch = |start: i32| {
        let rows: Vec<i32> = (start..start + 100).collect();
        let present = |v: &i32| (v % 10 != 0).then_some(*v);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(rows.iter().map(|v| v % 3).collect::<Int32Array>()),
            Arc::new(rows.iter().map(present).collect::<Int32Array>()),
            Arc::new(
                rows.iter()
                    .map(|v| present(v).map(i128::from))
                    .collect::<Decimal128Array>()
                    .with_precision_and_scale(10, 2)
                    .unwrap(),
            ),
            Arc::new(rows.iter().map(|v| present(v).map(|v| f64::from(v) * 0.1)).collect::<Float64Array>()),
            Arc::new(
                rows.iter().map(|v| present(v).map(|v| format!("text number {v:05}"))).collect::<StringViewArray>(),
            ),
            Arc::new(rows.iter().map(|v| present(v).map(|v| v % 2 == 0)).collect::<BooleanArray>()),
        ];
        RecordBatch::try_new(Arc::clone(&schema), columns).unwrap()
    };
    let data = (0..partitions as i32).map(|p| vec![batch(p * 200), batch(p * 200 + 100)]).collect();
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(3));
    for function in aggregates() {
        context.register_udaf(function.as_ref().clone());
    }
    context.register_table("t", Arc::new(MemTable::try_new(Arc::clone(&schema), data).unwrap())).unwrap();
    context
}

#[tokio::test]
async fn both_phases_of_a_query() {
    let sql = "SELECT k, count(*) AS n, sum(i) AS si, avg(i) AS ai, sum(d) AS sd, avg(d) AS ad, sum(f) AS sf, \
               avg(f) AS af, min(f) AS lf, max(s) AS ms, max(b) AS mb, sum(i) FILTER (WHERE i > 500) AS late, \
               sum(i) FILTER (WHERE i < 0) AS none FROM t GROUP BY k ORDER BY k";
    let batches = session(3).sql(sql).await.unwrap().collect().await.unwrap();
    let out = arrow::compute::concat_batches(&batches[0].schema(), &batches).unwrap();
    assert_eq!(out.num_rows(), 3);
    let wanted_types = [
        ("si", DataType::Int32),
        ("ai", DataType::Int32),
        ("sd", DataType::Decimal128(38, 2)),
        ("ad", DataType::Decimal128(38, 6)),
        ("sf", DataType::Float64),
        ("ms", DataType::Utf8View),
        ("mb", DataType::Boolean),
    ];
    for (name, data_type) in wanted_types {
        assert_eq!(out.column_by_name(name).unwrap().data_type(), &data_type, "{name}");
    }
    for k in 0..3i64 {
        let values: Vec<i64> = (0..600).filter(|v| v % 3 == k && v % 10 != 0).collect();
        let (sum, count) = (values.iter().sum::<i64>(), values.len() as i64);
        let cell = |name: &str| ScalarValue::try_from_array(out.column_by_name(name).unwrap(), k as usize).unwrap();
        assert_eq!(cell("n"), ScalarValue::Int64(Some(200)));
        assert_eq!(cell("si"), ScalarValue::Int32(Some(sum as i32)));
        assert_eq!(cell("ai"), ScalarValue::Int32(Some((sum / count) as i32)));
        assert_eq!(cell("sd"), ScalarValue::Decimal128(Some(i128::from(sum)), 38, 2));
        let average = (sum * 20_000 + count) / (count * 2);
        assert_eq!(cell("ad"), ScalarValue::Decimal128(Some(i128::from(average)), 38, 6));
        let mut exact = super::exact_sum::ExactSum::default();
        values.iter().rev().for_each(|&v| {
            exact.add(v as f64 * 0.1);
        });
        assert_eq!(cell("sf"), ScalarValue::Float64(Some(exact.value())));
        assert_eq!(cell("af"), ScalarValue::Float64(exact.mean(count as u64)));
        assert_eq!(cell("lf"), ScalarValue::Float64(Some(values[0] as f64 * 0.1)));
        assert_eq!(cell("mb"), ScalarValue::Boolean(Some(true)));
        let largest = values.last().unwrap();
        assert_eq!(cell("ms"), ScalarValue::Utf8View(Some(format!("text number {largest:05}"))));
        let late: i64 = values.iter().filter(|&&v| v > 500).sum();
        assert_eq!(cell("late"), ScalarValue::Int32(Some(late as i32)));
        assert_eq!(cell("none"), ScalarValue::Int32(None));
    }
}

#[tokio::test]
async fn a_window_frame_slides_over_our_sum() {
    let sql = "SELECT sum(i) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM t \
               WHERE i < 6 ORDER BY i";
    let batches = session(1).sql(sql).await.unwrap().collect().await.unwrap();
    let out =
        cast(&arrow::compute::concat_batches(&batches[0].schema(), &batches).unwrap().column(0), &DataType::Int64);
    assert_eq!(out.unwrap().as_primitive::<Int64Type>().values(), &[1, 3, 5, 7, 9]);
}

#[tokio::test]
async fn no_rows_and_wrong_types() {
    let context = session(1);
    let batches =
        context.sql("SELECT sum(f), avg(i), count(i) FROM t WHERE k > 9").await.unwrap().collect().await.unwrap();
    assert!(batches[0].column(0).as_primitive::<Float64Type>().is_null(0));
    assert!(batches[0].column(1).is_null(0));
    assert_eq!(batches[0].column(2).as_primitive::<Int64Type>().value(0), 0);
    for (sql, message) in [
        ("SELECT sum(s) FROM t", "SUM takes a number, not a STRING"),
        ("SELECT avg(b) FROM t", "AVG takes a number, not a BOOLEAN"),
        ("SELECT sum(i, i) FROM t", "SUM takes one argument, not 2"),
        ("SELECT max(NULL)", "not a NULL"),
    ] {
        let error = match context.sql(sql).await {
            Ok(frame) => frame.collect().await.unwrap_err(),
            Err(error) => error,
        };
        assert!(error.to_string().contains(message), "{sql}: {error}");
    }
}
