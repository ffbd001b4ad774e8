//! An aggregation and rows for it, for tests.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringViewArray, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_aggregate::min_max::max_udaf;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::AggregateUDF;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::AggregateExprBuilder;
use datafusion::physical_expr::expressions::col;

use super::{AggregateCall, Aggregation};

/// A row: its time, its key and its amount.
pub(crate) type Row = (i64, i64, Option<i64>);

/// `time`, `name`, `amount`.
pub(crate) fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("time", DataType::Timestamp(TimeUnit::Millisecond, None), false),
        Field::new("name", DataType::Utf8View, true),
        Field::new("amount", DataType::Int64, true),
    ]))
}

/// Some names are longer than a view holds, and one is NULL.
fn name(key: i64) -> Option<String> {
    match key {
        0 => None,
        _ if key % 2 == 0 => Some(format!("a rather long name {key}")),
        _ => Some(format!("n{key}")),
    }
}

pub(crate) fn rows(rows: &[Row]) -> RecordBatch {
    let times = TimestampMillisecondArray::from_iter_values(rows.iter().map(|row| row.0));
    let names: StringViewArray = rows.iter().map(|row| name(row.1)).collect();
    let amounts: Int64Array = rows.iter().map(|row| row.2).collect();
    let columns: Vec<ArrayRef> = vec![Arc::new(times), Arc::new(names), Arc::new(amounts)];
    RecordBatch::try_new(schema(), columns).unwrap()
}

/// The sum, the count and, where rows are only added, the maximum of the amounts, by name or of all.
pub(crate) fn aggregation(keyed: bool, append_only: bool) -> Aggregation {
    let schema = schema();
    let name: (Arc<dyn PhysicalExpr>, FieldRef) =
        (col("name", &schema).unwrap(), Arc::new(schema.field_with_name("name").unwrap().clone()));
    let call = |function: Arc<AggregateUDF>| {
        let builder = AggregateExprBuilder::new(function, vec![col("amount", &schema).unwrap()]);
        let function = builder.schema(Arc::clone(&schema)).alias("result").build().unwrap();
        AggregateCall { function: Arc::new(function), filter: None }
    };
    let mut functions = vec![sum_udaf(), count_udaf()];
    functions.extend(append_only.then(max_udaf));
    let groups = if keyed { vec![name] } else { vec![] };
    Aggregation { groups, calls: functions.into_iter().map(call).collect() }
}
