//! The `WATERMARK FOR` expression as a source evaluates it, for each row.

use arrow::datatypes::{DataType, SchemaRef, TimeUnit};
use datafusion::catalog::Session;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator};
use tidemill_runtime::graph::EventTimeSpec;

use crate::catalog::EventTimeColumn;

const DAY_MS: i64 = 86_400_000;

/// The event time of rows with these columns.
pub(crate) fn event_time_spec(
    event_time: &EventTimeColumn,
    columns: &SchemaRef,
    state: &dyn Session,
) -> Result<EventTimeSpec> {
    let schema = DFSchema::try_from(columns.as_ref().clone())?;
    let watermark = in_durations(event_time.watermark.clone(), &schema)?;
    let watermark = state.create_physical_expr(watermark, &schema)?;
    Ok(EventTimeSpec { column: columns.index_of(&event_time.name)?, range: event_time.range, watermark })
}

/// The same expression, whose intervals of a fixed length are durations: those are subtracted as numbers, where an
/// interval takes each time apart into year, month and day.
fn in_durations(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    let rewritten = expr.transform_up(|expr| match &expr {
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::Minus | Operator::Plus), right }) => {
            let DataType::Timestamp(TimeUnit::Millisecond, zone) = left.get_type(schema)? else {
                return Ok(Transformed::no(expr));
            };
            let Some(duration) = duration(right, zone.is_some()) else { return Ok(Transformed::no(expr)) };
            Ok(Transformed::yes(Expr::BinaryExpr(BinaryExpr::new(left.clone(), *op, Box::new(duration)))))
        }
        _ => Ok(Transformed::no(expr)),
    })?;
    Ok(rewritten.data)
}

/// An interval without months as a duration of whole milliseconds; where there is a zone, without days too.
fn duration(interval: &Expr, zoned: bool) -> Option<Expr> {
    let Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(interval)), metadata) = interval else { return None };
    if interval.months != 0 || (zoned && interval.days != 0) || interval.nanoseconds % 1_000_000 != 0 {
        return None;
    }
    let ms = i64::from(interval.days) * DAY_MS + interval.nanoseconds / 1_000_000;
    Some(Expr::Literal(ScalarValue::DurationMillisecond(Some(ms)), metadata.clone()))
}

#[cfg(test)]
mod tests;
